import { Link } from '@tanstack/react-router';
import {
  Activity,
  AppWindow,
  Boxes,
  FlaskConical,
  KeyRound,
  LockKeyhole,
  LayoutDashboard,
  type LucideIcon,
  Menu as MenuIcon,
  Radar,
  ScrollText,
  Server,
  Settings,
  Users,
  X,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Me } from '../api/types.ts';
import { boot } from '../boot.ts';
import { cx } from '../lib/cx.ts';
import { Badge } from '../ui/badge.tsx';
import { IconButton } from '../ui/button.tsx';
import { Tip } from '../ui/tip.tsx';
import { AccountMenu } from './account-menu.tsx';

interface Place {
  readonly to:
    | '/'
    | '/servers'
    | '/tools'
    | '/groups'
    | '/smart'
    | '/activity'
    | '/logs'
    | '/users'
    | '/keys'
    | '/account/apps'
    | '/account/credentials'
    | '/settings';
  readonly name:
    | 'overview'
    | 'servers'
    | 'tools'
    | 'groups'
    | 'smart'
    | 'activity'
    | 'logs'
    | 'users'
    | 'keys'
    | 'apps'
    | 'credentials'
    | 'settings';
  readonly icon: LucideIcon;
  readonly admin?: true;
}

const places: readonly (readonly Place[])[] = [
  [
    { to: '/', name: 'overview', icon: LayoutDashboard },
    { to: '/servers', name: 'servers', icon: Server },
    { to: '/groups', name: 'groups', icon: Boxes },
    { to: '/tools', name: 'tools', icon: FlaskConical },
    { to: '/smart', name: 'smart', icon: Radar, admin: true },
  ],
  [
    { to: '/activity', name: 'activity', icon: Activity },
    { to: '/logs', name: 'logs', icon: ScrollText },
  ],
  [
    { to: '/users', name: 'users', icon: Users, admin: true },
    { to: '/keys', name: 'keys', icon: KeyRound },
    { to: '/account/apps', name: 'apps', icon: AppWindow },
    { to: '/account/credentials', name: 'credentials', icon: LockKeyhole },
    { to: '/settings', name: 'settings', icon: Settings, admin: true },
  ],
];

/** The column on the left; on phones a bar with a drawer. */
export function Navigation({ me }: { readonly me: Me | undefined }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (!open) return;
    const close = (event: KeyboardEvent) => event.key === 'Escape' && setOpen(false);
    window.addEventListener('keydown', close);
    return () => window.removeEventListener('keydown', close);
  }, [open]);
  return (
    <header className="border-line bg-panel sticky top-0 z-30 flex flex-col border-b md:h-dvh md:w-56 md:shrink-0 md:border-r md:border-b-0">
      <div className="flex h-12 items-center gap-2 px-3 md:h-14 md:px-4">
        <Link to="/" className="flex items-center gap-2 rounded-md font-semibold">
          <img src="./icon.svg" alt="" width={22} height={22} />
          {t('app.name')}
        </Link>
        {boot.readonly && (
          <Tip text={t('app.readonlyHint')}>
            <span tabIndex={0} className="rounded-full">
              <Badge tone="warn">{t('app.readonly')}</Badge>
            </span>
          </Tip>
        )}
        <IconButton
          className="ml-auto md:!hidden"
          icon={open ? X : MenuIcon}
          label={t('app.menu')}
          aria-expanded={open}
          aria-controls="navigation"
          onClick={() => setOpen(!open)}
        />
      </div>
      <div
        id="navigation"
        className={cx(
          'min-h-0 flex-1 flex-col overflow-y-auto px-2 pb-2 md:flex',
          open ? 'flex max-h-[calc(100dvh-3rem)]' : 'hidden',
        )}
      >
        <nav aria-label={t('app.navigation')} className="flex flex-1 flex-col gap-4 py-1">
          {/* Nothing before it is known whose places they are: what comes later would move the others. */}
          {(me ? places : []).map((group, index) => (
            <ul key={index} className="flex flex-col gap-px">
              {group
                .filter((place) => !place.admin || me?.isAdmin === true)
                .map((place) => (
                  <li key={place.to}>
                    <NavigationLink {...place} onFollow={() => setOpen(false)} />
                  </li>
                ))}
            </ul>
          ))}
        </nav>
        <AccountMenu me={me} />
      </div>
    </header>
  );
}

function NavigationLink({ to, name, icon: Icon, onFollow }: Place & { readonly onFollow: () => void }) {
  const { t } = useTranslation();
  return (
    <Link
      to={to}
      activeOptions={{ exact: to === '/', includeSearch: false }}
      onClick={onFollow}
      className="flex min-h-8 items-center gap-2.5 rounded-md px-2 text-sm focus-visible:-outline-offset-2 pointer-coarse:min-h-11"
      activeProps={{ className: 'bg-accent-wash text-accent-ink font-medium' }}
      inactiveProps={{ className: 'text-soft hover:bg-hover hover:text-ink' }}
    >
      <Icon size={16} aria-hidden />
      {t(`nav.${name}`)}
    </Link>
  );
}

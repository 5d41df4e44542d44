import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Menu as MenuIcon, Search, X } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Me } from '../api/types.ts';
import { boot, icon } from '../boot.ts';
import { needTexts } from '../i18n/i18n.ts';
import { cx } from '../lib/cx.ts';
import { IconButton } from '../ui/button.tsx';
import { AccountMenu } from './account-menu.tsx';
import { type Place, placesOf } from './places.ts';
import { isMac, openPalette } from './shortcuts.ts';
import { newestOf, waitingQuery } from './waiting.ts';

/** With what shows its hint, which only a hub that is read-only needs. */
const ReadOnly = lazy(() => import('./read-only.tsx').then(({ ReadOnly }) => ({ default: ReadOnly })));

/** Loaded when something waits; without it the navigation is whole. */
const WaitingApprovals = lazy(async () => {
  try {
    const [{ WaitingApprovals }] = await Promise.all([import('./waiting-approvals.tsx'), needTexts('governance')]);
    return { default: WaitingApprovals };
  } catch {
    return { default: () => null };
  }
});

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
        <Link to="/" className="touch flex items-center gap-2 rounded-md font-semibold">
          <img src={icon} alt="" width={22} height={22} />
          {t('app.name')}
        </Link>
        {boot.readonly && (
          <Suspense>
            <ReadOnly />
          </Suspense>
        )}
        <IconButton className="ml-auto md:!hidden" icon={Search} label={t('palette.open')} onClick={openPalette} />
        <IconButton
          className="md:!hidden"
          icon={open ? X : MenuIcon}
          label={t('app.menu')}
          aria-expanded={open}
          aria-controls="navigation"
          onClick={() => setOpen(!open)}
        />
      </div>
      <button
        type="button"
        onClick={openPalette}
        aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
        className="border-line bg-page text-soft hover:border-edge mx-2 mb-2 hidden min-h-8 items-center gap-2 rounded-md border px-2 text-sm md:flex"
      >
        <Search size={15} aria-hidden />
        <span className="flex-1 text-left">{t('palette.open')}</span>
        <kbd aria-hidden className="text-xs">
          {isMac ? '⌘ K' : 'Ctrl K'}
        </kbd>
      </button>
      <div
        id="navigation"
        className={cx(
          'min-h-0 flex-1 flex-col overflow-y-auto px-2 pb-2 md:flex',
          open ? 'flex max-h-[calc(100dvh-3rem)]' : 'hidden',
        )}
      >
        <nav aria-label={t('app.navigation')} className="flex flex-1 flex-col gap-4 py-1">
          {/* Nothing before it is known whose places they are: what comes later would move the others. */}
          {(me ? placesOf(me) : []).map((group, index) => (
            <ul key={index} className="flex flex-col gap-px">
              {group.map((place) => (
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

function Waiting() {
  const { data } = useQuery(waitingQuery);
  // What waited when the dashboard was opened.
  const [since, setSince] = useState<string>();
  if (!data) return null;
  const first = since ?? newestOf(data.newest);
  if (since === undefined) setSince(first);
  return (
    data.count > 0 && (
      <Suspense>
        <WaitingApprovals waiting={data} since={first} />
      </Suspense>
    )
  );
}

function NavigationLink({ to, name, icon: Icon, onFollow }: Place & { readonly onFollow: () => void }) {
  const { t } = useTranslation();
  return (
    <Link
      to={to}
      activeOptions={{
        exact: to === '/' || to === '/tools' || to === '/activity' || to === '/settings',
        includeSearch: false,
      }}
      onClick={onFollow}
      className="flex min-h-8 items-center gap-2.5 rounded-md px-2 text-sm focus-visible:-outline-offset-2 pointer-coarse:min-h-11"
      activeProps={{ className: 'bg-accent-wash text-accent-ink font-medium' }}
      inactiveProps={{ className: 'text-soft hover:bg-hover hover:text-ink' }}
    >
      <Icon size={16} aria-hidden />
      {t(`nav.${name}`)}
      {name === 'approvals' && <Waiting />}
    </Link>
  );
}

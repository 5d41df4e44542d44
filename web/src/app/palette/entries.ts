import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import {
  BookOpen,
  Boxes,
  KeyRound,
  LogOut,
  type LucideIcon,
  Plus,
  RotateCw,
  Server,
  SunMoon,
  UserRound,
  Wrench,
} from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { groupsQuery, keysQuery, serverNamesQuery, usersQuery } from '../../api/queries.ts';
import type { Me } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { useReloadServer } from '../../pages/servers/actions.ts';
import { useErrorText } from '../../ui/failure.tsx';
import { logOut } from '../log-out.ts';
import { type Place, placesOf } from '../places.ts';
import { overlay } from '../shortcuts.ts';
import { chooseTheme, themes } from '../theme.ts';
import type { Findable } from './rank.ts';

type Kind = 'page' | 'action' | 'server' | 'group' | 'tool' | 'key' | 'user';

/** Something that the palette finds. */
export interface Entry extends Findable {
  readonly id: string;
  readonly kind: Kind;
  readonly icon: LucideIcon;
  readonly run: () => void;
}

/** All that this user may see and do: first the pages and actions, which are shown before anything is typed. */
export function useEntries(me: Me): readonly Entry[] {
  const pages = usePages(me);
  const actions = useActions(me);
  const found = useFound(me);
  return useMemo(() => [...pages, ...actions, ...found], [pages, actions, found]);
}

interface Page {
  readonly to: Place['to'] | '/account';
  readonly icon: LucideIcon;
  readonly name: string;
  readonly more?: string;
  /** A part of it. */
  readonly hash?: string;
}

function usePages(me: Me): readonly Entry[] {
  const { t } = useTranslation();
  const router = useRouter();
  return useMemo(() => {
    const places = placesOf(me)
      .flat()
      .map(({ to, name, icon }) => ({ to, icon, name: t(`nav.${name}`) }));
    const account = { to: '/account' as const, icon: UserRound };
    const parts = [
      { ...account, name: t('account.change'), hash: 'password' },
      { ...account, name: t('factor.title'), hash: 'factor' },
      { ...account, name: t('sessions.title'), hash: 'sessions' },
    ].map((part) => ({ ...part, more: t('app.account') }));
    return [...places, { ...account, name: t('app.account') }, ...parts].map(
      ({ to, icon, name, more = '', hash = '' }: Page): Entry => ({
        id: `page ${to}#${hash}`,
        kind: 'page',
        name,
        more,
        icon,
        run: () => void router.navigate({ to, hash }),
      }),
    );
  }, [me, router, t]);
}

function useActions(me: Me): readonly Entry[] {
  const { t } = useTranslation();
  const router = useRouter();
  const words = useErrorText();
  return useMemo(() => {
    const action = (name: string, icon: LucideIcon, run: () => void): Entry => ({
      id: `action ${name}`,
      kind: 'action',
      name,
      more: '',
      icon,
      run,
    });
    const go =
      (
        to: '/servers' | '/catalog' | '/groups' | '/keys' | '/policies' | '/users',
        search: Readonly<Record<string, string>>,
      ) =>
      () =>
        void router.navigate({ to, search });
    const changes = boot.readonly
      ? []
      : [
          action(t('servers.add'), Plus, go('/servers', { add: 'form' })),
          ...(me.isAdmin ? [action(t('palette.paste'), Plus, go('/catalog', { add: 'paste' }))] : []),
          action(t('groups.create'), Plus, go('/groups', { add: 'form' })),
          action(t('keys.add'), Plus, go('/keys', { open: 'new' })),
          ...(me.isAdmin ? [action(t('palette.policy'), Plus, go('/policies', { open: 'new' }))] : []),
          ...(me.isAdmin ? [action(t('users.add'), Plus, go('/users', { open: 'new' }))] : []),
        ];
    return [
      ...changes,
      ...themes.map((theme) =>
        action(t('palette.theme', { theme: t(`app.${theme}`) }), SunMoon, () => chooseTheme(theme)),
      ),
      action(t('app.apiDocs'), BookOpen, () => window.open(`${boot.basePath}/api/docs`, '_blank', 'noopener')),
      action(t('palette.keys'), BookOpen, () => overlay.set({ kind: 'keys' })),
      action(t('app.logOut'), LogOut, () => logOut(words)),
    ];
  }, [me, router, t, words]);
}

/** What the hub has: servers, groups, tools, and for admins keys and users. */
function useFound(me: Me): readonly Entry[] {
  const { t } = useTranslation();
  const router = useRouter();
  const { mutate: reload } = useReloadServer();
  const { data: servers } = useQuery(serverNamesQuery);
  const { data: groups } = useQuery(groupsQuery);
  const { data: keys } = useQuery({ ...keysQuery, enabled: me.isAdmin });
  const { data: users } = useQuery({ ...usersQuery, enabled: me.isAdmin });
  return useMemo(() => {
    const ofServers = (servers ?? []).flatMap(({ name, enabled, managed, tools }): Entry[] => [
      {
        id: `server ${name}`,
        kind: 'server',
        name,
        more: '',
        icon: Server,
        run: () => void router.navigate({ to: '/servers/$name', params: { name } }),
      },
      ...(enabled && managed && !boot.readonly
        ? [
            {
              id: `reconnect ${name}`,
              kind: 'action' as const,
              name: t('palette.reconnect', { name }),
              more: '',
              icon: RotateCw,
              run: () => reload(name),
            },
          ]
        : []),
      ...tools.map((tool) => ({
        id: `tool ${name} ${tool}`,
        kind: 'tool' as const,
        name: tool,
        more: name,
        icon: Wrench,
        run: () => void router.navigate({ to: '/tools', search: { server: name, tool } }),
      })),
    ]);
    return [
      ...ofServers,
      ...(groups ?? []).map(({ id, name }): Entry => ({
        id: `group ${id}`,
        kind: 'group',
        name,
        more: '',
        icon: Boxes,
        run: () => void router.navigate({ to: '/groups/$id', params: { id: name } }),
      })),
      ...(keys ?? []).map(({ id, name, owner = '' }): Entry => ({
        id: `key ${id}`,
        kind: 'key',
        name,
        more: owner,
        icon: KeyRound,
        run: () => void router.navigate({ to: '/keys', search: { open: id } }),
      })),
      ...(users ?? []).map(({ username, email = '' }): Entry => ({
        id: `user ${username}`,
        kind: 'user',
        name: username,
        more: email,
        icon: UserRound,
        run: () => void router.navigate({ to: '/users', search: { open: username } }),
      })),
    ];
  }, [servers, groups, keys, users, router, reload, t]);
}

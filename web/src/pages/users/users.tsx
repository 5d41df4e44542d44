import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { LogOut, Pencil, Plus, ShieldOff, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { groupsQuery, useMe, usersQuery } from '../../api/queries.ts';
import type { User } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { guess, useAction } from '../../lib/action.ts';
import { date, many } from '../../lib/format.ts';
import { matches } from '../../lib/search.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Empty, Loading, Page } from '../../ui/page.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { toast } from '../../ui/toast.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { UserForm } from './user-form.tsx';

const route = getRouteApi('/shell/admin/users');

export function Users() {
  const { t } = useTranslation();
  const users = useQuery(usersQuery);
  const [opened, setOpen] = useState<'new' | User>();
  const { open: asked } = route.useSearch();
  const navigate = useNavigate({ from: '/users' });
  const linked = asked === 'new' ? asked : users.data?.find(({ username }) => username === asked);
  const open = opened ?? (boot.readonly ? undefined : linked);
  const close = () => {
    setOpen(undefined);
    if (asked !== undefined) void navigate({ search: {}, replace: true });
  };
  const [q, setQ] = useState('');
  const found = (users.data ?? []).filter(({ username, email }) => matches(q, username, email));
  const admins = users.data?.filter(({ isAdmin }) => isAdmin).length ?? 0;
  return (
    <Page
      title={t('nav.users')}
      lead={t('users.lead')}
      actions={
        !boot.readonly && (
          <Button look="primary" icon={Plus} onClick={() => setOpen('new')}>
            {t('users.add')}
          </Button>
        )
      }
    >
      {users.error ? (
        <Failure error={users.error} retry={() => void users.refetch()} />
      ) : users.data ? (
        <>
          <div className="flex flex-wrap items-center gap-3">
            <SearchBox className="max-w-80 flex-1" label={t('users.search')} value={q} onChange={setQ} />
            <p className="text-soft text-xs">{t('users.count', { ...many(users.data.length), admins })}</p>
          </div>
          <div className="panel">
            {found.length === 0 ? (
              <Empty title={t('common.nothingFound')}>
                <Button onClick={() => setQ('')}>{t('common.clearFilters')}</Button>
              </Empty>
            ) : (
              <VirtualList
                label={t('nav.users')}
                items={found}
                keyOf={({ username }) => username}
                height={60}
                render={(user) => <UserRow user={user} onEdit={() => setOpen(user)} />}
              />
            )}
          </div>
        </>
      ) : (
        <Loading />
      )}
      {open !== undefined && (
        <UserForm
          user={open === 'new' ? undefined : (users.data?.find(({ username }) => username === open.username) ?? open)}
          lastAdmin={open !== 'new' && open.isAdmin && admins === 1}
          onClose={close}
        />
      )}
    </Page>
  );
}

function UserRow({ user, onEdit }: { readonly user: User; readonly onEdit: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const { data: groups = [] } = useQuery(groupsQuery);
  const { username, isAdmin, email, createdAt } = user;
  const remove = useDeleteUser();
  const logOut = useLogOut();
  const resetFactor = useResetFactor();
  const names = user.groups.map((id) => groups.find((group) => group.id === id)?.name ?? id);
  const reach = [...names, ...user.servers].join(', ');
  return (
    <div className="flex items-center gap-3 px-4 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2 text-sm font-medium break-all">
          {username}
          {isAdmin && <Badge tone="accent">{t('account.admin')}</Badge>}
          {me.username === username && <Badge>{t('users.you')}</Badge>}
          {user.secondFactor === true && <Badge tone="good">{t('factor.title')}</Badge>}
        </p>
        <p className="text-soft line-clamp-3 text-xs wrap-anywhere">
          {isAdmin ? t('users.reachAll') : reach || t('users.noReach')}
        </p>
      </div>
      <p className="text-soft hidden text-right text-xs sm:block">
        {email}
        {createdAt !== undefined && <span className="block">{t('users.created', { when: date(createdAt) })}</span>}
      </p>
      {!boot.readonly && (
        <>
          <IconButton icon={Pencil} label={t('users.edit', { name: username })} onClick={onEdit} />
          {user.secondFactor === true && me.username !== username && (
            <IconButton
              icon={ShieldOff}
              label={t('factor.reset', { name: username })}
              onClick={() => void resetFactor(username)}
            />
          )}
          {me.username !== username && (
            <IconButton
              icon={LogOut}
              label={t('users.logOut', { name: username })}
              onClick={() => void logOut(username)}
            />
          )}
          {me.username === username ? (
            // It can be pointed at and reached by keyboard, so that it can say why not.
            <IconButton
              icon={Trash2}
              label={`${t('common.delete')} ${username}: ${t('users.notYourself')}`}
              aria-disabled
              className="!cursor-not-allowed opacity-50"
            />
          ) : (
            <IconButton
              icon={Trash2}
              label={`${t('common.delete')} ${username}`}
              onClick={() => void remove(username)}
            />
          )}
        </>
      )}
    </div>
  );
}

function useDeleteUser() {
  const { t } = useTranslation();
  const remove = useAction<string>({
    run: (username) => ask(`/users${pathOf(username)}`, { method: 'DELETE' }),
    at: (username) => [
      guess<readonly User[]>(usersQuery.queryKey, (all) => all.filter((user) => user.username !== username)),
    ],
    done: (_result, name) => toast.good(t('users.deleted', { name })),
  });
  return async (name: string) => {
    const title = t('users.deleteTitle', { name });
    if (await confirm({ title, text: t('users.deleteText'), action: t('common.delete') })) remove.mutate(name);
  };
}

/** Ends the user's sessions in browsers. */
function useLogOut() {
  const { t } = useTranslation();
  const end = useAction<string>({
    run: (username) => ask(`/users${pathOf(username)}/sessions`, { method: 'DELETE' }),
    done: (_result, name) => toast.good(t('users.loggedOut', { name })),
  });
  return async (name: string) => {
    const title = t('users.logOutTitle', { name });
    if (await confirm({ title, text: t('users.logOutText'), action: t('users.logOutAction') })) end.mutate(name);
  };
}

/** For a user who has lost it. */
function useResetFactor() {
  const { t } = useTranslation();
  const reset = useAction<string>({
    run: (username) => ask(`/users${pathOf(username)}/second-factor`, { method: 'DELETE' }),
    done: (_result, name) => toast.good(t('factor.wasReset', { name })),
  });
  return async (name: string) => {
    const title = t('factor.resetTitle', { name });
    if (await confirm({ title, text: t('factor.resetText'), action: t('factor.resetAction') })) reset.mutate(name);
  };
}

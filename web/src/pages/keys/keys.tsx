import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { KeyRound, Pencil, Plus, RefreshCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { groupsQuery, keysQuery, useMe } from '../../api/queries.ts';
import type { Key } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { guess, useAction } from '../../lib/action.ts';
import { dateTime, isPast, isWithin, relative } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Empty, Loading, Page } from '../../ui/page.tsx';
import { Switch } from '../../ui/switch.tsx';
import { toast } from '../../ui/toast.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { KeyForm, MadeKey } from './key-form.tsx';
import { RotateKey } from './rotate-key.tsx';

const route = getRouteApi('/shell/keys');

export function Keys() {
  const { t } = useTranslation();
  const me = useMe();
  const keys = useQuery(keysQuery);
  const [opened, setOpen] = useState<'new' | Key>();
  const { open: asked } = route.useSearch();
  const navigate = useNavigate({ from: '/keys' });
  const linked = asked === 'new' ? asked : keys.data?.find(({ id }) => id === asked);
  const open = opened ?? (boot.readonly ? undefined : linked);
  const close = () => {
    setOpen(undefined);
    if (asked !== undefined) void navigate({ search: {}, replace: true });
  };
  const [rotating, setRotating] = useState<Key>();
  const [made, setMade] = useState<Key>();
  const button = !boot.readonly && (
    <Button look="primary" icon={Plus} onClick={() => setOpen('new')}>
      {t('keys.add')}
    </Button>
  );
  return (
    <Page title={t('nav.keys')} lead={t(me.isAdmin ? 'keys.lead' : 'keys.leadOwn')} actions={button}>
      <div className="panel">
        {keys.error ? (
          <Failure error={keys.error} retry={() => void keys.refetch()} />
        ) : !keys.data ? (
          <Loading />
        ) : keys.data.length === 0 ? (
          <Empty icon={KeyRound} title={t('keys.emptyTitle')} text={t('keys.emptyText')}>
            {button}
          </Empty>
        ) : (
          <VirtualList
            label={t('nav.keys')}
            items={keys.data}
            keyOf={({ id }) => id}
            height={60}
            render={(key) => <KeyRow entry={key} onEdit={() => setOpen(key)} onRotate={() => setRotating(key)} />}
          />
        )}
      </div>
      {open !== undefined && (
        <KeyForm
          entry={open === 'new' ? undefined : (keys.data?.find(({ id }) => id === open.id) ?? open)}
          onClose={close}
          onMade={(key) => {
            close();
            setMade(key);
          }}
        />
      )}
      {rotating && (
        <RotateKey
          entry={rotating}
          onClose={() => setRotating(undefined)}
          onMade={(key) => {
            setRotating(undefined);
            setMade(key);
          }}
        />
      )}
      {made && <MadeKey entry={made} onClose={() => setMade(undefined)} />}
    </Page>
  );
}

interface KeyRowProps {
  readonly entry: Key;
  readonly onEdit: () => void;
  readonly onRotate: () => void;
}

function KeyRow({ entry, onEdit, onRotate }: KeyRowProps) {
  const { t } = useTranslation();
  const { id, name, token, enabled, kind, owner, allowedAddresses, lastUsedAt, previousUntil } = entry;
  const toggle = useAction<boolean>({
    run: (on) => ask(`/auth/keys${pathOf(id)}`, { method: 'PUT', body: { enabled: on } }),
    at: (on) => [
      guess<readonly Key[]>(keysQuery.queryKey, (all) =>
        all.map((key) => (key.id === id ? { ...key, enabled: on } : key)),
      ),
    ],
  });
  const remove = useAction({
    run: () => ask(`/auth/keys${pathOf(id)}`, { method: 'DELETE' }),
    at: () => [guess<readonly Key[]>(keysQuery.queryKey, (all) => all.filter((key) => key.id !== id))],
    done: () => toast.good(t('keys.deleted', { name })),
  });
  const askFirst = async () => {
    const title = t('keys.deleteTitle', { name });
    if (await confirm({ title, text: t('keys.deleteText'), action: t('common.delete') })) remove.mutate();
  };
  return (
    <div className="flex items-center gap-3 px-4 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2 text-sm font-medium break-all">
          {name}
          <Badge>{kind === 'user' ? t('keys.ofUser', { owner: owner ?? '' }) : t('keys.ofHub')}</Badge>
          {entry.readOnly && <Badge>{t('keys.onlyReads')}</Badge>}
          <Expiry at={entry.expiresAt} />
        </p>
        <p className="text-soft text-xs wrap-anywhere">
          <code>{token}</code> · <Opens entry={entry} />
          {lastUsedAt !== undefined && ` · ${t('keys.used', { when: relative(lastUsedAt) })}`}
          {allowedAddresses.length > 0 && ` · ${t('keys.fromAddresses', { addresses: allowedAddresses.join(', ') })}`}
          {previousUntil !== undefined &&
            !isPast(previousUntil) &&
            ` · ${t('keys.previousUntil', { time: dateTime(previousUntil) })}`}
        </p>
      </div>
      {!boot.readonly && (
        <>
          <Switch label={t('keys.enable', { name })} checked={enabled} onChange={(on) => toggle.mutate(on)} />
          <IconButton icon={RefreshCw} label={t('keys.rotate', { name })} onClick={onRotate} />
          <IconButton icon={Pencil} label={t('keys.edit', { name })} onClick={onEdit} />
          <IconButton icon={Trash2} label={`${t('common.delete')} ${name}`} onClick={() => void askFirst()} />
        </>
      )}
    </div>
  );
}

/** What ends within this is said to end soon. */
const soonMs = 7 * 86_400_000;

function Expiry({ at }: { readonly at: string | undefined }) {
  const { t } = useTranslation();
  if (at === undefined) return null;
  if (isPast(at)) return <Badge tone="bad">{t('keys.expired')}</Badge>;
  if (isWithin(at, soonMs)) return <Badge tone="warn">{t('keys.endsSoon', { when: relative(at) })}</Badge>;
  return <Badge>{t('keys.expiresAt', { time: dateTime(at) })}</Badge>;
}

function Opens({ entry: { kind, owner, accessType, allowedGroups, allowedServers } }: { readonly entry: Key }) {
  const { t } = useTranslation();
  const me = useMe();
  const { data: groups = [] } = useQuery(groupsQuery);
  if (kind === 'user') return owner === me.username ? t('keys.own') : t('keys.asOwner', { owner: owner ?? '' });
  if (accessType === 'all') return t('keys.all');
  const names = allowedGroups.map((id) => groups.find((group) => group.id === id)?.name ?? id);
  const opened = [...(accessType === 'servers' ? [] : names), ...(accessType === 'groups' ? [] : allowedServers)];
  return opened.join(', ') || t('common.none');
}

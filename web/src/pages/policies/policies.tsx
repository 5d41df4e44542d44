import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Eye, Pencil, Plus, ScrollText, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { systemQuery } from '../../api/system.ts';
import type { Policy } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { guess, useAction } from '../../lib/action.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx';
import { Switch } from '../../ui/switch.tsx';
import { toast } from '../../ui/toast.tsx';
import { PolicyForm } from './policy-form.tsx';
import { changePolicies, policiesQuery } from './queries.ts';
import { Warnings, warningsOf } from './simulation.tsx';
import { Why } from './why.tsx';

const route = getRouteApi('/shell/admin/policies');

/** Policies about calls, and why a call is allowed or not: for admins. */
export function Policies() {
  const { t } = useTranslation();
  const found = useQuery(policiesQuery);
  const { data: system } = useQuery(systemQuery);
  const [opened, setOpened] = useState<'new' | Policy>();
  const { open: asked } = route.useSearch();
  const navigate = useNavigate({ from: '/policies' });
  const linked = asked === 'new' ? (boot.readonly ? undefined : asked) : found.data?.find(({ id }) => id === asked);
  const open = opened ?? linked;
  const close = () => {
    setOpened(undefined);
    if (asked !== undefined) void navigate({ search: {}, replace: true });
  };
  const add = !boot.readonly && (
    <Button look="primary" icon={Plus} onClick={() => setOpened('new')}>
      {t('policies.add')}
    </Button>
  );
  const policies = found.data ?? [];
  const folder = system?.policyFolder;
  return (
    <Page title={t('nav.policies')} lead={t('policies.lead')} actions={add}>
      {boot.readonly && <p className="text-warn text-sm">{t('app.readonlyHint')}</p>}
      <Panel title={t('policies.list')} flush {...(folder && { lead: t('policies.folder', { folder }) })}>
        {found.error ? (
          <Failure error={found.error} retry={() => void found.refetch()} />
        ) : !found.data ? (
          <Loading />
        ) : policies.length === 0 ? (
          <Empty icon={ScrollText} title={t('policies.emptyTitle')} text={t('policies.emptyText')} />
        ) : (
          <ul className="divide-line divide-y">
            {policies.map((policy) => (
              <Row key={`${policy.source} ${policy.id}`} policy={policy} onOpen={() => setOpened(policy)} />
            ))}
          </ul>
        )}
      </Panel>
      <Why />
      {open !== undefined && (
        <PolicyForm
          key={open === 'new' ? '' : open.id}
          policy={open === 'new' ? undefined : (policies.find(({ id }) => id === open.id) ?? open)}
          onClose={close}
        />
      )}
    </Page>
  );
}

function Row({ policy, onOpen }: { readonly policy: Policy; readonly onOpen: () => void }) {
  const { t } = useTranslation();
  const { id, enabled, source, concerns, asks } = policy;
  const isFixed = source === 'file' || boot.readonly;
  const turn = useTurning(id);
  const remove = useRemoving(id);
  return (
    <li className="flex flex-col gap-2 px-4 py-3" aria-label={id}>
      <div className="flex items-center gap-3">
        {source === 'settings' && (
          <Switch
            checked={enabled}
            label={t('policies.turn', { name: id })}
            disabled={boot.readonly}
            onChange={(next) => turn.mutate(next)}
          />
        )}
        <div className="min-w-0 flex-1">
          <p className="flex flex-wrap items-center gap-2 text-sm font-medium wrap-anywhere">
            {id}
            {source === 'file' && <Badge>{t('policies.file')}</Badge>}
            {!enabled && <Badge>{t('common.off')}</Badge>}
            {asks.map((who) => (
              <Badge key={who} tone="accent">
                {who === 'caller'
                  ? t('policies.asksCaller')
                  : who === 'admin'
                    ? t('approvals.admins')
                    : t('approvals.group', { group: who })}
              </Badge>
            ))}
          </p>
          <p className="text-soft text-xs wrap-anywhere">
            {concerns.length === 0 ? t('policies.everything') : t('policies.concerns', { names: concerns.join(', ') })}
          </p>
        </div>
        <IconButton
          icon={isFixed ? Eye : Pencil}
          label={t(isFixed ? 'policies.look' : 'policies.edit', { name: id })}
          onClick={onOpen}
        />
        {!isFixed && <IconButton icon={Trash2} label={`${t('common.delete')} ${id}`} onClick={() => void remove()} />}
      </div>
      <Warnings warnings={warningsOf(policy)} />
    </li>
  );
}

function useTurning(name: string) {
  return useAction<boolean>({
    run: (enabled) => changePolicies((now) => now.map((each) => (each.id === name ? { ...each, enabled } : each))),
    at: (enabled) => [
      guess<readonly Policy[]>(policiesQuery.queryKey, (all) =>
        all.map((each) => (each.id === name ? { ...each, enabled } : each)),
      ),
    ],
  });
}

function useRemoving(name: string) {
  const { t } = useTranslation();
  const remove = useAction({
    run: () => changePolicies((now) => now.filter(({ id }) => id !== name)),
    at: () => [guess<readonly Policy[]>(policiesQuery.queryKey, (all) => all.filter(({ id }) => id !== name))],
    done: () => toast.good(t('policies.deleted', { name })),
  });
  return async () => {
    const title = t('policies.deleteTitle', { name });
    if (await confirm({ title, text: t('policies.deleteText'), action: t('common.delete') })) remove.mutate();
  };
}

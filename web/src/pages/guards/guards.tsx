import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ArrowDown, ArrowUp, FlaskConical, Pencil, Plus, ShieldCheck, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { systemQuery } from '../../api/system.ts';
import type { GuardState, JsonObject } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { useAction } from '../../lib/action.ts';
import { relative } from '../../lib/format.ts';
import { useNow } from '../../lib/now.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx';
import { Switch } from '../../ui/switch.tsx';
import { useKept } from '../../lib/kept.ts';
import { draftOf, moved, nameOf, placeOf } from './guard-draft.ts';
import { GuardForm } from './guard-form.tsx';
import { changeGuards, guardStatesQuery } from './queries.ts';
import { TryGuard } from './try-guard.tsx';

const route = getRouteApi('/shell/admin/settings/guards');

/** Webhooks that look at calls and results, in their order. */
export function Guards() {
  const { t } = useTranslation();
  const system = useQuery(systemQuery);
  const { data: states = [] } = useQuery(guardStatesQuery);
  const { open } = route.useSearch();
  const navigate = useNavigate({ from: '/settings/guards' });
  const [trying, setTrying] = useState<string>();
  const show = (name: string | undefined) => void navigate({ search: { open: name }, replace: true });
  const guards = system.data?.guards ?? [];
  const opened = useKept(
    open,
    guards.map((guard, index) => ({ guard, name: nameOf(guard, index) })).find(({ name }) => name === open),
  );
  const now = opened && guards[placeOf(guards, opened.guard)];
  return (
    <Page
      title={t('nav.guards')}
      lead={t('guards.lead')}
      actions={
        !boot.readonly && (
          <Button look="primary" icon={Plus} onClick={() => show('+')}>
            {t('guards.add')}
          </Button>
        )
      }
    >
      {boot.readonly && <p className="text-warn text-sm">{t('app.readonlyHint')}</p>}
      <Panel flush title={t('guards.list')} lead={t('guards.listLead')}>
        {system.error ? (
          <Failure error={system.error} retry={() => void system.refetch()} />
        ) : !system.data ? (
          <Loading />
        ) : guards.length === 0 ? (
          <Empty icon={ShieldCheck} title={t('guards.empty')} text={t('guards.emptyText')} />
        ) : (
          <ol className="divide-line divide-y" aria-label={t('guards.list')}>
            {guards.map((guard, index) => (
              <Row
                key={nameOf(guard, index)}
                guard={guard}
                index={index}
                count={guards.length}
                state={states.find((one) => one.guard === nameOf(guard, index))}
                onOpen={() => show(nameOf(guard, index))}
                onTry={() => setTrying(nameOf(guard, index))}
              />
            ))}
          </ol>
        )}
      </Panel>
      {!boot.readonly && (open === '+' || opened) && (
        <GuardForm key={open} opened={opened} now={now} onClose={() => show(undefined)} />
      )}
      {trying !== undefined && <TryGuard name={trying} onClose={() => setTrying(undefined)} />}
    </Page>
  );
}

interface RowProps {
  readonly guard: JsonObject;
  readonly index: number;
  readonly count: number;
  readonly state: GuardState | undefined;
  readonly onOpen: () => void;
  readonly onTry: () => void;
}

function Row({ guard, index, count, state, onOpen, onTry }: RowProps) {
  const { t } = useTranslation();
  const now = useNow(60_000);
  const name = nameOf(guard, index);
  const { url, calls, results, servers, onFailure, enabled } = draftOf(guard);
  const change = useAction<(all: readonly JsonObject[], place: number) => readonly JsonObject[]>({
    run: (edit) =>
      changeGuards((all) => {
        const place = placeOf(all, guard);
        if (place === -1) throw new Error(t('guards.gone', { name }));
        return edit(all, place);
      }),
  });
  const turn = (next: boolean) =>
    change.mutate((all, place) => all.map((one, i) => (i === place ? { ...one, enabled: next } : one)));
  const move = (by: -1 | 1) => change.mutate((all, place) => moved(all, place, by));
  const remove = async () => {
    const title = t('guards.deleteTitle', { name });
    if (await confirm({ title, text: t('guards.deleteText'), action: t('common.delete') }))
      change.mutate((all, place) => all.filter((_, i) => i !== place));
  };
  const looksAt = [calls && t('guards.calls'), results && t('guards.results')].filter(Boolean).join(', ');
  return (
    <li className="flex flex-wrap items-center gap-3 px-4 py-2.5">
      <Switch
        checked={enabled}
        label={t('servers.enable', { name })}
        disabled={boot.readonly || change.isPending}
        onChange={turn}
      />
      <div className="min-w-0 flex-1 basis-48">
        <p className="flex flex-wrap items-center gap-2 text-sm font-medium wrap-anywhere">
          {name}
          {enabled && state?.failing !== undefined && <Badge tone="bad">{t('guards.failing')}</Badge>}
          {onFailure === 'allow' && <Badge tone="warn">{t('guards.allows')}</Badge>}
        </p>
        <p className="text-soft text-xs wrap-anywhere">
          {[url, looksAt, servers.replaceAll('\n', ', ') || t('guards.allServers')].join(' · ')}
        </p>
        {enabled && state?.failing !== undefined && (
          <p className="text-bad text-xs wrap-anywhere">
            {t('guards.failed', {
              why: t(`guards.whys.${state.code ?? 'unreachable'}`),
              when: relative(state.since ?? '', now),
            })}
          </p>
        )}
      </div>
      <div className="flex gap-1">
        {enabled && <IconButton icon={FlaskConical} label={t('guards.try', { name })} onClick={onTry} />}
        {!boot.readonly && (
          <>
            <IconButton
              icon={ArrowUp}
              label={t('guards.up', { name })}
              disabled={index === 0 || change.isPending}
              onClick={() => move(-1)}
            />
            <IconButton
              icon={ArrowDown}
              label={t('guards.down', { name })}
              disabled={index === count - 1 || change.isPending}
              onClick={() => move(1)}
            />
            <IconButton icon={Pencil} label={`${t('common.edit')} ${name}`} onClick={onOpen} />
            <IconButton icon={Trash2} label={`${t('common.delete')} ${name}`} onClick={() => void remove()} />
          </>
        )}
      </div>
    </li>
  );
}

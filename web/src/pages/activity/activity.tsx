import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Activity as ActivityIcon } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/queries.ts';
import { activitiesQuery, choicesQuery, type Span, spans, timelineQuery } from '../../api/records.ts';
import type { ActivityStatus } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Select } from '../../ui/field.tsx';
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx';
import { CallsChart, LatencyChart } from '../overview/charts.tsx';
import { CallDetails } from './call-details.tsx';
import { CallTable } from './call-table.tsx';

const route = getRouteApi('/shell/activity');
const statuses: readonly ActivityStatus[] = ['success', 'error', 'cancelled', 'timeout', 'refused'];
const names = Object.keys(spans) as Span[];
const filters = ['server', 'tool', 'status', 'username', 'group', 'keyName'] as const;

function useFilter() {
  const search = route.useSearch();
  const filter = Object.fromEntries(filters.flatMap((key) => (search[key] === undefined ? [] : [[key, search[key]]])));
  return { filter, span: names.find((name) => name === search.since) ?? '24h' };
}

export function ActivityPage() {
  const { t } = useTranslation();
  const me = useMe();
  const navigate = useNavigate({ from: '/activity' });
  const { page: pageText = '1', call } = route.useSearch();
  const { filter, span } = useFilter();
  const page = Math.max(1, Math.trunc(Number(pageText)) || 1);
  const timeline = useQuery(timelineQuery(span, filter));
  const calls = useQuery(activitiesQuery(span, filter, page));
  const filtered = Object.keys(filter).length > 0;
  const show = (id: string | undefined) => void navigate({ search: (old) => ({ ...old, call: id }) });
  return (
    <Page title={t('nav.activity')} lead={t(me.isAdmin ? 'activity.lead' : 'activity.leadOwn')}>
      <Filters admin={me.isAdmin} />
      <div className="grid gap-5 lg:grid-cols-2">
        <Panel title={t('overview.callsChart')}>
          {timeline.data ? <CallsChart buckets={timeline.data.buckets} /> : <Loading rows={3} />}
        </Panel>
        <Panel title={t('overview.latencyChart')}>
          {timeline.data ? <LatencyChart buckets={timeline.data.buckets} /> : <Loading rows={3} />}
        </Panel>
      </div>
      <div className="panel overflow-hidden">
        {calls.error ? (
          <Failure error={calls.error} retry={() => void calls.refetch()} />
        ) : !calls.data ? (
          <Loading rows={6} />
        ) : calls.data.data.length === 0 ? (
          <Empty
            icon={ActivityIcon}
            title={t(filtered ? 'activity.none' : 'activity.emptyTitle')}
            text={filtered ? undefined : t('activity.emptyText')}
          >
            {filtered && (
              <Button onClick={() => void navigate({ search: { since: span } })}>{t('common.clearFilters')}</Button>
            )}
          </Empty>
        ) : (
          <CallTable
            calls={calls.data.data}
            pagination={calls.data.pagination}
            onShow={show}
            onPage={(next) => void navigate({ search: (old) => ({ ...old, page: String(next) }) })}
          />
        )}
      </div>
      {call !== undefined && <CallDetails id={call} onClose={() => show(undefined)} />}
    </Page>
  );
}

function Filters({ admin }: { readonly admin: boolean }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/activity' });
  const search = route.useSearch();
  const { span } = useFilter();
  const { data: choices } = useQuery(choicesQuery);
  const set = (part: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, page: undefined, ...part }), replace: true });
  const lists = [
    ['server', t('activity.server'), choices?.servers],
    ['tool', t('activity.tool'), choices?.tools],
    ['group', t('activity.group'), choices?.groups],
    ...(admin
      ? ([
          ['username', t('activity.user'), choices?.usernames],
          ['keyName', t('activity.key'), choices?.keyNames],
        ] as const)
      : []),
  ] as const;
  return (
    <div className="flex flex-wrap gap-2">
      <Select
        aria-label={t('overview.range')}
        value={span}
        onChange={(event) => set({ since: event.target.value })}
        options={names.map((value) => ({ value, label: t(`overview.${value}`) }))}
      />
      <Select
        aria-label={t('activity.status')}
        value={search.status ?? ''}
        onChange={(event) => set({ status: event.target.value })}
        options={[
          { value: '', label: `${t('activity.status')}: ${t('activity.any')}` },
          ...statuses.map((value) => ({ value, label: t(`activity.states.${value}`) })),
        ]}
      />
      {lists.map(([key, label, values = []]) => {
        const chosen = search[key];
        const offered = chosen === undefined || values.includes(chosen) ? values : [chosen, ...values];
        return offered.length === 0 ? null : (
          <Select
            key={key}
            aria-label={label}
            value={chosen ?? ''}
            onChange={(event) => set({ [key]: event.target.value })}
            options={[
              { value: '', label: `${label}: ${t('activity.any')}` },
              ...offered.map((value) => ({ value, label: value })),
            ]}
          />
        );
      })}
    </div>
  );
}

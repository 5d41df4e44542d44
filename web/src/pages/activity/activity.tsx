import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Activity as ActivityIcon, Radar, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/queries.ts';
import { activitiesQuery, type Period, type Span, spans, statsQuery, timelineQuery } from '../../api/records.ts';
import { count, dateTime, duration, many, percent } from '../../lib/format.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Charts } from '../../ui/chart.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Select } from '../../ui/field.tsx';
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { TabPanel, Tabs } from '../../ui/tabs.tsx';
import { CallsChart, LatencyChart, WithBuckets } from '../overview/charts.tsx';
import { Calls } from './calls.tsx';
import { Causes } from './causes.tsx';
import { Details } from './details.tsx';
import { allFailed, Filters, filterNames } from './filters.tsx';
import { Searches } from './searches.tsx';

const route = getRouteApi('/shell/activity');
const names = Object.keys(spans) as Span[];
const usual: Span = '24h';

/** Everything that was called and searched for; all of it is in the address. */
export function ActivityPage() {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  const { call, since, from, to, ...search } = route.useSearch();
  const kind = search.kind === 'search' ? 'search' : 'call';
  const navigate = useNavigate({ from: '/activity' });
  const lead = t(isAdmin ? 'activity.lead' : 'activity.leadOwn');
  return (
    <Page title={t('nav.activity')} lead={lead} actions={<PeriodChoice />}>
      <Tabs
        label={t('nav.activity')}
        value={kind}
        onChange={(next) =>
          void navigate({ search: { since, from, to, kind: next === 'search' ? next : undefined }, replace: true })
        }
        tabs={[
          { value: 'call', label: t('activity.calls') },
          { value: 'search', label: t('activity.searches') },
        ]}
      >
        {(['call', 'search'] as const).map((each) => (
          <TabPanel key={each} value={each} className="flex flex-col gap-5 pt-5">
            <Records kind={each} />
          </TabPanel>
        ))}
      </Tabs>
      {call !== undefined && (
        <Details id={call} onClose={() => void navigate({ search: (old) => ({ ...old, call: undefined }) })} />
      )}
    </Page>
  );
}

/** A time that was chosen in a chart, or how far back. */
function PeriodChoice() {
  const { t } = useTranslation();
  const { span, period } = useFilter();
  const navigate = useNavigate({ from: '/activity' });
  const goTo = (since: string, replace: boolean) =>
    void navigate({ search: (old) => ({ ...old, since, from: undefined, to: undefined, page: undefined }), replace });
  const isChosen = typeof period !== 'string';
  return (
    <>
      {isChosen && (
        <Button onClick={() => goTo(span, false)} title={t('activity.allTimes')}>
          <span className="tabular-nums">
            {t('activity.fromTo', { first: dateTime(period.from), last: dateTime(period.to) })}
          </span>
          <X size={15} aria-hidden />
          <span className="sr-only">{t('activity.allTimes')}</span>
        </Button>
      )}
      <Select
        aria-label={t('overview.range')}
        value={isChosen ? '' : span}
        onChange={({ target: { value } }) => goTo(value, true)}
        options={[
          ...(isChosen ? [{ value: '', label: t('activity.chosenTime') }] : []),
          ...names.map((value) => ({ value, label: t(`overview.${value}`) })),
        ]}
      />
    </>
  );
}

function useFilter() {
  const search = route.useSearch();
  const span = names.find((name) => name === search.since) ?? usual;
  const [from, to] = [Date.parse(search.from ?? ''), Date.parse(search.to ?? '')];
  const period: Period = from <= to ? { from: new Date(from).toISOString(), to: new Date(to).toISOString() } : span;
  const chosen = Object.fromEntries(filterNames.map((name) => [name, search[name]]));
  const filter = search.status === allFailed ? { ...chosen, status: undefined, failed: 'true' } : chosen;
  const narrowed = typeof period !== 'string' || filterNames.some((name) => search[name] !== undefined);
  return { span, period, filter, narrowed, page: Math.max(1, Math.floor(Number(search.page ?? 1)) || 1) };
}

function Records({ kind }: { readonly kind: 'call' | 'search' }) {
  const { period, filter } = useFilter();
  const navigate = useNavigate({ from: '/activity' });
  const open = (id: string) => void navigate({ search: (old) => ({ ...old, call: id }) });
  return (
    <>
      {kind === 'call' ? (
        <CallCharts period={period} filter={filter} />
      ) : (
        <SearchNumbers period={period} filter={filter} />
      )}
      <div className="flex flex-wrap gap-2">
        <Filters searches={kind === 'search'} />
      </div>
      {kind === 'call' && <Causes period={period} filter={filter} onOpen={open} />}
      <List kind={kind} />
    </>
  );
}

type Chosen = Pick<ReturnType<typeof useFilter>, 'period' | 'filter'>;

function CallCharts({ period, filter }: Chosen) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/activity' });
  const timeline = useQuery(timelineQuery(period, filter));
  const stats = useQuery(statsQuery(period, filter));
  const buckets = timeline.data?.buckets;
  const { totalCalls = 0, errorCount = 0, avgDuration = 0 } = stats.data ?? {};
  // A line that is there before its words are.
  const blank = '\u00a0';
  const failed = `${t('overview.failed', { number: count(errorCount) })} (${percent(errorCount / totalCalls)})`;
  const pick = (from: string, to: string) =>
    void navigate({ search: (old) => ({ ...old, from, to, page: undefined }), resetScroll: false });
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Charts onPick={pick}>
        <Panel
          title={t('overview.callsChart')}
          lead={totalCalls > 0 ? `${t('activity.sum', many(totalCalls))}, ${failed}` : blank}
        >
          <WithBuckets buckets={buckets} show={CallsChart} />
        </Panel>
        <Panel
          title={t('overview.latencyChart')}
          lead={totalCalls > 0 ? t('activity.mean', { duration: duration(avgDuration) }) : blank}
        >
          <WithBuckets buckets={buckets} show={LatencyChart} />
        </Panel>
      </Charts>
    </div>
  );
}

/** Whether searches lead to calls: many that do not point at descriptions that do not say what a tool does. */
function SearchNumbers({ period, filter }: Chosen) {
  const { t } = useTranslation();
  const { data } = useQuery(statsQuery(period, filter));
  const search = data?.search;
  if (!search || search.searches === 0) return null;
  const { searches, empty, used, meanRank, firstShare } = search;
  const numbers = [
    [t('activity.searches'), count(searches), ''],
    [t('activity.usedSearches'), count(used), percent(used / searches)],
    [t('activity.emptySearches'), count(empty), percent(empty / searches)],
    [
      t('activity.meanRank'),
      used > 0 ? String(Math.round(meanRank * 10) / 10) : '–',
      used > 0 ? t('activity.firstShare', { share: percent(firstShare) }) : '',
    ],
  ] as const;
  return (
    <dl className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      {numbers.map(([name, value, more]) => (
        <div key={name} className="panel flex flex-col px-4 py-3">
          <dt className="text-soft text-xs font-medium">{name}</dt>
          <dd>
            <span className="text-2xl font-semibold tracking-tight tabular-nums">{value}</span>
            <span className="text-soft block min-h-4 text-xs">{more}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function List({ kind }: { readonly kind: 'call' | 'search' }) {
  const { t } = useTranslation();
  const { period, filter, narrowed, page } = useFilter();
  const navigate = useNavigate({ from: '/activity' });
  const list = useQuery(activitiesQuery(period, { ...filter, kind }, page));
  if (list.error) return <Failure error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Loading rows={8} />;
  const { data: rows, pagination } = list.data;
  const open = (id: string) => void navigate({ search: (old) => ({ ...old, call: id }) });
  const turn = (next: number) => void navigate({ search: (old) => ({ ...old, page: String(next) }) });
  const Rows = kind === 'call' ? Calls : Searches;
  return (
    <div className="panel overflow-x-auto">
      {list.data.incomplete === true && (
        <p role="status" className="text-soft border-line border-b px-3 py-1 text-xs">
          {t('activity.incomplete')}
        </p>
      )}
      {rows.length === 0 ? (
        <Nothing kind={kind} narrowed={narrowed || page > 1} />
      ) : (
        <>
          <Rows rows={rows} onOpen={open} />
          <Pager
            pagination={pagination}
            onPage={turn}
            text={t(kind === 'call' ? 'activity.page' : 'activity.searchPage', {
              page: count(pagination.page),
              pages: count(pagination.totalPages),
              ...many(pagination.total),
            })}
          />
        </>
      )}
    </div>
  );
}

function Nothing({ kind, narrowed }: { readonly kind: 'call' | 'search'; readonly narrowed: boolean }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/activity' });
  if (narrowed) {
    return (
      <Empty title={t('common.nothingFound')}>
        <Button onClick={() => void navigate({ search: ({ since, kind }) => ({ since, kind }), replace: true })}>
          {t('common.clearFilters')}
        </Button>
      </Empty>
    );
  }
  if (kind === 'search') {
    return <Empty icon={Radar} title={t('activity.noSearches')} text={t('activity.noSearchesText')} />;
  }
  return (
    <Empty icon={ActivityIcon} title={t('activity.emptyTitle')} text={t('activity.emptyText')}>
      <Link to="/tools" className={buttonClass('primary')}>
        {t('nav.tools')}
      </Link>
    </Empty>
  );
}

import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Activity as ActivityIcon, Radar } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/queries.ts';
import { activitiesQuery, statsQuery } from '../../api/records.ts';
import { count, many, percent } from '../../lib/format.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Empty, Loading, Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { TabPanel, Tabs } from '../../ui/tabs.tsx';
import { CallCharts } from './call-charts.tsx';
import { Calls } from './calls.tsx';
import { Causes } from './causes.tsx';
import { Details } from './details.tsx';
import { Filters } from './filters.tsx';
import { type Chosen, PeriodChoice, useFilter } from './period.tsx';
import { Searches } from './searches.tsx';

const route = getRouteApi('/shell/activity');
const Patterns = lazy(() => import('./patterns.tsx').then(({ Patterns }) => ({ default: Patterns })));

const kinds = ['call', 'search', 'patterns'] as const;

/** Everything that was called and searched for; all of it is in the address. */
export function ActivityPage() {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  const { call, since, from, to, ...search } = route.useSearch();
  const kind = kinds.find((each) => each === search.kind) ?? 'call';
  const navigate = useNavigate({ from: '/activity' });
  const ids = useIds(kind);
  const open = (id: string) => void navigate({ search: (old) => ({ ...old, call: id }), replace: true });
  const lead = t(isAdmin ? 'activity.lead' : 'activity.leadOwn');
  return (
    <Page title={t('nav.activity')} lead={lead} actions={<PeriodChoice />}>
      <Tabs
        label={t('nav.activity')}
        value={kind}
        onChange={(next) =>
          void navigate({
            search: (old) => ({
              // Searches are of no server and of no tool.
              ...(next === 'search' || kind === 'search' ? { since, from, to } : { ...old, page: undefined }),
              kind: next === 'call' ? undefined : next,
            }),
            replace: true,
          })
        }
        tabs={[
          { value: 'call', label: t('activity.calls') },
          { value: 'search', label: t('activity.searches') },
          { value: 'patterns', label: t('activity.patterns') },
        ]}
      >
        {kinds.map((each) => (
          <TabPanel key={each} value={each} className="flex flex-col gap-5 pt-5">
            <Records kind={each} />
          </TabPanel>
        ))}
      </Tabs>
      {call !== undefined && (
        <Details
          id={call}
          ids={ids}
          onOpen={open}
          onClose={() => void navigate({ search: (old) => ({ ...old, call: undefined }) })}
        />
      )}
    </Page>
  );
}

/** The records that the page lists, in its order. */
function useIds(kind: (typeof kinds)[number]): readonly string[] {
  const { period, filter, page } = useFilter();
  const list = useQuery({ ...activitiesQuery(period, { ...filter, kind }, page), enabled: kind !== 'patterns' });
  return kind === 'patterns' ? [] : (list.data?.data ?? []).map(({ id }) => id);
}

function Records({ kind }: { readonly kind: (typeof kinds)[number] }) {
  const { period, filter } = useFilter();
  const navigate = useNavigate({ from: '/activity' });
  const open = (id: string) => void navigate({ search: (old) => ({ ...old, call: id }) });
  const filters = (
    <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      <Filters searches={kind === 'search'} />
    </div>
  );
  if (kind === 'patterns') {
    return (
      <>
        {filters}
        <Suspense fallback={<Loading rows={9} />}>
          <Patterns period={period} filter={filter} />
        </Suspense>
      </>
    );
  }
  return (
    <>
      {kind === 'call' ? (
        <CallCharts period={period} filter={filter} />
      ) : (
        <SearchNumbers period={period} filter={filter} />
      )}
      {filters}
      {kind === 'call' && <Causes period={period} filter={filter} onOpen={open} />}
      <List kind={kind} />
    </>
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

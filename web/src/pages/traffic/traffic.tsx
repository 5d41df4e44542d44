import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { List, Waypoints, X } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/queries.ts';
import { callsInterval, ofCalls } from '../../api/calls-news.ts';
import { askStats, type Span, spans } from '../../api/records.ts';
import type { ActivityStats } from '../../api/types.ts';
import { count, many } from '../../lib/format.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Select } from '../../ui/select.tsx';
import { Empty, Loading, Page } from '../../ui/page.tsx';
import { asSearch, type Chosen, columnsOf, useChosen } from './chosen.ts';
import { flowOf, type FlowNode, type FlowRow } from './flow.ts';
import { Picture, type Way } from './picture.tsx';

/** How many of each column are shown alone, and how many rows are asked for. */
const mostNodes = 12;
const mostRows = 500;

/** Who calls what through which endpoint, as one picture. */
export function Traffic() {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  return (
    <Page title={t('nav.traffic')} lead={t(isAdmin ? 'traffic.lead' : 'traffic.leadOwn')} actions={<PeriodChoice />}>
      <Shown />
    </Page>
  );
}

function PeriodChoice() {
  const { t } = useTranslation();
  const chosen = useChosen();
  const navigate = useNavigate();
  return (
    <Select
      aria-label={t('overview.range')}
      value={chosen.since}
      onChange={({ target }) =>
        void navigate({
          to: '/activity/traffic',
          search: asSearch({ ...chosen, since: target.value as Span }),
          replace: true,
        })
      }
      options={Object.keys(spans).map((value) => ({ value, label: t(`overview.${value as Span}`) }))}
    />
  );
}

/** With what was asked for: until the next answer comes, the one before is shown as what it is. */
const trafficQuery = (chosen: Chosen) => {
  const { since, ...filter } = asSearch(chosen);
  const grouped = { ...filter, groupBy: columnsOf(chosen).join(','), groups: String(mostRows) };
  return queryOptions({
    queryKey: ['traffic', since, grouped],
    queryFn: async ({ signal }) => ({
      chosen,
      rows: rowsOf(await askStats(since, grouped, signal), columnsOf(chosen)),
    }),
    refetchInterval: callsInterval,
    meta: ofCalls,
    placeholderData: keepPreviousData,
  });
};

function Shown() {
  const chosen = useChosen();
  const traffic = useQuery(trafficQuery(chosen));
  return (
    <>
      <Path chosen={chosen} />
      {traffic.error ? (
        <Failure error={traffic.error} retry={() => void traffic.refetch()} />
      ) : traffic.data ? (
        <Drawn {...traffic.data} />
      ) : (
        <Loading rows={10} />
      )}
    </>
  );
}

function Drawn({ chosen, rows }: { readonly chosen: Chosen; readonly rows: readonly FlowRow[] }) {
  const { t } = useTranslation();
  const words = useWords();
  const flow = useMemo(() => flowOf(rows, 3, mostNodes), [rows]);
  const columns = columnsOf(chosen);
  const sum = { calls: 0, failed: 0 };
  for (const { calls, failed } of rows) {
    sum.calls += calls;
    sum.failed += failed;
  }
  const titles = columns.map((column) => t(`traffic.column.${column}`));
  const nameOf = (node: FlowNode): string => {
    const column = columns[node.column] ?? 'server';
    return node.value === undefined ? t('traffic.others', many(node.values)) : words(column, node.value);
  };
  return (
    <section aria-label={t('nav.traffic')} className="panel p-4">
      {rows.length === 0 ? (
        <Nothing
          isNarrowed={chosen.client !== undefined || chosen.scope !== undefined || chosen.server !== undefined}
        />
      ) : (
        <>
          <p role="status" className="text-soft mb-3 text-xs">
            {t('traffic.sum', { ...many(sum.calls), failed: count(sum.failed) })}
          </p>
          <Picture flow={flow} titles={titles} nameOf={nameOf} wayOf={(node) => wayOf(chosen, node)} />
          <AsTable rows={rows} titles={titles} wordOf={(at, value) => words(columns[at] ?? 'server', value)} />
        </>
      )}
    </section>
  );
}

/** What the hub tells in groups, and what it does not tell apart. */
function rowsOf(stats: ActivityStats, columns: ReturnType<typeof columnsOf>): readonly FlowRow[] {
  const told = (stats.groups ?? []).map(({ calls, failed, ...values }): FlowRow => ({
    at: columns.map((column) => values[column] ?? ''),
    calls,
    failed,
  }));
  const { calls = 0, failed = 0 } = stats.others ?? {};
  return calls === 0 ? told : [...told, { at: columns.map(() => undefined), calls, failed }];
}

/** One step deeper: of what was not chosen yet the picture, of all else the calls. */
function wayOf(chosen: Chosen, { column, value }: FlowNode): Way | undefined {
  if (value === undefined) return undefined;
  const name = columnsOf(chosen)[column];
  if (name === 'tool') return { to: '/activity', search: { ...asSearch(chosen), tool: value } };
  if (name === undefined) return undefined;
  if (chosen[name] !== undefined) return { to: '/activity', search: asSearch(chosen) };
  return { to: '/activity/traffic', search: asSearch({ ...chosen, [name]: value }) };
}

/** The names of values, as people know them. */
function useWords() {
  const { t } = useTranslation();
  return (column: 'client' | 'scope' | 'server' | 'tool', value: string): string => {
    if (column === 'client' && value === '') return t('traffic.noClient');
    if (column !== 'scope') return value;
    if (value === '') return t('traffic.all');
    if (value === '$smart') return t('traffic.search');
    if (value.startsWith('$smart/')) return t('traffic.searchIn', { name: value.slice('$smart/'.length) });
    return value.startsWith('$server/') ? value.slice('$server/'.length) : value;
  };
}

/** What was chosen, each to be taken back, and the calls behind it. */
function Path({ chosen }: { readonly chosen: Chosen }) {
  const { t } = useTranslation();
  const words = useWords();
  const navigate = useNavigate();
  const parts = (['client', 'scope', 'server'] as const).flatMap((name) => {
    const value = chosen[name];
    return value === undefined ? [] : [{ name, text: `${t(`traffic.one.${name}`)}: ${words(name, value)}` }];
  });
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-2">
      {parts.length === 0 && <p className="text-soft text-sm">{t('traffic.hint')}</p>}
      {parts.map(({ name, text }) => (
        <Button
          key={name}
          className="max-w-full"
          onClick={() => void navigate({ to: '/activity/traffic', search: asSearch({ ...chosen, [name]: undefined }) })}
        >
          <span className="truncate">{text}</span>
          <X size={15} aria-hidden className="shrink-0" />
          <span className="sr-only">{t('common.clear')}</span>
        </Button>
      ))}
      <Link to="/activity" search={asSearch(chosen)} className={`${buttonClass('quiet')} ml-auto`}>
        <List size={15} aria-hidden />
        {t('traffic.list')}
      </Link>
    </div>
  );
}

function Nothing({ isNarrowed }: { readonly isNarrowed: boolean }) {
  const { t } = useTranslation();
  const { since } = useChosen();
  return (
    <Empty icon={Waypoints} title={t('overview.noCalls')} text={t('overview.noCallsText')}>
      {isNarrowed ? (
        <Link to="/activity/traffic" search={{ since }} className={buttonClass()}>
          {t('common.clearFilters')}
        </Link>
      ) : (
        <Link to="/account/connect" className={buttonClass('primary')}>
          {t('nav.connect')}
        </Link>
      )}
    </Empty>
  );
}

interface AsTableProps {
  readonly rows: readonly FlowRow[];
  readonly titles: readonly string[];
  readonly wordOf: (column: number, value: string) => string;
}

function AsTable({ rows, titles, wordOf }: AsTableProps) {
  const { t } = useTranslation();
  return (
    <details className="mt-3 text-xs">
      <summary className="text-soft rounded-sm">{t('overview.table')}</summary>
      <div tabIndex={0} role="region" aria-label={t('traffic.table')} className="mt-2 max-h-80 overflow-auto">
        <table className="w-full text-left">
          <thead>
            <tr className="text-soft">
              {[...titles, t('overview.calls'), t('overview.failedCalls')].map((title) => (
                <th key={title} className="py-1 pr-3 font-medium">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ at, calls, failed }) => (
              <tr key={JSON.stringify(at)} className="border-line border-t">
                {at.map((value, column) => (
                  <td key={titles[column]} className="py-1 pr-3 wrap-anywhere">
                    {value === undefined ? t('traffic.rest') : wordOf(column, value)}
                  </td>
                ))}
                <td className="py-1 pr-3 tabular-nums">{count(calls)}</td>
                <td className="py-1 tabular-nums">{count(failed)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

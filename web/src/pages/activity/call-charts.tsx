import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { statsQuery, timelineQuery } from '../../api/records.ts';
import type { ActivityGroup, ActivityTimeline } from '../../api/types.ts';
import { count, duration, many, percent } from '../../lib/format.ts';
import { Chart, Charts, type Series } from '../../ui/chart.tsx';
import { Select } from '../../ui/select.tsx';
import { Panel } from '../../ui/page.tsx';
import { CallsChart, LatencyChart, NoCalls, WithBuckets } from '../overview/charts.tsx';
import type { Chosen } from './period.tsx';

const route = getRouteApi('/shell/activity');

/** What the bars can be made of, by the name in the address: by which members of the records. */
const stacks = { server: 'server', tool: 'server,tool', keyName: 'keyName', client: 'client' } as const;
type Stack = keyof typeof stacks;
const stackNames = Object.keys(stacks) as Stack[];

/** The calls over time, and how long they took; a time that is chosen in them is what the page then shows. */
export function CallCharts({ period, filter }: Chosen) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/activity' });
  const { by } = route.useSearch();
  const stack = stackNames.find((name) => name === by);
  const timeline = useQuery(timelineQuery(period, filter, stack && stacks[stack]));
  const stats = useQuery(statsQuery(period, filter));
  const buckets = timeline.data?.buckets;
  const { totalCalls = 0, errorCount = 0, avgDuration = 0 } = stats.data ?? {};
  // A line that is there before its words are.
  const blank = '\u00a0';
  const failed = `${t('overview.failed', { number: count(errorCount) })} (${percent(errorCount / totalCalls)})`;
  const pick = (from: string, to: string) =>
    void navigate({ search: (old) => ({ ...old, from, to, page: undefined }), resetScroll: false });
  const choose = (
    <Select
      aria-label={t('activity.stack')}
      value={stack ?? ''}
      onChange={({ target: { value } }) =>
        void navigate({ search: (old) => ({ ...old, by: value || undefined }), replace: true, resetScroll: false })
      }
      options={[
        { value: '', label: t('activity.by.outcome') },
        ...stackNames.map((value) => ({ value, label: t(`activity.by.${value}`) })),
      ]}
    />
  );
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Charts onPick={pick}>
        <Panel
          title={t('overview.callsChart')}
          lead={totalCalls > 0 ? `${t('activity.sum', many(totalCalls))}, ${failed}` : blank}
          actions={choose}
        >
          {stack && timeline.data?.groups ? (
            <StackChart stack={stack} timeline={timeline.data} />
          ) : (
            <WithBuckets buckets={buckets} show={CallsChart} />
          )}
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

const looks = [
  { fill: 'fill-series-1', swatch: 'bg-series-1' },
  { fill: 'fill-series-2', swatch: 'bg-series-2' },
  { fill: 'fill-series-3', swatch: 'bg-series-3' },
  { fill: 'fill-series-4', swatch: 'bg-series-4' },
  { fill: 'fill-series-5', swatch: 'bg-series-5' },
  { fill: 'fill-series-6', swatch: 'bg-series-6' },
] as const;

/** The largest groups, the others, and what is in no group; the name of a group narrows the page to it. */
function StackChart({ stack, timeline }: { readonly stack: Stack; readonly timeline: ActivityTimeline }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/activity' });
  const { buckets, groups = [], others } = timeline;
  const nameOf = (group: ActivityGroup): string =>
    (stack === 'tool' ? `${group.server} · ${group.tool}` : group[stack]) || t('activity.noValue');
  const chosen = ({ server, tool, keyName, client }: ActivityGroup) => ({ server, tool, keyName, client });
  const series = groups.map((group, index): Series => {
    const look = looks[index % looks.length] ?? looks[0];
    const onChoose = () =>
      void navigate({
        search: (old) => ({ ...old, ...given(chosen(group)), page: undefined }),
        resetScroll: false,
      });
    const values = group.overTime?.calls ?? [];
    return { ...look, name: nameOf(group), values, onChoose: group[stack] ? onChoose : undefined };
  });
  const rest = others?.overTime?.calls ?? [];
  const known = [...series.map(({ values }) => values), rest];
  const refused = buckets.map(({ calls }, at) => calls - known.reduce((sum, values) => sum + (values[at] ?? 0), 0));
  const extra: Series[] = [
    {
      name: t('activity.othersOf', many(others?.groups ?? 0)),
      fill: 'fill-edge',
      swatch: 'bg-edge',
      values: rest,
    },
    { name: t('activity.states.refused'), fill: 'fill-warn', swatch: 'bg-warn', values: refused },
  ];
  return (
    <Chart
      label={t('overview.callsChart')}
      starts={buckets.map(({ start }) => start)}
      stacked
      series={[...series, ...extra.filter(({ values }) => values.some((value) => value > 0))]}
      format={count}
      empty={<NoCalls />}
    />
  );
}

/** Without what is not there: it would take the filter away. */
function given(filter: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(filter).flatMap(([name, value]) => (value ? [[name, value] as const] : [])));
}

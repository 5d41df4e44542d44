import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { callsInterval, ofCalls } from './calls-news.ts';
import { ask, type Envelope, get, queryOf } from './client.ts';
import type {
  Activity,
  ActivityChoices,
  ActivityFailure,
  ActivityStats,
  ActivityTimeline,
  Pagination,
} from './types.ts';

/** What the hub has recorded. */

export const spans = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 } as const;
export type Span = keyof typeof spans;

/** From then on until now, or from one moment to another. */
export type Period = Span | { readonly from: string; readonly to: string };

export type ActivityFilter = Readonly<Record<string, string | undefined>>;

const refetchInterval = callsInterval;
const meta = ofCalls;

/** Up to a whole step of the chart, so that its bars do not wander. */
function between(period: Period, steps: number): { startDate: string; endDate: string } {
  if (typeof period !== 'string') return { startDate: period.from, endDate: period.to };
  const stepMs = spans[period] / steps;
  const end = Math.ceil(Date.now() / stepMs) * stepMs;
  return { startDate: new Date(end - spans[period]).toISOString(), endDate: new Date(end - 1).toISOString() };
}

/** The same for what is listed: a period that goes on until now has no end. */
function within(period: Period): { startDate: string; endDate?: string } {
  const { startDate, endDate } = between(period, steps);
  return typeof period === 'string' ? { startDate } : { startDate, endDate };
}

const steps = 48;

/** `by`: in groups as well, the largest few. */
export const timelineQuery = (period: Period, filter: ActivityFilter = {}, by?: string) =>
  queryOptions({
    queryKey: ['timeline', period, filter, by],
    queryFn: ({ signal }) =>
      get<ActivityTimeline>(
        `/activities/timeline${queryOf({ ...filter, ...between(period, steps), buckets: steps, ...inFew(by) })}`,
        signal,
      ),
    refetchInterval,
    meta,
    placeholderData: keepPreviousData,
  });

/** All calls over time, and together: one request for both. */
export const summaryQuery = (period: Period) =>
  queryOptions({
    queryKey: ['summary', period],
    queryFn: ({ signal }) =>
      get<ActivityTimeline>(
        `/activities/timeline${queryOf({ ...between(period, steps), buckets: steps, totals: 'true' })}`,
        signal,
      ),
    refetchInterval,
    meta,
    placeholderData: keepPreviousData,
  });

const few = 6;
const inFew = (groupBy: string | undefined) => (groupBy === undefined ? {} : { groupBy, groups: few });

/** The calls of each hour: whole days, as they are where the reader lives. */
export const hoursQuery = (start: Date, end: Date, filter: ActivityFilter) => {
  const [startDate, endDate] = [start.toISOString(), new Date(end.getTime() - 1).toISOString()];
  return queryOptions({
    queryKey: ['hours', startDate, endDate, filter],
    queryFn: ({ signal }) => {
      const buckets = Math.round((end.getTime() - start.getTime()) / 3_600_000);
      return get<ActivityTimeline>(
        `/activities/timeline${queryOf({ ...filter, startDate, endDate, buckets })}`,
        signal,
      );
    },
    refetchInterval,
    meta,
    placeholderData: keepPreviousData,
  });
};

/** The last day of every server, by the hour: one request for all of them. */
export const serverFiguresQuery = queryOptions({
  queryKey: ['server-figures'],
  queryFn: ({ signal }) =>
    get<ActivityTimeline>(
      `/activities/timeline${queryOf({ ...between('24h', 24), kind: 'call', buckets: 24, groupBy: 'server', groups: 500 })}`,
      signal,
    ),
  refetchInterval,
  meta,
});

/** The calls of one tool in 30 days, with the largest of their results. */
export const toolUseQuery = (server: string, tool: string) =>
  queryOptions({
    queryKey: ['tool-use', server, tool],
    queryFn: ({ signal }) =>
      get<ActivityStats>(
        `/activities/stats${queryOf({ server, tool, ...between('30d', 30), groupBy: 'server,tool', groups: 1 })}`,
        signal,
      ),
    meta,
  });

/** The tools that have the most of something. */
export const topToolsQuery = (period: Period, filter: ActivityFilter, sort: 'failed' | 'p95') =>
  queryOptions({
    queryKey: ['top-tools', period, filter, sort],
    queryFn: ({ signal }) =>
      get<ActivityStats>(
        `/activities/stats${queryOf({ ...filter, ...between(period, steps), groupBy: 'server,tool', sort, groups: 8 })}`,
        signal,
      ),
    refetchInterval,
    meta,
    placeholderData: keepPreviousData,
  });

export function askStats(period: Period, filter: ActivityFilter, signal: AbortSignal): Promise<ActivityStats> {
  return get<ActivityStats>(`/activities/stats${queryOf({ ...filter, ...between(period, steps) })}`, signal);
}

export const statsQuery = (period: Period, filter: ActivityFilter = {}) =>
  queryOptions({
    queryKey: ['stats', period, filter],
    queryFn: ({ signal }) => askStats(period, filter, signal),
    refetchInterval,
    meta,
    placeholderData: keepPreviousData,
  });

export const failuresQuery = (period: Period, filter: ActivityFilter) =>
  queryOptions({
    queryKey: ['failures', period, filter],
    queryFn: ({ signal }) =>
      get<readonly ActivityFailure[]>(`/activities/failures${queryOf({ ...filter, ...within(period) })}`, signal),
    refetchInterval,
    meta,
    placeholderData: keepPreviousData,
  });

export const activitiesQuery = (period: Period, filter: ActivityFilter, page: number) =>
  queryOptions({
    queryKey: ['activities', period, filter, page],
    queryFn: async ({ signal }) => {
      const answer = await ask<readonly Activity[]>(
        `/activities${queryOf({ ...filter, ...within(period), page, limit: 50 })}`,
        {
          signal,
        },
      );
      return answer as Envelope<readonly Activity[]> & { pagination: Pagination; incomplete?: true };
    },
    refetchInterval,
    meta,
    placeholderData: keepPreviousData,
  });

/** The newest few calls, and how many there are: what tells a hub that has just begun. */
export const firstCallsQuery = queryOptions({
  queryKey: ['first-calls'],
  queryFn: async ({ signal }) =>
    (await ask<readonly Activity[]>('/activities?limit=11', { signal })) as Envelope<readonly Activity[]> & {
      pagination: Pagination;
    },
  meta,
});

export const choicesQuery = queryOptions({
  queryKey: ['activity-choices'],
  queryFn: ({ signal }) => get<ActivityChoices>('/activities/filters', signal),
  meta: { live: false },
});

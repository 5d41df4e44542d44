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

export type ActivityFilter = Readonly<Record<string, string | undefined>>;

const refetchInterval = callsInterval;
const meta = ofCalls;

/** Up to a whole step of the chart, so that its bars do not wander. */
function between(span: Span, steps: number): { startDate: string; endDate: string } {
  const stepMs = spans[span] / steps;
  const end = Math.ceil(Date.now() / stepMs) * stepMs;
  return { startDate: new Date(end - spans[span]).toISOString(), endDate: new Date(end - 1).toISOString() };
}

const steps = 48;

export const timelineQuery = (span: Span, filter: ActivityFilter = {}) =>
  queryOptions({
    queryKey: ['timeline', span, filter],
    queryFn: ({ signal }) =>
      get<ActivityTimeline>(
        `/activities/timeline${queryOf({ ...filter, ...between(span, steps), buckets: steps })}`,
        signal,
      ),
    refetchInterval,
    meta,
    placeholderData: keepPreviousData,
  });

export const statsQuery = (span: Span, filter: ActivityFilter = {}) =>
  queryOptions({
    queryKey: ['stats', span, filter],
    queryFn: ({ signal }) =>
      get<ActivityStats>(`/activities/stats${queryOf({ ...filter, ...between(span, steps) })}`, signal),
    refetchInterval,
    meta,
    placeholderData: keepPreviousData,
  });

export const failuresQuery = (span: Span, filter: ActivityFilter) =>
  queryOptions({
    queryKey: ['failures', span, filter],
    queryFn: ({ signal }) =>
      get<readonly ActivityFailure[]>(
        `/activities/failures${queryOf({ ...filter, startDate: between(span, steps).startDate })}`,
        signal,
      ),
    refetchInterval,
    meta,
    placeholderData: keepPreviousData,
  });

export const activitiesQuery = (span: Span, filter: ActivityFilter, page: number) =>
  queryOptions({
    queryKey: ['activities', span, filter, page],
    queryFn: async ({ signal }) => {
      const { startDate } = between(span, steps);
      const answer = await ask<readonly Activity[]>(
        `/activities${queryOf({ ...filter, startDate, page, limit: 50 })}`,
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

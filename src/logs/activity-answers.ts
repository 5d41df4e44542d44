import type { Activity, SearchUseRecord } from '../core/activity.ts';
import type { Pagination } from '../core/pagination.ts';
import type { FailedCalls } from './activity-failures.ts';
import type { ActivityFilter, ActivityListing, OwnCalls } from './activity-filter.ts';
import type { ActivityGroups, GroupListing, Stretches } from './activity-groups.ts';
import { roundMs } from './milliseconds.ts';

/** A record as it is shown: that of a search with what was done with its results, in order. */
export type SeenActivity = Activity & { readonly uses?: readonly SearchUseRecord[] };

/**
 * An answer of this hub's memory while the database cannot be read: earlier records and those of other hubs are not in
 * it.
 */
export interface MaybeIncomplete {
  readonly incomplete?: true;
}

/** One page of calls, newest first (reference: `/api/activities`). */
export interface ActivityPage {
  readonly data: readonly SeenActivity[];
  readonly pagination: Pagination;
}

/**
 * Of calls, but for `search`. `errorCount` counts all that did not succeed; `avgDuration` in milliseconds, 0 when there
 * were no calls.
 */
export interface ActivityStats {
  readonly totalCalls: number;
  readonly successCount: number;
  readonly errorCount: number;
  readonly avgDuration: number;
  readonly search: SearchStats;
}

/** How much use the searches were. */
export interface SearchStats {
  readonly searches: number;
  /** Those that found nothing. */
  readonly empty: number;
  /** Those of whose results one was called. */
  readonly used: number;
  /** The mean place, from 1, of the results that were called; 0 when none was. */
  readonly meanRank: number;
  /** How many of the results that were called stood first, as a share of them. */
  readonly firstShare: number;
}

/** What `SearchStats` is made of: sums that a table and memory give alike. */
export interface SearchCounts extends Pick<SearchStats, 'searches' | 'empty' | 'used'> {
  readonly usedResults: number;
  readonly ranks: number;
  readonly first: number;
}

export const noSearches: SearchCounts = { searches: 0, empty: 0, used: 0, usedResults: 0, ranks: 0, first: 0 };

export function searchStats({ searches, empty, used, usedResults, ranks, first }: SearchCounts): SearchStats {
  const share = (sum: number): number => (usedResults === 0 ? 0 : roundMs(sum / usedResults));
  return { searches, empty, used, meanRank: share(ranks), firstShare: share(first) };
}

/** The calls of a stretch of time. Both times in milliseconds, 0 when there were no calls. */
export interface ActivityBucket {
  /** ISO 8601. */
  readonly start: string;
  readonly calls: number;
  readonly errors: number;
  readonly p50: number;
  readonly p95: number;
}

/** Which calls, and into how many stretches of which length. */
export interface TimelineListing extends ActivityFilter, Stretches {
  readonly start: Date;
}

/** All stretches in order, those without calls too. */
export function everyBucket(
  { start, bucketMs, buckets }: TimelineListing,
  found: ReadonlyMap<number, Omit<ActivityBucket, 'start'>>,
): ActivityBucket[] {
  return Array.from({ length: buckets }, (_, index) => ({
    start: new Date(start.getTime() + index * bucketMs).toISOString(),
    ...(found.get(index) ?? { calls: 0, errors: 0, p50: 0, p95: 0 }),
  }));
}

/**
 * The values that occur, sorted: what a dashboard offers to filter by. Not those of refused calls, which may name
 * anything; servers and tools not of searches, which are of none. Of each `logLimits.activityChoices` at most, those
 * that occur most.
 */
export interface ActivityChoices {
  readonly servers: readonly string[];
  readonly tools: readonly string[];
  readonly groups: readonly string[];
  readonly usernames: readonly string[];
  readonly keyNames: readonly string[];
  readonly clients: readonly string[];
}

/** The questions that table and memory answer alike. */
export interface ActivityAnswers {
  list(listing: ActivityListing): Promise<ActivityPage>;
  /** What was done with the results of these searches, oldest first, `logLimits.activityUses` at most. */
  uses(searchIds: readonly string[]): Promise<readonly (SearchUseRecord & { readonly searchId: string })[]>;
  stats(filter: ActivityFilter): Promise<ActivityStats>;
  timeline(listing: TimelineListing): Promise<readonly ActivityBucket[]>;
  groups(listing: GroupListing): Promise<ActivityGroups>;
  /** When the oldest record was made (ISO 8601); undefined when there is none. */
  oldest(mine: OwnCalls | undefined): Promise<string | undefined>;
  /** The failed calls by their text, the most frequent first, `logLimits.failureTexts` at most. */
  failures(filter: ActivityFilter): Promise<readonly FailedCalls[]>;
  choices(mine: OwnCalls | undefined): Promise<ActivityChoices>;
  get(id: string, mine: OwnCalls | undefined): Promise<Activity | undefined>;
  /** Removes records from before `before`; gives how many. */
  remove(before: Date): Promise<number>;
}

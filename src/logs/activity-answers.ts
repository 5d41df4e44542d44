import type { Activity } from '../core/activity.ts';
import type { ActivityFilter, ActivityListing, OwnCalls } from './activity-filter.ts';

/** One page of calls, newest first (reference: `/api/activities`). */
export interface ActivityPage {
  readonly data: readonly Activity[];
  readonly pagination: {
    readonly page: number;
    readonly limit: number;
    readonly total: number;
    readonly totalPages: number;
    readonly hasNextPage: boolean;
    readonly hasPrevPage: boolean;
  };
}

/** `errorCount` counts all that did not succeed; `avgDuration` in milliseconds, 0 when there were no calls. */
export interface ActivityStats {
  readonly totalCalls: number;
  readonly successCount: number;
  readonly errorCount: number;
  readonly avgDuration: number;
}

/** The values that occur, sorted: what a dashboard offers to filter by. */
export interface ActivityChoices {
  readonly servers: readonly string[];
  readonly tools: readonly string[];
  readonly groups: readonly string[];
  readonly usernames: readonly string[];
  readonly keyNames: readonly string[];
}

/** The questions that table and memory answer alike. */
export interface ActivityAnswers {
  list(listing: ActivityListing): Promise<ActivityPage>;
  stats(filter: ActivityFilter): Promise<ActivityStats>;
  choices(mine: OwnCalls | undefined): Promise<ActivityChoices>;
  get(id: string, mine: OwnCalls | undefined): Promise<Activity | undefined>;
  /** Removes records from before `before`; gives how many. */
  remove(before: Date): Promise<number>;
}

export function pageOf(data: readonly Activity[], total: number, { page, limit }: ActivityListing): ActivityPage {
  const totalPages = Math.ceil(total / limit);
  return {
    data,
    pagination: { page, limit, total, totalPages, hasNextPage: page < totalPages, hasPrevPage: page > 1 && total > 0 },
  };
}

/** Two decimals: more is noise, and table and memory would differ in the last one. */
export function roundMs(ms: number): number {
  return Math.round(ms * 100) / 100;
}

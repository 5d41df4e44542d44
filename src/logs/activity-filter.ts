import { activityKinds, activityStatuses } from '../core/activity.ts';
import type { Activity, ActivityKind, ActivityStatus } from '../core/activity.ts';
import { coreLimits } from '../core/limits.ts';
import { readFilter } from './filter-input.ts';
import type { RawFilter } from './filter-input.ts';
import { logLimits } from './limits.ts';

/**
 * The calls of one account: with `since`, those that began no earlier, so that a call which outlives its account is not
 * that of the next one of the same name.
 */
export interface OwnCalls {
  readonly username: string;
  readonly since?: Date;
}

/** Which calls are wanted. All given conditions must hold; texts match exactly. */
export interface ActivityFilter {
  readonly kind?: ActivityKind;
  /** A search, and what was done with its results. */
  readonly searchId?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly status?: ActivityStatus;
  /** Only what did not succeed, however it ended. */
  readonly failed?: true;
  readonly group?: string;
  readonly scope?: string;
  readonly username?: string;
  readonly keyId?: string;
  readonly keyName?: string;
  readonly client?: string;
  /** Only what has none of these. */
  readonly without?: readonly (keyof typeof maybeAbsent)[];
  readonly start?: Date;
  /** Inclusive. */
  readonly end?: Date;
  /** Only this account's calls, whatever the other conditions are: what a user who is not admin gets. */
  readonly mine?: OwnCalls;
}

export interface ActivityListing extends ActivityFilter {
  /** From 1. */
  readonly page: number;
  readonly limit: number;
}

/**
 * Reads the query parameters of `/api/activities`. Throws HubError `invalid_input` with every problem. `mine` is the
 * caller's to add.
 */
export function parseActivityListing(raw: RawFilter): ActivityListing {
  const read = readFilter(raw);
  const found = {
    kind: read.oneOf('kind', activityKinds),
    searchId: read.uuid('searchId'),
    server: read.text('server'),
    tool: read.text('tool'),
    status: read.oneOf('status', activityStatuses),
    failed: read.oneOf('failed', ['true', 'false']) === 'true' ? (true as const) : undefined,
    group: read.text('group'),
    scope: read.text('scope'),
    username: read.text('username'),
    keyId: read.text('keyId'),
    keyName: read.text('keyName'),
    client: read.text('client'),
    without: read.someOf('without', absentNames),
    start: read.date('startDate'),
    end: read.date('endDate', 'end'),
  };
  const page = read.integer('page', { min: 1, max: coreLimits.pageNumber }) ?? 1;
  const limit = read.integer('limit', { min: 1, max: logLimits.activityPageMost }) ?? logLimits.activityPage;
  read.done('activities');
  const given = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  return { ...(given as ActivityFilter), page, limit };
}

/** Reads `daysOld` of the clean-up; 30 when it is not given. Throws HubError `invalid_input`. */
export function parseDaysOld(raw: RawFilter): number {
  const read = readFilter(raw);
  const days = read.integer('daysOld', { min: 0, max: 36_500 }) ?? 30;
  read.done('activities to remove');
  return days;
}

/** The columns whose filter is "exactly this text", by filter name. */
export const exactFilters = {
  kind: 'kind',
  searchId: 'search_id',
  server: 'server',
  tool: 'tool',
  status: 'status',
  group: '"group"',
  scope: 'scope',
  username: 'username',
  keyId: 'key_id',
  keyName: 'key_name',
  client: 'client',
} as const;

/** The columns that may be empty, by filter name. */
export const maybeAbsent = {
  group: '"group"',
  scope: 'scope',
  username: 'username',
  keyName: 'key_name',
  client: 'client',
} as const;
const absentNames = Object.keys(maybeAbsent) as (keyof typeof maybeAbsent)[];

/** The filter as a test for one record in memory. */
export function activityMatcher(filter: ActivityFilter): (activity: Activity) => boolean {
  const names = (Object.keys(exactFilters) as (keyof typeof exactFilters)[]).filter(
    (name) => filter[name] !== undefined,
  );
  const start = filter.start?.toISOString() ?? '';
  // ISO times in UTC sort as texts.
  const end = filter.end?.toISOString() ?? '~';
  return (activity) =>
    names.every((name) => activity[name] === filter[name]) &&
    (filter.without ?? []).every((name) => !activity[name]) &&
    (filter.failed === undefined || activity.status !== 'success') &&
    activity.timestamp >= start &&
    activity.timestamp <= end &&
    (filter.mine === undefined || isOwn(activity, filter.mine));
}

function isOwn({ username, timestamp, durationMs }: Activity, { username: own, since }: OwnCalls): boolean {
  return username === own && (since === undefined || Date.parse(timestamp) - durationMs >= since.getTime());
}

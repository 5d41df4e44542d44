import type { Activity } from '../core/activity.ts';
import type { Database } from '../database/database.ts';
import type { ActivityFilter } from './activity-filter.ts';
import { readFilter } from './filter-input.ts';
import type { RawFilter } from './filter-input.ts';
import { logLimits } from './limits.ts';
import { percentile, roundMs } from './milliseconds.ts';
import type { SqlConditions } from './sql-conditions.ts';

/** What calls can be grouped by, as the records call it, and the columns. */
const groupColumns = {
  server: 'server',
  tool: 'tool',
  group: '"group"',
  scope: 'scope',
  username: 'username',
  keyName: 'key_name',
  client: 'client',
} as const;
export type GroupedBy = keyof typeof groupColumns;
export const groupedBys = Object.keys(groupColumns) as readonly GroupedBy[];

export const groupOrders = ['calls', 'failed', 'p95', 'last'] as const;

/** How calls are grouped, and which groups are told. */
export interface Grouping {
  readonly by: readonly GroupedBy[];
  /** Those that have the most of this are told, in this order. */
  readonly sort: (typeof groupOrders)[number];
  /** So many at most. */
  readonly most: number;
}

/** Equal stretches of time. */
export interface Stretches {
  readonly start: Date;
  readonly bucketMs: number;
  readonly buckets: number;
}

/** Which calls, and how they are grouped; with `over` how many there were in each stretch of time too. */
export interface GroupListing extends ActivityFilter {
  readonly grouping: Grouping;
  readonly over?: Stretches;
}

/** Calls, and those that did not succeed, in each stretch of time. */
export interface OverTime {
  readonly calls: readonly number[];
  readonly failed: readonly number[];
}

/** Calls that are alike in what they are grouped by, which is `''` where their records have none. */
export type ActivityGroup = Readonly<Partial<Record<GroupedBy, string>>> & {
  readonly calls: number;
  readonly failed: number;
  /** Milliseconds, as `p95`. */
  readonly p50: number;
  readonly p95: number;
  /** Bytes of the largest result. */
  readonly largest: number;
  /** ISO 8601: when the last call ended. */
  readonly last: string;
  readonly overTime?: OverTime;
};

/** The groups, and what all others have together; refused calls are in none, for they may name anything. */
export interface ActivityGroups {
  readonly groups: readonly ActivityGroup[];
  readonly others: {
    readonly groups: number;
    readonly calls: number;
    readonly failed: number;
    readonly overTime?: OverTime;
  };
}

/**
 * Reads how calls are to be grouped; undefined where they are not. Throws HubError `invalid_input`. `buckets`: into how
 * many stretches of time each group is to be cut.
 */
export function parseGrouping(raw: RawFilter, buckets = 1): Grouping | undefined {
  const read = readFilter(raw);
  const by = read.someOf('groupBy', groupedBys);
  const max = Math.min(logLimits.activityGroupsMost, Math.floor(logLimits.activityGroupCells / buckets));
  const most = read.integer('groups', { min: 1, max }) ?? Math.min(max, logLimits.activityGroups);
  const sort = read.oneOf('sort', groupOrders) ?? 'calls';
  read.done('activities in groups');
  return by && { by, sort, most };
}

/** The groups of records in memory. */
export function groupsOf(all: readonly Activity[], { grouping, over }: GroupListing): ActivityGroups {
  const { by, sort, most } = grouping;
  const found = new Map<string, Activity[]>();
  for (const one of all) {
    if (one.kind !== 'call' || one.status === 'refused') continue;
    const key = JSON.stringify(by.map((name) => one[name] ?? ''));
    const same = found.get(key);
    if (same) same.push(one);
    else found.set(key, [one]);
  }
  const groups = [...found].map(([key, calls]) => ({ key, calls, figures: figuresOf(calls) }));
  groups.sort(({ key: a, figures: x }, { key: b, figures: y }) =>
    x[sort] === y[sort] ? y.calls - x.calls || (a < b ? -1 : 1) : x[sort] < y[sort] ? 1 : -1,
  );
  const rest = groups.slice(most).flatMap(({ calls }) => calls);
  return {
    groups: groups.slice(0, most).map(({ key, calls, figures }) => ({
      ...named(by, JSON.parse(key) as string[]),
      ...figures,
      ...(over && { overTime: inStretches(calls, over) }),
    })),
    others: {
      groups: Math.max(0, groups.length - most),
      calls: rest.length,
      failed: rest.filter(({ status }) => status !== 'success').length,
      ...(over && { overTime: inStretches(rest, over) }),
    },
  };
}

function figuresOf(calls: readonly Activity[]) {
  const times = calls.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  return {
    calls: calls.length,
    failed: calls.filter(({ status }) => status !== 'success').length,
    p50: roundMs(percentile(times, 0.5)),
    p95: roundMs(percentile(times, 0.95)),
    largest: calls.reduce((most, { resultBytes }) => Math.max(most, resultBytes), 0),
    last: calls.reduce((last, { timestamp }) => (timestamp > last ? timestamp : last), ''),
  };
}

function inStretches(calls: readonly Activity[], { start, bucketMs, buckets }: Stretches): OverTime {
  const counted = noCalls(buckets);
  for (const { timestamp, status } of calls) {
    add(counted, Math.floor((Date.parse(timestamp) - start.getTime()) / bucketMs), 1, status === 'success' ? 0 : 1);
  }
  return counted;
}

const noCalls = (buckets: number) => ({
  calls: Array.from({ length: buckets }, () => 0),
  failed: Array.from({ length: buckets }, () => 0),
});

function add(to: ReturnType<typeof noCalls>, index: number, calls: number, failed: number): void {
  if (index < 0 || index >= to.calls.length) return;
  to.calls[index] = (to.calls[index] ?? 0) + calls;
  to.failed[index] = (to.failed[index] ?? 0) + failed;
}

function named(by: readonly GroupedBy[], values: readonly string[]): Partial<Record<GroupedBy, string>> {
  return Object.fromEntries(by.map((name, index) => [name, values[index] ?? '']));
}

/** The groups of the records in the table; `whereOf` makes the conditions of the filter. */
export async function groupsInTable(
  database: Database,
  listing: GroupListing,
  whereOf: (filter: ActivityFilter) => SqlConditions,
): Promise<ActivityGroups> {
  const { grouping, over, ...filter } = listing;
  const { by, sort, most } = grouping;
  const keys = by.map((name, index) => `coalesce(${groupColumns[name]}, '') as k${index}`).join(', ');
  const names = by.map((_, index) => `k${index}`);
  const where = callsWhere(whereOf(filter));
  const rows = await database.query<GroupRow>(
    `select *, count(*) over ()::int as "allGroups", sum(calls) over ()::int as "allCalls",
       sum(failed) over ()::int as "allFailed"
     from (
       select ${keys}, count(*)::int as calls, count(*) filter (where status <> 'success')::int as failed,
         percentile_cont(0.5) within group (order by duration_ms) as p50,
         percentile_cont(0.95) within group (order by duration_ms) as p95, max(result_bytes) as largest, max(at) as last
       from toolhub.activity ${where.text()} group by ${names.join(', ')}
     ) as each
     order by ${sort} desc, calls desc, ${names.map((name) => `${name} collate "C"`).join(', ')}
     limit ${where.value(most)}::int`,
    where.values,
  );
  const values = rows.map((row) => names.map((name) => String(row[name as `k${number}`])));
  const cells = over && (await cellsOf(database, { by, values, over }, callsWhere(whereOf(filter))));
  const sum = (member: 'calls' | 'failed'): number => rows.reduce((total, row) => total + row[member], 0);
  const { allGroups, allCalls, allFailed } = rows[0] ?? { allGroups: 0, allCalls: 0, allFailed: 0 };
  return {
    groups: rows.map(({ calls, failed, p50, p95, largest, last }, index) => ({
      ...named(by, values[index] ?? []),
      calls,
      failed,
      p50: roundMs(p50),
      p95: roundMs(p95),
      largest,
      last: last.toISOString(),
      ...(cells && { overTime: cells[index + 1] }),
    })),
    others: {
      groups: allGroups - rows.length,
      calls: allCalls - sum('calls'),
      failed: allFailed - sum('failed'),
      ...(cells && { overTime: cells[0] }),
    },
  };
}

function callsWhere(where: SqlConditions): SqlConditions {
  where.and('kind = ?', 'call');
  where.and('status <> ?', 'refused');
  return where;
}

interface Told {
  readonly by: readonly GroupedBy[];
  /** Of each group, its values. */
  readonly values: readonly (readonly string[])[];
  readonly over: Stretches;
}

/** Each group over time, behind all others together: a row for each that has calls, so there are not too many. */
async function cellsOf(database: Database, { by, values, over }: Told, where: SqlConditions): Promise<OverTime[]> {
  const start = where.value(over.start.toISOString());
  const columns = by.map((_, index) => `${where.value(values.map((value) => value[index] ?? ''))}::text[]`);
  const told = `unnest(${columns.join(', ')}) with ordinality as told(${by.map((_, index) => `k${index}`).join(', ')}, place)`;
  const same = by.map((name, index) => `coalesce(${groupColumns[name]}, '') = told.k${index}`).join(' and ');
  const rows = await database.query<CellRow>(
    `select coalesce(told.place, 0)::int as place, count(*)::int as calls,
       count(*) filter (where status <> 'success')::int as failed,
       floor(extract(epoch from at - ${start}::timestamptz) * 1000 / ${where.value(over.bucketMs)}::float8)::int as index
     from toolhub.activity left join ${told} on ${same} ${where.text()} group by 1, 4`,
    where.values,
  );
  const all = [undefined, ...values].map(() => noCalls(over.buckets));
  for (const { place, index, calls, failed } of rows) {
    const cell = all[place];
    if (cell) add(cell, index, calls, failed);
  }
  return all;
}

interface GroupRow extends Readonly<Record<`k${number}`, string>> {
  readonly calls: number;
  readonly failed: number;
  readonly p50: number;
  readonly p95: number;
  readonly largest: number;
  readonly last: Date;
  readonly allGroups: number;
  readonly allCalls: number;
  readonly allFailed: number;
}

interface CellRow {
  readonly place: number;
  readonly index: number;
  readonly calls: number;
  readonly failed: number;
}

import {
  type Activity,
  type ActivityKind,
  type ActivityStatus,
  searchServer,
  type SearchUseRecord,
} from '../core/activity.ts';
import { paginationOf } from '../core/pagination.ts';
import type { Database, Parameter } from '../database/database.ts';
import { sqlState } from '../database/failure.ts';
import { type Column, copyWriter } from './activity-copy.ts';
import { everyBucket, noSearches, searchStats } from './activity-answers.ts';
import type { ActivityAnswers, ActivityBucket, SearchCounts, TimelineListing } from './activity-answers.ts';
import { type FailedCalls, passingInSql } from './activity-failures.ts';
import { groupsInTable } from './activity-groups.ts';
import { exactFilters, maybeAbsent } from './activity-filter.ts';
import type { ActivityFilter, OwnCalls } from './activity-filter.ts';
import { logLimits } from './limits.ts';
import { roundMs } from './milliseconds.ts';
import { aheadMs, removeOld } from './prune.ts';
import { lowestId } from './record-ids.ts';
import { createSqlConditions } from './sql-conditions.ts';
import type { SqlConditions } from './sql-conditions.ts';

/** The columns in the order they are written, each with its type and its value. */
const columns: readonly Column[] = [
  ['id', 'uuid', ({ id }) => id],
  ['at', 'timestamptz', ({ timestamp }) => timestamp],
  ['server', 'text', ({ server }) => storable(server)],
  ['tool', 'text', ({ tool }) => storable(tool)],
  ['duration_ms', 'float8', ({ durationMs }) => durationMs],
  ['status', 'text', ({ status }) => status],
  ['error', 'text', ({ errorMessage }) => storable(errorMessage)],
  ['principal', 'text', ({ principal }) => principal],
  ['username', 'text', ({ username }) => storable(username)],
  ['key_id', 'text', ({ keyId }) => storable(keyId)],
  ['key_name', 'text', ({ keyName }) => storable(keyName)],
  ['"group"', 'text', ({ group }) => storable(group)],
  ['scope', 'text', ({ scope }) => storable(scope)],
  ['source_ip', 'text', ({ sourceIp }) => storable(sourceIp)],
  ['result_bytes', 'integer', ({ resultBytes }) => resultBytes],
  ['trace_id', 'text', ({ traceId }) => storable(traceId)],
  ['input', 'text', ({ input }) => storable(input)],
  ['output', 'text', ({ output }) => storable(output)],
  ['kind', 'text', ({ kind }) => kind],
  ['search_id', 'uuid', ({ searchId }) => searchId ?? null],
  ['query', 'text', ({ query }) => storable(query)],
  ['search_rank', 'integer', ({ searchRank }) => searchRank ?? null],
  ['results', 'text', ({ results }) => storable(results && JSON.stringify(results))],
  ['client', 'text', ({ client }) => storable(client)],
  ['queue_ms', 'integer', ({ queueMs }) => queueMs ?? null],
  ['server_ms', 'integer', ({ serverMs }) => serverMs ?? null],
];
const names = columns.map(([name]) => name).join(', ');
const insert = `insert into toolhub.activity (${names})
  select * from unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ')})
  on conflict do nothing`;

/** Writes records; ones that are there already stay as they are. */
export async function insertActivities(
  database: Pick<Database, 'query' | 'copy'>,
  activities: readonly Activity[],
): Promise<void> {
  if (database.copy && (await copied(database.copy, activities))) return;
  await database.query(
    insert,
    columns.map(([, , value]): Parameter => activities.map(value)),
  );
}

/** False when one of them is there already. */
async function copied(copy: NonNullable<Database['copy']>, activities: readonly Activity[]): Promise<boolean> {
  try {
    await copy(`toolhub.activity (${writer.names})`, writer.rows(activities));
    return true;
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return false;
    throw error;
  }
}

const writer = copyWriter(columns);
const uniqueViolation = '23505';

/** The answers of the table. They throw what the database throws. */
export function activityTable(database: Database): ActivityAnswers {
  return {
    async list(listing) {
      const where = whereOf(listing);
      const from = `from toolhub.activity ${where.text()}`;
      const [count] = await database.query<{ n: number }>(`select count(*)::int as n ${from}`, where.values);
      const rows = await database.query<Row>(
        `select ${names} ${from} order by id desc
         limit ${where.value(listing.limit)}::int offset ${where.value((listing.page - 1) * listing.limit)}::int`,
        where.values,
      );
      return { data: rows.map(fromRow), pagination: paginationOf(listing.page, listing.limit, count?.n ?? 0) };
    },
    async stats(filter) {
      const where = whereOf(filter);
      const [row] = await database.query<{ total: number; good: number; ms: number } & SearchCounts>(
        `select count(*) filter (where kind = 'call')::int as total,
           count(*) filter (where kind = 'call' and status = 'success')::int as good,
           coalesce(avg(duration_ms) filter (where kind = 'call'), 0)::float8 as ms,
           count(*) filter (where kind = 'search')::int as searches,
           count(*) filter (where kind = 'search' and results = '[]')::int as empty,
           count(*) filter (where kind = 'search' and exists (
             select from toolhub.activity as used where used.search_id = activity.search_id and used.kind = 'call'))::int as used,
           count(*) filter (where kind = 'call' and search_rank is not null)::int as "usedResults",
           coalesce(sum(search_rank) filter (where kind = 'call'), 0)::int as ranks,
           count(*) filter (where kind = 'call' and search_rank = 1)::int as first
         from toolhub.activity ${where.text()}`,
        where.values,
      );
      const { total, good, ms, ...searches } = row ?? { total: 0, good: 0, ms: 0, ...noSearches };
      return {
        totalCalls: total,
        successCount: good,
        errorCount: total - good,
        avgDuration: roundMs(ms),
        search: searchStats(searches),
      };
    },
    timeline: (listing) => timeline(database, listing),
    groups: (listing) => groupsInTable(database, listing, whereOf),
    oldest: (mine) => oldest(database, mine),
    async uses(searchIds) {
      const rows = await database.query<UseRow>(
        `select search_id, kind, server, tool, status, at, search_rank from toolhub.activity
         where search_id = any($1::uuid[]) and kind <> 'search' order by id limit ${logLimits.activityUses}`,
        [searchIds],
      );
      return rows.map(({ search_id: searchId, at, search_rank: rank, ...use }) => ({
        ...use,
        searchId,
        timestamp: at.toISOString(),
        rank,
      }));
    },
    failures: (filter) => failures(database, filter),
    async choices(mine) {
      const values = async (column: string, ofServers = false): Promise<string[]> => {
        const where = whereOf(mine === undefined ? {} : { mine });
        where.and(`${column} <> ?`, '');
        where.and('status <> ?', 'refused');
        if (ofServers) where.and('server <> ?', searchServer);
        const rows = await database.query<{ value: string }>(
          `select ${column} as value from toolhub.activity ${where.text()}
           group by 1 order by count(*) desc limit ${logLimits.activityChoices}`,
          where.values,
        );
        // Sorted here: collations differ between databases.
        return rows.map(({ value }) => value).sort();
      };
      return {
        servers: await values('server', true),
        tools: await values('tool', true),
        groups: await values('"group"'),
        usernames: await values('username'),
        keyNames: await values('key_name'),
        clients: await values('client'),
      };
    },
    async get(id, mine) {
      const where = whereOf(mine === undefined ? {} : { mine });
      where.and('id = ?::uuid', id);
      const [row] = await database.query<Row>(`select ${names} from toolhub.activity ${where.text()}`, where.values);
      return row && fromRow(row);
    },
    remove: (before) => removeOld(database, 'toolhub.activity', before),
  };
}

async function oldest(database: Database, mine: OwnCalls | undefined): Promise<string | undefined> {
  const where = whereOf(mine === undefined ? {} : { mine });
  const [row] = await database.query<{ at: Date }>(
    `select at from toolhub.activity ${where.text()} order by id limit 1`,
    where.values,
  );
  return row?.at.toISOString();
}

function whereOf(filter: ActivityFilter): SqlConditions {
  const where = createSqlConditions();
  for (const [name, column] of Object.entries(exactFilters)) {
    const value = filter[name as keyof typeof exactFilters];
    if (value !== undefined) where.and(`${column} = ?`, value);
  }
  for (const name of filter.without ?? []) where.and(`coalesce(${maybeAbsent[name]}, '') = ?`, '');
  if (filter.failed) where.and('status <> ?', 'success');
  if (filter.start !== undefined) since(where, filter.start);
  if (filter.end !== undefined) {
    where.and('at <= ?', filter.end);
    where.and('id < ?::uuid', lowestId(filter.end.getTime() + aheadMs));
  }
  if (filter.mine !== undefined) where.and('username = ?', filter.mine.username);
  if (filter.mine?.since !== undefined) {
    since(where, filter.mine.since);
    where.and("at - duration_ms * interval '1 millisecond' >= ?", filter.mine.since);
  }
  return where;
}

/** The time in an id is never before that of its record, so the primary key leads to where to begin. */
function since(where: SqlConditions, start: Date): void {
  where.and('at >= ?', start);
  where.and('id >= ?::uuid', lowestId(start.getTime()));
}

interface Row {
  id: string;
  at: Date;
  server: string;
  tool: string;
  duration_ms: number;
  status: ActivityStatus;
  error: string | null;
  principal: Activity['principal'];
  username: string | null;
  key_id: string | null;
  key_name: string | null;
  group: string | null;
  scope: string | null;
  source_ip: string | null;
  result_bytes: number;
  trace_id: string | null;
  input: string | null;
  output: string | null;
  kind: ActivityKind;
  search_id: string | null;
  query: string | null;
  search_rank: number | null;
  results: string | null;
  client: string | null;
  queue_ms: number | null;
  server_ms: number | null;
}

/** A row per stretch that has calls. */
async function timeline(database: Database, listing: TimelineListing): Promise<readonly ActivityBucket[]> {
  const where = whereOf(listing);
  where.and('kind = ?', 'call');
  const start = where.value(listing.start.toISOString());
  const rows = await database.query<TimelineRow>(
    `select floor(extract(epoch from at - ${start}::timestamptz) * 1000 / ${where.value(listing.bucketMs)}::float8)::int as index,
         count(*)::int as calls,
         count(*) filter (where status <> 'success')::int as errors,
         percentile_cont(0.5) within group (order by duration_ms) as p50,
         percentile_cont(0.95) within group (order by duration_ms) as p95
       from toolhub.activity ${where.text()} group by 1`,
    where.values,
  );
  const found = rows.map(
    ({ index, calls, errors, p50, p95 }) => [index, { calls, errors, p50: roundMs(p50), p95: roundMs(p95) }] as const,
  );
  return everyBucket(listing, new Map(found));
}

/**
 * Told apart by what stays of their texts when ids and times are left out: with an id in each text there would be as
 * many groups as calls, which take seconds to sort. Only the newest failures are looked at, for the same reason.
 */
async function failures(database: Database, filter: ActivityFilter): Promise<readonly FailedCalls[]> {
  const where = whereOf({ ...filter, kind: 'call', failed: true });
  const rows = await database.query<FailureRow>(
    `select causes.*, (select coalesce(error, '') from toolhub.activity where id = latest::uuid) as error
     from (
       select server, tool, status, count(*)::int as calls, min(at) as first, max(at) as last, max(id::text) as latest
       from (
         select id, at, server, tool, status, error from toolhub.activity ${where.text()}
         order by id desc limit ${logLimits.failures}
       ) as newest
       group by server, tool, status, regexp_replace(error, ${where.value(passingInSql)}, '…', 'gi')
       order by calls desc, last desc limit ${logLimits.failureTexts}
     ) as causes`,
    where.values,
  );
  return rows.map(({ first, last, error, ...row }) => {
    return { ...row, error: error ?? '', first: first.toISOString(), last: last.toISOString() };
  });
}

interface FailureRow extends Omit<FailedCalls, 'first' | 'last' | 'error'> {
  first: Date;
  last: Date;
  /** Null when the record was removed meanwhile. */
  error: string | null;
}

interface TimelineRow {
  index: number;
  calls: number;
  errors: number;
  p50: number;
  p95: number;
}

interface UseRow extends Omit<SearchUseRecord, 'timestamp' | 'rank'> {
  search_id: string;
  at: Date;
  search_rank: number;
}

function fromRow(row: Row): Activity {
  const optional = {
    errorMessage: row.error,
    username: row.username,
    keyId: row.key_id,
    keyName: row.key_name,
    group: row.group,
    scope: row.scope,
    sourceIp: row.source_ip,
    traceId: row.trace_id,
    client: row.client,
    queueMs: row.queue_ms,
    serverMs: row.server_ms,
    input: row.input,
    output: row.output,
    searchId: row.search_id,
    query: row.query,
    searchRank: row.search_rank,
    results: row.results === null ? null : (JSON.parse(row.results) as Activity['results']),
  };
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null));
  return {
    id: row.id,
    timestamp: row.at.toISOString(),
    kind: row.kind,
    server: row.server,
    tool: row.tool,
    durationMs: row.duration_ms,
    status: row.status,
    principal: row.principal,
    resultBytes: row.result_bytes,
    ...(given as Partial<Omit<Activity, 'kind'>>),
  };
}

/** Text as PostgreSQL takes it: without NUL. */
function storable(text: string): string;
function storable(text: string | undefined): string | null;
function storable(text: string | undefined): string | null {
  return text?.replaceAll('\0', '') ?? null;
}

import type { Queryable } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { logLimits } from './limits.ts';
import { lowestId } from './record-ids.ts';

/**
 * What may stay in a table: the newest `rows`, and besides the newest `securityRows` about security; none older than
 * `ageMs`.
 */
export interface Retention {
  readonly table: 'toolhub.logs' | 'toolhub.activity';
  readonly rows: number;
  readonly securityRows?: number;
  readonly ageMs: number;
}

/**
 * Removes what is too old or too much, now and then; gives the function that ends it. Any number of hubs may do it at
 * once.
 */
export function keepPruned(database: DatabaseHandle, retention: Retention): () => void {
  let running = false;
  async function run(): Promise<void> {
    if (running) return;
    running = true;
    await database.attempt((open) => prune(open, retention), logLimits.pruneEveryMs);
    running = false;
  }
  const timer = setInterval(() => void run(), logLimits.pruneEveryMs).unref();
  const stopWatching = database.onChange(({ state }) => {
    if (state === 'ready') void run();
  });
  return () => {
    clearInterval(timer);
    stopWatching();
  };
}

/** Gives how many rows went. */
export async function prune(database: Queryable, retention: Retention, now = Date.now()): Promise<number> {
  const { table, rows, securityRows, ageMs } = retention;
  const old = await removeOld(database, table, new Date(now - ageMs));
  if (securityRows === undefined) return old + (await removeBeyond(database, table, 'true', rows));
  const others = await removeBeyond(database, table, 'not security', rows);
  return old + others + (await removeBeyond(database, table, 'security', securityRows));
}

/** Removes all but the newest `rows` of those that fit `which`. */
async function removeBeyond(
  database: Queryable,
  table: Retention['table'],
  which: 'true' | 'security' | 'not security',
  rows: number,
): Promise<number> {
  const [oldest] = await database.query<{ id: string }>(
    `select id::text as id from ${table} where ${which} order by id desc offset $1::int limit 1`,
    [rows],
  );
  const type = table === 'toolhub.logs' ? 'bigint' : 'uuid';
  return oldest === undefined ? 0 : removeWhere(database, table, `${which} and id <= $1::${type}`, [oldest.id]);
}

/**
 * The time in the id of a call is ahead of the call's own by as much as the clock was ever set back; by more than this
 * it is removed later.
 */
export const aheadMs = 24 * 60 * 60_000;

/** Removes what is from before `before`. */
export function removeOld(database: Queryable, table: Retention['table'], before: Date): Promise<number> {
  if (table === 'toolhub.logs') return removeWhere(database, table, 'at < $1', [before]);
  return removeWhere(database, table, 'at < $1 and id < $2::uuid', [before, lowestId(before.getTime() + aheadMs)]);
}

/** In portions, so that no statement holds its rows for long. */
async function removeWhere(
  database: Queryable,
  table: Retention['table'],
  condition: string,
  values: readonly (string | Date)[],
): Promise<number> {
  for (let removed = 0; ;) {
    const [gone] = await database.query<{ n: number }>(
      `with gone as (
         delete from ${table} where ctid = any(array(select ctid from ${table} where ${condition} limit ${logLimits.pruneRows})) returning 1
       ) select count(*)::int as n from gone`,
      values,
    );
    removed += gone?.n ?? 0;
    if ((gone?.n ?? 0) < logLimits.pruneRows) return removed;
  }
}

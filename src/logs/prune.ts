import { limits } from '../core/limits.ts';
import type { Queryable } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';

/** What may stay in a table: so many newest rows, none older than `ageMs`. `key` sorts by time. */
export interface Retention {
  readonly table: 'toolhub.logs' | 'toolhub.activity';
  readonly rows: number;
  readonly ageMs: number;
}

/** Removes what is too old or too much, now and then; gives the function that ends it. Any number of hubs may do it at once. */
export function keepPruned(database: DatabaseHandle, retention: Retention): () => void {
  let running = false;
  async function run(): Promise<void> {
    if (running) return;
    running = true;
    await database.attempt((open) => prune(open, retention), limits.pruneEveryMs);
    running = false;
  }
  const timer = setInterval(() => void run(), limits.pruneEveryMs).unref();
  const stopWatching = database.onChange(({ state }) => {
    if (state === 'ready') void run();
  });
  return () => {
    clearInterval(timer);
    stopWatching();
  };
}

/** Gives how many rows went. */
export async function prune(database: Queryable, { table, rows, ageMs }: Retention, now = Date.now()): Promise<number> {
  const old = await removeWhere(database, table, 'at < $1', new Date(now - ageMs));
  const [oldest] = await database.query<{ id: string }>(
    `select id::text as id from ${table} order by id desc offset $1::int limit 1`,
    [rows],
  );
  const type = table === 'toolhub.logs' ? 'bigint' : 'uuid';
  return old + (oldest === undefined ? 0 : await removeWhere(database, table, `id <= $1::${type}`, oldest.id));
}

/** In portions, so that no statement holds its rows for long. */
export async function removeWhere(
  database: Queryable,
  table: Retention['table'],
  condition: string,
  value: string | Date,
): Promise<number> {
  for (let removed = 0; ;) {
    const [gone] = await database.query<{ n: number }>(
      `with gone as (
         delete from ${table} where ctid = any(array(select ctid from ${table} where ${condition} limit ${limits.pruneRows})) returning 1
       ) select count(*)::int as n from gone`,
      [value],
    );
    removed += gone?.n ?? 0;
    if ((gone?.n ?? 0) < limits.pruneRows) return removed;
  }
}

import type { Database, Queryable, Transaction } from '../database/database.ts';
import { backupLimits } from './limits.ts';

/**
 * What a backup leaves out: what hubs tell each other while they run, and what is over in minutes. `migrations` is in
 * the manifest.
 */
const passing = new Set(['migrations', 'call_counts', 'call_running', 'embedding_claims', 'sign_ins']);

/** The tables of the hub, in the order of their names. */
export async function tableNames(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `select tablename::text as name from pg_tables where schemaname = 'toolhub' order by 1`,
  );
  return rows.map(({ name }) => name).filter((name) => /^[a-z][a-z0-9_]{0,62}$/.test(name) && !passing.has(name));
}

/** The migrations that were applied. */
export async function appliedMigrations(database: Queryable): Promise<number[]> {
  const rows = await database.query<{ number: number }>('select number from toolhub.migrations order by number');
  return rows.map(({ number }) => number);
}

/**
 * Runs `work` on the tables as they are in one moment. The embedded database would do nothing else meanwhile, so there
 * each page is of its own moment: its tables are those of records, which are only added to.
 */
export async function inOneMoment<T>(database: Database, work: (tables: Queryable) => Promise<T>): Promise<T> {
  if (database.kind === 'embedded') return work(database);
  return database.tx(async (tx: Transaction) => {
    await tx.script(
      `set transaction isolation level repeatable read, read only; set local idle_in_transaction_session_timeout = ${backupLimits.backupIdleMs}`,
    );
    return work(tx);
  });
}

/** The rows of a table as JSON texts, in the order of its primary key, a page at a time. */
export async function* rowsOf(database: Queryable, table: string): AsyncGenerator<readonly string[]> {
  const key = await primaryKey(database, table);
  const names = key.map(({ name }) => `"${name}"`);
  const places = key.map(({ type }, i) => `$${i + 1}::${type}`);
  const texts = names.map((name, i) => `t.${name}::text as k${i}`);
  const page = async (where: string, after: readonly string[]) =>
    database.query<Record<string, string>>(
      `select row_to_json(t)::text as row, ${texts.join(', ')} from toolhub.${table} t ${where}
       order by ${names.join(', ')} limit ${backupLimits.rowsPage}`,
      after,
    );
  let rows = await page('', []);
  while (rows.length > 0) {
    yield rows.map(({ row = '' }) => row);
    if (rows.length < backupLimits.rowsPage) return;
    const last = rows.at(-1) ?? {};
    rows = await page(
      `where (${names.join(', ')}) > (${places.join(', ')})`,
      key.map((_, i) => last[`k${i}`] ?? ''),
    );
  }
}

async function primaryKey(database: Queryable, table: string): Promise<{ name: string; type: string }[]> {
  return database.query(
    `select a.attname::text as name, format_type(a.atttypid, a.atttypmod) as type
     from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
     where i.indrelid = to_regclass($1) and i.indisprimary order by array_position(i.indkey::int2[], a.attnum)`,
    [`toolhub.${table}`],
  );
}

/** Puts rows into a table, as `rowsOf` gave them. A column that they do not have is null. */
export async function insertRows(database: Queryable, table: string, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return;
  await database.query(
    `insert into toolhub.${table} select * from json_populate_recordset(null::toolhub.${table}, $1::json)`,
    [`[${rows.join(',')}]`],
  );
}

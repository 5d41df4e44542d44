import { HubError } from '../core/errors.ts';
import { byHub } from '../core/audit.ts';
import type { Connection, Queryable, Transaction } from '../database/database.ts';
import { migrate, readMigrations } from '../database/migrate.ts';
import { openConnection } from '../database/open.ts';
import { keptEvent } from '../logs/audit/event.ts';
import { appendEvents } from '../logs/audit/table.ts';
import type { Backup } from './read-backup.ts';
import { backupLimits } from './limits.ts';
import { tableFolder } from './manifest.ts';
import { insertRows, tableNames } from './tables.ts';

/** What to do with the rows of a backup besides putting them into the tables of the same names. */
export interface TableRules {
  /** Called in place of that; true when the rows of this table are not for the database. */
  readonly takeRow: (table: string, row: string) => boolean;
  /** Rows that the backup has elsewhere. */
  readonly more: ReadonlyMap<string, readonly string[]>;
}

/** What became of tables that have no place here. */
export interface LoadedTables {
  readonly left: readonly string[];
}

/**
 * Fills the schema `toolhub`, which must not exist, as the backup has it, and brings its tables up to date: rows are
 * put into tables of the version that made it.
 */
async function load(
  database: Pick<Connection, 'tx' | 'query'>,
  backup: Backup,
  rules: TableRules,
): Promise<LoadedTables> {
  const { migrations, tables } = backup.manifest;
  const last = Math.max(0, ...migrations);
  const all = readMigrations();
  await migrate(database, last === 0 ? all : all.filter(({ number }) => number <= last));
  const there = new Set(await tableNames(database));
  const left: string[] = [];
  for (const table of Object.keys(tables)) {
    const isKnown = there.has(table);
    if (!isKnown && (tables[table] ?? 0) > 0) left.push(table);
    await loadTable(database, backup, table, isKnown ? rules.takeRow : () => true);
  }
  for (const [table, rows] of rules.more) if (there.has(table)) await insertRows(database, table, rows);
  await migrate(database);
  return { left };
}

async function loadTable(
  database: Queryable,
  backup: Backup,
  table: string,
  takeRow: TableRules['takeRow'],
): Promise<void> {
  let waiting: string[] = [];
  let bytes = 0;
  let count = 0;
  const write = async (): Promise<void> => {
    await insertRows(database, table, waiting);
    [waiting, bytes] = [[], 0];
  };
  for await (const rows of backup.lines(`${tableFolder}${table}.jsonl`)) {
    for (const row of rows) {
      count += 1;
      if (takeRow(table, row)) continue;
      waiting.push(row);
      bytes += row.length;
      if (waiting.length >= backupLimits.rowsPage || bytes > backupLimits.rowsStatementBytes) await write();
    }
  }
  await write();
  const told = backup.manifest.tables[table];
  if (count !== told) throw wrongRows(table, count, told);
}

function wrongRows(table: string, count: number, told: number | undefined): HubError {
  return new HubError(
    'misconfigured',
    `Cannot use the backup: its table ${table} has ${count} rows, and its manifest says ${told}. Use another backup.`,
  );
}

/** Says in the audit log that everything before is from a backup. */
async function recordRestore(database: Pick<Connection, 'tx'>, { manifest }: Backup): Promise<void> {
  const { createdAt, version } = manifest;
  const event = { ...byHub, action: 'backup.restore', target: `the backup of ${createdAt}`, after: { version } };
  await appendEvents(database, [keptEvent(event, 1, new Date(), (text) => text)]);
}

/** Makes the embedded database of a data folder that no hub uses. */
export async function makeEmbeddedDatabase(dataDir: string, backup: Backup, rules: TableRules): Promise<LoadedTables> {
  const database = await openConnection({ url: undefined, dataDir, log: quiet });
  try {
    // It begins with all tables of this version, which may be later ones than those of the backup.
    await database.tx((tx) => tx.script('drop schema if exists toolhub cascade'));
    const loaded = await load(database, backup, rules);
    await recordRestore(database, backup);
    return loaded;
  } finally {
    await database.close();
  }
}

const silent = (): void => {};
const quiet = { debug: silent, info: silent, warn: silent, error: silent };

/** The PostgreSQL of hubs, none of which runs. */
export interface PostgresTarget {
  /** Whether it has tables of a hub. */
  hasTables(): Promise<boolean>;
  /** Also one that is empty is kept. */
  hasSchema(): Promise<boolean>;
  /**
   * In one transaction: what is there gets the other name, and the backup takes its place. Throws HubError `conflict`
   * where a hub has connected meanwhile.
   */
  replace(backup: Backup, rules: TableRules, aside: string): Promise<LoadedTables>;
  /** Undoes that, where it was done: what was made goes, also where nothing was before. */
  undo(aside: string): Promise<void>;
  close(): Promise<void>;
}

/** Throws HubError `conflict` while a hub is connected to it, and what opening it throws. */
export async function openPostgresTarget(url: string): Promise<PostgresTarget> {
  const named = new URL(url);
  // Told apart from hubs by it.
  named.searchParams.set('application_name', 'toolhub restore');
  const database = await openConnection({ url: named.href, dataDir: '', log: quiet });
  try {
    await mustHaveNoHub(database);
    const has = async (what: string): Promise<boolean> =>
      (await database.query<{ has: boolean }>(`select ${what} is not null as has`))[0]?.has === true;
    return {
      hasTables: () => has(`to_regclass('toolhub.migrations')`),
      hasSchema: () => has(`to_regnamespace('toolhub')`),
      replace: (backup, rules, aside) =>
        database.tx(async (tx) => {
          await mustHaveNoHub(tx);
          await tx.script(`do $$ begin if to_regnamespace('toolhub') is not null then
            alter schema toolhub rename to ${schemaName(aside)}; end if; end $$`);
          const inside = { query: tx.query.bind(tx), tx: <T>(work: (tx: Transaction) => Promise<T>) => work(tx) };
          const loaded = await load(inside, backup, rules);
          await recordRestore(inside, backup);
          await tx.script(`comment on schema toolhub is '${markOf(aside)}'`);
          await mustHaveNoHub(tx);
          return loaded;
        }),
      async undo(aside) {
        await database.tx((tx) =>
          tx.script(`do $$ begin if to_regnamespace('${schemaName(aside)}') is not null then
            drop schema if exists toolhub cascade; alter schema ${schemaName(aside)} rename to toolhub;
            elsif obj_description(to_regnamespace('toolhub'), 'pg_namespace') = '${markOf(aside)}' then
            drop schema toolhub cascade; end if; end $$`),
        );
      },
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function mustHaveNoHub(database: Queryable): Promise<void> {
  // Within a transaction it would be the list of before.
  await database.query('select pg_stat_clear_snapshot()');
  const [hubs] = await database.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'toolhub'`,
  );
  if ((hubs?.n ?? 0) > 0)
    throw new HubError(
      'conflict',
      'Cannot restore into the database in DB_URL: a hub is connected to it. Stop every hub that uses it first.',
    );
}

/** By which a schema that a restore made is known, so that the undo drops no other one. */
function markOf(aside: string): string {
  return `Made by a restore of Tool Hub: ${schemaName(aside)}`;
}

/** The schema with what was there before, for people. */
export function schemaName(aside: string): string {
  return `toolhub_${aside.replaceAll(/[^A-Za-z0-9]/g, '_').toLowerCase()}`;
}

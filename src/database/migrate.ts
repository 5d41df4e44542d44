import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { HubError } from '../core/errors.ts';
import { shipped } from '../core/shipped.ts';
import type { Connection, Transaction } from './database.ts';

/** One numbered file: `0001-init.sql`, or `0002-embeddings.vector.sql` for one that needs the vector extension. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly needsVector: boolean;
}

interface Applied {
  number: number;
  checksum: string;
}

/** Any number, the same in all hubs: who holds this lock migrates, the others wait. */
const lockKey = 7_046_201;

/** What `migrate` found. */
export interface Migrated {
  /** The extension is there, installed by us if we may. */
  readonly hasVector: boolean;
  /** A newer hub has changed the tables. */
  readonly isNewer: boolean;
}

/**
 * Brings the schema `toolhub` up to date, all or nothing; safe when several hubs do it at once. Throws HubError
 * `misconfigured` when the database is newer than this hub, but for `mayBeNewer`, or a migration it recorded is not the
 * one we have.
 */
export async function migrate(
  database: Pick<Connection, 'tx'>,
  migrations: readonly Migration[] = readMigrations(),
  mayBeNewer = false,
): Promise<Migrated> {
  return database.tx(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [lockKey]);
    await ensureHome(tx);
    const hasVector = await ensureVector(tx);
    const applied = await tx.query<Applied>('select number, checksum from toolhub.migrations order by number');
    const isNewer = newerOf(applied, migrations) !== undefined;
    if (!mayBeNewer) refuseNewer(applied, migrations);
    check(applied, migrations);
    const done = new Set(applied.map(({ number }) => number));
    for (const migration of migrations) {
      if (done.has(migration.number) || (migration.needsVector && !hasVector)) continue;
      await tx.script(migration.sql);
      await tx.query('insert into toolhub.migrations (number, name, checksum) values ($1, $2, $3)', [
        migration.number,
        migration.name,
        checksum(migration),
      ]);
    }
    return { hasVector, isNewer };
  });
}

export function readMigrations(folder = shipped('dist/migrations/')): Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort()
    .map((name) => ({
      number: Number(name.slice(0, 4)),
      name,
      sql: readFileSync(new URL(name, folder), 'utf8').replaceAll('\r\n', '\n'),
      needsVector: name.endsWith('.vector.sql'),
    }));
}

/**
 * Creates schema and table only when missing: `if not exists` needs the right to create even when there is nothing to
 * do.
 */
async function ensureHome(tx: Transaction): Promise<void> {
  const [found] = await tx.query<{ home: boolean; table: boolean }>(
    `select to_regnamespace('toolhub') is not null as home, to_regclass('toolhub.migrations') is not null as table`,
  );
  if (found?.home !== true) await tx.script('create schema toolhub');
  if (found?.table !== true) {
    await tx.script(`create table toolhub.migrations (
      number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`);
  }
}

async function ensureVector(tx: Transaction): Promise<boolean> {
  const [found] = await tx.query<{ here: boolean; available: boolean }>(
    `select exists (select from pg_extension where extname = 'vector') as here,
            exists (select from pg_available_extensions where name = 'vector') as available`,
  );
  if (found?.here === true || found?.available !== true) return found?.here === true;
  await tx.script('savepoint vector');
  try {
    await tx.script('create extension vector');
    return true;
  } catch {
    // Usually a matter of rights: an administrator may create it, and the next start finds it.
    await tx.script('rollback to savepoint vector');
    return false;
  }
}

/** Throws HubError `misconfigured` for tables that a newer hub has changed. */
export function refuseNewer(
  applied: readonly Pick<Applied, 'number'>[],
  migrations: readonly Migration[] = readMigrations(),
): void {
  const newer = newerOf(applied, migrations);
  if (newer === undefined) return;
  throw new HubError(
    'misconfigured',
    `Cannot use this database: a newer Tool Hub changed it (migration ${newer}, this version knows ${newestOf(migrations)}). Install the newer version, or name another database in DB_URL.`,
  );
}

/** The number of a migration that this hub does not know yet. */
function newerOf(applied: readonly Pick<Applied, 'number'>[], migrations: readonly Migration[]): number | undefined {
  const newest = newestOf(migrations);
  return applied.find(({ number }) => number > newest)?.number;
}

function newestOf(migrations: readonly Migration[]): number {
  return Math.max(0, ...migrations.map(({ number }) => number));
}

function check(applied: readonly Applied[], migrations: readonly Migration[]): void {
  const known = new Map(migrations.map((migration) => [migration.number, migration]));
  for (const { number, checksum: recorded } of applied) {
    const migration = known.get(number);
    if (migration === undefined || checksum(migration) === recorded) continue;
    throw new HubError(
      'misconfigured',
      `Cannot use this database: migration ${migration.name} is not the one that was applied to it. Install the version of Tool Hub that made it, or name another database in DB_URL.`,
    );
  }
}

function checksum(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex');
}

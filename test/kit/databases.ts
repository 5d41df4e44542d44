import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { atEnd } from './at-end.ts';
import { startPostgres } from './postgres.ts';
import type { TestPostgres } from './postgres.ts';
import { readMigrations } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { DatabasePlace } from '../../src/database/open.ts';
import { createDatabase } from '../../src/database/supervise.ts';
import type { DatabaseHandle } from '../../src/database/supervise.ts';
import type { Logger } from '../../src/core/logger.ts';

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A temporary folder, removed at the end. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolhub-data-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let server: Promise<TestPostgres> | undefined;
afterAll(async () => (await server)?.close());

/** The PostgreSQL of this test file, started when it is first asked for. */
export function sharedPostgres(): Promise<TestPostgres> {
  return (server ??= startPostgres());
}

/** Making an embedded database takes seconds, so one is made for all runs until PGlite or the migrations change, and tests get copies. */
async function embeddedTemplate(): Promise<string> {
  const key = createHash('sha256').update(readFileSync('package-lock.json')).update(JSON.stringify(readMigrations()));
  const cache = 'node_modules/.cache/toolhub';
  const template = join(cache, `embedded-${key.digest('hex').slice(0, 16)}`);
  if (existsSync(template)) return template;
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, 'making-'));
  await (await openDatabase({ url: undefined, dataDir: made, log: silent })).close();
  try {
    renameSync(made, template);
  } catch {
    rmSync(made, { recursive: true }); // Another test file was quicker.
  }
  return template;
}

async function copyOfEmbedded(dataDir: string): Promise<string> {
  cpSync(await embeddedTemplate(), dataDir, { recursive: true });
  return dataDir;
}

/** Where a test can have an empty database of either kind. */
export const places: Record<'postgres' | 'embedded', () => Promise<DatabasePlace>> = {
  embedded: async () => ({ url: undefined, dataDir: await copyOfEmbedded(tempFolder()), log: silent }),
  postgres: async () => ({ url: await (await sharedPostgres()).createDatabase(), dataDir: tempFolder(), log: silent }),
};

const handles = new Map<keyof typeof places, Promise<DatabaseHandle>>();
const sharedFolder = mkdtempSync(join(tmpdir(), 'toolhub-shared-'));
afterAll(async () => {
  for (const handle of handles.values()) await (await handle).close();
  rmSync(sharedFolder, { recursive: true, force: true });
});

/** A ready database with empty tables: one per kind and test file, because opening an embedded one is what takes time. */
export async function emptyDatabase(kind: keyof typeof places): Promise<DatabaseHandle> {
  const opening = handles.get(kind) ?? openShared(kind);
  handles.set(kind, opening);
  const handle = await opening;
  const open = await handle.whenReady(patienceMs);
  await open.tx((tx) => tx.script('truncate toolhub.logs, toolhub.activity, toolhub.revocations, toolhub.settings'));
  return handle;
}

/** How long a test waits for a database on a machine that is busy with other tests. */
export const patienceMs = 25_000;

async function openShared(kind: keyof typeof places): Promise<DatabaseHandle> {
  const url = kind === 'postgres' ? await (await sharedPostgres()).createDatabase() : undefined;
  if (kind === 'embedded') await copyOfEmbedded(sharedFolder);
  const handle = createDatabase({ url, dataDir: sharedFolder, log: silent });
  handle.start();
  await handle.whenReady(patienceMs);
  return handle;
}

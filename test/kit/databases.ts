import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { atEnd } from './at-end.ts';
import { startPostgres } from './postgres.ts';
import type { TestPostgres } from './postgres.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { DatabasePlace } from '../../src/database/open.ts';
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

let template: Promise<string> | undefined;

/** Making an embedded database takes seconds, so each test file makes one and each test gets a copy. */
async function copyOfEmbedded(): Promise<string> {
  template ??= (async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'toolhub-template-'));
    await (await openDatabase({ url: undefined, dataDir, log: silent })).close();
    return dataDir;
  })();
  const dataDir = tempFolder();
  cpSync(await template, dataDir, { recursive: true });
  return dataDir;
}
afterAll(async () => {
  if (template !== undefined) rmSync(await template, { recursive: true, force: true });
});

/** Where a test can have an empty database of either kind. */
export const places: Record<'postgres' | 'embedded', () => Promise<DatabasePlace>> = {
  embedded: async () => ({ url: undefined, dataDir: await copyOfEmbedded(), log: silent }),
  postgres: async () => ({ url: await (await sharedPostgres()).createDatabase(), dataDir: tempFolder(), log: silent }),
};

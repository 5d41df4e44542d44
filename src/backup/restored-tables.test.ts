import { createWriteStream, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { sharedPostgres, silent, tempFolder } from '../../test/kit/databases.ts';
import { refusalOf } from '../../test/kit/settings-place.ts';
import { openDatabase } from '../database/open.ts';
import { createDatabase } from '../database/supervise.ts';
import { asideName, exchange, interruptedExchange } from './exchange.ts';
import { openBackup } from './read-backup.ts';
import { type RestorePlace, restoreBackup, undoRestore } from './restore.ts';
import { openPostgresTarget } from './restored-tables.ts';
import { writeBackup } from './write-backup.ts';

// A restore with PostgreSQL that ends between the commit of the tables and its own end.

let file: string;
let url: string;
let to: RestorePlace;

beforeAll(async () => {
  const dataDir = tempFolder();
  file = join(tempFolder(), 'backup.zip');
  const jwtSecret = { from: 'data folder', value: 'a secret that is long enough for it' } as const;
  const source = { dataDir, settingsPath: join(dataDir, 'none'), databaseKind: 'off', database: undefined } as const;
  await writeBackup({ ...source, jwtSecret }, createWriteStream(file));
});

beforeEach(async () => {
  url = await (await sharedPostgres()).createDatabase();
  const folder = tempFolder();
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'old'), 'of before');
  to = {
    dataDir,
    settingsPath: join(folder, 'settings.json'),
    database: { kind: 'postgres', url },
    jwtSecret: undefined,
  };
});

const rules = { takeRow: () => false, more: new Map<string, readonly string[]>() };

async function stopAfterCommit(database: 'made' | 'replaced'): Promise<void> {
  mkdirSync(join(to.dataDir, 'restore-unfinished'));
  const { aside } = await exchange(to.dataDir, {
    aside: asideName(),
    settingsPath: to.settingsPath,
    settings: undefined,
    database,
  });
  const [backup, target] = [await openBackup(file), await openPostgresTarget(url)];
  await target.replace(backup, rules, aside);
  await target.close();
  backup.close();
}

async function has(what: string): Promise<boolean> {
  const target = await openPostgresTarget(url);
  const found = what === 'schema' ? await target.hasSchema() : await target.hasTables();
  await target.close();
  return found;
}

test('where there was no schema, none is left by the undo, which is refused without the database', async () => {
  await stopAfterCommit('made');
  expect(await has('tables')).toBe(true);
  const refusal = await refusalOf(undoRestore({ ...to, database: { kind: 'embedded' } }));
  expect([refusal.code, refusal.message]).toEqual(['misconfigured', expect.stringContaining('Set DB_URL')]);
  expect(interruptedExchange(to.dataDir)?.database).toBe('made');
  expect(await undoRestore(to)).toBe(true);
  expect(await has('schema')).toBe(false);
  expect(existsSync(join(to.dataDir, 'old'))).toBe(true);
});

test('the next restore begins with what was there before: an empty database', async () => {
  await stopAfterCommit('made');
  const { schemaAside } = await restoreBackup(file, to, true);
  expect(schemaAside).toBeUndefined();
});

test('the schema of before comes back, and one that no restore made is not dropped', async () => {
  await restoreBackup(file, to, true);
  const own = await openDatabase({ url, dataDir: to.dataDir, log: silent });
  await own.query(`insert into toolhub.revocations (username, jti, until_ms) values ('ann', '', 5)`);
  await own.close();
  await stopAfterCommit('replaced');
  expect(await undoRestore(to)).toBe(true);
  const target = await openPostgresTarget(url);
  await target.undo(asideName());
  await target.close();
  const back = await openDatabase({ url, dataDir: to.dataDir, log: silent });
  expect(await back.query('select username from toolhub.revocations')).toEqual([{ username: 'ann' }]);
  await back.close();
});

test('a hub that connected since the restore began is not restored under', async () => {
  const [backup, target] = [await openBackup(file), await openPostgresTarget(url)];
  const hub = createDatabase({ url, dataDir: to.dataDir, log: silent });
  hub.start();
  await hub.whenReady(60_000);
  const refusal = await refusalOf(target.replace(backup, rules, asideName()));
  expect([refusal.code, refusal.message]).toEqual(['conflict', expect.stringContaining('a hub is connected')]);
  await hub.close();
  await target.close();
  backup.close();
});

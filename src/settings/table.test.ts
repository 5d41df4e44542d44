import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { databaseWaitMs, places, sharedPostgres, silent, tempFolder } from '../../test/kit/databases.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { until } from '../../test/kit/until.ts';
import { databaseLimits } from '../database/limits.ts';
import type { DatabasePlace } from '../database/open.ts';
import { createDatabase } from '../database/supervise.ts';
import type { SettingsDocument } from './backend.ts';
import { settingsFile } from './file.ts';
import { openSettings } from './store.ts';
import { settingsTable } from './table.ts';

const server = { command: 'node' };

/** One hub's settings: database, table, store. `folder` is what it keeps between restarts. */
async function startHub(place: DatabasePlace, file?: SettingsDocument, folder = tempFolder()) {
  const database = createDatabase(place);
  const path = join(folder, 'mcp_settings.json');
  if (file !== undefined) writeFileSync(path, JSON.stringify(file));
  const backend = settingsTable({
    database,
    importFrom: settingsFile(path),
    copyPath: join(folder, 'settings-copy.json'),
    waiting: async () => {},
    log: silent,
  });
  database.start();
  atEnd(() => database.close());
  const store = await openSettings({ backend, log: silent, initial: { users: [] } });
  atEnd(() => store.close());
  return { store, backend, database, folder };
}

describe.each(['postgres', 'embedded'] as const)('%s', (kind) => {
  test('an empty table takes the file once; later the file is not looked at', async () => {
    const place = await places[kind]();
    const file = { zebra: 1, mcpServers: { z: server, a: server }, unknownKey: { deep: [1, 'ü\u0000'] } };
    const first = await startHub(place, file);
    expect(JSON.stringify(first.store.document)).toBe(JSON.stringify(file));
    await first.store.change((draft) => void (draft.mcpServers = { ...draft.mcpServers, b: server }));
    await first.store.close();
    await first.database.close();

    const second = await startHub(place, { mcpServers: { other: server } });
    expect([...second.store.current.servers.keys()]).toEqual(['z', 'a', 'b']);
    expect(second.store.document['unknownKey']).toEqual({ deep: [1, 'ü\u0000'] });
  });

  test('without a file it begins with the initial settings', async () => {
    const { store } = await startHub(await places[kind]());
    expect(store.firstStart).toBe(true);
    expect(store.document).toEqual({ users: [] });
  });
});

test('a file that cannot be used stops the start and does not reach the table', async () => {
  const place = await places.postgres();
  const broken = { mcpServers: { a: server }, groups: [{ name: 7 }] } as unknown as SettingsDocument;
  await expect(startHub(place, broken)).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringContaining('groups[0].name') as string,
  });
  const { store } = await startHub(place, { mcpServers: { a: server } });
  expect(store.current.servers.size).toBe(1);
});

test('hubs that start together on an empty table agree on one document', async () => {
  const place = await places.postgres();
  const hubs = await Promise.all(['a', 'b', 'c'].map((name) => startHub(place, { mcpServers: { [name]: server } })));
  const documents = new Set(hubs.map(({ store }) => JSON.stringify(store.document)));
  expect(documents.size).toBe(1);
});

test('two hubs see each other’s changes, and none is lost when both change at once', async () => {
  const place = await places.postgres();
  const [one, two] = [await startHub(place), await startHub(place)];
  await one.store.change((draft) => void (draft.mcpServers = { first: server }));
  await until('the other sees it', () => two.store.current.servers.has('first'));

  const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
  await Promise.all(
    names.map((name, index) =>
      (index % 2 === 0 ? one : two).store.change(
        (draft) => void (draft.mcpServers = { ...draft.mcpServers, [name]: server }),
      ),
    ),
  );
  for (const { store } of [one, two]) {
    await until('it has all', () => store.current.servers.size === names.length + 1);
  }
});

test('while the database is away the settings stay, changes are refused with a reason, a restart works, and then it catches up', async () => {
  setLimits(databaseLimits, { databaseRetryMaxMs: 1_000 });
  const postgres = await sharedPostgres();
  const place = await places.postgres();
  const { store, folder, database } = await startHub(place, { mcpServers: { a: server } });
  await postgres.kill();
  await until('it is noticed', () => database.state().state === 'down');
  expect(store.current.servers.has('a')).toBe(true);
  await expect(store.change((draft) => void (draft.mcpServers = {}))).rejects.toMatchObject({ code: 'not_ready' });
  expect(store.current.servers.has('a')).toBe(true);

  const restarted = await startHub(place, undefined, folder);
  expect([...restarted.store.current.servers.keys()]).toEqual(['a']);

  await postgres.start();
  await database.whenReady(databaseWaitMs);
  await store.change((draft) => void (draft.mcpServers = { ...draft.mcpServers, b: server }));
  await until('the other one catches up', () => restarted.store.current.servers.has('b'), databaseWaitMs);
});

test('a copy that is broken, or cannot be written, is no reason to fail', async () => {
  const place = await places.postgres();
  const folder = tempFolder();
  mkdirSync(join(folder, 'settings-copy.json'));
  const { store } = await startHub(place, { mcpServers: { a: server } }, folder);
  await store.change((draft) => void (draft.mcpServers = { ...draft.mcpServers, b: server }));
  expect(store.current.servers.size).toBe(2);
});

import { createHash } from 'node:crypto';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { copyOfEmbedded } from '../../test/kit/embedded-template.ts';
import { emptyDatabase, sharedPostgres, silent, tempFolder } from '../../test/kit/databases.ts';
import { refusalOf } from '../../test/kit/settings-place.ts';
import { zip, type ZipEntry } from '../../test/kit/zip.ts';
import { factorsInFile } from '../auth/second-factor/factors-in-file.ts';
import { factorsInTable } from '../auth/second-factor/factors-in-table.ts';
import { createSealer } from '../core/seal.ts';
import { openDatabase } from '../database/open.ts';
import { sharedSealer } from '../database/shared-sealer.ts';
import { createDatabase } from '../database/supervise.ts';
import { createChainCheck } from '../logs/audit/chain.ts';
import { keptEvent } from '../logs/audit/event.ts';
import { appendEvents, readRecords } from '../logs/audit/table.ts';
import { version } from '../version.ts';
import { asideName, exchange, interruptedExchange } from './exchange.ts';
import { secretCheck } from './manifest.ts';
import { openBackup } from './read-backup.ts';
import { type RestorePlace, restoreBackup, undoRestore } from './restore.ts';
import { writeBackup } from './write-backup.ts';

const secret = 'a secret that is long enough for it';
const off = { kind: 'off' } as const;

/** A folder with a data folder in it, and a settings file beside. */
function place(files: Record<string, string> = {}, settings?: string): RestorePlace {
  const folder = tempFolder();
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dataDir, path)), { recursive: true });
    writeFileSync(join(dataDir, path), text);
  }
  const settingsPath = join(folder, 'settings.json');
  if (settings !== undefined) writeFileSync(settingsPath, settings);
  return { dataDir, settingsPath, database: off, jwtSecret: undefined };
}

async function backupOf(
  { dataDir, settingsPath, jwtSecret, database }: RestorePlace,
  open?: Awaited<ReturnType<typeof openDatabase>>,
) {
  const file = join(tempFolder(), 'backup.zip');
  await writeBackup(
    {
      dataDir,
      settingsPath,
      databaseKind: database.kind,
      database: open,
      jwtSecret: { from: jwtSecret === undefined ? 'data folder' : 'environment', value: jwtSecret ?? secret },
    },
    createWriteStream(file),
  );
  return file;
}

const contentOf = ({ dataDir, settingsPath }: RestorePlace) => ({
  names: readdirSync(dataDir).toSorted(),
  settings: existsSync(settingsPath) ? readFileSync(settingsPath, 'utf8') : undefined,
});

describe('the files of a backup', () => {
  test('come back as they were, without locks, links, and what other restores left', async () => {
    const from = place({ 'jwt.secret': 'abc', 'bundles/x/run.sh': 'run', 'hub.lock': '{}', 'before-restore-1/y': 'y' });
    symlinkSync('/etc/passwd', join(from.dataDir, 'link'));
    writeFileSync(from.settingsPath, '// comments\n{}');
    const to = place();
    const { notes, aside } = await restoreBackup(await backupOf(from), to, false);
    expect([notes, aside]).toEqual([[], undefined]);
    expect(contentOf(to)).toEqual({ names: ['bundles', 'jwt.secret'], settings: '// comments\n{}' });
    expect(readFileSync(join(to.dataDir, 'bundles/x/run.sh'), 'utf8')).toBe('run');
  });

  test('take the place of others only when asked to, and those are kept', async () => {
    const file = await backupOf(place({ new: 'new' }, '{"new":1}'));
    const to = place({ old: 'old' }, '{"old":1}');
    expect((await refusalOf(restoreBackup(file, to, false))).code).toBe('misconfigured');
    expect(contentOf(to)).toEqual({ names: ['old'], settings: '{"old":1}' });
    const { aside = '' } = await restoreBackup(file, to, true);
    expect(contentOf(to).settings).toBe('{"new":1}');
    expect(readFileSync(join(aside, 'old'), 'utf8')).toBe('old');
    expect(readFileSync(join(aside, 'settings-file-before.json'), 'utf8')).toBe('{"old":1}');
  });
});

describe('a restore that is interrupted', () => {
  const stopped = async (to: RestorePlace, half: () => void) => {
    mkdirSync(join(to.dataDir, 'restore-unfinished'));
    for (const name of ['same', 'new']) writeFileSync(join(to.dataDir, 'restore-unfinished', name), 'of the backup');
    await exchange(to.dataDir, {
      aside: asideName(),
      settingsPath: to.settingsPath,
      settings: 'of the backup',
      database: 'none',
    });
    half();
  };

  test('is undone, however far it was', async () => {
    for (const settings of [undefined, 'of before']) {
      const to = place({ same: 'of before', old: 'of before' }, settings);
      await stopped(to, () => undefined);
      expect(contentOf(to).settings).toBe('of the backup');
      expect(await undoRestore(to)).toBe(true);
      expect(contentOf(to)).toEqual({ names: ['old', 'same'], settings });
      expect(readFileSync(join(to.dataDir, 'same'), 'utf8')).toBe('of before');
      expect(await undoRestore(to)).toBe(false);
    }
  });

  test('before anything was moved leaves everything', async () => {
    const to = place({ old: 'of before' }, 'of before');
    mkdirSync(join(to.dataDir, 'before-restore-2026'));
    writeFileSync(join(to.dataDir, 'before-restore-2026', 'settings-file-before.json'), 'of before');
    const { settingsPath } = to;
    const state = { version: 1, aside: 'before-restore-2026', old: ['old'], settingsPath, settings: 'replaced' };
    writeFileSync(join(to.dataDir, 'restore.json'), JSON.stringify(state));
    await undoRestore(to);
    expect(contentOf(to)).toEqual({ names: ['old'], settings: 'of before' });
  });

  test('is undone by the next one, which starts from what was there before', async () => {
    const file = await backupOf(place({ new: 'new' }));
    const to = place({ old: 'of before' }, 'of before');
    await stopped(to, () => undefined);
    const { aside = '' } = await restoreBackup(file, to, true);
    expect(interruptedExchange(to.dataDir)).toBeUndefined();
    expect(readdirSync(aside)).toContain('old');
    expect(contentOf(to).names.filter((name) => !name.startsWith('before-'))).toEqual(['new']);
  });

  test('with a state that cannot be read says where everything is', async () => {
    const to = place({ 'restore.json': '{' });
    expect((await refusalOf(undoRestore(to))).message).toMatch(/was interrupted, and .*before-restore-/);
  });
});

describe('what is refused, before anything is touched', () => {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const made = {
    format: 1,
    version,
    createdAt: '2026-01-01T00:00:00.000Z',
    database: 'off',
    migrations: [],
    jwtSecret: { from: 'data folder', ...secretCheck(secret) },
    counts: {},
    tables: {},
    gone: [],
  };
  const told = (files: Record<string, string>, more: object = {}) => ({
    ...made,
    files: Object.fromEntries(
      Object.entries(files).map(([n, text]) => [n, { bytes: text.length, sha256: hash(text) }]),
    ),
    ...more,
  });
  const entriesOf = (files: Record<string, string>): ZipEntry[] =>
    Object.entries(files).map(([name, data]) => ({ name, data }));
  const written = (manifest: unknown, entries: ZipEntry[]) => {
    const file = join(tempFolder(), 'backup.zip');
    const data = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
    writeFileSync(file, zip([...entries, { name: 'manifest.json', data }]));
    return file;
  };
  const good = { 'data/a': 'aaaa' };
  const twisted = { 'data/./a': 'out' };
  const escapes = { 'data/../../escaped': 'out' };

  test('changed settings, also where PostgreSQL has them as a row', async () => {
    const manifest = told({ 'settings.json': '{"a":1}' }, { database: 'postgres' });
    const url = await (await sharedPostgres()).createDatabase();
    for (const database of [{ kind: 'embedded' } as const, { kind: 'postgres', url } as const]) {
      const to = { ...place(), database };
      const restored = restoreBackup(written(manifest, entriesOf({ 'settings.json': '{"b":1}' })), to, false);
      expect((await refusalOf(restored)).message).toContain('its hash is another');
      expect(contentOf(to)).toEqual({ names: [], settings: undefined });
    }
  });

  test.each<[string, () => string, string]>([
    ['a newer hub', () => written(told(good, { version: '999.0.0' }), entriesOf(good)), 'a newer Tool Hub (999.0.0)'],
    ['a newer form', () => written({ format: 2, version }, []), 'a newer Tool Hub'],
    ['newer tables', () => written(told(good, { migrations: [1, 9999] }), entriesOf(good)), 'a newer Tool Hub'],
    ['another zip', () => written('[]', []), 'is damaged'],
    ['a manifest that is no JSON', () => written('{', []), 'is no JSON'],
    ['a changed file', () => written(told({ 'data/a': 'bbbb' }), entriesOf(good)), 'its hash is another'],
    ['a file of another size', () => written(told({ 'data/a': 'aaa' }), entriesOf(good)), 'another size'],
    ['a file more', () => written(told({}), entriesOf(good)), 'is not in its manifest.json'],
    ['a file less', () => written(told(good), []), 'is missing in it'],
    ['a path that leads out', () => written(told(escapes), entriesOf(escapes)), 'invalid relative path'],
    ['a path that is another one', () => written(told(twisted), entriesOf(twisted)), 'leads out of the backup'],
    [
      'a link',
      () => written(told({ 'data/a': '/etc' }), [{ name: 'data/a', data: '/etc', mode: 0o120777 }]),
      'is no file',
    ],
    [
      'more than it says',
      () => written(told(good), [{ name: 'data/a', data: 'a'.repeat(50_000), claims: { size: 4 } }]),
      'damaged',
    ],
    [
      'a part of a backup',
      () => {
        const file = written(told(good), entriesOf(good));
        writeFileSync(file, readFileSync(file).subarray(0, -30));
        return file;
      },
      'no complete zip',
    ],
    [
      'what is no zip',
      () => {
        const file = join(tempFolder(), 'x');
        writeFileSync(file, 'hello');
        return file;
      },
      'no complete zip',
    ],
  ])('%s', async (_what, file, message) => {
    const to = place({ old: 'old' }, '{"old":1}');
    const refusal = await refusalOf(restoreBackup(file(), to, true));
    expect([refusal.code, refusal.message]).toEqual(['misconfigured', expect.stringContaining(message)]);
    expect(contentOf(to)).toEqual({ names: ['old'], settings: '{"old":1}' });
    expect(existsSync(join(to.dataDir, '..', '..', 'escaped'))).toBe(false);
  });
});

describe('two secrets', () => {
  const notesOf = async (made: string | undefined, here: string | undefined) => {
    const file = await backupOf({ ...place(), jwtSecret: made });
    return (await restoreBackup(file, { ...place(), jwtSecret: here }, false)).notes;
  };

  test('that are the same are not spoken of, and those that differ are, with what no longer works', async () => {
    expect(await notesOf(undefined, undefined)).toEqual([]);
    expect(await notesOf(secret, secret)).toEqual([]);
    expect(await notesOf(secret, `${secret}!`)).toEqual([
      expect.stringMatching(/JWT_SECRET is another one.*logs in again/),
    ]);
    expect(await notesOf(undefined, `${secret}!`)).toEqual([expect.stringContaining('JWT_SECRET is another one')]);
    expect(await notesOf(secret, undefined)).toEqual([expect.stringContaining('none is set here')]);
  });
});

const username = 'ann';
const record = {} as never;
const purpose = 'second factors';
const pins = { version: 1, server: 'mail', approved: [], rejected: [], seen: [] };
const consent = {
  id: 'c1',
  username,
  client: 'x',
  createdAt: 1,
  usedAt: 1_700_000_000_000,
  endedAt: 1_700_000_000_001,
};
const claims = { username, jti: 'j', issuedAt: 1_700_000_000_000, expiresAt: 1_700_086_400_000 };
const session = { tokenHash: 'h', session: { claims, via: 'password' }, seenAt: 1_700_000_000_002 };

describe('from the embedded database to PostgreSQL and back', () => {
  let from: RestorePlace;
  let file: string;
  let url: string;
  beforeAll(async () => {
    const hub = createHash('sha256').update('hub').digest();
    from = {
      ...place(
        {
          'hub.secret': `${hub.toString('hex')}\n`,
          'pins/a0a44ed8cfc32b7e61befeb99bbff770.json': JSON.stringify(pins),
          'consents.json': JSON.stringify({ version: 1, consents: [consent] }),
          'sessions.json': JSON.stringify({ version: 1, sessions: [session] }),
          'last-uses.json': '{"key:k":1700000000003}',
        },
        '{"mcpServers":{}}',
      ),
      database: { kind: 'embedded' },
    };
    const factors = factorsInFile(join(from.dataDir, 'second-factors.json'), createSealer(hub, purpose));
    await factors.change(username, () => ({ record, result: undefined }));
    const database = await (await emptyDatabase('embedded')).whenReady(60_000);
    const event = { actor: { kind: 'hub', name: '' }, via: 'hub', action: 'x' } as const;
    await appendEvents(
      database,
      Array.from({ length: 3 }, () => keptEvent(event, 1, new Date(), (text) => text)),
    );
    await database.query(
      `insert into toolhub.activity (id, at, server, tool, duration_ms, status, principal, result_bytes, input)
       select gen_random_uuid(), now(), 'mail', 'echo', 0.1, 'success', 'anonymous', 9, E'"\\n\\\\ ü' from generate_series(1, 1200)`,
    );
    await database.query(`insert into toolhub.embeddings values ('m', 'h', '[1,0.5]')`);
    file = await backupOf(from, database);
    url = await (await sharedPostgres()).createDatabase();
  });

  test('nothing is lost on the way', async () => {
    const there = { ...place(), database: { kind: 'postgres', url } as const };
    expect((await restoreBackup(file, there, false)).notes.filter((note) => !note.includes('vectors'))).toEqual([]);
    const handle = createDatabase({ url, dataDir: there.dataDir, log: silent });
    handle.start();
    const postgres = await handle.whenReady(60_000);
    const factors = factorsInTable(handle, sharedSealer(undefined, purpose));
    expect(await factors.usernames()).toEqual(new Set([username]));
    const again = await backupOf(there, postgres);
    await handle.close();

    const manifest = await openBackup(again);
    expect(manifest.manifest.tables).toMatchObject({ activity: 1200, audit: 4, pins: 1, consents: 1, sessions: 1 });
    manifest.close();

    const back = { ...place(), database: { kind: 'embedded' } as const };
    await copyOfEmbedded(join(tempFolder(), 'x'));
    expect((await restoreBackup(again, back, false)).notes).toEqual([]);
    const read = (name: string): unknown => JSON.parse(readFileSync(join(back.dataDir, name), 'utf8'));
    expect(read('consents.json')).toEqual({ version: 1, consents: [consent] });
    expect(read('sessions.json')).toEqual({ version: 1, sessions: [session] });
    expect(read('last-uses.json')).toEqual({ 'key:k': 1_700_000_000_003 });
    expect(readdirSync(join(back.dataDir, 'pins')).map((name) => read(`pins/${name}`))).toEqual([pins]);
    const hub = createHash('sha256').update('hub').digest();
    const own = factorsInFile(join(back.dataDir, 'second-factors.json'), createSealer(hub, purpose));
    expect(await own.usernames()).toEqual(new Set([username]));

    const embedded = await openDatabase({ url: undefined, dataDir: back.dataDir, log: silent });
    const rows = await embedded.query(
      `select count(*)::int as n, count(distinct id)::int as ids, min(input) as input from toolhub.activity`,
    );
    expect(rows).toEqual([{ n: 1200, ids: 1200, input: '"\n\\ ü' }]);
    const chain = createChainCheck();
    for await (const page of readRecords(() => Promise.resolve(embedded)))
      for (const text of page) chain.take(JSON.parse(text));
    expect(chain.done()).toMatchObject({ records: 5 });
    await embedded.close();
  });

  test('PostgreSQL with tables is replaced only when asked to, never beside a hub, and keeps what it had', async () => {
    const there = { ...place(), database: { kind: 'postgres', url } as const };
    const beside = createDatabase({ url, dataDir: there.dataDir, log: silent });
    beside.start();
    await beside.whenReady(60_000);
    expect((await refusalOf(restoreBackup(file, there, true))).message).toContain('a hub is connected to it');
    await beside.close();
    expect((await refusalOf(restoreBackup(file, there, false))).message).toContain('tables in the database');
    const { schemaAside = '' } = await restoreBackup(file, there, true);
    const database = await openDatabase({ url, dataDir: there.dataDir, log: silent });
    expect(await database.query(`select count(*)::int as n from ${schemaAside}.activity`)).toEqual([{ n: 1200 }]);
    expect(await database.query('select count(*)::int as n from toolhub.audit')).toEqual([{ n: 4 }]);
    await database.close();
  });
});

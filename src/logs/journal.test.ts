import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { emptyDatabase, databaseWaitMs, places, silent, tempFolder } from '../../test/kit/databases.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { hasSmallDisks, smallDisk } from '../../test/kit/small-disk.ts';
import { until } from '../../test/kit/until.ts';
import type { NewActivity } from '../core/activity.ts';
import type { Logger } from '../core/logger.ts';
import type { DatabasePlace } from '../database/open.ts';
import { createDatabase } from '../database/supervise.ts';
import { createFullDiskRetry } from '../disk/full-disk-retry.ts';
import { createActivityLog } from './activity.ts';
import { moveJournals } from './journal-files.ts';
import { logLimits } from './limits.ts';
import { createLog } from './log.ts';
import { createLogStore } from './log-store.ts';

const away: DatabasePlace = { url: 'postgres://test@127.0.0.1:1/x', dataDir: '/nonexistent', log: silent };
const call = (n: number, more: Partial<NewActivity> = {}): NewActivity => ({
  server: 's',
  tool: `t${n}`,
  durationMs: n + 0.5,
  status: 'success',
  principal: 'anonymous',
  resultBytes: n,
  ...more,
});

/** The log of one process; its lines are in `said`. */
function process(folder: string, place: DatabasePlace = away) {
  const said: string[] = [];
  const say = (message: string, fields?: object) => void said.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const log: Logger = { debug: say, info: say, warn: say, error: say };
  const database = createDatabase(place);
  const room = createFullDiskRetry(log);
  const journal = { folder, room };
  const activity = createActivityLog({ database, log, journal });
  const book = createLog({ level: 'debug', format: 'json', write: () => {} });
  const logs = createLogStore({ feed: book, database, log, journal });
  const end = async (): Promise<void> => {
    await activity.close();
    await logs.close();
    room.close();
    await database.close();
  };
  atEnd(end);
  return {
    activity,
    logs,
    book,
    database,
    room,
    said,
    end,
    record: (n: number, more?: Partial<NewActivity>) => activity.record(call(n, more)),
  };
}

/** Once what was recorded is handed to the system, as an answered call is. */
const kept = (hub: ReturnType<typeof process>) => new Promise<void>((done) => hub.activity.afterKeeping(done));
const filesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort() : []);
const journal = () => join(tempFolder(), 'journal');

/** A process that is killed: its files are as they were, and nothing of it is closed. */
async function killedWith(folder: string, count: number): Promise<void> {
  const hub = process(folder);
  for (let n = 0; n < count; n += 1)
    hub.record(n, n % 3 === 0 ? { errorMessage: 'line\nbreak \ud800 "x"', status: 'error' } : {});
  hub.book.for('hub').info('last words');
  hub.book.security('api').info('login');
  const last = Date.now();
  await kept(hub);
  await new Promise((resolve) => setImmediate(resolve));
  // The next process begins later: ids of one millisecond are in order only in one process.
  await until('a later millisecond', () => Date.now() > last);
}

describe.each(['embedded', 'postgres'] as const)('%s', (kind) => {
  test('what a killed process acknowledged is written by the next one, once, whole, and its files go', async () => {
    const folder = journal();
    const place = await places[kind]();
    await killedWith(folder, 30);
    const before = filesIn(folder);
    expect(before.length).toBeGreaterThan(0);
    for (const name of before) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);

    const next = process(folder, place);
    expect(next.activity.counts()).toMatchObject({ waiting: 30, dropped: 0 });
    next.record(100);
    next.database.start();
    await next.database.whenReady(databaseWaitMs);
    const { data } = await next.activity.list({ page: 1, limit: 100 });
    expect(data.map(({ tool }) => tool)).toEqual(['t100', ...Array.from({ length: 30 }, (_, n) => `t${29 - n}`)]);
    expect(data.at(-1)).toMatchObject({
      ...call(0),
      status: 'error',
      errorMessage: expect.stringMatching(/^line\nbreak . "x"$/) as string,
    });
    expect(data.at(-2)).toMatchObject(call(1));
    expect((await next.logs.list({})).map(({ message }) => message)).toEqual(['last words', 'login']);
    const marked = 'select message from toolhub.logs where security';
    expect(await next.database.current()?.query(marked)).toEqual([{ message: 'login' }]);
    await until('the files are gone', () => filesIn(folder).length === 0);
    expect(next.activity.counts()).toMatchObject({ waiting: 0, dropped: 0 });
  });

  test('files that are replayed again, as after a kill in the middle of it, double nothing', async () => {
    const folder = journal();
    const place = await places[kind]();
    await killedWith(folder, 2_500);
    const copy = filesIn(folder).map((name) => [name, readFileSync(join(folder, name))] as const);
    for (let round = 0; round < 2; round += 1) {
      const next = process(folder, place);
      next.database.start();
      await next.database.whenReady(databaseWaitMs);
      // A listing that the table does not answer in time is that of memory.
      const total = async () => (await next.activity.list({ page: 1, limit: 1 })).pagination.total;
      await expect.poll(total).toBe(2_500);
      expect(await next.logs.list({})).toHaveLength(2);
      await next.end();
      for (const [name, bytes] of copy) writeFileSync(join(folder, name), bytes);
    }
  });
});

test('several hubs on one PostgreSQL write what each has in its own folder', async () => {
  const place = await places.postgres();
  const folders = [journal(), journal()];
  for (const folder of folders) await killedWith(folder, 20);
  const hubs = folders.map((folder) => process(folder, place));
  for (const { database } of hubs) database.start();
  for (const { database } of hubs) await database.whenReady(databaseWaitMs);
  await until('both have written', () =>
    hubs.every(({ activity, logs }) => activity.counts().waiting + logs.counts().waiting === 0),
  );
  for (const { activity, logs } of hubs) {
    expect((await activity.list({ page: 1, limit: 1 })).pagination.total).toBe(40);
    expect(await logs.list({})).toHaveLength(4);
  }
});

test('journals of folders that no process has any more are written from another, behind its own', async () => {
  const place = await places.postgres();
  const folders = [journal(), journal(), journal()];
  for (const folder of folders) await killedWith(folder, 20);
  const [own = '', ...left] = folders;
  // Numbers that are not in the order of their texts.
  const first = filesIn(own)[0] ?? '';
  renameSync(join(own, first), join(own, first.replace(/\d+/, '9')));
  writeFileSync(join(left[0] ?? '', 'other.txt'), 'stays');
  const count = left.flatMap(filesIn).length - 1;
  expect(left.reduce((sum, folder) => sum + moveJournals(folder, own), 0)).toBe(count);
  expect(left.map(filesIn)).toEqual([['other.txt'], []]);
  expect(moveJournals(join(own, 'missing'), own)).toBe(0);
  const { activity, logs, database } = process(own, place);
  database.start();
  await database.whenReady(databaseWaitMs);
  await until('all is written', () => activity.counts().waiting + logs.counts().waiting === 0);
  expect((await activity.list({ page: 1, limit: 1 })).pagination.total).toBe(60);
  expect(await logs.list({})).toHaveLength(6);
});

test('a stop while the database is away keeps what waits, and says so', async () => {
  const folder = journal();
  const hub = process(folder);
  for (let n = 0; n < 120; n += 1) hub.record(n);
  await hub.end();
  expect(hub.activity.counts()).toMatchObject({ waiting: 120, dropped: 0 });
  expect(hub.said.join('\n')).toMatch(
    /Some activity records are not in the database yet; the next start writes them {"waiting":120}/,
  );
  expect(process(folder).activity.counts().waiting).toBe(120);
});

test('more than memory has room for waits in the journal, and comes into the table in the end', async () => {
  const place = await places.postgres();
  const hub = process(journal(), place);
  const count = logLimits.activityQueue + 2_000;
  for (let n = 0; n < count; n += 1) hub.record(n);
  expect(hub.activity.counts()).toMatchObject({ waiting: count, dropped: 0 });
  hub.database.start();
  await hub.database.whenReady(databaseWaitMs);
  await until('all is written', () => hub.activity.counts().waiting === 0);
  expect((await hub.activity.list({ page: 1, limit: 1 })).pagination.total).toBe(count);
  expect(hub.activity.counts().dropped).toBe(0);
});

test('where rows were not worth writing, no older ones are shown before the hole that they leave', async () => {
  setLimits(logLimits, { activityRows: 3_000, journalSegmentBytes: 32 * 1024 });
  const place = await places.postgres();
  const first = process(journal(), place);
  first.database.start();
  await first.database.whenReady(databaseWaitMs);
  first.record(-1);
  await until('it is written', () => first.activity.counts().written === 1);
  await first.end();
  const hub = process(journal(), place);
  const count = logLimits.activityQueue + 8_000;
  for (let n = 0; n < count; n += 1) hub.record(n);
  await kept(hub);
  expect(hub.activity.counts().skipped).toBeGreaterThan(1_000);
  hub.database.start();
  await hub.database.whenReady(databaseWaitMs);
  const { pagination, data } = await until('the table answers', async () => {
    const answer = await hub.activity.list({ page: 1, limit: 1 });
    return answer.incomplete ? undefined : answer;
  });
  expect([pagination.total, data[0]?.tool]).toEqual([3_000, `t${count - 1}`]);
  expect(hub.activity.counts().dropped).toBe(0);
});

test('a journal that is full lets the oldest go, counts them and says so', async () => {
  const folder = journal();
  const hub = process(folder);
  // The largest there are, each another.
  const payload = 'x'.repeat(logLimits.activityPayloadChars);
  const count = Math.ceil((logLimits.journalBytes / (2 * payload.length)) * 1.1);
  for (let n = 0; n < count; n += 1) hub.record(n, { input: payload, output: payload });
  await kept(hub);
  const bytes = filesIn(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  expect(bytes).toBeLessThanOrEqual(logLimits.journalBytes + logLimits.journalSegmentBytes);
  await hub.end();
  expect(hub.said.join('\n')).toContain('The journal of activity records is full');
  const next = process(folder);
  const { waiting } = next.activity.counts();
  expect(waiting).toBeGreaterThan(count / 2);
  expect(waiting).toBeLessThan(count);
});

test('a last line that a kill cut off is left out, and nothing is said of it', async () => {
  const folder = journal();
  await killedWith(folder, 3);
  const [name = ''] = filesIn(folder).filter((one) => one.startsWith('activity'));
  appendFileSync(join(folder, name), '[17634,17634,0,1');
  const next = process(folder, await places.postgres());
  next.database.start();
  await next.database.whenReady(databaseWaitMs);
  expect((await next.activity.list({ page: 1, limit: 10 })).pagination.total).toBe(3);
  expect(next.activity.counts().dropped).toBe(0);
  expect(next.said.join('\n')).not.toContain('cannot be read');
});

test.each([
  ['a line that is no JSON', (text: string) => text.replace('\n', '\n{"torn\n')],
  ['a line of another kind', (text: string) => text.replace('\n', '\n[1,2,3]\n')],
  ['zeros of a machine that lost its power', (text: string) => text.replace('\n', `\n${'\0'.repeat(100)}\n`)],
])('%s in the middle: the file is set aside, the other lines count, the start goes on', async (_, damage) => {
  const folder = journal();
  await killedWith(folder, 3);
  const [name = ''] = filesIn(folder).filter((one) => one.startsWith('activity'));
  const path = join(folder, name);
  writeFileSync(path, damage(readFileSync(path, 'utf8')));
  const next = process(folder, await places.postgres());
  next.database.start();
  await next.database.whenReady(databaseWaitMs);
  expect((await next.activity.list({ page: 1, limit: 10 })).pagination.total).toBe(3);
  expect(next.activity.counts()).toMatchObject({ waiting: 0, dropped: 1 });
  expect(next.said.join('\n')).toContain('cannot be read; it is set aside as');
  expect(filesIn(folder)).toContain('activity.corrupt');
});

test('a file of another version, and a folder in the place of one, bar nothing', async () => {
  const folder = journal();
  mkdirSync(join(folder, 'activity-1.journal'), { recursive: true });
  writeFileSync(join(folder, 'activity-2.journal'), '{"journal":2}\n[]\n[]\n');
  const next = process(folder, await places.postgres());
  next.record(1);
  next.database.start();
  await next.database.whenReady(databaseWaitMs);
  expect((await next.activity.list({ page: 1, limit: 10 })).pagination.total).toBe(1);
  await until('it is looked at', () => next.activity.counts().waiting === 0);
  expect(next.activity.counts().dropped).toBe(2);
});

test('what was cleared does not come back', async () => {
  const folder = journal();
  const place = await places.postgres();
  await killedWith(folder, 3);
  const hub = process(folder, place);
  hub.database.start();
  await hub.database.whenReady(databaseWaitMs);
  hub.book.for('hub').info('more');
  await hub.logs.clear();
  await hub.activity.cleanup(0);
  await hub.end();
  const next = process(folder, place);
  next.database.start();
  await next.database.whenReady(databaseWaitMs);
  expect(await next.logs.list({})).toEqual([]);
  expect((await next.activity.list({ page: 1, limit: 10 })).pagination.total).toBe(0);
});

test('without a database nothing is kept', async () => {
  const folder = journal();
  const hub = process(folder, { ...away, url: 'off' });
  hub.record(1);
  await kept(hub);
  await hub.end();
  expect(filesIn(folder)).toEqual([]);
});

test('a folder that cannot be written to is said once, and what waits is counted as lost when the hub stops', async () => {
  const folder = journal();
  writeFileSync(folder, 'a file');
  const hub = process(folder);
  for (let n = 0; n < 5; n += 1) hub.record(n);
  await kept(hub);
  await hub.end();
  expect(hub.said.filter((line) => line.startsWith('Cannot write the journal of activity records'))).toHaveLength(1);
  expect(hub.activity.counts()).toMatchObject({ waiting: 0, dropped: 5 });
  expect(hub.said.join('\n')).toContain('Some activity records are lost');
});

describe.runIf(hasSmallDisks)('a full disk', () => {
  test('loses nothing that memory has, and the journal has it when there is room again', async () => {
    const disk = smallDisk();
    const folder = join(disk.folder, 'journal');
    const hub = process(folder);
    hub.record(1);
    await kept(hub);
    disk.fill();
    for (let n = 2; n <= 200; n += 1) hub.record(n, { input: 'x'.repeat(500 + n) });
    await kept(hub);
    await new Promise((resolve) => setImmediate(resolve));
    expect(hub.room.isFull).toBe(true);
    expect(hub.said.join('\n')).toContain('No room left on the disk (ENOSPC) for the journal of activity records');
    disk.free();
    await until('it recovers', () => !hub.room.isFull);
    hub.record(201);
    await hub.end();
    expect(hub.activity.counts()).toMatchObject({ waiting: 201, dropped: 0 });
    const database = await emptyDatabase('postgres');
    const next = createActivityLog({ database, log: silent, journal: { folder, room: hub.room } });
    atEnd(() => next.close());
    await until('it is written', () => next.counts().waiting === 0);
    expect((await next.list({ page: 1, limit: 1 })).pagination.total).toBe(201);
  });
});

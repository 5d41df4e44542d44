import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { emptyDatabase, databaseWaitMs, places, sharedPostgres, silent } from '../../test/kit/databases.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { until } from '../../test/kit/until.ts';
import { databaseLimits } from '../database/limits.ts';
import type { DatabasePlace } from '../database/open.ts';
import { createDatabase } from '../database/supervise.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { logLimits } from './limits.ts';
import { parseLogListing } from './log-filter.ts';
import { createLog } from './log.ts';
import { createLogStore } from './log-store.ts';
import { insertLogs } from './log-table.ts';
import { prune } from './prune.ts';
import { codePoints } from '../../test/kit/code-points.ts';

const off: DatabasePlace = { url: 'off', dataDir: '/nonexistent', log: silent };

/** A hub's log in this database, as far as this folder makes it. */
function keepLog(database: DatabaseHandle) {
  const book = createLog({ level: 'debug', format: 'json', write: () => {} });
  const store = createLogStore({ feed: book, database, log: silent });
  atEnd(() => store.close());
  return { book, store, database, say: (text: string) => book.for('hub').info(text) };
}

/** A hub's log with a database of its own, not started yet. */
function startLog(place: DatabasePlace) {
  const database = createDatabase(place);
  atEnd(() => database.close());
  const kept = keepLog(database);
  async function close(): Promise<void> {
    await kept.store.close();
    await database.close();
  }
  return { ...kept, close };
}

const texts = (entries: readonly { message: string }[]): string[] => entries.map(({ message }) => message);

describe.each(['off', 'postgres', 'embedded'] as const)('%s', (kind) => {
  const start = async () => keepLog(kind === 'off' ? createDatabase(off) : await emptyDatabase(kind));

  test('a listing has everything said before it, in order, with every filter', async () => {
    const { book, store } = await start();
    const [hub, github] = [book.for('hub'), book.for('server:github')];
    hub.info('one');
    hub.warn('Two: 100% of a_b');
    github.error("three's $1 \\ end");
    github.debug('four');
    const list = async (raw: Record<string, string>) => texts(await store.list(parseLogListing(raw)));

    expect(await list({})).toEqual(['one', 'Two: 100% of a_b', "three's $1 \\ end", 'four']);
    expect(await list({ level: 'warn' })).toEqual(['Two: 100% of a_b']);
    expect(await list({ level: 'warn,debug' })).toEqual(['Two: 100% of a_b', 'four']);
    expect(await list({ service: 'server:github' })).toEqual(["three's $1 \\ end", 'four']);
    expect(await list({ q: 'tWO' })).toEqual(['Two: 100% of a_b']);
    expect(await list({ q: '%' })).toEqual(['Two: 100% of a_b']);
    expect(await list({ q: 'a_b' })).toEqual(['Two: 100% of a_b']);
    expect(await list({ q: "'s $1 \\" })).toEqual(["three's $1 \\ end"]);
    expect(await list({ limit: '2' })).toEqual(["three's $1 \\ end", 'four']);
    const [, , third] = await store.list({});
    expect(await list({ before: `${third?.id}`, limit: '1' })).toEqual(['Two: 100% of a_b']);
    expect(texts(await store.list({ after: third?.id ?? 0 }))).toEqual(['four']);
    const from = (ids: Record<string, number>) => store.list({ readableFrom: (service) => ids[service] });
    expect(texts(await from({ hub: 0 }))).toEqual(['one', 'Two: 100% of a_b']);
    const second = (await store.list({})).find(({ message }) => message.startsWith('Two'));
    expect(texts(await from({ hub: second?.id ?? 0 }))).toEqual(['Two: 100% of a_b']);
    expect(await from({ hub: (second?.id ?? 0) + 1 })).toEqual([]);
    expect(await from({})).toEqual([]);
    expect(third).toEqual({
      id: book.entries()[2]?.id,
      timestamp: book.entries()[2]?.timestamp,
      level: 'error',
      service: 'server:github',
      message: "three's $1 \\ end",
    });
  });

  test('clearing removes everything, also what was not written yet', async () => {
    const { store, say, book } = await start();
    say('old');
    await store.list({});
    say('not written yet');
    await store.clear();
    expect(book.entries()).toEqual([]);
    expect(await store.list({})).toEqual([]);
    say('new');
    expect(texts(await store.list({}))).toEqual(['new']);
  });

  test('no filter text is ever anything but text', async () => {
    const { store, say } = await start();
    say('only entry');
    const hostile = fc.constantFrom(
      "' or 1=1 --",
      '$1',
      '?',
      '\\',
      '%',
      '{}',
      '\0',
      "'; delete from toolhub.logs; --",
      '\ud800',
    );
    const text = fc.oneof(hostile, fc.string({ unit: codePoints, maxLength: 20 }));
    await fc.assert(
      fc.asyncProperty(text, text, async (q, service) => {
        const found = await store.list(parseLogListing({ q, service }));
        const expected =
          'only entry'.includes(q.replaceAll('\0', '').toLowerCase()) && (service === '' || service === 'hub') ? 1 : 0;
        expect(found).toHaveLength(expected);
      }),
      { numRuns: 60 },
    );
    expect(texts(await store.list({}))).toEqual(['only entry']);
  });
});

describe.each(['postgres', 'embedded'] as const)('%s', (kind) => {
  test('entries survive a restart, ids go on growing, and those from before the database opened are kept', async () => {
    const place = await places[kind]();
    const first = startLog(place);
    first.say('before it opened');
    first.database.start();
    await first.database.whenReady(databaseWaitMs);
    first.say('after');
    await first.close();

    const second = startLog(place);
    second.say('restarted');
    second.database.start();
    await second.database.whenReady(databaseWaitMs);
    const entries = await second.store.list({});
    expect(texts(entries)).toEqual(['before it opened', 'after', 'restarted']);
    expect(entries.map(({ id }) => id)).toEqual(entries.map(({ id }) => id).sort((a, b) => a - b));
    expect(new Set(entries.map(({ id }) => id)).size).toBe(3);
  });

  test('a batch that is written again, because it is not known whether it arrived, doubles nothing', async () => {
    const { book, say, database, store } = keepLog(await emptyDatabase(kind));
    const open = await database.whenReady(databaseWaitMs);
    say('one');
    say('two');
    const entries = book.entries().map((entry) => ({ ...entry, hub: 1 }));
    await insertLogs(open, entries.slice(0, 1));
    await insertLogs(open, entries);
    await insertLogs(open, entries);
    const rows = await open.query('select message from toolhub.logs where hub = 1 order by id');
    expect(rows).toEqual([{ message: 'one' }, { message: 'two' }]);
    await store.clear();
  });

  test('retention keeps the newest and drops the old', async () => {
    const { store, say, database } = keepLog(await emptyDatabase(kind));
    const open = await database.whenReady(databaseWaitMs);
    for (let n = 1; n <= 30; n += 1) say(`entry ${n}`);
    await store.list({});
    const rule = { table: 'toolhub.logs', rows: 10, ageMs: logLimits.logAgeMs } as const;
    expect(await prune(open, rule)).toBe(20);
    expect(await prune(open, rule)).toBe(0);
    expect(texts(await store.list({}))[0]).toBe('entry 21');
    expect(await prune(open, rule, Date.now() + 2 * logLimits.logAgeMs)).toBe(10);
    expect(await store.list({})).toEqual([]);
  });

  test('entries about security outlast the others by number, are bounded themselves, and are listed in order', async () => {
    const { book, store, say, database } = keepLog(await emptyDatabase(kind));
    const open = await database.whenReady(databaseWaitMs);
    for (let n = 1; n <= 3; n += 1) book.security('api').warn(`login failed ${n}`);
    for (let n = 1; n <= 30; n += 1) say(`noise ${n}`);
    await store.list({});
    const rule = { table: 'toolhub.logs', rows: 2, securityRows: 2, ageMs: logLimits.logAgeMs } as const;
    expect(await prune(open, rule)).toBe(29);
    expect(texts(await store.list({}))).toEqual(['login failed 2', 'login failed 3', 'noise 29', 'noise 30']);
    expect(texts(await store.list({ q: 'login' }))).toEqual(['login failed 2', 'login failed 3']);
  });
});

test('what is said while the database is down is written when it is back; nothing written is lost or doubled', async () => {
  setLimits(databaseLimits, { databaseRetryMaxMs: 1_000 });
  const server = await sharedPostgres();
  const { store, say, database } = startLog(await places.postgres());
  database.start();
  await database.whenReady(databaseWaitMs);
  let said = 0;
  const speak = (until: number): void => {
    while (said < until) say(`line ${++said}`);
  };
  speak(300);
  await until('some are written', () => store.counts().written > 0);
  // In the middle of writes, so that some batch fails without the hub knowing whether it arrived.
  const speaking = setInterval(() => speak(said + 50), 1);
  atEnd(() => clearInterval(speaking));
  await until('many are said', () => said > 1_000);
  await server.kill();
  await until('it is noticed', () => database.state().state === 'down');
  speak(said + 500);
  clearInterval(speaking);
  expect(texts(await store.list({})).at(-1)).toBe(`line ${said}`); // From memory.
  await expect(store.clear()).rejects.toMatchObject({ code: 'not_ready' });

  await server.start();
  await database.whenReady(databaseWaitMs);
  const entries = await store.list({ limit: logLimits.logRows });
  expect(texts(entries)).toEqual(Array.from({ length: said }, (_, index) => `line ${index + 1}`));
  expect(store.counts()).toEqual({ waiting: 0, written: said, dropped: 0, skipped: 0, failing: false });
});

test('while the database is away the queue is bounded, and what did not fit is counted', () => {
  const { store, say } = startLog({ url: 'postgres://test@127.0.0.1:1/x', dataDir: '/nonexistent', log: silent });
  for (let n = 0; n < logLimits.logQueue + 7; n += 1) say('x');
  expect(store.counts()).toEqual({ waiting: logLimits.logQueue, written: 0, dropped: 7, skipped: 0, failing: false });
});

test('two hubs on one database show each other’s entries, also where their ids coincide', async () => {
  const place = await places.postgres();
  const logs = [startLog(place), startLog(place)];
  for (const { database } of logs) database.start();
  for (const { database } of logs) await database.whenReady(databaseWaitMs);
  for (const { say } of logs) for (let n = 0; n < 50; n += 1) say('x');
  await Promise.all(logs.map(({ store }) => store.list({})));
  for (const { store } of logs) expect(await store.list({})).toHaveLength(100);
});

test.each([
  [{ level: 'loud' }, 'level'],
  [{ level: 'info,loud' }, 'level'],
  [{ limit: '0' }, 'limit'],
  [{ limit: '-1' }, 'limit'],
  [{ limit: '1e3' }, 'limit'],
  [{ limit: '99999999999999999999' }, 'limit'],
  [{ before: 'yesterday' }, 'before'],
  [{ q: 'x'.repeat(logLimits.filterChars + 1) }, 'q'],
])('a malformed filter is refused by name: %j', (raw, path) => {
  expect(() => parseLogListing(raw)).toThrow(
    expect.objectContaining({ code: 'invalid_input', problems: [expect.objectContaining({ path })] }),
  );
});

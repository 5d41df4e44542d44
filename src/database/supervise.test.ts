import { renameSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { databaseWaitMs, places, sharedPostgres, silent, tempFolder } from '../../test/kit/databases.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { freePort } from '../../test/kit/processes.ts';
import { until, within } from '../../test/kit/until.ts';
import { databaseLimits } from './limits.ts';
import { migrate, readMigrations } from './migrate.ts';
import { type DatabasePlace, openConnection } from './open.ts';
import { createDatabase } from './supervise.ts';
import type { DatabaseHandle } from './supervise.ts';

function handle(place: DatabasePlace): DatabaseHandle {
  const made = createDatabase(place);
  atEnd(() => made.close());
  return made;
}

test('with DB_URL=off nothing is opened, and who needs a database hears so at once', async () => {
  const database = handle({ url: 'off', dataDir: '/nonexistent', log: silent });
  database.start();
  expect(database.state()).toEqual({ state: 'off' });
  expect(await database.tryQuery('select 1')).toBeUndefined();
  await expect(database.whenReady(60_000)).rejects.toMatchObject({
    code: 'not_ready',
    message: expect.stringContaining('DB_URL=off') as string,
    retryAfterMs: undefined,
  });
});

test('who waits for it when it is closed hears so at once', async () => {
  const database = handle({ url: 'postgres://hub@127.0.0.1:9/none', dataDir: '/nonexistent', log: silent });
  database.start();
  const [waiting] = await Promise.allSettled([database.whenReady(600_000), database.close()]);
  expect(waiting).toMatchObject({ status: 'rejected', reason: { code: 'not_ready' } });
});

test('many may wait for it without a warning of Node', async () => {
  const warnings: string[] = [];
  const warned = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', warned);
  const database = handle({ url: 'postgres://hub@127.0.0.1:9/none', dataDir: '/nonexistent', log: silent });
  const waiting = Array.from({ length: 30 }, () => database.whenReady(600_000));
  const ended = Promise.allSettled([...waiting, database.close()]);
  // Node warns in the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', warned);
  expect(warnings).toEqual([]);
  await ended;
});

test('what the database cannot answer any more because the hub stops is not told of', async () => {
  const warned: string[] = [];
  const log = { ...silent, warn: (message: string) => void warned.push(message) };
  const database = handle({ ...(await places.embedded()), log });
  database.start();
  await database.whenReady(databaseWaitMs);
  const refused = () => Promise.reject(new Error('closed'));
  expect(await database.attempt(refused)).toBeUndefined();
  expect(warned).toEqual(['The database could not answer']);
  const closed = database.close();
  expect(await database.attempt(refused)).toBeUndefined();
  await closed;
  expect(warned).toHaveLength(1);
});

describe.each(['postgres', 'embedded'] as const)('%s', (kind) => {
  test('it is opened when told, not before, and only those wait for it who want to', async () => {
    const database = handle(await places[kind]());
    expect(database.state()).toEqual({ state: 'opening' });
    expect(await database.tryQuery('select 1')).toBeUndefined();
    const waiting = database.whenReady(databaseWaitMs);
    database.start();
    const open = await waiting;
    expect(database.state()).toMatchObject({ state: 'ready', kind });
    expect(await open.query('select 1 as one')).toEqual([{ one: 1 }]);
    expect(await database.tryQuery('select 1/0')).toBeUndefined();
    expect(await database.tryQuery('select pg_sleep(1)', [], 20)).toBeUndefined();
  });
});

test('it waits for what comes first, but not once a caller asks for what is in it', async () => {
  // What is no address is refused without waiting for anything.
  const place = { url: 'no address', dataDir: '/nonexistent', log: silent };
  const never = new Promise<void>(() => {});
  const oneTurn = () => new Promise((resolve) => setImmediate(resolve));

  const atOnce = handle(place);
  atOnce.start();
  await oneTurn();
  expect(atOnce.state()).toMatchObject({ state: 'down' });

  for (const ask of [
    (database: DatabaseHandle) => database.tryQuery('select 1'),
    (database: DatabaseHandle) => database.whenReady(0).catch(() => {}),
  ]) {
    const database = handle(place);
    database.start(never);
    await oneTurn();
    expect(database.state()).toEqual({ state: 'opening' });
    await ask(database);
    await oneTurn();
    expect(database.state()).toMatchObject({ state: 'down' });
  }

  const waits = handle(await places.embedded());
  waits.start(never);
  await waits.close();
});

test('a database that is down says why, without the password, and is used when it comes', async () => {
  const said: string[] = [];
  const log = {
    ...silent,
    warn: (message: string, fields?: object) => said.push(`${message} ${JSON.stringify(fields)}`),
  };
  const port = await freePort();
  const database = handle({ url: `postgres://test:hunter2@127.0.0.1:${port}/x`, dataDir: tempFolder(), log });
  database.start();
  await until('it is down', () => database.state().state === 'down');
  expect(JSON.stringify(database.state())).toContain('ECONNREFUSED');
  await expect(database.whenReady(10)).rejects.toMatchObject({ code: 'not_ready' });
  expect(said.join()).not.toContain('hunter2');
  expect(said).toHaveLength(1);
});

/** A message of the server: its kind, its length, what it says. */
function fromServer(kind: string, ...parts: (string | number)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : Buffer.from([0, 0, 0, part]))),
  );
  return Buffer.concat([Buffer.from(kind), Buffer.from([0, 0, 0, body.length + 4]), body]);
}

test.each([
  [
    'a wrong password',
    [fromServer('E', 'SFATAL', 'C28P01', 'Mpassword authentication failed for user "test"', '')],
    /password authentication failed for user "test"\. Correct the user or the password in DB_URL/,
  ],
  // SASL with SCRAM-SHA-256, and its first message.
  [
    'no password',
    [fromServer('R', 10, 'SCRAM-SHA-256', ''), fromServer('R', 11, 'r=x,s=x,i=4096')],
    /The server wants a password; write one into DB_URL/,
  ],
])('who waits for it without a bound is told of what does not pass by itself: %s', async (_, answers, message) => {
  const server = createServer((socket) => {
    const left = [...answers];
    socket.on('data', () => void socket.write(left.shift() ?? ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const database = handle({ url: `postgres://test@127.0.0.1:${port}/x`, dataDir: tempFolder(), log: silent });
  const waiting = database.whenReadyOrRefused();
  database.start();
  const refused = { code: 'misconfigured', message: expect.stringMatching(message) as string };
  await expect(waiting).rejects.toMatchObject(refused);
  await expect(database.whenReadyOrRefused()).rejects.toMatchObject(refused);
  await expect(database.whenReady(0)).rejects.toMatchObject({ code: 'not_ready' });
});

test('a server that takes the connection and says nothing keeps no caller waiting', async () => {
  const mute = createServer(() => {});
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  atEnd(() => void mute.close());
  const { port } = mute.address() as AddressInfo;
  const database = handle({ url: `postgres://test@127.0.0.1:${port}/x`, dataDir: tempFolder(), log: silent });
  database.start();
  await expect(database.whenReady(20)).rejects.toMatchObject({ code: 'not_ready' });
  await database.close();
  expect(database.state()).not.toMatchObject({ state: 'ready' });
});

/** Passes everything on to a server on this port; what comes back is late by `delayMs`. */
async function slowWay(port: number) {
  const way = { delayMs: 0, port: 0 };
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    client.pipe(server);
    server.on('data', (chunk) => void setTimeout(() => client.write(chunk), way.delayMs));
    for (const socket of [client, server]) {
      socket.on('error', () => {});
      socket.on('close', () => [client, server].forEach((one) => one.destroy()));
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  atEnd(() => void proxy.close());
  way.port = (proxy.address() as AddressInfo).port;
  return way;
}

test('a database that becomes slow is told of once, and once more when it is well', async () => {
  setLimits(databaseLimits, { databasePingMs: 100 });
  const said: string[] = [];
  const say = (message: string) => void (/slow/.test(message) && said.push(message));
  const place = await places.postgres();
  const url = new URL(place.url ?? '');
  const way = await slowWay(Number(url.port));
  url.port = String(way.port);
  const database = handle({ ...place, url: url.href, log: { ...silent, info: say, warn: say } });
  const isSlow = (): boolean => {
    const now = database.state();
    return now.state === 'ready' && now.isSlow;
  };
  database.start();
  await database.whenReady(databaseWaitMs);
  expect(isSlow()).toBe(false);
  way.delayMs = 1_100;
  await until('it is slow', isSlow, databaseWaitMs);
  expect(await database.tryQuery('select 1 as one', [], databaseWaitMs)).toEqual([{ one: 1 }]);
  expect(said).toEqual([expect.stringContaining('The database is slow')]);
  way.delayMs = 0;
  await until('it is well', () => !isSlow(), databaseWaitMs);
  expect(said.slice(1)).toEqual(['The database is no longer slow']);
  expect(database.state()).toMatchObject({ state: 'ready' });
});

test('two hubs hear each other', async () => {
  const place = await places.postgres();
  const [one, two] = [handle(place), handle(place)];
  const heard: (string | undefined)[] = [];
  two.listen('settings', (payload) => heard.push(payload));
  one.start();
  two.start();
  await two.whenReady(databaseWaitMs);
  const sender = await one.whenReady(databaseWaitMs);
  await until('it is told to look, since the connection is new', () => heard.length === 1);
  await sender.notify('settings', '7');
  await until('it is heard', () => heard.length === 2);
  expect(heard).toEqual([undefined, '7']);
});

test('after the server died and came back the hub is connected again and listens again', async () => {
  const server = await sharedPostgres();
  const database = handle(await places.postgres());
  const heard: (string | undefined)[] = [];
  const states: string[] = [];
  database.onChange(({ state }) => states.push(state));
  database.listen('settings', (payload) => heard.push(payload));
  database.start();
  await database.whenReady(databaseWaitMs);
  await server.kill();
  await until('it is noticed, though no query was made', () => database.state().state === 'down');
  expect(await database.tryQuery('select 1')).toBeUndefined();
  await server.start();
  const open = await database.whenReady(databaseWaitMs);
  await open.notify('settings', 'again');
  await until('it hears again', () => heard.includes('again'));
  expect(heard).toEqual([undefined, undefined, 'again']);
  expect([...new Set(states)]).toEqual(['ready', 'down']);
});

test('a hub that has had the database open goes on with what a newer one made of it; one that starts is refused', async () => {
  const place = await places.postgres();
  const warnings: string[] = [];
  const database = handle({ ...place, log: { ...silent, warn: (text) => void warnings.push(text) } });
  database.start();
  const open = await database.whenReady(databaseWaitMs);
  const newer = await openConnection(place);
  atEnd(() => newer.close());
  const sql = 'create table toolhub.newer (n int)';
  await migrate(newer, [...readMigrations(), { number: 9001, name: '9001-newer.sql', sql, needsVector: false }]);
  await newer.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await until('it is connected again', () => database.current() !== undefined && database.current() !== open);
  expect(warnings.filter((text) => text.includes('A newer Tool Hub has changed the database'))).toHaveLength(1);
  const starting = handle(place);
  starting.start();
  await expect(starting.whenReadyOrRefused()).rejects.toMatchObject({ code: 'misconfigured' });
});

test('an embedded database that breaks is opened again, with every acknowledged row', async () => {
  const place = await places.embedded();
  const database = handle(place);
  database.start();
  const open = await database.whenReady(databaseWaitMs);
  await open.query('create table toolhub.rows (n int)');
  await open.query('insert into toolhub.rows values (1)');
  const lost = open.lost;
  // The write-ahead log is away: what ends a server.
  const log = join(place.dataDir, 'database', 'pg_wal');
  renameSync(log, `${log}.away`);
  await expect(open.query('insert into toolhub.rows select generate_series(1, 600000)')).rejects.toThrow();
  renameSync(`${log}.away`, log);
  await within('it is noticed', lost, databaseWaitMs);
  await until(
    'it is ready again',
    () => database.current() !== undefined && database.current() !== open,
    databaseWaitMs,
  );
  expect(await database.tryQuery('select n from toolhub.rows', [], databaseWaitMs)).toEqual([{ n: 1 }]);
  await expect(open.query('select 1')).rejects.toMatchObject({ code: 'not_ready' });
});

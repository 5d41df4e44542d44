import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { logLines } from '../../test/kit/channel-log.ts';
import { databaseWaitMs, emptyDatabase } from '../../test/kit/databases.ts';
import { temporaryFolder } from '../../test/kit/hostile.ts';
import { offering, openedPins, pinStates, toolPin } from '../../test/kit/pins.ts';
import { until } from '../../test/kit/until.ts';
import type { Catalogue } from '../core/catalogue.ts';
import { firstSeen } from '../core/pins/baseline.ts';
import type { Database } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { type PinEdit, type PinStore, pinsInTable } from './pin-store.ts';
import type { Pins } from './pins.ts';

/** Two hubs that share a PostgreSQL, each with its own copy of the rows, and what is told of. */
async function sharing(catalogues: readonly (() => Catalogue)[], hasLoop = true) {
  const database = await emptyDatabase('postgres');
  const db = await database.whenReady(databaseWaitMs);
  await db.query('delete from toolhub.pins');
  const told: string[] = [];
  const hubs: Pins[] = [];
  const stores: ReturnType<typeof watched>[] = [];
  for (const catalogue of catalogues) {
    const store = watched(pinsInTable(database, temporaryFolder(), logLines()));
    stores.push(store);
    const hub = await openedPins(store.store, catalogue, {
      told: (_, { name, state }) => void told.push(`${name} ${state}`),
      // As the loop of a hub does.
      changed: () => hasLoop && setImmediate(() => hub.learn()),
    });
    atEnd(() => hub.close());
    hubs.push(hub);
  }
  const kept = async (server = 's') => (await pinsInTable(database, temporaryFolder(), logLines()).load()).get(server);
  const seen = async () => [...((await kept())?.seen.keys() ?? [])].toSorted();
  const waitingFor = async (...names: string[]): Promise<void> => {
    await expect.poll(seen).toEqual(names.map((name) => `tool\n${name}`));
  };
  const written = () => stores.reduce((sum, { seen }) => sum + seen.writes, 0);
  const isIdle = () => stores.every(({ seen }) => seen.underWay === 0);
  /** Once all hubs have read all, as after a change of another, and none had anything to write. */
  const rest = () =>
    until('a round in which nothing is written', async () => {
      const before = written();
      const loads = stores.map(({ seen }) => seen.loads);
      await db.notify('pins', 'another hub');
      await until('all have read', () => isIdle() && stores.every(({ seen }, i) => seen.loads > (loads[i] ?? 0)));
      // They learn in the turn after it.
      for (let i = 0; i < 3; i++) await nextTurn();
      await until('all have written', isIdle);
      return written() === before;
    });
  return { hubs, told, kept, waitingFor, stores, rest };
}

/** A store that says what is done with it, and of which changes wait for `held`. */
function watched(store: PinStore) {
  const seen = { loads: 0, writes: 0, underWay: 0, held: Promise.resolve() };
  const during = async <T>(work: () => Promise<T>): Promise<T> => {
    seen.underWay++;
    try {
      return await work();
    } finally {
      seen.underWay--;
    }
  };
  const own: PinStore = {
    ...store,
    load: () =>
      during(async () => {
        const loaded = await store.load();
        seen.loads++;
        return loaded;
      }),
    change: (server, edit, by) =>
      during(async () => {
        await seen.held;
        const before: { kept?: unknown } = {};
        const remember: PinEdit = (kept, isReadable) => edit((before.kept = kept), isReadable);
        const after = await store.change(server, remember, by);
        if (after === undefined || after !== before.kept) seen.writes++;
        return after;
      }),
  };
  return { store: own, seen };
}

test('of decisions about one server at two hubs at the same moment none is lost', async () => {
  let catalogue = offering('s', 'old');
  const { hubs, waitingFor, kept } = await sharing([() => catalogue, () => catalogue]);
  for (const hub of hubs) hub.learn();
  await expect.poll(async () => (await kept())?.approved.size).toBe(1);
  catalogue = offering('s', 'old', 'a', 'b', 'c', 'd', 'e', 'f');
  for (const hub of hubs) hub.learn();
  await waitingFor('a', 'b', 'c', 'd', 'e', 'f');
  const [one, other] = hubs;
  await Promise.all([
    one?.decide('s', 'approve', toolPin('a')),
    other?.decide('s', 'approve', toolPin('b')),
    one?.decide('s', 'reject', toolPin('c')),
    other?.decide('s', 'reject', toolPin('d')),
  ]);
  const expected = { old: 'approved', a: 'approved', b: 'approved', c: 'rejected', d: 'rejected', e: 'new', f: 'new' };
  await expect.poll(() => hubs.map(pinStates)).toEqual([expected, expected]);
  // All that waits, at the one, is what waits: not what is rejected at the other at that moment, or was.
  await Promise.all([hubs[0]?.decide('s', 'reject', toolPin('e')), hubs[1]?.decide('s', 'approve', undefined)]);
  const after = { ...expected, e: 'rejected', f: 'approved' };
  await expect.poll(() => hubs.map(pinStates)).toEqual([after, after]);
});

test('a decision about a server that was renamed at another hub at that moment is an error', async () => {
  const catalogue = offering('s', 'old');
  const { hubs, kept, stores } = await sharing([() => catalogue, () => catalogue], false);
  for (const hub of hubs) hub.learn();
  await Promise.all(hubs.map((hub) => hub.decide('s', 'approve', undefined)));
  let release = (): void => undefined;
  const other = stores[1]?.seen;
  if (other) other.held = new Promise((resolve) => (release = resolve));
  const deciding = Promise.allSettled([hubs[1]?.decide('s', 'reject', toolPin('old'))]);
  await until('the decision is made', () => other?.underWay === 1);
  await hubs[0]?.rename('s', 't', () => Promise.resolve());
  release();
  const refused = expect.objectContaining({ code: 'not_found' }) as unknown;
  expect(await deciding).toMatchObject([{ status: 'rejected', reason: refused }]);
  expect([...((await kept('t'))?.rejected ?? [])]).toEqual([]);
  expect(await kept()).toBeUndefined();
});

test('a decision goes along when another hub renames the server right after it', async () => {
  const catalogue = offering('s', 'old');
  const { hubs, kept } = await sharing([() => catalogue, () => catalogue], false);
  for (const hub of hubs) hub.learn();
  await Promise.all(hubs.map((hub) => hub.decide('s', 'approve', undefined)));
  await hubs[1]?.decide('s', 'reject', toolPin('old'));
  await hubs[0]?.rename('s', 't', () => Promise.resolve());
  expect([...((await kept('t'))?.rejected ?? [])]).toEqual(['tool\nold']);
  expect(await kept()).toBeUndefined();
});

test('what two hubs notice at the same moment is told once', async () => {
  let catalogue = offering('s', 'old');
  const { hubs, told, waitingFor } = await sharing([() => catalogue, () => catalogue]);
  for (const hub of hubs) hub.learn();
  await Promise.all(hubs.map((hub) => hub.decide('s', 'approve', undefined)));
  catalogue = offering('s', 'old', 'a', 'b');
  for (const hub of hubs) hub.learn();
  await waitingFor('a', 'b');
  // In turn with what is written in the background.
  await Promise.all(hubs.map((hub) => hub.decide('s', 'reject', toolPin('a'))));
  expect(told.toSorted()).toEqual(['a new', 'b new']);
});

test('hubs to which one server offers other things tell of each once, and come to rest', async () => {
  const catalogues: [Catalogue, Catalogue] = [offering('s', 'old'), offering('s', 'old')];
  const { hubs, told, rest } = await sharing([() => catalogues[0], () => catalogues[1]]);
  for (const hub of hubs) hub.learn();
  await Promise.all(hubs.map((hub) => hub.decide('s', 'approve', undefined)));
  catalogues[0] = offering('s', 'old', 'x');
  catalogues[1] = offering('s', 'y');
  for (const hub of hubs) hub.learn();
  await expect.poll(() => told.length).toBeGreaterThan(1);
  await rest();
  expect(told.toSorted()).toEqual(['x new', 'y renamed']);
});

test('names that PostgreSQL cannot keep as they are, are kept', async () => {
  const names = ['nul \0', 'half of a pair \ud800', '"quoted"'];
  let catalogue = offering('s', ...names);
  const { hubs, kept } = await sharing([() => catalogue]);
  const [hub] = hubs;
  hub?.learn();
  await hub?.decide('s', 'reject', toolPin(names[0] ?? ''));
  catalogue = offering('s', ...names.slice(1), 'other \0');
  hub?.learn();
  await hub?.decide('s', 'approve', toolPin('other \0'));
  const { approved, rejected } = (await kept()) ?? {};
  expect([...(approved?.keys() ?? [])]).toEqual([...names.slice(1), 'other \0'].map((name) => `tool\n${name}`));
  expect([...(rejected ?? [])]).toEqual([`tool\n${names[0]}`]);
});

test('what is rejected at one hub is hidden at the others, also where nothing can be sent after it is kept', async () => {
  const database = await emptyDatabase('postgres');
  await (await database.whenReady(databaseWaitMs)).query('delete from toolhub.pins');
  const cannotTell: Pick<DatabaseHandle, 'whenReady' | 'listen'> = {
    listen: (...args) => database.listen(...args),
    whenReady: async (ms) => ({
      ...(await database.whenReady(ms)),
      notify: () => Promise.reject(new Error('no connection is free')),
    }),
  };
  const catalogue = offering('s', 'good', 'bad');
  const open = (handle: typeof cannotTell) =>
    openedPins(pinsInTable(handle, temporaryFolder(), logLines()), () => catalogue);
  const [one, other] = [await open(cannotTell), await open(database)];
  for (const hub of [one, other]) atEnd(() => hub.close());
  one.learn();
  await one.decide('s', 'approve', undefined);
  other.learn();
  await other.decide('s', 'approve', undefined);
  await one.decide('s', 'reject', toolPin('bad'));
  await expect.poll(() => pinStates(other)).toEqual({ good: 'approved', bad: 'rejected' });
});

test('a row that another version has kept holds back that server alone, and is not written over', async () => {
  const database = await emptyDatabase('postgres');
  const db = await database.whenReady(databaseWaitMs);
  await db.query('delete from toolhub.pins');
  const other = pinsInTable(database, temporaryFolder(), logLines());
  const { s: first, t: second } = { s: offering('s', 'a'), t: offering('t', 'b') };
  for (const [name, catalogue] of Object.entries({ s: first, t: second })) {
    const offer = catalogue.offers.get(name);
    if (offer) await other.change(name, () => firstSeen(offer, 1));
  }
  const newer = `jsonb_set(content, '{version}', '2')`;
  await db.query(`update toolhub.pins set content = ${newer} where server = 's'`);
  const log = logLines();
  const store = pinsInTable(database, temporaryFolder(), log);
  const hub = await openedPins(store, () => first);
  atEnd(() => hub.close());
  expect(log.lines.map(({ message }) => message)).toEqual([
    expect.stringContaining('another version of the hub has kept them'),
  ]);
  expect([...((await store.load()).get('t')?.approved.keys() ?? [])]).toEqual(['tool\nb']);
  expect(log.lines).toHaveLength(1);
  hub.learn();
  expect(pinStates(hub)).toEqual({ a: 'new' });
  expect(hub.applied(first).offers.get('s')?.tools).toEqual([]);
  const refusal = { code: 'conflict', message: expect.stringContaining('"s"') as string };
  await expect(hub.decide('s', 'approve', undefined)).rejects.toMatchObject(refusal);
  let isRenamed = false;
  const rename = async () => {
    isRenamed = true;
  };
  await expect(hub.rename('s', 'u', rename)).rejects.toMatchObject(refusal);
  expect([isRenamed, (await store.load()).has('u')]).toEqual([false, false]);
  const kept = async () => db.query("select content->>'version' as version from toolhub.pins where server = 's'");
  expect(await kept()).toEqual([{ version: '2' }]);
  await hub.deleted('s');
  expect(await kept()).toEqual([]);
});

test('rows that cannot be read at all are not called a database that is away', async () => {
  const log = logLines();
  const broken = { query: () => Promise.reject(new Error('permission denied')) };
  const store = pinsInTable(
    { whenReady: async () => broken as unknown as Database, listen: () => () => undefined },
    temporaryFolder(),
    log,
  );
  expect([...(await store.load())]).toEqual([]);
  expect(log.lines.map(({ message }) => message)).toEqual([
    'The pins in the database cannot be read: pins are those that this hub last knew.',
  ]);
});

test('what is forgotten where nothing was kept is not told to the other hubs', async () => {
  const database = await emptyDatabase('postgres');
  const db = await database.whenReady(databaseWaitMs);
  await db.query('delete from toolhub.pins');
  const heard: string[] = [];
  atEnd(await db.listen('pins', (from) => void heard.push(from)));
  await pinsInTable(database, temporaryFolder(), logLines()).change('s', () => undefined);
  await db.notify('pins', 'end');
  await expect.poll(() => heard.at(-1)).toBe('end');
  expect(heard).toEqual(['end']);
});

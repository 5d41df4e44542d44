import { expect, test, vi } from 'vitest';
import { logLines } from '../../test/kit/channel-log.ts';
import { temporaryFolder } from '../../test/kit/hostile.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { offering, openedPins, pinStates, sharedTable, toolPin } from '../../test/kit/pins.ts';
import { server, settings } from '../../test/kit/snapshots.ts';
import { until } from '../../test/kit/until.ts';
import { deferred } from '../core/deferred.ts';
import { HubError } from '../core/errors.ts';
import type { Baseline } from '../core/pins/pin-states.ts';
import { governanceLimits } from './limits.ts';
import { pinsInFolder, type PinStore } from './pin-store.ts';

/** A server "s" that offers "old" and, held back, "new". It is renamed to "t" as the settings say. */
async function renaming(store: PinStore) {
  let name = 's';
  let tools = ['old'];
  const system = { ...settings({}).system, pinMode: 'hold' as const };
  const now = () => ({ ...settings({ servers: [server(name)] }), system });
  const catalogue = () => offering(name, ...tools);
  const open = () => openedPins(store, catalogue, { settings: now });
  const pins = await open();
  const shown = (one = pins) =>
    one
      .applied(catalogue())
      .offers.get(name)
      ?.tools.map(({ key }) => key);
  pins.learn();
  await pins.decide('s', 'approve', undefined);
  tools = ['old', 'new'];
  pins.learn();
  return { pins, open, shown, rename: (to: string) => void (name = to) };
}

test.each([
  ['a folder', () => pinsInFolder(temporaryFolder(), logLines())],
  ['a table', () => sharedTable().store],
])('in %s: what is held back stays so while its server is renamed, and after', async (_, made) => {
  const store = made();
  const { pins, open, shown, rename } = await renaming(store);
  const whileChanging: unknown[] = [];
  await pins.rename('s', 't', async () => {
    whileChanging.push(shown());
    rename('t');
    pins.learn();
    whileChanging.push(shown(), [...(await store.load()).keys()]);
    // As it is where the process ends here.
    const other = await open();
    other.learn();
    whileChanging.push(shown(other));
    other.close();
  });
  expect(whileChanging).toEqual([['old'], ['old'], ['s', 't'], ['old']]);
  expect(shown()).toEqual(['old']);
  expect([...(await store.load()).keys()]).toEqual(['t']);
  pins.close();
});

test('a rename that the settings refuse leaves all that is kept under the old name, and nothing under the new', async () => {
  const store = pinsInFolder(temporaryFolder(), logLines());
  const { pins, open, shown } = await renaming(store);
  const refused = new HubError('conflict', 'There is a server "t".');
  await expect(pins.rename('s', 't', () => Promise.reject(refused))).rejects.toBe(refused);
  expect(shown()).toEqual(['old']);
  expect(pinStates(pins)).toEqual({ old: 'approved', new: 'new' });
  expect([...(await store.load()).keys()]).toEqual(['s']);
  expect(pinStates(await open())).toEqual({ old: 'approved', new: 'new' });
});

test('a rename of which it is not known whether the settings have it leaves what is kept under both names', async () => {
  const store = pinsInFolder(temporaryFolder(), logLines());
  const { pins, shown, rename } = await renaming(store);
  const lost = new HubError('not_ready', 'The database is away.');
  await expect(pins.rename('s', 't', () => Promise.reject(lost))).rejects.toBe(lost);
  expect(shown()).toEqual(['old']);
  rename('t');
  pins.learn();
  expect(shown()).toEqual(['old']);
});

test('what the end of the process in a rename leaves under the other name is gone at the next start', async () => {
  for (const isDone of [true, false]) {
    const store = pinsInFolder(temporaryFolder(), logLines());
    const { pins, open, shown, rename } = await renaming(store);
    await store.change('other', () => ({ approved: new Map(), rejected: new Set<string>(), seen: new Map() }));
    const left = new HubError('not_ready', 'The database is away.');
    await expect(pins.rename('s', 't', () => Promise.reject(left))).rejects.toBe(left);
    rename(isDone ? 't' : 's');
    const other = await open();
    expect(shown(other)).toEqual(['old']);
    expect([...(await store.load()).keys()].toSorted()).toEqual(['other', isDone ? 't' : 's']);
  }
});

test('what was first seen while the database was away counts when it is back, not what is offered then', async () => {
  const { store, rows, tell, goAway, comeBack } = sharedTable();
  let catalogue = offering('s', 'old');
  const failed = deferred<void>();
  const log = logLines();
  const pins = await openedPins(store, () => catalogue, {
    log: { ...log, error: () => failed.resolve() },
    changed: () => setImmediate(() => pins.learn()),
  });
  setLimits(governanceLimits, { pinWaitMs: 1 });
  goAway();
  pins.learn();
  await failed.promise;
  catalogue = offering('s', 'old', 'new');
  comeBack();
  tell('another hub');
  await until('it is kept', () => rows.get('s')?.includes('old'));
  await expect.poll(() => pinStates(pins)).toEqual({ old: 'approved', new: 'new' });
  pins.close();
});

test('a server that was deleted at another hub is not kept again while the settings here still have it', async () => {
  const { store, rows, tell } = sharedTable();
  let servers = [server('s')];
  let catalogue = offering('s', 'old');
  const shown = () => pins.applied(catalogue).offers.get('s')?.tools.length;
  let readings = 0;
  const load = () => store.load().finally(() => readings++);
  const pins = await openedPins({ ...store, load }, () => catalogue, {
    settings: () => ({ ...settings({ servers }), system: { ...settings({}).system, pinMode: 'hold' } }),
  });
  pins.learn();
  await pins.decide('s', 'approve', undefined);
  catalogue = offering('s', 'old', 'new');
  pins.learn();
  await until('it is kept', () => rows.get('s')?.includes('"seen":[["tool'));
  rows.delete('s');
  const before = readings;
  tell('another hub');
  await until('they are read', () => readings > before);
  pins.learn();
  expect(shown()).toBe(1);
  await expect(pins.decide('s', 'approve', undefined)).rejects.toMatchObject({ code: 'not_found' });
  expect([...rows.keys()]).toEqual([]);
  // Another server of that name is seen for the first time.
  servers = [];
  pins.learn();
  servers = [server('s')];
  pins.learn();
  expect(shown()).toBe(2);
  await expect.poll(() => [...rows.keys()]).toEqual(['s']);
  pins.close();
});

test('names of tools cannot look like several in what is held back', async () => {
  const store = pinsInFolder(temporaryFolder(), logLines());
  let catalogue = offering('s', 'old');
  const pins = await openedPins(store, () => catalogue);
  pins.learn();
  catalogue = offering('s', 'old', 'a', 'b', 'a\n\ntool\nb');
  pins.learn();
  const shown = () =>
    pins
      .applied(catalogue)
      .offers.get('s')
      ?.tools.map(({ key }) => key);
  await pins.decide('s', 'approve', toolPin('a\n\ntool\nb'));
  expect(shown()).toEqual(['old', 'a\n\ntool\nb']);
  await pins.decide('s', 'reject', toolPin('a\n\ntool\nb'));
  await pins.decide('s', 'approve', toolPin('a'));
  await pins.decide('s', 'approve', toolPin('b'));
  expect(shown()).toEqual(['old', 'a', 'b']);
});

test('since when something is rejected stays, whatever else is offered and over a restart', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 });
  try {
    const store = pinsInFolder(temporaryFolder(), logLines());
    let catalogue = offering('s', 'old');
    const pins = await openedPins(store, () => catalogue);
    const since = (one = pins) => one.list({ state: 'rejected' }).map((pin) => pin.since);
    pins.learn();
    catalogue = offering('s', 'old', 'a');
    pins.learn();
    vi.setSystemTime(2000);
    await pins.decide('s', 'reject', toolPin('a'));
    pins.learn();
    vi.setSystemTime(3000);
    catalogue = offering('s', 'old', 'a');
    expect(since()).toEqual([2000]);
    expect(since(await openedPins(store, () => catalogue))).toEqual([2000]);
  } finally {
    vi.useRealTimers();
  }
});

test('the copy of what a table keeps has the last change, also where all was being read meanwhile', async () => {
  setLimits(governanceLimits, { pinLoadMs: 1 });
  const { store, held, goAway } = sharedTable();
  const baseline = (text: string): Baseline => ({
    approved: new Map([['tool\na', { text, since: 1 }]]),
    rejected: new Set(),
    seen: new Map(),
  });
  await store.change('s', () => baseline('older'));
  const [begun, end] = [deferred<void>(), deferred<void>()];
  held.until = end.promise;
  held.begun = () => begun.resolve();
  const reading = store.load();
  await begun.promise;
  const change = store.change('s', () => baseline('newer'));
  await Promise.race([change, new Promise((resolve) => setTimeout(resolve, 50))]);
  end.resolve();
  await Promise.all([reading, change]);
  goAway();
  expect((await store.load()).get('s')).toEqual(baseline('newer'));
});

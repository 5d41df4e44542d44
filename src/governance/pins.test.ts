import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { logLines } from '../../test/kit/channel-log.ts';
import { temporaryFolder } from '../../test/kit/hostile.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { offering, openedPins, pinStates, sharedTable, toolPin } from '../../test/kit/pins.ts';
import { server, settings } from '../../test/kit/snapshots.ts';
import { until } from '../../test/kit/until.ts';
import type { Catalogue } from '../core/catalogue.ts';
import { deferred } from '../core/deferred.ts';
import type { HubError } from '../core/errors.ts';
import type { Baseline } from '../core/pins/pin-states.ts';
import { governanceLimits } from './limits.ts';
import { pinsInFolder } from './pin-store.ts';
import { openPins, type PinOptions } from './pins.ts';

test('of a server that changes ten thousand tools at once a bounded number is told one by one', async () => {
  const about = { info: '{}', instructions: undefined, capabilities: [], protocolVersion: '2025-11-25' };
  const catalogueOf = (description: string): Catalogue => {
    const tools = Array.from({ length: 10_000 }, (_, i) => ({
      key: `t${i}`,
      text: JSON.stringify({ name: `t${i}`, description }),
    }));
    const offer = { server: 's', about, tools, prompts: [], resources: [], templates: [] };
    return { version: 1, offers: new Map([['s', offer]]) };
  };
  let catalogue = catalogueOf('Reads.');
  const plain = settings({ servers: [server('s')] });
  const told: string[] = [];
  const options: PinOptions = {
    store: pinsInFolder(temporaryFolder(), logLines()),
    settings: () => ({ ...plain, system: { ...plain.system, pinMode: 'hold' } }),
    catalogue: () => catalogue,
    told: (_, { name }) => void told.push(name),
    toldMore: (_, more) => void told.push(`${more} more`),
    changed: () => undefined,
    log: logLines(),
  };
  const pins = await openPins(options);
  pins.learn();
  expect(told).toEqual([]);
  catalogue = catalogueOf('Reads all.');
  pins.learn();
  await expect.poll(() => told.length).toBe(governanceLimits.pinsTold + 1);
  expect(told.at(-1)).toBe(`${10_000 - governanceLimits.pinsTold} more`);
  expect(pins.list({ state: 'changed' })).toHaveLength(10_000);
  expect(pins.applied(catalogue).offers.get('s')?.tools).toEqual([]);
  // What was told is not told again.
  pins.learn();
  await pins.decide('s', 'reject', toolPin('t0'));
  expect(told).toHaveLength(governanceLimits.pinsTold + 1);
  pins.close();
});

test.each([
  ['hold', []],
  ['warn', ['good', 'bad']],
] as const)('whose file is broken are lost: under %s all is new until it is approved again', async (mode, seen) => {
  const folder = temporaryFolder();
  const catalogue = offering('s', 'good', 'bad');
  const plain = settings({ servers: [server('s')] });
  let told: string[] = [];
  const log = logLines();
  const store = pinsInFolder(folder, log);
  const open = async () => {
    told = [];
    const pins = await openPins({
      store,
      settings: () => ({ ...plain, system: { ...plain.system, pinMode: mode } }),
      catalogue: () => catalogue,
      told: (_, { name, state }) => void told.push(`${name} ${state}`),
      toldMore: () => undefined,
      changed: () => undefined,
      log,
    });
    pins.learn();
    return pins;
  };
  const tools = (pins: Awaited<ReturnType<typeof open>>) =>
    pins
      .applied(catalogue)
      .offers.get('s')
      ?.tools.map(({ key }) => key);
  const first = await open();
  await first.decide('s', 'reject', [{ kind: 'tool', name: 'bad' }]);
  const [name = ''] = readdirSync(folder);
  const broken = readFileSync(join(folder, name), 'utf8').slice(0, -10);
  writeFileSync(join(folder, name), broken);

  const second = await open();
  expect(tools(second)).toEqual(seen);
  await expect.poll(() => told).toEqual(['good new', 'bad new']);
  expect(readFileSync(join(folder, `${name}.broken`), 'utf8')).toBe(broken);
  await second.decide('s', 'approve', [{ kind: 'tool', name: 'good' }]);
  expect(tools(await open())).toEqual(mode === 'hold' ? ['good'] : seen);
  // A server that is deleted loses it all: another of its name is seen for the first time.
  await second.deleted('s');
  expect(readdirSync(folder)).toEqual([]);
  expect(tools(await open())).toEqual(['good', 'bad']);
});

test('whose file is broken are lost after another restart too, though nothing was kept between', async () => {
  const folder = temporaryFolder();
  const empty = { approved: new Map(), rejected: new Set<string>(), seen: new Map() };
  await pinsInFolder(folder, logLines()).change('s', () => empty);
  const [name = ''] = readdirSync(folder);
  writeFileSync(join(folder, name), '{"version"');
  for (let start = 0; start < 2; start++) {
    const store = pinsInFolder(folder, logLines());
    expect([...(await store.load()).keys()]).toEqual([]);
    expect([store.isLost('s'), store.isLost('other')]).toEqual([true, false]);
  }
});

test('ten thousand are written down in slices, and read back as they were', async () => {
  setLimits(governanceLimits, { pinPartChars: 4_000 });
  const folder = temporaryFolder();
  const store = pinsInFolder(folder, logLines());
  const entry = (i: number, text: string | undefined) => [`tool\nt${i}`, { text, since: i }] as const;
  const numbers = Array.from({ length: 10_000 }, (_, i) => i);
  const baseline = {
    approved: new Map(numbers.map((i) => entry(i, `{"name":"t${i}","description":"\\"ü\u2028"}`))),
    rejected: new Set(['tool\nt1', 'prompt\np']),
    seen: new Map(numbers.map((i) => entry(i, i % 2 === 0 ? undefined : '{}'))),
  } as Baseline;
  const { stringify } = JSON;
  let [inATurn, most, isDone] = [0, 0, false];
  const turn = () => {
    inATurn = 0;
    if (!isDone) setImmediate(turn);
  };
  turn();
  JSON.stringify = (value: unknown) => {
    most = Math.max(most, ++inATurn);
    return stringify(value);
  };
  try {
    await store.change('s', () => baseline);
  } finally {
    JSON.stringify = stringify;
    isDone = true;
  }
  expect(most).toBeLessThan(500);
  expect((await pinsInFolder(folder, logLines()).load()).get('s')).toEqual(baseline);
});

test('of decisions about one server at the same time none is lost, nor what is seen meanwhile', async () => {
  const store = pinsInFolder(temporaryFolder(), logLines());
  let catalogue = offering('s', 'old');
  const pins = await openedPins(store, () => catalogue);
  pins.learn();
  catalogue = offering('s', 'old', 'a', 'b', 'c');
  pins.learn();
  const decisions = [
    pins.decide('s', 'approve', toolPin('a')),
    pins.decide('s', 'reject', toolPin('b')),
    pins.decide('s', 'approve', toolPin('c')),
  ];
  catalogue = offering('s', 'old', 'a', 'b', 'c', 'd');
  pins.learn();
  await Promise.all(decisions);
  const expected = { old: 'approved', a: 'approved', b: 'rejected', c: 'approved', d: 'new' };
  expect(pinStates(pins)).toEqual(expected);
  await until('it is kept', async () => [...((await store.load()).get('s')?.seen.keys() ?? [])].join().includes('d'));
  expect(pinStates(await openedPins(store, () => catalogue))).toEqual(expected);
});

test('a decision that waits for others is about what was offered when it was made', async () => {
  const store = pinsInFolder(temporaryFolder(), logLines());
  let catalogue = offering('s', 'old');
  const pins = await openedPins(store, () => catalogue);
  pins.learn();
  catalogue = offering('s', 'old', 'a', 'b');
  pins.learn();
  const decisions = [pins.decide('s', 'approve', toolPin('a')), pins.decide('s', 'approve', undefined)];
  const other = { key: 'b', text: JSON.stringify({ name: 'b', description: 'Deletes.' }) };
  const [[, offer] = []] = offering('s', 'old', 'a', 'c').offers;
  if (!offer) throw new Error('nothing is offered');
  catalogue = { version: 2, offers: new Map([['s', { ...offer, tools: [...offer.tools, other] }]]) };
  await Promise.all(decisions);
  expect(pinStates(pins)).toEqual({ old: 'approved', a: 'approved', b: 'changed', c: 'new' });
});

test('a decision that is made while the rows are being read is not forgotten once they are', async () => {
  const { store, rows, held, tell } = sharedTable();
  let catalogue = offering('s', 'old');
  let readings = 0;
  const load = () => store.load().finally(() => readings++);
  const pins = await openedPins({ ...store, load }, () => catalogue);
  pins.learn();
  catalogue = offering('s', 'old', 'a');
  pins.learn();
  await until('it is kept', () => rows.get('s')?.includes('"seen":[["tool'));
  const [begun, end] = [deferred<void>(), deferred<void>()];
  held.until = end.promise;
  held.begun = () => begun.resolve();
  tell('another hub');
  await begun.promise;
  const decision = pins.decide('s', 'approve', toolPin('a'));
  end.resolve();
  await decision;
  await until('they are read', () => readings > 1);
  await expect.poll(() => pinStates(pins)).toEqual({ old: 'approved', a: 'approved' });
  pins.close();
});

test('while the database is away all decisions are refused in time, however many there are', async () => {
  const { store, goAway } = sharedTable();
  let catalogue = offering('s', 'old');
  const pins = await openedPins(store, () => catalogue);
  pins.learn();
  await pins.decide('s', 'approve', toolPin('old'));
  goAway();
  catalogue = offering('s', 'old', 'a');
  vi.useFakeTimers();
  try {
    pins.learn();
    const asked = [
      ...Array.from({ length: 3 }, () => pins.decide('s', 'approve', toolPin('a'))),
      pins.rename('s', 't', () => Promise.resolve()),
      store.change('other', () => undefined),
    ];
    const codes = asked.map((one) => one.then(String, ({ code }: HubError) => code));
    await vi.advanceTimersByTimeAsync(governanceLimits.pinWaitMs + 100);
    const none = new Promise<string>((resolve) => setImmediate(() => resolve('none')));
    const answers = Promise.all(codes.map((code) => Promise.race([code, none])));
    await vi.advanceTimersByTimeAsync(1);
    expect(await answers).toEqual(asked.map(() => 'not_ready'));
  } finally {
    vi.useRealTimers();
    pins.close();
  }
});

test('what a hub notices after a start is compared with the baseline once', async () => {
  const store = pinsInFolder(temporaryFolder(), logLines());
  let catalogue = offering('s', 'old');
  const first = await openedPins(store, () => catalogue);
  first.learn();
  await first.decide('s', 'approve', undefined);
  first.close();
  catalogue = offering('s', 'old', 'new');
  const plain = settings({ servers: [server('s')] });
  let comparisons = 0;
  const options: PinOptions = {
    store,
    settings: () => plain,
    catalogue: () => catalogue,
    told: () => undefined,
    toldMore: () => undefined,
    changed: () => undefined,
    log: logLines(),
  };
  // Each comparison asks for the time once.
  const second = await openPins(options, () => (comparisons += 1));
  second.learn();
  expect(pinStates(second)).toEqual({ old: 'approved', new: 'new' });
  second.applied(catalogue);
  second.learn();
  expect(comparisons).toBe(1);
  second.close();
});

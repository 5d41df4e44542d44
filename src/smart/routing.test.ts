import { expect, test } from 'vitest';
import { setLimits } from '../../test/kit/limits.ts';
import { server, settings } from '../../test/kit/snapshots.ts';
import type { Catalogue, Offer } from '../core/catalogue.ts';
import { smartLimits } from './limits.ts';
import { createSmartIndex, type SmartIndex, toolKey } from './routing.ts';
import { createSearchEngine } from './search-engine.ts';

const about = { info: '{}', instructions: undefined, capabilities: [], protocolVersion: '2025-11-25' };
const tools = (count: number, verb = 'count') =>
  Array.from({ length: count }, (_, n) => ({
    key: `${verb}_${n}`,
    text: JSON.stringify({ name: `${verb}_${n}`, description: `Will ${verb} the sheep of meadow ${n}. `.repeat(20) }),
  }));
const offer = (items: Offer['tools']): Offer => ({
  server: 'farm',
  about,
  tools: items,
  prompts: [],
  resources: [],
  templates: [],
});
const catalogue = (items: Offer['tools']): Catalogue => ({ version: 1, offers: new Map([['farm', offer(items)]]) });
const farm = settings({ servers: [server('farm')] });

test('many tools are read bit by bit, others get their turn, and all are there in the end', async () => {
  const engine = createSearchEngine();
  const heard: number[] = [];
  const index = createSmartIndex(engine, (searched) => heard.push(searched.length));
  index.sync(farm, catalogue(tools(2_000)));
  expect(engine.size).toBeLessThan(2_000);
  expect(heard).toEqual([]);
  let turns = 0;
  const other = (): void => void (heard.length === 0 && (turns++, setImmediate(other)));
  other();
  await index.ready();
  expect([engine.size, heard]).toEqual([2_000, [2_000]]);
  expect(turns).toBeGreaterThan(3);
});

test('later tools take the place of earlier ones that are still being read', async () => {
  const engine = createSearchEngine();
  const index = createSmartIndex(engine);
  index.sync(farm, catalogue(tools(2_000)));
  index.sync(farm, catalogue(tools(3, 'shear')));
  await index.ready();
  expect(engine.size).toBe(3);
  const allowed = new Set(['shear_0', 'shear_1', 'count_0'].map((name) => toolKey('farm', name)));
  const found = index.search({ query: 'shear the sheep', context: undefined, limit: 10, allowed });
  expect(found.searched).toBe(2);
  expect(found.results.map(({ key }) => key).sort()).toEqual([...allowed].slice(0, 2));
  index.sync(settings({ servers: [{ ...server('farm'), enabled: false }] }), catalogue(tools(3, 'shear')));
  expect(engine.size).toBe(0);
});

test('the tools that a search waits for are read before others, also where a later catalogue has come meanwhile', async () => {
  const engine = createSearchEngine();
  const index = createSmartIndex(engine);
  const wanted = new Set([1_998, 1_999, 7_777].map((n) => toolKey('farm', `count_${n}`)));
  expect(index.first(wanted)).toBeUndefined();
  index.sync(farm, catalogue(tools(2_000)));
  const first = index.first(wanted);
  index.sync(farm, catalogue(tools(2_000)));
  await first;
  expect(engine.size).toBeLessThan(2_000);
  const search = { query: 'count the sheep', context: undefined, limit: 10, allowed: wanted };
  expect(index.search(search).searched).toBe(2);
  await index.ready();
  expect(engine.size).toBe(2_000);
  expect(index.first(wanted)).toBeUndefined();
});

test('many searches that wait for many tools hold up no other work', async () => {
  // Less than one search takes to find that all of its tools are read.
  setLimits(smartLimits, { indexSliceMs: 0.001 });
  const count = 1_000;
  const index = createSmartIndex(createSearchEngine());
  index.sync(farm, catalogue(tools(count)));
  const all = new Set(tools(count).map(({ key }) => toolKey('farm', key)));
  let waiting = 100;
  let turns = 0;
  const searches = Array.from({ length: waiting }, async () => {
    await index.first(all);
    waiting -= 1;
  });
  const other = (): void => {
    if (waiting < 100) turns += 1;
    if (waiting > 0) setImmediate(other);
  };
  other();
  await Promise.all(searches);
  expect(turns).toBeGreaterThan(50);
});

test('a search over all tools does not hold up one over a few, and is not read for once it waits no more', async () => {
  setLimits(smartLimits, { indexSliceMs: 0.001 });
  const engine = createSearchEngine();
  const index = createSmartIndex(engine);
  const key = (n: number): string => toolKey('farm', `count_${n}`);
  index.sync(farm, catalogue(tools(1_000)));
  const wide = index.first(new Set(Array.from({ length: 1_000 }, (_, n) => key(n))));
  await index.first(new Set([key(998), key(999)]));
  expect(engine.size).toBeLessThan(10);
  await wide;
  expect(engine.size).toBe(1_000);

  const other = createSmartIndex(createSearchEngine());
  other.sync(farm, catalogue(tools(1_000)));
  const late = new Set(Array.from({ length: 500 }, (_, n) => key(999 - n)));
  const readOf = (allowed: Set<string>): number =>
    other.search({ query: 'sheep', context: undefined, limit: 1, allowed }).searched;
  await other.first(late, 1);
  const before = readOf(late);
  await other.first(new Set(Array.from({ length: 50 }, (_, n) => key(n))));
  expect(readOf(late)).toBe(before);
  other.stop();
});

test.each([
  ['the index is given up', (index: SmartIndex) => index.stop()],
  ['a tool cannot be read', () => undefined],
])('no search waits any more when %s', async (_, happens) => {
  const index = createSmartIndex(createSearchEngine());
  index.sync(farm, catalogue([...tools(2_000), { key: 'broken', text: 'no JSON' }]));
  const first = index.first(new Set([toolKey('farm', 'broken')]));
  const failed = index.ready().catch((error: unknown) => error);
  happens(index);
  await first;
  await failed;
});

test('a tool that is the same item is not read again, and one of a server with another name is found under that', async () => {
  const engine = createSearchEngine();
  const index = createSmartIndex(engine);
  let read = 0;
  const item = {
    key: 'shear',
    get text() {
      read += 1;
      return '{"name":"shear","description":"Shear the sheep"}';
    },
  };
  const sync = async (name: string) => {
    const offers = new Map([[name, { ...offer([item]), server: name }]]);
    index.sync(settings({ servers: [server(name)] }), { version: 1, offers });
    await index.ready();
  };
  await sync('farm');
  const once = read;
  await sync('farm');
  expect(read).toBe(once);
  await sync('ranch');
  const search = { query: 'shear', context: undefined, limit: 10 };
  expect(index.search({ ...search, allowed: new Set([toolKey('farm', 'shear')]) }).searched).toBe(0);
  expect(index.search({ ...search, allowed: new Set([toolKey('ranch', 'shear')]) }).searched).toBe(1);
});

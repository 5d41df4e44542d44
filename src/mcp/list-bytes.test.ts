import { expect, test } from 'vitest';
import { catalogue, entry, group, item, offer, server, settings, user } from '../../test/kit/snapshots.ts';
import type { Principal } from '../core/access/principal.ts';
import type { Scope } from '../core/access/scope.ts';
import { type View, view } from '../core/access/view.ts';
import type { Item, Offer } from '../core/catalogue.ts';
import { itemsOf } from './list-bytes.ts';

const anonymous: Principal = { kind: 'anonymous' };
const all: Scope = { kind: 'all' };
const named = (name: string): Scope => ({ kind: 'named', name });

/** 300 KB of tools, more than one piece. */
const tools = (): Item[] =>
  Array.from({ length: 60 }, (_, i) => item(`t${i}`, 'name', { description: `→ ${'x'.repeat(5_000)}` }));
const offering = (name: string, items: readonly Item[]): Offer => offer(name, [], { tools: items });

/** Bytes are kept for as long as there is a list that has them. */
const inUse: View[] = [];
const numbers = new Map<ArrayBufferLike, number>();

/** The buffers that hold the list of tools, each as the number that it has for as long as it is there. */
function buffersOf(shown: View): readonly number[] {
  inUse.push(shown);
  const list = shown.lists.tools.texts;
  const items = itemsOf(list);
  if (typeof items === 'string') throw new Error('the list is a text');
  expect(items.toString()).toBe([...list].join(','));
  return items.pieces.map(({ buffer }) => {
    const number = numbers.get(buffer) ?? numbers.size;
    numbers.set(buffer, number);
    return number;
  });
}

test('a list in which a server came, went or changed has the bytes of all others that were there', () => {
  const world = settings({ servers: ['a', 'b', 'c'].map((name) => server(name)) });
  const [a, b, c] = [offering('a', tools()), offering('b', tools()), offering('c', tools())];
  const buffers = (...offers: Offer[]) => buffersOf(view(world, catalogue(...offers), anonymous, all));
  const ofA = buffers(a);
  expect(ofA.length).toBeGreaterThan(1);
  const ofB = buffers(a, b).slice(ofA.length);
  const ofC = buffers(a, b, c).slice(ofA.length + ofB.length);
  expect(new Set([...ofA, ...ofB, ...ofC]).size).toBe(3 * ofA.length);
  expect(buffers(a, b, c)).toEqual([...ofA, ...ofB, ...ofC]);
  expect(buffers(b, c)).toEqual([...ofB, ...ofC]);
  const made = numbers.size;
  const changed = buffers(a, offering('b', [...b.tools, item('new')]), c);
  expect(changed.slice(0, ofA.length)).toEqual(ofA);
  expect(changed.slice(-ofC.length)).toEqual(ofC);
  expect(numbers.size - made).toBe(changed.length - ofA.length - ofC.length);
});

test('callers share the bytes of a server whose tools they see alike, and of no other', () => {
  const [a, b] = [offering('a', tools()), offering('b', tools())];
  const few = a.tools.slice(0, 50).map((one) => one.key);
  const otherwise = { description: 'said otherwise' };
  const world = settings({
    servers: [server('a'), server('b')],
    groups: [
      group('some', [entry('a')]),
      group('few', [entry('a', { tools: few })]),
      group('words', [entry('a', { overrides: new Map([['t7', otherwise]]) })]),
    ],
    users: [user('ann', { servers: ['a'] })],
  });
  const buffers = (scope: Scope, who: Principal = anonymous) => buffersOf(view(world, catalogue(a, b), who, scope));
  const ofUser = buffers(all, { kind: 'user', username: 'ann' });
  expect(buffers(all).slice(0, ofUser.length)).toEqual(ofUser);
  expect(buffers(named('some'))).toEqual(ofUser);
  // There the tools have the names that the server gives; in the groups others are missing, or described otherwise.
  for (const scope of [named('a'), named('few'), named('words')])
    expect(buffers(scope).filter((one) => ofUser.includes(one))).toEqual([]);
  expect(buffers(named('some'))).toEqual(ofUser);
});

test('servers with few tools share pieces with those beside them', () => {
  const names = Array.from({ length: 300 }, (_, i) => `s${i}`);
  const world = settings({ servers: [...names, 'a'].map((name) => server(name)) });
  const small = names.map((name) => offering(name, [item('t', 'name', { description: 'x'.repeat(1_000) })]));
  const large = offering('a', tools());
  const before = buffersOf(view(world, catalogue(...small), anonymous, all));
  expect(before).toHaveLength(2);
  const ofA = buffersOf(view(world, catalogue(large), anonymous, all));
  expect(buffersOf(view(world, catalogue(...small, large), anonymous, all)).slice(-ofA.length)).toEqual(ofA);
});

test('a tool that is longer than a piece is listed whole', () => {
  const world = settings({ servers: [server('a')] });
  const long = [400_000, 1, 300_000, 2].map((length, i) => item(`t${i}`, 'name', { description: 'ü'.repeat(length) }));
  expect(buffersOf(view(world, catalogue(offering('a', long)), anonymous, all))).toHaveLength(3);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BusyMap } from './busy-map.ts';

const numbers = [...Array(40).keys(), 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER];
const texts = [...Array(40).keys()].flatMap((n) => [`${n}`, `${'x'.repeat(200)}${n}`]);

function stepsOver<K extends string | number>(keys: readonly K[]) {
  const key = fc.constantFrom(...keys);
  const step = fc.oneof(
    { weight: 20, arbitrary: fc.record({ do: fc.constant('set' as const), key, value: fc.integer() }) },
    { weight: 20, arbitrary: fc.record({ do: fc.constant('delete' as const), key }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
  );
  return fc.array(step, { maxLength: 200 });
}

function sorted<K, V>(entries: Iterable<readonly [K, V]>): (readonly [K, V])[] {
  return [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

test.each<[string, readonly (string | number)[], number?]>([
  ['numbers', numbers],
  ['texts', texts],
  ['texts that are told apart by their end', texts, 2],
  ['texts that cannot be told apart by their end', texts.map((text) => `${text} and all the same`), 8],
])('does what a Map does with %s, but for the order', (_kind, keys, hashed) => {
  fc.assert(
    fc.property(stepsOver(keys), (steps) => {
      const busy = new BusyMap<string | number, number>(hashed);
      const model = new Map<string | number, number>();
      for (const one of steps) {
        if (one.do === 'set') {
          busy.set(one.key, one.value);
          model.set(one.key, one.value);
        } else if (one.do === 'delete') expect(busy.delete(one.key)).toBe(model.delete(one.key));
        else {
          busy.clear();
          model.clear();
        }
        expect(busy.size).toBe(model.size);
      }
      expect(sorted(busy)).toEqual(sorted(model));
      expect([...busy.values()]).toHaveLength(model.size);
      expect(busy.some((value) => value === steps.length)).toBe([...model.values()].includes(steps.length));
      for (const key of keys) expect([busy.get(key), busy.has(key)]).toEqual([model.get(key), model.has(key)]);
    }),
  );
});

test('a hundred thousand come and go, in whatever order', () => {
  const busy = new BusyMap<number, string>();
  const count = 100_000;
  const mixed = Array.from({ length: count }, (_, n) => (n * 7_919) % count);
  for (let n = 0; n < count; n++) busy.set(n, `${n}`);
  // One expectation for all: each costs as much as hundreds of looks.
  expect(mixed.filter((n) => busy.get(n) !== `${n}`)).toEqual([]);
  expect(mixed.filter((n) => !busy.delete(n))).toEqual([]);
  expect([busy.size, [...busy]]).toEqual([0, []]);
});

test('what is deleted while it is gone through does not come any more', () => {
  const busy = new BusyMap<number, number>();
  for (let n = 0; n < 100; n++) busy.set(n, n);
  const seen = new Set<number>();
  for (const [n] of busy) {
    expect(seen.has(n)).toBe(false);
    seen.add(n);
    busy.delete(n);
    busy.delete(n ^ 1);
  }
  expect(seen.size).toBe(50);
  expect(busy.size).toBe(0);
});

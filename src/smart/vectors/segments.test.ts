import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createVectorMemory } from './segments.ts';

const names = Array.from({ length: 12 }, (_, i) => `h${i}`);
const number = fc.float({ min: -1, max: 1, noNaN: true });
const vector = (size: number) =>
  fc
    .array(number, { minLength: size, maxLength: size })
    .map((values) => Float32Array.from(values))
    .filter((values) => values.some((value) => Math.abs(value) > 0.01));
const change = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...names), fc.oneof(vector(3), vector(5))) },
  { weight: 1, arbitrary: fc.uniqueArray(fc.constantFrom(...names)) },
);

test('after any changes what is found is what was last set, of its size, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 40 }), vector(3), async (changes, query) => {
      const memory = createVectorMemory(4);
      const expected = new Map<string, Float32Array>();
      for (const step of changes) {
        const [name, value] = step;
        if (value instanceof Float32Array && name !== undefined) {
          memory.set(name, value);
          expected.set(name, value);
        } else {
          const kept = new Set(step as string[]);
          memory.keep(kept);
          for (const key of expected.keys()) if (!kept.has(key)) expected.delete(key);
        }
      }
      expect(memory.size).toBe(expected.size);
      expect(memory.sizes(names)).toEqual(new Map([...expected].map(([key, { length }]) => [key, length])));
      const found = await memory.similarities(query, [...names, 'unknown']);
      const same = [...expected].filter(([, { length }]) => length === 3);
      expect([...found.keys()].sort()).toEqual(same.map(([key]) => key).sort());
      for (const [key, value] of same)
        expect(Math.abs((found.get(key) ?? 9) - cosine(query, value))).toBeLessThan(0.02);
    }),
  );
});

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

test('others get their turn between segments, and what they change is never taken for something else', async () => {
  const memory = createVectorMemory(2);
  const [east, north] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
  for (let i = 0; i < 10; i++) memory.set(`h${i}`, east);
  let turns = 0;
  const other = setImmediate(function turn() {
    turns += 1;
    // Takes away a vector that has not been compared yet, and puts another one into its place.
    if (turns === 1) {
      memory.keep(new Set(Array.from({ length: 9 }, (_, i) => `h${i}`)));
      memory.set('new', north);
    }
    if (turns < 3) setImmediate(turn);
  });
  const found = await memory.similarities(
    east,
    Array.from({ length: 10 }, (_, i) => `h${i}`),
  );
  clearImmediate(other);
  expect(turns).toBeGreaterThanOrEqual(3);
  expect(found.has('h9')).toBe(false);
  for (const similarity of found.values()) expect(similarity).toBeCloseTo(1, 2);
});

test('what cannot be compared is refused, and changes nothing', () => {
  const memory = createVectorMemory(2);
  memory.set('a', Float32Array.of(1, 2));
  for (const bad of [Float32Array.of(0, 0), Float32Array.of(Number.NaN, 1), Float32Array.of(0, 0, 0)])
    expect(() => memory.set('a', bad)).toThrow(RangeError);
  expect(memory.sizes(['a'])).toEqual(new Map([['a', 2]]));
});

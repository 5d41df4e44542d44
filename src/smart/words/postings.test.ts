import fc from 'fast-check';
import { expect, test } from 'vitest';
import { copiedMemory, growingMemory, pageBytes } from '../growing-memory.ts';
import { createPostings, slotShift, weightMask, weights, type Postings } from './postings.ts';

function read(postings: Postings, list: number): (readonly [slot: number, weight: number])[] {
  return Array.from(postings.entries.subarray(postings.start(list), postings.end(list)), (entry) => [
    entry >>> slotShift,
    weights[entry & weightMask] ?? Number.NaN,
  ]);
}

const step = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constant('add'),
      list: fc.nat(5),
      slot: fc.nat(300),
      weight: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('close'), list: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('purge'), list: fc.nat(5), odd: fc.boolean() }) },
);

test('lists hold what was added and not purged, whatever happens to others', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const postings = createPostings();
      const numbers = Array.from({ length: 6 }, () => postings.open());
      const model = numbers.map((): [number, number][] => []);
      for (const step of steps) {
        if ('weight' in step) {
          postings.add(numbers[step.list] ?? 0, step.slot, step.weight);
          model[step.list]?.push([step.slot, step.weight]);
        } else if ('odd' in step) {
          const alive = Uint8Array.from({ length: 301 }, (_, slot) => Number((slot % 2 === 1) === step.odd));
          postings.purge(alive);
          for (const [i, list] of model.entries()) model[i] = list.filter(([slot]) => alive[slot] === 1);
        } else {
          postings.close(numbers[step.list] ?? 0);
          numbers[step.list] = postings.open();
          model[step.list] = [];
        }
      }
      for (const [i, expected] of model.entries()) {
        const found = read(postings, numbers[i] ?? 0);
        expect(found.map(([slot]) => slot)).toEqual(expected.map(([slot]) => slot));
        for (const [n, [, weight]] of found.entries())
          expect(Math.abs(weight - (expected[n]?.[1] ?? 0))).toBeLessThan(0.001);
      }
    }),
  );
});

test('room of closed lists is used again', () => {
  const postings = createPostings();
  const fill = (): void => {
    const list = postings.open();
    for (let slot = 0; slot < 1_000; slot++) postings.add(list, slot, 1);
    postings.close(list);
  };
  fill();
  const bytes = postings.bytes();
  for (let round = 0; round < 100; round++) fill();
  expect(postings.bytes()).toBe(bytes);
});

test.each([
  ['grows where it is', growingMemory],
  ['is copied', copiedMemory],
])('many lists are kept in memory that %s', (_, memory) => {
  const postings = createPostings(memory());
  const lists = Array.from({ length: 50 }, () => postings.open());
  for (let slot = 0; slot < 2_000; slot++) for (const list of lists) postings.add(list, slot + list, 1);
  expect(postings.entries.byteLength).toBeGreaterThan(pageBytes);
  for (const list of lists)
    expect(read(postings, list).map(([slot]) => slot)).toEqual(Array.from({ length: 2_000 }, (_, slot) => slot + list));
});

test('where memory cannot grow for a long list, others still find room', () => {
  const memory = growingMemory();
  const grow = (): number => {
    throw new RangeError('Maximum memory size exceeded');
  };
  const postings = createPostings({ buffer: memory.buffer, grow });
  const quarter = pageBytes / Uint32Array.BYTES_PER_ELEMENT / 4;
  const [one, other] = [postings.open(), postings.open()];
  const short = Array.from({ length: 10 }, () => postings.open());
  for (const list of [one, other]) for (let slot = 0; slot < quarter; slot++) postings.add(list, slot, 1);
  expect(() => postings.add(other, quarter, 1)).toThrow(RangeError);
  for (const list of short) postings.add(list, list, 1);
  expect(short.map((list) => read(postings, list))).toEqual(short.map((list) => [[list, 1]]));
  expect(read(postings, other)).toHaveLength(quarter);
});

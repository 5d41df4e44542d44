import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStamps, idOf, lowestId } from './record-ids.ts';

const times = fc.array(fc.integer({ min: 0, max: 2 ** 45 }), { minLength: 1, maxLength: 50 });

test('ids sort in the order of the records and never come twice, whatever the clock does', () => {
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 200 }), (moments, each) => {
      let now = 0;
      const next = createStamps(() => now);
      const ids = moments.flatMap((moment) => {
        now = moment;
        return Array.from({ length: each }, () => idOf(next()));
      });
      expect([...ids].sort()).toEqual(ids);
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

test('more records in a millisecond than the counter can tell apart go on in order', () => {
  const next = createStamps(() => 1_700_000_000_000);
  const ids = Array.from({ length: 10_000 }, () => idOf(next()));
  expect([...ids].sort()).toEqual(ids);
});

test('ids of one millisecond have one random part, and those of another have another', () => {
  let now = 1_700_000_000_000;
  const next = createStamps(() => now);
  const drawn = (): string => {
    const { high, low } = next();
    return `${high} ${low}`;
  };
  const ends = [0, 1, 2].map((ms) => {
    now = 1_700_000_000_000 + ms;
    return [drawn(), drawn()];
  });
  for (const [one, other] of ends) expect(other).toBe(one);
  expect(new Set(ends.flat()).size).toBe(3);
});

test('an id is a UUID version 7 of its time', () => {
  const atMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  const id = idOf(createStamps(() => atMs)());
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(atMs);
});

test('no record of a moment or later has a lower id than the lowest of that moment', () => {
  fc.assert(
    fc.property(times, fc.integer({ min: 0, max: 2 ** 45 }), (moments, from) => {
      let now = 0;
      const next = createStamps(() => now);
      for (const moment of moments) {
        now = moment;
        const stamp = next();
        if (stamp.atMs >= from) expect(idOf(stamp) >= lowestId(from)).toBe(true);
      }
    }),
  );
  expect(lowestId(-5)).toBe('00000000-0000-0000-0000-000000000000');
  expect(lowestId(8.64e15)).toMatch(/^ffffffff-ffff-/);
});

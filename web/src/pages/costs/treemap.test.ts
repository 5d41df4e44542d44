import fc from 'fast-check';
import { expect, test } from 'vitest';
import { largest, squarified } from './treemap.ts';

const whole = { x: 10, y: 20, width: 600, height: 400 };
const sizes = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 60 });

test('areas are as the values, inside the whole, and do not overlap', () => {
  fc.assert(
    fc.property(sizes, (values) => {
      const sorted = values.toSorted((a, b) => b - a);
      const sum = sorted.reduce((all, value) => all + value, 0);
      const boxes = squarified(sorted, whole);
      expect(boxes).toHaveLength(sorted.length);
      for (const [at, { x, y, width, height }] of boxes.entries()) {
        expect(width * height).toBeCloseTo((600 * 400 * (sorted[at] ?? 0)) / sum, 3);
        expect(x).toBeGreaterThanOrEqual(10 - 1e-6);
        expect(y).toBeGreaterThanOrEqual(20 - 1e-6);
        expect(x + width).toBeLessThanOrEqual(610 + 1e-6);
        expect(y + height).toBeLessThanOrEqual(420 + 1e-6);
        for (const other of boxes.slice(at + 1)) {
          const [wide, high] = [
            Math.min(x + width, other.x + other.width) - Math.max(x, other.x),
            Math.min(y + height, other.y + other.height) - Math.max(y, other.y),
          ];
          expect(Math.min(wide, high)).toBeLessThan(1e-6);
        }
      }
    }),
  );
});

test('equal values become about squares', () => {
  for (const { width, height } of squarified(
    Array.from({ length: 24 }, () => 1),
    whole,
  ))
    expect(Math.max(width / height, height / width)).toBeLessThan(1.6);
});

test('the largest are shown, all others are one, and one alone is itself', () => {
  const all = [3, 1, 0, 2].map((size) => ({ name: `${size}`, size }));
  expect(largest(all, 1).shown.map(({ name }) => name)).toEqual(['3']);
  expect(largest(all, 1).others.map(({ name }) => name)).toEqual(['2', '1']);
  expect(largest(all, 2).others).toEqual([]);
});

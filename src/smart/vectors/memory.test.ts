import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDotKernel } from './dot-kernel.ts';
import { createVectors } from './memory.ts';

const kernels = [
  ['with SIMD', createDotKernel],
  ['without', () => undefined],
] as const;

test('this machine has the SIMD kernel, so that both ways are tested', () => {
  expect(createDotKernel(1)).toBeDefined();
});

describe.each(kernels)('%s', (_, kernel) => {
  test('similarities are the cosines of the wanted rows, and 0 for the others', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 300 }),
        fc.nat(),
        (dimensions, rows, seed) => {
          const [query, ...all] = fc.sample(
            fc
              .float32Array({ minLength: dimensions, maxLength: dimensions, min: -1, max: 1, noNaN: true })
              .filter((v) => v.some((x) => Math.abs(x) > 0.01)),
            { numRuns: 4, seed },
          );
          const vectors = createVectors(dimensions, kernel);
          const of = (slot: number): Float32Array => all[slot % all.length] ?? new Float32Array(dimensions);
          for (let slot = rows - 1; slot >= 0; slot--) vectors.set(slot, of(slot));
          const wanted = Uint8Array.from({ length: rows }, (_, slot) => Number(slot % 7 === seed % 7 || slot > 100));
          const out = new Float32Array(rows).fill(9);
          vectors.similarities(query ?? new Float32Array(), wanted, out);
          for (let slot = 0; slot < rows; slot++) {
            const expected = wanted[slot] === 1 ? cosine(query ?? of(0), of(slot)) : 0;
            expect(Math.abs((out[slot] ?? 9) - expected)).toBeLessThan(0.01);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  test('a cleared slot is like nothing', () => {
    const vectors = createVectors(3, kernel);
    vectors.set(0, Float32Array.of(1, 0, 0));
    vectors.clear(0);
    const out = new Float32Array(1);
    vectors.similarities(Float32Array.of(1, 0, 0), Uint8Array.of(1), out);
    expect(out[0]).toBe(0);
  });

  test.each([
    ['the wrong size', Float32Array.of(1, 2), /2 numbers.*have 3/],
    ['NaN', Float32Array.of(1, Number.NaN, 0), /not finite/],
    ['infinity', Float32Array.of(1, Number.POSITIVE_INFINITY, 0), /not finite/],
    ['zeros', new Float32Array(3), /no direction/],
  ])('a vector of %s is refused and leaves the old one', (_, vector, message) => {
    const vectors = createVectors(3, kernel);
    vectors.set(0, Float32Array.of(0, 1, 0));
    expect(() => vectors.set(0, vector)).toThrow(message);
    const out = new Float32Array(1);
    expect(() => vectors.similarities(vector, Uint8Array.of(1), out)).toThrow(message);
    vectors.similarities(Float32Array.of(0, 2, 0), Uint8Array.of(1), out);
    expect(out[0]).toBeCloseTo(1, 2);
  });
});

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
  return dot / Math.hypot(...a) / Math.hypot(...b);
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codePoints } from './code-points.ts';

test('texts of all characters have whole ones of every length, and names that are dangerous', () => {
  const texts = fc.sample(fc.string({ unit: codePoints, maxLength: 9 }), { numRuns: 5_000, seed: 1 });
  expect(texts.filter((text) => text !== Buffer.from(text).toString())).toEqual([]);
  expect(texts).toContain('__proto__');
  const lengths = fc.sample(codePoints, { numRuns: 5_000, seed: 1 }).map((one) => Buffer.byteLength(one));
  expect(new Set(lengths)).toEqual(new Set([1, 2, 3, 4]));
});

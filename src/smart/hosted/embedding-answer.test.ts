import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HubError } from '../../core/errors.ts';
import { readEmbeddings } from './embedding-answer.ts';

const answer = (...data: unknown[]) => JSON.stringify({ data });
const base64 = (...values: number[]) => Buffer.from(Float32Array.from(values).buffer).toString('base64');

test('numbers and base64 are read alike, in the order of the texts and not of the answer', () => {
  const read = readEmbeddings(answer({ index: 1, embedding: [3, 4] }, { index: 0, embedding: base64(1, 2) }), 2);
  expect(read).toEqual([Float32Array.of(1, 2), Float32Array.of(3, 4)]);
  expect(readEmbeddings(answer({ embedding: [1] }, { embedding: [2] }), 2)).toEqual([
    Float32Array.of(1),
    Float32Array.of(2),
  ]);
});

test.each([
  ['null', null],
  ['nothing', undefined],
  ['an empty list', []],
  ['words', ['a', 'b']],
  ['null among numbers', [1, null]],
  ['no base64 of numbers', 'abc'],
  ['zeros', [0, 0]],
  ['NaN', base64(1, Number.NaN)],
  ['infinity', base64(1, Number.POSITIVE_INFINITY)],
  ['a number past 32 bits', [1e300, 1]],
  ['numbers whose squares are past 32 bits', [1e200, 1]],
  ['an object', { 0: 1 }],
])('%s in place of a vector is refused, and the others are not', (_what, embedding) => {
  const [bad, good] = readEmbeddings(answer({ index: 0, embedding }, { index: 1, embedding: [1, 2] }), 2);
  expect(bad).toEqual({ refused: expect.any(String) as string });
  expect(good).toEqual(Float32Array.of(1, 2));
});

test.each([
  ['', /JSON/],
  ['{"data":[{"embed', /JSON/],
  ['<html>', /JSON/],
  ['null', /list/],
  ['[]', /list/],
  ['{"data":{}}', /list/],
  [answer(), /0 vectors for 2/],
  [answer({ embedding: [1] }), /1 vectors for 2/],
  [answer({ index: 0, embedding: [1] }, { index: 0, embedding: [1] }), /numbering/],
  [answer({ index: 7, embedding: [1] }, { index: 0, embedding: [1] }), /numbering/],
  [answer({ index: -1, embedding: [1] }, { index: 0.5, embedding: [1] }), /numbering/],
])('%j is no answer', (body, why) => {
  expect(() => readEmbeddings(body, 2)).toThrow(why);
});

test('whatever comes, what is taken can be compared, and what is thrown is a failure of the service', () => {
  const value = fc.oneof(fc.jsonValue(), fc.array(fc.double(), { maxLength: 4 }), fc.base64String());
  fc.assert(
    fc.property(fc.array(fc.record({ index: fc.nat(3), embedding: value }), { maxLength: 4 }), (data) => {
      try {
        for (const read of readEmbeddings(JSON.stringify({ data }), 2)) {
          if (!(read instanceof Float32Array)) continue;
          const squares = read.reduce((sum, one) => sum + one * one, 0);
          expect(squares > 0 && Number.isFinite(squares)).toBe(true);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(HubError);
      }
    }),
  );
});

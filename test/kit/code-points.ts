import fc from 'fast-check';

const surrogates = { first: 0xd800, count: 0x800 };

/**
 * Every character of Unicode, one code point each: `unit` of `fc.string`. The same texts from the same seed as with
 * `'binary'`, for which fast-check fills a map with a million characters in each process that makes one: a second, and
 * 80 MB that each collection of garbage looks through from then on.
 */
export const codePoints = fc.nat({ max: 0x10ffff - surrogates.count }).map(
  (place) => String.fromCodePoint(place < surrogates.first ? place : place + surrogates.count),
  (text) => {
    const point = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (point === undefined || text !== String.fromCodePoint(point)) throw new Error('Not one character');
    if (point < surrogates.first) return point;
    if (point < surrogates.first + surrogates.count) throw new Error('A half of a character');
    return point - surrogates.count;
  },
);

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutToTokens } from './cut-to-tokens.ts';

test('a text within the limit stays as it is', () => {
  expect(cutToTokens('Send an email', 4)).toBe('Send an email');
  expect(cutToTokens('', 1)).toBe('');
});

test('what is left is the beginning, has no half characters, and one more token would be too many', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (text, most) => {
      const cut = cutToTokens(text, most);
      expect(text.startsWith(cut)).toBe(true);
      expect(Buffer.from(cut).toString()).toBe(cut);
      expect(cutToTokens(cut, most)).toBe(cut);
      if (cut !== text) expect(cutToTokens(text, most + 1).length).toBeGreaterThanOrEqual(cut.length);
    }),
  );
});

test('a megabyte of anything is cut in no time, and well below the limit that a model has', () => {
  for (const piece of ['word ', '7', '漢', '😀', '-', ' ']) {
    const cut = cutToTokens(piece.repeat(200_000), 512);
    // No tokenizer needs more than a token for each byte.
    expect(cut.length).toBeLessThanOrEqual(512 * 5);
    expect(cut.length).toBeGreaterThan(200);
  }
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSealer } from './seal.ts';

const secret = new Uint8Array(32).fill(7);

test('a sealed text opens again, also for another sealer with the same secret', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(createSealer(secret, 'session').open(createSealer(secret, 'session').seal(text))).toBe(text);
    }),
    { numRuns: 30 },
  );
});

test('a token for another purpose, another secret, or with any byte altered does not open', () => {
  const token = createSealer(secret, 'session').seal('hello');
  expect(createSealer(secret, 'state').open(token)).toBeUndefined();
  expect(createSealer(new Uint8Array(32), 'session').open(token)).toBeUndefined();
  const bytes = Buffer.from(token, 'base64url');
  for (let i = 0; i < bytes.length; i++) {
    const altered = Buffer.from(bytes);
    altered[i] = (altered[i] ?? 0) ^ 1;
    expect(createSealer(secret, 'session').open(altered.toString('base64url'))).toBeUndefined();
  }
  for (const nonsense of ['', 'x', '💥', 'A'.repeat(10_000)])
    expect(createSealer(secret, 'session').open(nonsense)).toBeUndefined();
});

test('no two tokens begin alike, however many are made', () => {
  const sealer = createSealer(secret, 'session');
  const tokens = Array.from({ length: 1_000 }, () => sealer.seal('hello'));
  expect(new Set(tokens.map((token) => token.slice(0, 17))).size).toBe(tokens.length);
});

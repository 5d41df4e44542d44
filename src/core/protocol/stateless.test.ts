import fc from 'fast-check';
import { expect, test } from 'vitest';
import { headerText, headerValue } from './stateless.ts';
import { codePoints } from '../../../test/kit/code-points.ts';

test.each([
  ['us-west1', 'us-west1'],
  ['two words', 'two words'],
  ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
])('%j travels as %s (2026-07-28, Value encoding)', (text, value) => {
  expect(headerValue(text)).toBe(value);
});

test('every text survives as a header value that HTTP can carry', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: codePoints }), fc.string()), (text) => {
      const value = headerValue(text);
      expect(value).toMatch(/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/);
      expect(headerText(value)).toBe(text);
    }),
  );
});

test('what claims to be base64 and is not, is nothing', () => {
  expect(headerText('=?base64?%%%?=')).toBeUndefined();
  expect(headerText(undefined)).toBeUndefined();
});

import { expect, test } from 'vitest';
import { editsOf } from './edits.ts';

test('what is the same is not sent, and what is gone is sent as null', () => {
  const before = { name: 'a', list: [1, 2], title: 'T', kept: null };
  expect(editsOf(before, { name: 'b', list: [1, 2], kept: null })).toEqual({ name: 'b', title: null });
  expect(editsOf(before, { ...before, list: [2, 1] })).toEqual({ list: [2, 1] });
  expect(editsOf(before, before)).toEqual({});
});

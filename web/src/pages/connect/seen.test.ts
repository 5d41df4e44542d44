import { expect, test } from 'vitest';
import type { ClientSeen } from '../../api/types.ts';
import { another, arrived, lastOf } from './seen.ts';

const client = (more: Partial<ClientSeen>): ClientSeen => ({
  id: 'x',
  name: 'Cursor',
  version: '1',
  scope: '',
  at: '2026-01-01T00:00:02.000Z',
  hasCalled: false,
  credential: 'anonymous',
  ...more,
});
const since = '2026-01-01T00:00:01.000Z';
const awaited = { client: 'cursor', credential: 'none', key: undefined, since, username: 'ann' } as const;

test('a key that was made for it is what it is known by, under any name', () => {
  const seen = [client({ name: 'Cursor' }), client({ name: 'other', credential: 'key', keyId: 'k', at: '2020' })];
  expect(arrived(seen, { ...awaited, credential: 'key', key: 'k' })).toBe(seen[1]);
  expect(arrived(seen, { ...awaited, credential: 'key', key: undefined })).toBeUndefined();
});

test('without a credential only what came since counts, and only by its name', () => {
  expect(arrived([client({})], awaited)?.name).toBe('Cursor');
  expect(arrived([client({ at: since })], awaited)).toBeUndefined();
  expect(arrived([client({ name: 'evil' })], awaited)).toBeUndefined();
  expect(another([client({ name: 'evil' })], awaited)?.name).toBe('evil');
  expect(arrived([client({ credential: 'key' })], awaited)).toBeUndefined();
});

test('a sign-in counts only of who waits', () => {
  const signIn = { ...awaited, credential: 'signIn' } as const;
  expect(arrived([client({ credential: 'app', username: 'bob' })], signIn)).toBeUndefined();
  expect(arrived([client({ credential: 'app', username: 'ann', name: 'any' })], signIn)?.name).toBe('any');
});

test('what counts as new begins with the last that was there', () => {
  expect(lastOf([client({ at: 'a' }), client({ at: 'c' }), client({ at: 'b' })])).toBe('c');
  expect(lastOf([])).toBe('');
});

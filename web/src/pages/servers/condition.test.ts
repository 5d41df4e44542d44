import { expect, test } from 'vitest';
import { conditionOf, type Described, needsPerson } from './condition.ts';

test.each<[Partial<Described>, string]>([
  [{ status: 'connecting', phase: 'installing', waiting: true }, 'waitsToInstall'],
  [{ status: 'connecting', phase: 'installing' }, 'installing'],
  [{ status: 'connecting', phase: 'starting', waiting: true }, 'waitsToStart'],
  [{ status: 'connecting', phase: 'handshake', waiting: true }, 'waitsToStart'],
  [{ status: 'connecting', phase: 'starting' }, 'connecting'],
  [{ status: 'connecting' }, 'connecting'],
  [{ status: 'disconnected' }, 'disconnected'],
  [{ type: 'invalid', status: 'disconnected' }, 'unusable'],
  [{ type: 'invalid', status: 'connecting', phase: 'handshake', waiting: true }, 'unusable'],
  [{ type: 'invalid', status: 'disabled' }, 'disabled'],
])('of a server that is %j is said: %s', (server, condition) => {
  expect(conditionOf({ type: 'stdio', status: 'connected', ...server })).toBe(condition);
});

test('a server needs a person when it failed or wants a sign-in, and not while it is on its way or switched off', () => {
  const server = { type: 'stdio', enabled: true, error: null } as const;
  expect(needsPerson({ ...server, status: 'disconnected', error: 'connection refused' })).toBe(true);
  expect(needsPerson({ ...server, status: 'oauth_required' })).toBe(true);
  expect(needsPerson({ ...server, status: 'connecting', error: 'connection refused' })).toBe(true);
  expect(needsPerson({ ...server, status: 'connecting', type: 'invalid' })).toBe(true);
  expect(needsPerson({ ...server, status: 'connecting' })).toBe(false);
  expect(needsPerson({ ...server, status: 'connected' })).toBe(false);
  expect(needsPerson({ ...server, status: 'asleep' })).toBe(false);
  expect(needsPerson({ ...server, status: 'disabled', enabled: false })).toBe(false);
  // Just switched off.
  expect(needsPerson({ ...server, status: 'disconnected', enabled: false })).toBe(false);
});

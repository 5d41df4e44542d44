import { expect, test } from 'vitest';
import { conditionOf, type Described, needsPerson } from './condition.ts';

test.each<[Described, string]>([
  [{ status: 'connecting', phase: 'installing', waiting: true }, 'waitsToInstall'],
  [{ status: 'connecting', phase: 'installing' }, 'installing'],
  [{ status: 'connecting', phase: 'starting', waiting: true }, 'waitsToStart'],
  [{ status: 'connecting', phase: 'handshake', waiting: true }, 'waitsToStart'],
  [{ status: 'connecting', phase: 'starting' }, 'connecting'],
  [{ status: 'connecting' }, 'connecting'],
  [{ status: 'disconnected' }, 'disconnected'],
])('of a server that is %j is said: %s', (server, condition) => {
  expect(conditionOf(server)).toBe(condition);
});

test('a server needs a person when it failed or wants a sign-in, and not while it is on its way or switched off', () => {
  const server = { enabled: true, error: null };
  expect(needsPerson({ ...server, status: 'disconnected', error: 'connection refused' })).toBe(true);
  expect(needsPerson({ ...server, status: 'oauth_required' })).toBe(true);
  expect(needsPerson({ ...server, status: 'connecting', error: 'connection refused' })).toBe(true);
  expect(needsPerson({ ...server, status: 'connecting' })).toBe(false);
  expect(needsPerson({ ...server, status: 'connected' })).toBe(false);
  expect(needsPerson({ ...server, status: 'disabled', enabled: false })).toBe(false);
  // Just switched off.
  expect(needsPerson({ ...server, status: 'disconnected', enabled: false })).toBe(false);
});

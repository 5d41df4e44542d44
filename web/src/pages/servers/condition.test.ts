import { expect, test } from 'vitest';
import { conditionOf, type Described } from './condition.ts';

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

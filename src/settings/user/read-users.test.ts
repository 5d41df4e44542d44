import { expect, test } from 'vitest';
import { parseSettings } from '../document/parse-settings.ts';

test.each([
  [{ isAdmin: true }, 'admin'],
  [{ role: 'admin' }, 'admin'],
  [{}, 'user'],
  [{ role: 'user', isAdmin: true }, 'user'],
  [{ role: 'admin', isAdmin: false }, 'user'],
])('%j is %s', (said, role) => {
  expect(parseSettings({ users: [{ username: 'u', password: '$2b$x', ...said }] }).settings.users[0]?.role).toBe(role);
});

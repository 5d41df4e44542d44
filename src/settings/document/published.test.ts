import { expect, test } from 'vitest';
import { parseSettings } from './parse-settings.ts';

test('a server that a user called public is warned of until an admin says so too', () => {
  const servers = {
    bobs: { command: 'x', owner: 'bob', visibility: 'public' },
    said: { command: 'x', owner: 'bob', visibility: 'public', publishedBy: 'admin' },
    own: { command: 'x', visibility: 'public' },
    shared: { command: 'x', owner: 'bob', visibility: 'group' },
  };
  const users = [
    { username: 'admin', password: 'x', isAdmin: true },
    { username: 'bob', password: 'x' },
  ];
  const { warnings, settings } = parseSettings({ mcpServers: servers, users });
  expect(warnings.filter(({ path }) => path.endsWith('visibility'))).toEqual([
    { path: 'mcpServers.bobs.visibility', message: expect.stringContaining('counts as "group"') as string },
  ]);
  expect(settings.servers.get('said')?.publishedBy).toBe('admin');
});

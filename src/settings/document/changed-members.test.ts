import { expect, test } from 'vitest';
import { changedMembers } from './changed-members.ts';

const server = { command: 'npx', args: ['-y', 'x'], env: { TOKEN: 'first-secret' }, enabled: true };

test('only the changed members are there, before and after', () => {
  const change = changedMembers(
    { mcpServers: { a: server, b: server } },
    {
      mcpServers: { a: { ...server, enabled: false }, b: server },
    },
  );
  expect(change).toEqual({
    action: 'server.update',
    names: ['a'],
    before: { mcpServers: { a: { enabled: true } } },
    after: { mcpServers: { a: { enabled: false } } },
  });
  expect(changedMembers({ mcpServers: { a: server } }, { mcpServers: { a: { ...server } } })).toBeUndefined();
});

test('a secret that changed shows as a change, and neither value is there', () => {
  const change = changedMembers(
    { mcpServers: { a: server }, users: [{ username: 'ann', password: '$argon2$one' }] },
    {
      mcpServers: { a: { ...server, env: { TOKEN: 'second-secret' } } },
      users: [{ username: 'ann', password: '$argon2$two' }],
    },
  );
  expect(change?.before).toEqual({
    mcpServers: { a: { env: { TOKEN: '••••' } } },
    users: { ann: { password: '••••' } },
  });
  expect(change?.after).toEqual({
    mcpServers: { a: { env: { TOKEN: '•••• (changed)' } } },
    users: { ann: { password: '•••• (changed)' } },
  });
  expect([change?.action, change?.names]).toEqual(['settings.update', ['a', 'ann']]);
});

test('secrets in the arguments of a program are not there either, the rest of them is', () => {
  const args = (token: string) => [
    '-y',
    'x',
    '--token',
    token,
    `--api-key=${token}`,
    '-e',
    `KEY=${token}`,
    '--port=80',
  ];
  const settingsWith = (token: string) => ({
    mcpServers: { a: { ...server, command: `TOKEN=${token} npx`, args: args(token) } },
  });
  const change = changedMembers(settingsWith('first-secret'), settingsWith('second-secret'));
  expect(JSON.stringify(change)).not.toMatch(/first-secret|second-secret/);
  expect(JSON.stringify(change?.after)).toContain('(changed)');
  const made = changedMembers({ mcpServers: {} }, settingsWith('first-secret'));
  expect(made?.after).toMatchObject({
    mcpServers: { a: { args: ['-y', 'x', '--token', '••••', '--api-key=••••', '-e', 'KEY=••••', '--port=80'] } },
  });
  const odd = { mcpServers: { a: { ...server, args: ['-y', { token: 'first-secret' }] } } };
  expect(JSON.stringify(changedMembers({ mcpServers: {} }, odd))).not.toContain('first-secret');
});

test('what is made and removed is named, also in lists and in files without the list', () => {
  const made = changedMembers({}, { groups: [{ id: '1', name: 'dev', servers: ['a'] }] });
  expect(made).toMatchObject({ action: 'group.create', names: ['dev'], before: { groups: {} } });
  expect(made?.after).toEqual({ groups: { dev: { id: '1', name: 'dev', servers: ['a'] } } });
  const gone = changedMembers({ bearerKeys: [{ id: 'k', name: 'ci', tokenHash: 'abc', tokenPrefix: 'mcphub_1' }] }, {});
  expect(gone).toMatchObject({ action: 'key.delete', names: ['ci'] });
  expect(gone?.before).toEqual({ bearerKeys: { ci: { id: 'k', name: 'ci', tokenHash: '••••', tokenPrefix: '••••' } } });
  const system = changedMembers(
    { systemConfig: { a: 1, routing: { x: 1, y: 2 } } },
    {
      systemConfig: { a: 2, routing: { x: 1, y: 3 } },
    },
  );
  expect(system).toMatchObject({ action: 'system-config.update', names: ['a', 'routing'] });
  expect(system?.after).toEqual({ systemConfig: { a: 2, routing: { y: 3 } } });
});

test('members with the names of built-in ones are members like others', () => {
  const after = JSON.parse('{"mcpServers":{"__proto__":{"command":"x"},"constructor":{"command":"y"}}}') as Record<
    string,
    unknown
  >;
  const change = changedMembers({ mcpServers: {} }, after);
  expect(change?.names).toEqual(['__proto__', 'constructor']);
  expect(JSON.stringify(change?.after)).toContain('"__proto__":{"command":"x"}');
});

test('of a list, what is twice the same or only moved is no change that could be told', () => {
  const [a, b] = [
    { name: 'a', servers: [] },
    { name: 'b', servers: [] },
  ];
  expect(changedMembers({ groups: [a, b] }, { groups: [b, a] })).toBeUndefined();
  expect(changedMembers({ groups: [a] }, { groups: [a, { name: 'a', servers: ['x'] }] })?.after).toEqual({
    groups: { a: { name: 'a', servers: ['x'] } },
  });
});

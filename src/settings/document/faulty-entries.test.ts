import { expect, test } from 'vitest';
import { parseChanged, parseSettings } from './parse-settings.ts';

test("an entry that cannot be used is that server's error: the others are as they are, and no other user gets to see it", () => {
  const document = {
    mcpServers: { good: { command: 'x' }, bad: { url: 'http://[bad', description: 'Mine', owner: 'ann' }, text: 'npx' },
    users: [{ username: 'ann' }],
  };
  const { settings, faults, warnings } = parseSettings(document);
  expect(settings.servers.get('good')?.transport.type).toBe('stdio');
  expect(settings.servers.get('bad')).toMatchObject({
    description: 'Mine',
    owner: 'ann',
    transport: { type: 'invalid' },
  });
  expect(settings.servers.get('text')).toMatchObject({ visibility: 'private', owner: 'admin' });
  expect([...faults.keys()]).toEqual(['bad', 'text']);
  const told = warnings.filter(({ message }) => message.includes('not connected until this is corrected'));
  expect(told.map(({ path }) => path)).toEqual(['mcpServers.bad.url', 'mcpServers.text']);
});

test('a change may leave what was wrong before, and switch it, but bring in nothing new that is wrong', () => {
  const before = { mcpServers: { bad: { url: 'ftp://x' }, good: { command: 'x' } } };
  const { settings } = parseSettings(before);
  const changed = (mcpServers: object) => () => parseChanged({ mcpServers }, { document: before, settings });
  expect(changed({ bad: { url: 'ftp://x' }, good: { command: 'y' } })).not.toThrow();
  expect(changed({ bad: { url: 'ftp://x', enabled: false, owner: 'admin' } })).not.toThrow();
  expect(changed({ bad: { url: 'https://x' } })).not.toThrow();
  expect(changed({ bad: { url: 'ftp://y' } })).toThrow('mcpServers.bad.url');
  expect(changed({ ...before.mcpServers, good: { command: 7 } })).toThrow('mcpServers.good.command');
  expect(changed({ bad: { url: 'ftp://x', enabled: 'no' } })).toThrow('mcpServers.bad.enabled');
});

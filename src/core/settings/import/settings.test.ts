import { describe, expect, test } from 'vitest';
import type { Draft } from '../document.ts';
import { exportSettings } from '../export/settings.ts';
import { importSettings } from './settings.ts';

const settings = (): Draft => ({
  mcpServers: {
    github: {
      command: 'npx',
      args: ['-y', 'github', '--token', 'ghp_0123456789abcdef0123456789abcdef0123'],
      env: { TOKEN: 'hidden words' },
      owner: 'admin',
    },
    notes: {
      url: 'https://notes.example.com/mcp',
      headers: { Authorization: 'Bearer secret-of-notes' },
      oauth: { clientSecret: 'hush' },
    },
  },
  groups: [{ id: 'g1', name: 'dev', servers: ['github'], owner: 'admin' }],
  users: [{ username: 'admin', password: 'hash', role: 'admin' }],
  systemConfig: {
    routing: { openApiAccess: 'open' },
    smartRouting: { openaiApiKey: 'sk-secret-secret-secret', enabled: true },
  },
});

describe('an import', () => {
  test.each(['merge', 'replace'] as const)('of what was exported changes nothing, and loses no secret (%s)', (mode) => {
    const draft = settings();
    const changes = importSettings(draft, exportSettings(draft), mode, 'admin');
    expect(changes).toEqual([]);
    expect(draft).toEqual(settings());
  });

  test('of an export in which one thing was changed changes that, next to secrets that stay', () => {
    const draft = settings();
    const file = exportSettings(draft) as Draft;
    const { github } = file.mcpServers ?? {};
    if (github) github['description'] = 'The code';
    const changes = importSettings(draft, file, 'merge', 'admin');
    expect(changes.map(({ kind, name, change }) => [kind, name, change])).toEqual([['server', 'github', 'changed']]);
    expect(draft.mcpServers?.['github']).toEqual({ ...settings().mcpServers?.['github'], description: 'The code' });
    expect(JSON.stringify(changes)).not.toMatch(/hidden words|ghp_/);
  });

  test('adds what is new for who imports it, and removes only when it is to replace', () => {
    const file = {
      mcpServers: { fresh: { url: 'https://x.example/mcp' } },
      groups: [{ name: 'own', servers: ['fresh'] }],
    };
    const merged = settings();
    expect(importSettings(merged, file, 'merge', 'ann').map(({ name, change }) => [name, change])).toEqual([
      ['fresh', 'added'],
      ['own', 'added'],
    ]);
    expect(merged.mcpServers?.['fresh']).toEqual({ owner: 'ann', url: 'https://x.example/mcp' });
    const replaced = settings();
    const changes = importSettings(replaced, file, 'replace', 'ann').map(({ kind, name, change }) => [
      kind,
      name,
      change,
    ]);
    expect(changes).toEqual([
      ['server', 'github', 'removed'],
      ['server', 'notes', 'removed'],
      ['server', 'fresh', 'added'],
      ['group', 'dev', 'removed'],
      ['group', 'own', 'added'],
    ]);
    expect(replaced.users).toEqual(settings().users);
    expect(replaced.systemConfig).toEqual(settings().systemConfig);
  });

  test('never changes a user who is there, nor makes keys', () => {
    const draft = settings();
    const file = {
      users: [
        { username: 'admin', password: 'evil', role: 'user' },
        { username: 'bob', role: 'user' },
      ],
      bearerKeys: [{ id: 'x' }],
    };
    expect(importSettings(draft, file, 'replace', 'admin').map(({ kind, name }) => [kind, name])).toEqual([
      ['user', 'bob'],
    ]);
    expect(draft.users?.[0]).toEqual(settings().users?.[0]);
    expect(draft.bearerKeys).toBeUndefined();
  });

  test.each([
    [[]],
    ['x'],
    [null],
    [{}],
    [{ bearerKeys: [] }],
    [{ mcpServers: JSON.parse('{"__proto__": {}}') as unknown }],
  ])('refuses %j', (file) => {
    expect(() => importSettings(settings(), file, 'merge', 'admin')).toThrow('Cannot import the settings');
  });
});

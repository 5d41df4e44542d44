import { describe, expect, test } from 'vitest';
import type { Draft, Entry } from '../document/document.ts';
import { exportSettings } from '../export/export-settings.ts';
import { importSettings } from './import-settings.ts';
import { skippedMembers } from './skipped-members.ts';

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

  test('that replaces takes what it removes off all lists: the next of that name is another one', () => {
    const draft = settings();
    draft.users?.push({ username: 'ann', servers: ['github', 'notes'], groups: ['g1', 'dev', 'g2'] });
    draft.bearerKeys = [{ id: 'k', allowedServers: ['notes', 'github'], allowedGroups: ['dev', 'g1', 'g2'] }];
    draft.groups?.push({ id: 'g2', name: 'own', servers: ['github', { name: 'notes', tools: ['read'] }] });
    const { notes = {} } = (exportSettings(draft) as Draft).mcpServers ?? {};
    importSettings(draft, { mcpServers: { notes } }, 'replace', 'admin');
    expect(draft.users?.[1]).toMatchObject({ servers: ['notes'], groups: ['g1', 'dev', 'g2'] });
    expect(draft.bearerKeys?.[0]).toMatchObject({ allowedServers: ['notes'] });
    expect(draft.groups?.map(({ servers }) => servers)).toEqual([[], [{ name: 'notes', tools: ['read'] }]]);
    importSettings(draft, { groups: [{ id: 'g2', name: 'own', servers: [] }] }, 'replace', 'admin');
    expect(draft.users?.[1]).toMatchObject({ groups: ['g2'] });
    expect(draft.bearerKeys?.[0]).toMatchObject({ allowedGroups: ['g2'] });
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

describe('what an import says of a user’s server that an admin made public', () => {
  const url = 'https://ann.example/mcp';
  const users = [{ username: 'admin', role: 'admin' }, { username: 'ann' }];
  const anns = { url, owner: 'ann', visibility: 'public', publishedBy: 'admin' };
  const after = (here: Entry, file: Entry) => {
    const draft: Draft = { mcpServers: here as Draft['mcpServers'] & object, users: structuredClone(users) };
    const skipped = skippedMembers(draft, { mcpServers: file });
    importSettings(draft, { mcpServers: file }, 'merge', 'admin');
    return { server: Object.values(draft.mcpServers ?? {}).at(-1), skipped };
  };

  const secret = { ...anns, url: `${url}?token=ghp_0123456789abcdef0123456789abcdef0123` };
  const exported = exportSettings({ mcpServers: { mail: secret } })['mcpServers'] as Entry;
  test.each<[what: string, here: Entry, file: Entry]>([
    ['of this hub, as it is', { mail: anns }, { mail: anns }],
    ['of this hub, with a new description', { mail: anns }, { mail: { ...anns, description: 'new' } }],
    ['with a secret in its address, as an export has it', { mail: secret }, exported],
  ])('stays: %s', (_, here, file) => {
    const { server, skipped } = after(here, file);
    expect([server?.['publishedBy'], skipped]).toEqual(['admin', []]);
  });

  const unsaid = { url, owner: 'ann', visibility: 'public' };
  test.each<[what: string, here: Entry, file: Entry]>([
    ['written by hand', { mail: unsaid }, { mail: anns }],
    ['of a server that is new here', {}, { mail: anns }],
    ['under another name', { mail: anns }, { post: anns }],
    ['in the name of another admin', { mail: anns }, { mail: { ...anns, publishedBy: 'ann' } }],
    ['no name at all', { mail: unsaid }, { mail: { ...anns, publishedBy: '' } }],
    ['of a server that leads elsewhere', { mail: anns }, { mail: { ...anns, url: 'https://evil.example/mcp' } }],
    ['of another kind of server', { mail: anns }, { mail: { ...anns, url: undefined, openapi: { url } } }],
  ])('counts for nothing: %s', (_, here, file) => {
    const { server, skipped } = after(here, file);
    expect(server).toMatchObject({ owner: 'ann', visibility: 'public' });
    expect(server).not.toHaveProperty('publishedBy');
    expect(skipped).toEqual([{ kind: 'publication', name: Object.keys(file)[0] }]);
  });
});

test('an import refuses names that could be taken for a prototype, all of them by their place', () => {
  const file = JSON.parse(
    `{"mcpServers":{"constructor":{},"a b":{"env":{"__proto__":"x"},"tools":{"constructor":{}}}},
      "groups":[{"name":"g","__proto__":{}}],"users":[],"prompts":null,
      "systemConfig":{"__proto__":{"a":1},"routing":{"prototype":{}},"policies":[{"constructor":1}]}}`,
  ) as unknown;
  const paths = [
    'mcpServers.constructor',
    'mcpServers["a b"].env.__proto__',
    'systemConfig.__proto__',
    'systemConfig.routing.prototype',
    'systemConfig.policies[0].constructor',
    'groups[0].__proto__',
  ];
  expect(() => importSettings(settings(), file, 'merge', 'admin')).toThrow(
    expect.objectContaining({ problems: paths.map((path) => ({ path, message: 'is not accepted' })) }),
  );
});

test('an import refuses members of another kind, all of them by name, and takes null for what is left out', () => {
  const file = { mcpServers: [], groups: {}, users: 'ann', systemConfig: true, prompts: 1, bearerKeys: {} };
  expect(() => importSettings(settings(), file, 'merge', 'admin')).toThrow(
    expect.objectContaining({
      problems: [
        { path: 'mcpServers', message: 'expected object, found an array' },
        { path: 'groups', message: 'expected array, found an object' },
        { path: 'users', message: 'expected array, found a string' },
        { path: 'systemConfig', message: 'expected object, found boolean true' },
        { path: 'prompts', message: 'expected array, found number 1' },
        { path: 'bearerKeys', message: 'expected array, found an object' },
      ],
    }),
  );
  const users = { mcpServers: {}, users: [{ username: 'ann' }, 'bob'] };
  expect(() => importSettings(settings(), users, 'merge', 'admin')).toThrow('users[1] expected object');
  const without = { mcpServers: {}, users: null, groups: null };
  expect(importSettings(settings(), without, 'merge', 'admin')).toEqual([]);
});

test('a server whose owner is unknown here is the importer’s and switched off; users of the file are known', () => {
  const url = 'https://x.example/mcp';
  const draft: Draft = {
    mcpServers: { old: { url, owner: 'gone' } },
    users: [{ username: 'root', role: 'admin' }],
  };
  const file = {
    mcpServers: {
      old: { url, owner: 'gone', description: 'new' },
      foreign: { url, owner: 'bob', disabled: false },
      anns: { url, owner: 'ann' },
      system: { url, owner: 'admin' },
      program: { command: 'x', owner: 'bob' },
    },
    users: [{ username: 'ann' }],
  };
  const skipped = skippedMembers(draft, file);
  importSettings(draft, file, 'merge', 'root');
  expect(draft.mcpServers).toEqual({
    old: { url, owner: 'gone', description: 'new' },
    foreign: { url, owner: 'root', enabled: false },
    anns: { url, owner: 'ann' },
    system: { url, owner: 'admin' },
    program: { command: 'x', owner: 'root' },
  });
  expect(skipped.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['owner foreign', 'owner program']);
});

test('an import does not take secrets along to another address', () => {
  const draft = settings();
  const { notes = {} } = (exportSettings(draft) as Draft).mcpServers ?? {};
  importSettings(draft, { mcpServers: { notes: { ...notes, description: 'Mine' } } }, 'merge', 'admin');
  expect(draft.mcpServers?.['notes']).toMatchObject({ headers: { Authorization: 'Bearer secret-of-notes' } });
  importSettings(draft, { mcpServers: { notes: { ...notes, url: 'https://evil.example/mcp' } } }, 'merge', 'admin');
  expect(draft.mcpServers?.['notes']).toMatchObject({ url: 'https://evil.example/mcp', headers: notes['headers'] });
  expect(JSON.stringify(draft.mcpServers?.['notes'])).not.toMatch(/secret-of-notes|hush/);
  const endpoint = { oauth: { tokenEndpoint: 'https://evil.example/token' } };
  const other = settings();
  importSettings(other, { mcpServers: { notes: { ...notes, ...endpoint } } }, 'merge', 'admin');
  expect(JSON.stringify(other.mcpServers?.['notes'])).not.toMatch(/secret-of-notes|hush/);
});

describe('an import of groups', () => {
  const groups = (draft: Draft) => draft.groups?.map(({ id, name }) => `${String(id)} ${String(name)}`);

  test('keeps the id that a group has here, by which users and keys know it', () => {
    const draft = settings();
    const file = {
      groups: [{ id: 'elsewhere', name: 'dev', servers: ['notes'] }],
      users: [{ username: 'bob', groups: ['elsewhere', 'other'] }],
    };
    importSettings(draft, file, 'merge', 'admin');
    expect(draft.groups).toEqual([{ id: 'g1', name: 'dev', servers: ['notes'], owner: 'admin' }]);
    expect(draft.users?.[1]).toEqual({ username: 'bob', groups: ['g1', 'other'] });
    expect(file.users[0]?.groups, 'the file').toEqual(['elsewhere', 'other']);
  });

  test('renames by id, also two that swap their names, and one new under a name that has become free', () => {
    const draft = settings();
    draft.groups?.push({ id: 'g2', name: 'ops', servers: [] });
    const [one, two] = [
      { id: 'g1', name: 'ops' },
      { id: 'g2', name: 'dev' },
    ];
    const swapped = { groups: [one, two] };
    importSettings(draft, swapped, 'merge', 'admin');
    expect(groups(draft)).toEqual(['g1 ops', 'g2 dev']);
    importSettings(draft, { groups: [{ id: 'g1', name: 'was ops' }, { name: 'ops' }] }, 'merge', 'admin');
    expect(groups(draft)).toEqual(['g2 dev', 'g1 was ops', 'undefined ops']);
  });

  test('refuses one that would be two of those that are there, or one that is there twice', () => {
    const draft = settings();
    draft.groups?.push({ id: 'g2', name: 'ops', servers: [] });
    const both = { groups: [{ id: 'g1', name: 'ops' }] };
    expect(() => importSettings(draft, both, 'merge', 'admin')).toThrow('has the id of one group and the name');
    const twice = { groups: [{ name: 'dev' }, { name: 'dev' }] };
    expect(() => importSettings(draft, twice, 'merge', 'admin')).toThrow('is the group "dev" once more');
    importSettings(draft, both, 'replace', 'admin');
    expect(groups(draft)).toEqual(['g1 ops']);
  });
});

import { expect, test } from 'vitest';
import { exportSettings } from '../../src/settings/export/export-settings.ts';
import { parseClientConfig } from '../../src/settings/import/client-config.ts';
import { expandServer } from '../../src/settings/server/placeholders.ts';
import { parseSettings } from '../../src/settings/document/parse-settings.ts';

const settings = {
  mcpServers: {
    github: { command: 'npx', args: ['-y', 'x', '--token', 'abc'], env: { TOKEN: 'def', MODE: 'fast' } },
    remote: { url: 'https://e.com/mcp?key=k', headers: { Authorization: 'Bearer ghi' }, oauth: { clientSecret: 's' } },
    api: {
      openapi: {
        url: 'https://e.com/a.json',
        security: { type: 'http', http: { scheme: 'bearer', credentials: 'jkl' } },
      },
    },
  },
  groups: [{ id: '1', name: 'dev', servers: ['github', { name: 'api', tools: ['get'] }] }],
  users: [{ username: 'admin', password: '$2b$10$abcdefghijklmnopqrstuv', isAdmin: true }],
  bearerKeys: [{ id: 'k', name: 'ci', token: 'mcphub_x', accessType: 'all' }],
  systemConfig: {
    nameSeparator: '_',
    routing: { bearerAuthKey: 'old' },
    smartRouting: { enabled: true, openaiApiKey: 'sk' },
  },
};

test('an export is a settings file: the same servers, groups and users, waiting for their secrets', () => {
  const before = parseSettings(settings).settings;
  const after = parseSettings(exportSettings(settings)).settings;
  expect([...after.servers.keys()]).toEqual([...before.servers.keys()]);
  // The key of the embedding service is left out; nothing else is.
  const { openaiApiKey: _, ...smartRouting } = settings.systemConfig.smartRouting;
  const { system } = parseSettings({ ...settings, systemConfig: { ...settings.systemConfig, smartRouting } }).settings;
  expect([after.groups, after.system]).toEqual([before.groups, system]);
  expect(after.users.map(({ username, role, passwordHash }) => [username, role, passwordHash])).toEqual([
    ['admin', 'admin', ''],
  ]);
  expect(after.keys).toEqual([]);
});

test('with its variables set, an exported server is connected as the original is', () => {
  const environment = {
    GITHUB_TOKEN: 'abc', GITHUB_TOKEN_2: 'def', GITHUB_MODE: 'fast', REMOTE_URL_KEY: 'k', REMOTE_AUTHORIZATION: 'ghi', API_OPENAPI_CREDENTIALS: 'jkl',
  }; // prettier-ignore
  const connected = (document: unknown) =>
    [...parseSettings(document).settings.servers.values()].map((server) => expandServer(server, environment));
  // Sign-ins are not taken along: the secret of a registered client is entered again.
  const { remote, ...others } = settings.mcpServers;
  const expected = { ...settings, mcpServers: { ...others, remote: { ...remote, oauth: {} } } };
  const byName = (a: { transport: { type: string } }, b: { transport: { type: string } }) =>
    a.transport.type.localeCompare(b.transport.type);
  expect(connected(exportSettings(settings)).sort(byName)).toEqual(connected(expected).sort(byName));
});

test('an export can be pasted into the import', () => {
  const found = parseClientConfig(JSON.stringify(exportSettings(settings), null, 2));
  expect([found.format, found.problems, found.servers.length, found.groups]).toEqual([
    'mcphub',
    [],
    3,
    settings.groups,
  ]);
  const full = parseClientConfig(JSON.stringify(exportSettings(settings, { secrets: 'include' })));
  expect(full.servers.map(({ name, config }) => [name, config])).toEqual(Object.entries(settings.mcpServers));
});

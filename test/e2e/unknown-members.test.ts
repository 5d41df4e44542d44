import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { subjects } from '../../src/http/docs/all.ts';
import { api, login } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// CONTRACT §7: what the body of a request has at its top, and the route does not know, is refused and named.

let hub: TestHub;
let token: string;

beforeAll(async () => {
  hub = await testHub({
    mcpServers: { alpha: (await hostileHttp({ tools: ['echo'] })).config },
    groups: [{ id: 'dev', name: 'dev', servers: ['alpha'], owner: 'admin' }],
    bearerKeys: [{ id: 'k1', name: 'laptop', token: 'k1'.repeat(20), kind: 'system', accessType: 'all' }],
  });
  await hub.connected(1);
  token = await login(hub);
  const ann = { username: 'ann', password: 'long enough', email: 'ann@example.com' };
  expect((await api(hub, 'POST', '/users', { token, body: ann })).status).toBe(201);
});

const parameters: Record<string, string> = {
  name: 'alpha',
  server: 'alpha',
  serverName: 'alpha',
  promptName: 'x',
  toolName: 'echo',
  item: 'echo',
  username: 'ann',
};

function pathOf(route: string): string {
  const id = route.startsWith('/groups') ? 'dev' : 'k1';
  return route.replace(/:(\w+)/g, (_, name: string) => (name === 'id' ? id : (parameters[name] ?? name)));
}

/**
 * Bodies that may have any member: arguments of tools, and settings of this hub and of other programs, which say
 * themselves what they do not take.
 */
const open = [
  'POST /tools/:serverName/:toolName',
  'POST /:name/tools/:serverName/:toolName',
  'POST /mcp-settings/import',
];

const routes = subjects
  .flatMap(({ operations }) => Object.entries(operations))
  .filter(([, { body }]) => body && (body instanceof z.ZodType || body.type === 'application/json'))
  .map(([route]) => route)
  .filter((route) => !open.includes(route));

test('there are such routes', () => {
  expect(routes.length).toBeGreaterThan(20);
});

test.each(routes)('%s refuses a body with unknown members, and names them all', async (route) => {
  const [method = '', path = ''] = route.split(' ');
  const body = { expiresAtt: '2030-01-01', someThing: 1, ...(path === '/servers/import' && { text: '{}' }) };
  const { status, text, body: answer } = await api(hub, method, pathOf(path), { token, body });
  expect(status, text).toBe(400);
  for (const name of ['expiresAtt', 'someThing']) {
    expect(answer.errors?.map((problem) => problem.path)).toContain(name);
  }
});

test('settings of other programs are imported whatever they have at their top', async () => {
  const server = (port: number) => ({ url: `http://127.0.0.1:${port}/mcp`, enabled: false });
  const documents = [
    { mcpServers: { one: server(9) }, globalShortcut: 'Ctrl+Space', expiresAtt: 1 },
    { servers: { two: { type: 'http', ...server(10) } }, inputs: [] },
    { three: server(11) },
  ];
  for (const body of documents) {
    const { status, text } = await api(hub, 'POST', '/servers/import', { token, body });
    expect(status, text).toBe(201);
  }
  const file = { mcpServers: { four: server(12) }, ofAnotherProgram: { a: 1 } };
  const { status, text } = await api(hub, 'POST', '/mcp-settings/import', { token, body: file });
  expect(status, text).toBe(200);
});

test('arguments of tools may have any name', async () => {
  for (const path of ['/tools/alpha/echo', '/alpha/tools/alpha/echo']) {
    const body = { text: 'x', tag: 'x', expiresAtt: 1, name: 2, constructor: 'y' };
    const { status, text } = await api(hub, 'POST', path, { token, body });
    expect(text).not.toContain('unknown members');
    expect(status, text).toBe(200);
  }
});

test.each<[method: string, path: string, body: object]>([
  [
    'POST',
    '/servers',
    { name: 'by-form', config: { type: 'streamable-http', url: 'http://127.0.0.1:9/mcp', enabled: false } },
  ],
  ['PUT', '/servers/by-form', { name: 'by-form', config: { url: 'http://127.0.0.1:9/mcp', enabled: false } }],
  ['PUT', '/servers/by-form', { name: 'by-form', newName: 'by-form-2', config: { url: 'http://127.0.0.1:9/mcp' } }],
  ['POST', '/servers/by-form-2/toggle', { enabled: false }],
  [
    'POST',
    '/groups',
    { name: 'by-form', description: '', servers: ['alpha'], visibility: 'private', sharedWithUsers: [] },
  ],
  ['PUT', '/groups/by-form', { name: 'by-form', description: 'x', servers: [{ name: 'alpha', tools: ['echo'] }] }],
  ['POST', '/groups/by-form/servers', { serverName: 'alpha' }],
  ['PUT', '/groups/by-form/servers/batch', { servers: ['alpha'] }],
  ['PUT', '/groups/by-form/server-configs/alpha/tools', { tools: 'all' }],
  ['POST', '/users', { username: 'by-form', password: 'long enough', isAdmin: false, email: '' }],
  ['PUT', '/users/by-form', { username: 'by-form', isAdmin: false, newPassword: 'long enough 2', email: '' }],
  [
    'POST',
    '/auth/keys',
    { name: 'by-form', token: '', enabled: true, kind: 'system', accessType: 'all', allowedGroups: [] },
  ],
  ['PUT', '/auth/keys/k1', { name: 'k1', enabled: true, kind: 'system', accessType: 'all', allowedServers: [] }],
  ['PUT', '/system-config', { routing: { enableGlobalRoute: true }, install: { baseUrl: '' } }],
  ['POST', '/tools/call/alpha', { toolName: 'echo', arguments: { tag: 'x' } }],
])('%s %s takes what the dashboard and scripts of MCPHub send', async (method, path, body) => {
  const { status, text } = await api(hub, method, path, { token, body });
  expect([200, 201], text).toContain(status);
});

test('names of any length and number are refused in a short answer', async () => {
  const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${i}${'x'.repeat(500)}`, 1]));
  const { status, text } = await api(hub, 'POST', '/groups', { token, body: { name: 'g', ...body } });
  expect([status, text.length < 20_000]).toEqual([400, true]);
});

test('an element of the list of servers, which has no configuration, is refused with where that is', async () => {
  const { data } = (await api(hub, 'GET', '/servers', { token })).body;
  const body = (data as { name: string }[]).find(({ name }) => name === 'alpha');
  const refused = await api(hub, 'PUT', '/servers/alpha', { token, body });
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('GET /servers/<name>')]);
});

// The dashboard of MCPHub sends a form back with all that it has read.
test.each(['/groups/dev', '/users/ann', '/servers/alpha', '/auth/keys/k1'])(
  'what is read at %s can be sent back',
  async (path) => {
    const read = path.startsWith('/auth/keys') ? '/auth/keys' : path;
    const { data } = (await api(hub, 'GET', read, { token })).body;
    const body = Array.isArray(data) ? (data as object[])[0] : data;
    const { status, text } = await api(hub, 'PUT', path, { token, body });
    expect(status, text).toBe(200);
  },
);

test.each(['/servers/alpha/reload', '/smart-routing/reindex', '/auth/logout'])(
  'POST %s takes nothing, and says so',
  async (path) => {
    const refused = await api(hub, 'POST', path, { token, body: { force: true, when: 'now' } });
    expect([refused.status, refused.body.errors?.map(({ path }) => path)]).toEqual([400, ['force', 'when']]);
    expect((await api(hub, 'POST', path, { token, body: [1] })).status).toBe(400);
    expect((await api(hub, 'GET', '/auth/user', { token })).status).toBe(200);
  },
);

test('a decision takes no element of the list that it answers: one item alone would stand for all that waits', async () => {
  for (const decision of ['approve', 'reject']) {
    const { status, body } = await api(hub, 'POST', `/pins/alpha/${decision}`, {
      token,
      body: { kind: 'tool', name: 'echo' },
    });
    expect([status, body.message]).toEqual([400, expect.stringMatching(/"?kind"?.*"?name"?/)]);
  }
});

import { beforeEach, describe, expect, test } from 'vitest';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { heldRequest, type HeldOptions } from '../kit/held-request.ts';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { modernRequest } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// A request counts when the hub has all of it: who holds its body back keeps nothing that is taken away meanwhile
// (CONTRACT §2).

let hub: TestHub;
let server: Hostile;
let admin: string;
beforeEach(async () => {
  server = await hostileHttp({
    name: 's',
    tools: ['do'],
    results: { do: '{"content":[{"type":"text","text":"done"}]}' },
  });
  hub = await testHub({ mcpServers: { s: { ...server.config, visibility: 'public' } } });
  admin = await login(hub);
  await hub.connected(1);
});

const asAdmin = async (method: string, path: string, body?: unknown) => {
  const answer = await api(hub, method, path, { token: admin, ...(body !== undefined && { body }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer;
};

/** What ends a credential of ann, of which `key` is the access key. */
const ends: [what: string, end: (key: string) => Promise<unknown>][] = [
  ['a user who is deleted', () => asAdmin('DELETE', '/users/ann')],
  [
    'a user who is deleted and made again',
    async () => {
      await asAdmin('DELETE', '/users/ann');
      await asAdmin('POST', '/users', { username: 'ann', password: 'another one' });
    },
  ],
  ['a user with another password', () => asAdmin('PUT', '/users/ann', { password: 'another one' })],
];

describe.each(ends)('%s', (_, end) => {
  test('calls no tool with a request begun before', async () => {
    const ann = await userToken(hub, admin, 'ann');
    const { headers, body } = modernRequest('tools/call', { name: 's-do', arguments: {} }, {});
    const calls = [
      [hub.mcp(), { token: ann, headers, body }],
      [`${hub.url}/api/tools/call/s`, { token: ann, body: { toolName: 'do', arguments: {} } }],
      [`${hub.url}/api/tools/s/do`, { token: ann, body: {} }],
    ] as const;
    const held = await Promise.all(calls.map(([url, call]) => heldRequest(url, call)));
    await end(ann);
    const answers = await Promise.all(held.map((one) => one.finish()));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(server.received('tools/call')).toEqual([]);
  });

  test('makes neither keys nor servers with a request begun before', async () => {
    const ann = await userToken(hub, admin, 'ann');
    const config = { type: 'streamable-http', url: 'https://mcp.example/mcp', enabled: false };
    const held = await Promise.all([
      heldRequest(`${hub.url}/api/auth/keys`, { token: ann, body: { name: 'mine' } }),
      heldRequest(`${hub.url}/api/servers`, { token: ann, body: { name: 'mine', config } }),
    ]);
    await end(ann);
    const answers = await Promise.all(held.map((one) => one.finish()));
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    expect((await asAdmin('GET', '/auth/keys')).body.data).toEqual([]);
    expect((await asAdmin('GET', '/servers')).text).not.toContain('mine');
  });
});

test('a key that is deleted calls no tool with a request begun before', async () => {
  const ann = await userToken(hub, admin, 'ann');
  const key = await keyToken(hub, ann);
  const { headers, body } = modernRequest('tools/call', { name: 's-do', arguments: {} }, {});
  const held = await heldRequest(hub.mcp(), { token: key, headers, body });
  const [{ id } = { id: '' }] = (await asAdmin('GET', '/auth/keys')).body.data as { id: string }[];
  await asAdmin('DELETE', `/auth/keys/${id}`);
  expect((await held.finish()).status).toBe(401);
});

test('an admin who is demoted manages nothing with a request begun before', async () => {
  const bob = await userToken(hub, admin, 'bob', { role: 'admin' });
  const config = { command: 'x', enabled: false };
  const form = '--b\r\ncontent-disposition: form-data; name="mcpbFile"; filename="x.mcpb"\r\n\r\nx\r\n--b--\r\n';
  const requests: [path: string, body: unknown, more?: Partial<HeldOptions>][] = [
    ['/auth/keys', { name: 'of the system', kind: 'system' }],
    ['/servers', { name: 'shell', config }],
    ['/servers/import', { text: JSON.stringify({ mcpServers: { shell: config } }) }],
    ['/servers/s', { config: { description: 'Mine' } }, { method: 'PUT' }],
    ['/servers/s/toggle', { enabled: false }],
    ['/servers/s/tools/do/toggle', { enabled: false }],
    ['/groups', { name: 'g', owner: 'admin' }],
    ['/system-config', { routing: { enableBearerAuth: false } }, { method: 'PUT' }],
    ['/mcp-settings/import', { mcpServers: { shell: config } }],
    ['/mcpb/upload', form, { headers: { 'content-type': 'multipart/form-data; boundary=b' } }],
    ['/users', { username: 'eve', password: 'password of eve', role: 'admin' }],
    ['/users/bob', { role: 'admin' }, { method: 'PUT' }],
    ['/smart-routing/search', { query: 'do' }],
  ];
  const before = (await asAdmin('GET', '/mcp-settings/export')).text;
  const held = await Promise.all(
    requests.map(([path, body, more]) => heldRequest(`${hub.url}/api${path}`, { token: bob, body, ...more })),
  );
  await asAdmin('PUT', '/users/bob', { role: 'user' });
  const answers = await Promise.all(held.map((one) => one.finish()));
  expect(answers.map(({ status }, i) => [requests[i]?.[0], status])).toEqual(requests.map(([path]) => [path, 403]));
  await asAdmin('PUT', '/users/bob', { role: 'admin' });
  expect((await asAdmin('GET', '/mcp-settings/export')).text).toBe(before);
});

test('the OpenAPI-style routes are closed also to requests begun while they were open', async () => {
  await asAdmin('PUT', '/system-config', { routing: { openApiAccess: 'open' } });
  const held = await heldRequest(`${hub.url}/api/tools/s/do`, { body: {} });
  await asAdmin('PUT', '/system-config', { routing: { openApiAccess: 'off' } });
  expect((await held.finish()).status).toBe(403);
  expect(server.received('tools/call')).toEqual([]);
});

test('of changes that wait for their turn none is made for an admin who is demoted meanwhile', async () => {
  const bob = await userToken(hub, admin, 'bob', { role: 'admin' });
  const make = () => api(hub, 'POST', '/auth/keys', { token: bob, body: { name: 'k', kind: 'system' } });
  const keys = async () => ((await asAdmin('GET', '/auth/keys')).body.data as unknown[]).length;
  const some = () => Array.from({ length: 12 }, make);
  const first = some();
  const demoted = asAdmin('PUT', '/users/bob', { role: 'user' });
  const later = some();
  await demoted;
  const made = await keys();
  const answers = await Promise.all([...first, ...later]);
  expect(await keys()).toBe(made);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(made);
});

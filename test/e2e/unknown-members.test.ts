import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { subjects } from '../../src/http/docs/all.ts';
import { api, login } from '../kit/api.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// CONTRACT §7: what the body of a request has at its top, and the route does not know, is refused and named.

let hub: TestHub;
let token: string;

beforeAll(async () => {
  hub = await testHub({
    mcpServers: { alpha: hostileStdio({ tools: ['echo'] }).config },
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

/** Bodies that may have any member: arguments of tools, and settings of this hub and of other programs, which say themselves what they do not take. */
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

test('names of any length and number are refused in a short answer', async () => {
  const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${i}${'x'.repeat(500)}`, 1]));
  const { status, text } = await api(hub, 'POST', '/groups', { token, body: { name: 'g', ...body } });
  expect([status, text.length < 20_000]).toEqual([400, true]);
});

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

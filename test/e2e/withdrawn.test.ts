import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { api, cookieLogin, login, passwordOf, userToken } from '../kit/api.ts';
import { raw, type RawAnswer, rpc, stream } from '../kit/raw.ts';
import { legacySession, modernRequest, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Who is not let in any more hears nothing more either, on no stream that is still open (CONTRACT §2).

const token = `mcphub_${'c'.repeat(64)}`;
const key = {
  id: 'c',
  name: 'c',
  enabled: true,
  token,
  tokenHash: createHash('sha256').update(token).digest('hex'),
  accessType: 'all',
  allowedGroups: [],
  allowedServers: [],
};

test.each([
  ['a key that is switched off', [{ ...key, enabled: false }]],
  ['a key that is deleted', []],
  ['a key that is accepted from other addresses only', [{ ...key, allowedAddresses: ['203.0.113.0/24'] }]],
])('%s ends its streams of all kinds, and no others', async (_, bearerKeys) => {
  const server = await hostileHttp({ name: 's' });
  const settings = { mcpServers: { s: server.config }, systemConfig: { routing: { enableBearerAuth: false } } };
  const hub = await testHub({ ...settings, bearerKeys: [key] });
  await hub.connected(1);
  const headers = { authorization: `Bearer ${token}` };
  const [own, other] = await Promise.all([session(hub.mcp(), { headers }), session(hub.mcp())]);
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } }, { headers });
  const [open, legacy, listening, others] = await Promise.all([
    own.listen(),
    legacySession(hub.sse(), { headers }),
    stream(hub.mcp(), { method: 'POST', ...listen }),
    other.listen(),
  ]);
  hub.write({ ...settings, bearerKeys });
  await until('its streams are ended', () => [open, legacy.stream, listening].every((one) => one.ended()));
  expect((await own.request('tools/list')).status).toBe(401);
  await other.call('s-grow');
  await until('the others hear', () => others.messages.length > 0);
  expect(open.messages).toEqual([]);
});

test('anonymous streams end when a credential is asked for', async () => {
  const server = await hostileHttp({ name: 's' });
  const settings = (enableBearerAuth: boolean) => ({
    mcpServers: { s: server.config },
    systemConfig: { routing: { enableBearerAuth } },
  });
  const hub = await testHub(settings(false));
  await hub.connected(1);
  const own = await session(hub.mcp());
  const open = await own.listen();
  hub.write(settings(true));
  await until('the stream is ended', () => open.ended());
  expect((await raw(hub.mcp(), { method: 'GET', headers: own.headers })).status).toBe(401);
});

test('streams of all servers end when their endpoints are switched off, those of one server do not', async () => {
  const server = await hostileHttp({ name: 's' });
  const settings = (enableGlobalRoute: boolean) => ({
    mcpServers: { s: server.config },
    systemConfig: { routing: { enableBearerAuth: false, enableGlobalRoute } },
  });
  const hub = await testHub(settings(true));
  await hub.connected(1);
  const [all, smart, one] = await Promise.all([session(hub.mcp()), session(hub.mcp('$smart')), session(hub.mcp('s'))]);
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } }, {});
  const [open, searching, legacy, listening, coding, others] = await Promise.all([
    all.listen(),
    smart.listen(),
    legacySession(hub.sse()),
    stream(hub.mcp(), { method: 'POST', ...listen }),
    stream(hub.mcp('$code'), { method: 'POST', ...listen }),
    one.listen(),
  ]);
  hub.write(settings(false));
  const closed = [open, searching, legacy.stream, listening, coding];
  await until('its streams are ended', () => closed.every((stream) => stream.ended()));
  expect((await smart.request('tools/list')).status).toBe(403);
  expect((await all.request('tools/list')).status).toBe(403);
  await one.call('grow');
  await until('those of one server hear', () => others.messages.length > 0);
});

test('streams at a group end when it is deleted, those of a key limited to it and of others there; those of its server do not', async () => {
  const server = await hostileHttp({ name: 's' });
  const settings = (groups: Record<string, unknown>[]) => ({
    mcpServers: { s: server.config },
    groups,
    bearerKeys: [{ ...key, accessType: 'groups', allowedGroups: ['g1'] }],
    systemConfig: { routing: { enableBearerAuth: false } },
  });
  const hub = await testHub(settings([{ id: 'g1', name: 'dev', servers: ['s'] }]));
  await hub.connected(1);
  const headers = { authorization: `Bearer ${token}` };
  const [own, anonymous, one] = [
    await session(hub.mcp('dev'), { headers }),
    await session(hub.mcp('dev')),
    await session(hub.mcp('s')),
  ];
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } }, { headers });
  const open = await Promise.all([
    own.listen(),
    anonymous.listen(),
    legacySession(hub.sse('dev'), { headers }).then(({ stream }) => stream),
    stream(hub.mcp('dev'), { method: 'POST', ...listen }),
  ]);
  const others = await one.listen();
  hub.write(settings([]));
  await until('the streams of the group are ended', () => open.every((one) => one.ended()));
  await one.call('grow');
  await until('those of its server hear', () => others.messages.length > 0);
});

describe('a call that is running', () => {
  let hub: TestHub;
  let server: Hostile;
  let admin: string;
  /** The id of a call that no change concerns. */
  let other: unknown;
  beforeAll(async () => {
    server = await hostileHttp({ name: 's', tools: ['hang', 'echo'] });
    const systemConfig = { routing: { enableBearerAuth: true, openApiAccess: 'authenticated' } };
    hub = await testHub({ mcpServers: { s: server.config }, systemConfig });
    await hub.connected(1);
    admin = await login(hub);
    const bob = await userToken(hub, admin, 'bob', { servers: ['s'] });
    const others = await running(hang(bob));
    // It ends with the hub.
    others.answer.catch(() => undefined);
    other = others.id;
  });

  const reached = () => server.received('tools/call').length;
  const cancelled = (id: unknown) =>
    server.received('notifications/cancelled').some(({ params }) => params['requestId'] === id);

  /** Makes a call that the server does not answer, and returns its id there and what its caller will be answered. */
  async function running<T>(make: () => Promise<T>): Promise<{ id: unknown; answer: Promise<T> }> {
    const before = reached();
    const answer = make();
    await until('the server has the call', () => reached() > before);
    return { id: server.received('tools/call').at(-1)?.id, answer };
  }

  const hang = (token: string, scope?: string) => () =>
    rpc(
      hub.mcp(scope),
      'tools/call',
      { name: scope === 's' ? 'hang' : 's-hang' },
      {
        headers: { authorization: `Bearer ${token}` },
      },
    );
  const change = async (method: string, path: string, body?: object) => {
    const { status, text } = await api(hub, method, path, { token: admin, ...(body && { body }) });
    expect(status, text).toBeLessThan(300);
  };
  const made = async (path: string, body: object): Promise<string> => {
    const { body: answer } = await api(hub, 'POST', path, { token: admin, body });
    return (answer.data as { id: string }).id;
  };
  /** A user who reaches the server by a group alone. */
  async function member(name: string): Promise<{ token: string; group: string }> {
    const group = await made('/groups', { name: `of-${name}`, servers: ['s'] });
    return { token: await userToken(hub, admin, name, { groups: [group] }), group };
  }

  test.each<[string, (name: string) => Promise<{ make: () => Promise<RawAnswer>; withdraw: () => Promise<unknown> }>]>([
    [
      'a user who is deleted',
      async (name) => {
        const token = await userToken(hub, admin, name, { servers: ['s'] });
        return { make: hang(token), withdraw: () => change('DELETE', `/users/${name}`) };
      },
    ],
    [
      'a user who is taken the server',
      async (name) => {
        const token = await userToken(hub, admin, name, { servers: ['s'] });
        return { make: hang(token, 's'), withdraw: () => change('PUT', `/users/${name}`, { servers: [] }) };
      },
    ],
    [
      'a user whose group is deleted',
      async (name) => {
        const { token, group } = await member(name);
        return { make: hang(token), withdraw: () => change('DELETE', `/groups/${group}`) };
      },
    ],
    [
      'a user who logs out',
      async (name) => {
        const token = await userToken(hub, admin, name, { servers: ['s'] });
        return { make: hang(token), withdraw: () => api(hub, 'POST', '/auth/logout', { token }) };
      },
    ],
    [
      'an admin who is none any more',
      async (name) => {
        const token = await userToken(hub, admin, name, { role: 'admin' });
        return { make: hang(token), withdraw: () => change('PUT', `/users/${name}`, { role: 'user' }) };
      },
    ],
    [
      'an access key that is deleted',
      async (name) => {
        const { body } = await api(hub, 'POST', '/auth/keys', { token: admin, body: { name, accessType: 'all' } });
        const key = body.data as { id: string; token: string };
        return { make: hang(key.token), withdraw: () => change('DELETE', `/auth/keys/${key.id}`) };
      },
    ],
    [
      'a session of the dashboard that ends',
      async (name) => {
        await userToken(hub, admin, name, { servers: ['s'] });
        const { headers } = await cookieLogin(hub, name, passwordOf(name));
        const body = { toolName: 'hang', arguments: {} };
        return {
          make: () => raw(`${hub.url}/api/tools/call/s`, { headers: { ...headers, accept: 'application/json' }, body }),
          withdraw: () => api(hub, 'POST', '/auth/logout', { headers }),
        };
      },
    ],
  ])('of %s ends at the server too, and no other', async (_, prepare) => {
    const { make, withdraw } = await prepare(`u${++users}`);
    const { id, answer } = await running(make);
    await withdraw();
    const { status, message, text } = await answer;
    expect(status >= 400 || message.error !== undefined, text).toBe(true);
    await until('the server is told', () => cancelled(id));
    expect(cancelled(other)).toBe(false);
  });
});

let users = 0;

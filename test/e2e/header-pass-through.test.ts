import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { api, cookieLogin, keyToken, login, passwordOf, userToken } from '../kit/api.ts';
import { authorize, handClient } from '../kit/authorizing.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { documentOf, type RestApi, restApi } from '../kit/openapi.ts';
import { rpc, type Stream } from '../kit/raw.ts';
import { json, scriptedHttp, type ScriptedHttp, stream as eventStream } from '../kit/scripted-http.ts';
import { legacySession, modern, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// CONTRACT §8, `passthroughHeaders`: a server gets the headers of clients that an admin named, and no other; never a
// credential of the hub, whatever its header is called; and callers with other values never share a connection.

/** A server that tells of each session which headers it came with, and speaks to one session alone. */
async function telling(): Promise<ScriptedHttp> {
  const streams = new Map<string, ServerResponse>();
  const tools = [{ name: 'who', inputSchema: { type: 'object' } }];
  const results: Record<string, unknown> = {
    'tools/list': { tools },
    'resources/list': { resources: [{ uri: 'note://1', name: 'note' }] },
    'resources/templates/list': { resourceTemplates: [] },
  };
  return scriptedHttp(({ method, headers, message }, response) => {
    const id = String(headers['mcp-session-id']);
    if (method === 'GET') return void streams.set(id, eventStream(response));
    if (method === 'DELETE' || message.id === undefined) return void response.writeHead(202).end();
    const answer = (result: unknown, more = {}) => json(response, { jsonrpc: '2.0', id: message.id, result }, more);
    if (message.method === 'initialize') {
      const capabilities = { tools: {}, resources: { subscribe: true } };
      const about = { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'telling', version: '1' } };
      return answer(about, { 'mcp-session-id': randomUUID() });
    }
    if (message.method !== 'tools/call') return answer(results[String(message.method)] ?? {});
    const params = { uri: 'note://1' };
    const changed = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params });
    streams.get(id)?.write(`data: ${changed}\n\n`);
    const { 'x-tenant': tenant, 'x-api-key': key, cookie, authorization } = headers;
    const words = `told ${String(tenant)}`;
    if (key === 'rpc')
      return json(response, { jsonrpc: '2.0', id: message.id, error: { code: -32000, message: words } });
    if (key === '500') return json(response, { words }, {}, 500);
    if (key === 'garbage') return void eventStream(response).end(`data: ${words}\n\n`);
    answer({ content: [{ type: 'text', text: JSON.stringify({ id, tenant, key, cookie, authorization }) }] });
  });
}

interface Told {
  readonly id: string;
  readonly tenant?: string;
  readonly key?: string;
  readonly cookie?: string;
  readonly authorization?: string;
}

const names = ['X-Tenant', 'x-api-key', 'Cookie', 'Authorization', 'X-Auth-Token'];
let server: ScriptedHttp;
let rest: RestApi;
let hub: TestHub;
let admin: string;
let ann: string;
let annsKey: string;

beforeAll(async () => {
  server = await telling();
  rest = await restApi();
  const operation = {
    operationId: 'get',
    parameters: [{ name: 'X-Tenant', in: 'header', schema: { type: 'string' } }],
  };
  hub = await testHub({
    mcpServers: {
      tell: { url: server.origin, headers: { 'X-Tenant': 'default', 'x-own': '${OWN}' }, passthroughHeaders: names },
      plain: { url: server.origin },
      orders: {
        openapi: { schema: documentOf(rest.origin, { '/get': { get: operation } }), passthroughHeaders: ['X-Tenant'] },
        passthroughHeaders: ['Cookie'],
      },
      old: { ...(await hostileHttp({ name: 'old', transport: 'sse' })).config, passthroughHeaders: ['X-Tenant'] },
    },
    systemConfig: { activityLog: { storeToolPayload: true } },
    env: { OWN: 'a secret of the hub', LOG_LEVEL: 'debug' },
  });
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann', { servers: ['tell', 'orders', 'plain', 'old'] });
  annsKey = await keyToken(hub, ann, { kind: 'user' });
  await hub.connected(4);
});

const told = (answer: { result?: { content?: { text?: string }[] } | undefined; text: string }): Told => {
  const text = answer.result?.content?.[0]?.text;
  if (text === undefined) throw new Error(answer.text);
  return JSON.parse(text) as Told;
};
const who = async (headers: Record<string, string>, name = 'tell'): Promise<Told> =>
  told(await rpc(hub.mcp(name), 'tools/call', { name: 'who', arguments: {} }, { headers }));
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('the named headers of a client go to the server by every way of calling, and no other header does', async () => {
  const own = await session(hub.mcp(), { headers: { ...bearer(ann), 'x-tenant': 't-session' } });
  expect(told(await own.call('tell-who'))).toMatchObject({ tenant: 't-session' });
  // The headers of each request count, not those the session began with.
  expect(told(await own.call('tell-who', {}, { headers: { 'x-tenant': 't-later' } }))).toMatchObject({
    tenant: 't-later',
  });
  const legacy = await legacySession(hub.sse('tell'), { headers: { 'x-tenant': 't-legacy' } });
  expect(JSON.stringify(await legacy.request('tools/call', { name: 'who', arguments: {} }))).toContain('t-legacy');
  const call = { name: 'call_tool', arguments: { toolName: 'tell-who', arguments: {} } };
  expect(
    told(await modern(hub.mcp('$smart'), 'tools/call', call, { headers: { 'x-tenant': 't-smart' } })),
  ).toMatchObject({ tenant: 't-smart' });
  const ways = [
    api(hub, 'POST', '/tools/call/tell', { token: ann, headers: { 'x-tenant': 't-rest' }, body: { toolName: 'who' } }),
    api(hub, 'POST', '/tools/tell/who', { headers: { 'x-tenant': 't-rest' }, body: {} }),
  ];
  for (const answer of await Promise.all(ways)) expect(answer.text).toContain('t-rest');
  // Without one, the server gets what its settings say.
  expect(await who({})).toMatchObject({ tenant: 'default' });
  expect(await who({ 'x-other': 'other' })).toMatchObject({ tenant: 'default' });
  // Another server gets none.
  expect((await who({ 'x-tenant': 't', 'x-api-key': 'k' }, 'plain')).tenant).toBeUndefined();
  await rpc(
    hub.mcp('old'),
    'tools/call',
    { name: 'echo', arguments: { tag: 'x' } },
    { headers: { 'x-tenant': 'sse' } },
  );
  expect(JSON.stringify(server.seen)).not.toContain('"x-other"');
});

test('a value of a client is never expanded', async () => {
  expect(await who({ 'x-tenant': '${OWN} ${file:/etc/passwd} ${PATH:-x}' })).toMatchObject({
    tenant: '${OWN} ${file:/etc/passwd} ${PATH:-x}',
  });
});

test('callers with other values never share a connection, and the same values of one caller do', async () => {
  const [a, again, b, none] = [
    await who({ 'x-tenant': 'a' }),
    await who({ 'x-tenant': 'a' }),
    await who({ 'x-tenant': 'b' }),
    await who({}),
  ];
  const key = await who({ 'x-tenant': 'a', 'x-api-key': 'k' });
  const other = await who({ ...bearer(annsKey), 'x-tenant': 'a' });
  expect(again.id).toBe(a.id);
  expect(new Set([a, b, none, key, other].map(({ id }) => id)).size).toBe(5);
  // From the handshake to the last call, each connection had one value.
  const byId = new Map<string, Set<unknown>>();
  for (const { headers } of server.seen) {
    const id = String(headers['mcp-session-id']);
    if (id !== 'undefined') byId.set(id, (byId.get(id) ?? new Set()).add(headers['x-tenant']));
  }
  expect([...byId.values()].filter((values) => values.size > 1)).toEqual([]);
  const many = await Promise.all(Array.from({ length: 40 }, (_, i) => who({ 'x-tenant': `m${i % 4}` })));
  many.forEach(({ tenant }, i) => expect(tenant).toBe(`m${i % 4}`));
});

test('changes of resources are heard by those who subscribed with the same values', async () => {
  const with_ = async (tenant: string) => {
    const own = await session(hub.mcp('tell'), { headers: { 'x-tenant': tenant } });
    const open = await own.listen();
    await own.request('resources/subscribe', { uri: 'note://1' });
    // What the server says before the hub has opened its stream there is lost.
    await until('the server can speak', () =>
      server.seen.some(({ method, headers }) => method === 'GET' && headers['x-tenant'] === tenant),
    );
    return { own, open };
  };
  const [x, y] = [await with_('sub-x'), await with_('sub-y')];
  const heard = ({ messages }: Stream) =>
    messages.filter(({ method }) => method === 'notifications/resources/updated').length;
  await x.own.call('who');
  await until('x hears it', () => heard(x.open) === 1);
  await y.own.call('who');
  await until('y hears it', () => heard(y.open) === 1);
  expect(heard(x.open)).toBe(1);
});

test('no credential of the hub is passed on, of any user and wherever it stands (CVE-2026-120323, MCPJungle #252)', async () => {
  const client = await handClient(hub.url);
  const { body } = await client.redeem(await authorize(client.address({ resource: hub.mcp() }), { username: 'ann' }));
  const disabled = await keyToken(hub, ann, { kind: 'user', enabled: false });
  const { session: ofAnn, headers: cookies } = await cookieLogin(hub, 'ann', passwordOf('ann'));
  expect((await api(hub, 'GET', '/auth/user', { headers: cookies })).status).toBe(200);
  const credentials = [ofAnn, admin, ann, annsKey, body.access_token, body.refresh_token, disabled];
  const before = server.seen.length;
  for (const secret of credentials) {
    const basic = Buffer.from(`ann:${secret}`).toString('base64');
    const ways: Record<string, string>[] = [
      { 'x-api-key': secret },
      { 'x-api-key': `Bearer ${secret}` },
      { 'x-api-key': ` token="${secret}", other` },
      { 'x-api-key': `Basic ${basic}` },
      { 'x-api-key': encodeURIComponent(`k=${secret}`) },
      { 'x-api-key': Buffer.from(secret).toString('base64url') },
      { authorization: `Basic ${basic}` },
      { cookie: `a=1; session=${secret}; b="${secret}"` },
      { cookie: `toolhub_session=${secret}` },
      { cookie: secret },
    ];
    for (const headers of ways) {
      const { id: _id, ...rest } = await who({ ...headers, 'x-tenant': 'safe' });
      expect(rest, JSON.stringify(headers)).toEqual({
        tenant: 'safe',
        ...(headers['cookie']?.startsWith('a=1') && { cookie: 'a=1' }),
      });
    }
  }
  // What a request was let in by, and the cookies of the hub.
  expect(
    (await who({ ...bearer(annsKey), 'x-auth-token': 'theirs', 'x-tenant': 'safe' })).authorization,
  ).toBeUndefined();
  const cookie = 'theirs=1; toolhub_session=abc; __Host-toolhub-sign-in-1=def; toolhub_csrf=ghi';
  expect(await who({ cookie, 'x-api-key': 'ghi', 'x-tenant': 'safe' })).toMatchObject({ cookie: 'theirs=1' });
  const sent = JSON.stringify(server.seen.slice(before));
  expect([...credentials, 'toolhub_', 'toolhub-sign', 'ghi'].filter((secret) => sent.includes(secret))).toEqual([]);
  // What is theirs goes on.
  expect(await who({ authorization: 'Basic dXNlcjpwYXNz', 'x-api-key': 'mine' })).toMatchObject({
    authorization: 'Basic dXNlcjpwYXNz',
    key: 'mine',
  });
});

test('an API gets them too, and its document and tools do not show them', async () => {
  const tools = await rpc(hub.mcp('orders'), 'tools/list', {});
  expect(tools.text).not.toContain('X-Tenant');
  const call = { name: 'get', arguments: {} };
  await rpc(hub.mcp('orders'), 'tools/call', call, {
    headers: { 'x-tenant': 'api', cookie: 'mine=1; toolhub_session=x', 'x-api-key': 'not named' },
  });
  const { headers } = rest.received.at(-1) ?? { headers: {} };
  expect(headers).toMatchObject({ 'x-tenant': 'api', cookie: 'mine=1' });
  expect(JSON.stringify(headers)).not.toMatch(/toolhub_session|not named/);
});

test('values are in no log and not in the activity, whatever the server makes of them', async () => {
  const value = 'never-logged-value';
  for (const path of ['', 'rpc', '500', 'garbage'])
    await who({ 'x-tenant': value, 'x-api-key': path }).catch(() => undefined);
  const { body } = await api(hub, 'GET', '/activities?server=tell&limit=4', { token: admin });
  const ids = (body.data as { id: string }[]).map(({ id }) => id);
  expect(ids).toHaveLength(4);
  const paths = ['/logs?limit=1000', '/activities?limit=100', ...ids.map((id) => `/activities/${id}`)];
  const seen = await Promise.all(paths.map((path) => api(hub, 'GET', path, { token: admin })));
  expect(seen.map(({ status, text }) => [status, text.includes(value)])).toEqual(paths.map(() => [200, false]));
});

test('only admins name them, and only those that can be passed on', async () => {
  const put = (token: string, name: string, config: object) =>
    api(hub, 'PUT', `/servers/${name}`, { token, body: { config } });
  const add = (token: string, config: object) => api(hub, 'POST', '/servers', { token, body: { name: 'new', config } });
  const url = 'https://mcp.example.com/mcp';
  for (const config of [
    { url, passthroughHeaders: ['X-Tenant'] },
    { openapi: { url, passthroughHeaders: ['X-Tenant'] } },
    { openapi: { url }, passthroughHeaders: ['X-Tenant'] },
  ])
    expect((await add(ann, config)).status).toBe(403);
  for (const name of [
    'Host',
    'content-length',
    'Mcp-Session-Id',
    'MCP-Anything',
    'Connection',
    'Transfer-Encoding',
    'X-Forwarded-For',
    'Forwarded',
    'Proxy-Authorization',
    'two words',
    '',
    '${OWN}',
  ]) {
    const refused = await add(admin, { url, passthroughHeaders: ['X-Ok', name] });
    expect([refused.status, refused.body.errors?.[0]?.path], name).toEqual([400, 'config.passthroughHeaders[1]']);
  }
  expect((await add(admin, { ...hostileStdio().config, passthroughHeaders: ['X-Tenant'] })).body.errors).toEqual([
    { path: 'config.passthroughHeaders', message: expect.stringContaining('program') as string },
  ]);
  // A user whose server an admin gave headers to cannot have them go elsewhere.
  expect((await add(ann, { url, enabled: false })).status).toBe(201);
  expect((await put(admin, 'new', { passthroughHeaders: ['X-Tenant'] })).status).toBe(200);
  expect((await put(ann, 'new', { url: 'https://mcp.example.com/collect' })).status).toBe(403);
  expect((await put(ann, 'new', { description: 'fine' })).status).toBe(200);
  expect((await put(ann, 'new', { passthroughHeaders: null })).status).toBe(403);
});

import { beforeAll, describe, expect, test } from 'vitest';
import type { Activity } from '../../src/core/activity.ts';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { clientKinds, connect } from '../kit/clients.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// /api/activities (reference: MCPHub §1.12): the tool calls that were made.

type Shown = Activity & { duration: number };

let hub: TestHub;
let admin: string;
let ann: string;
let bob: string;
let annsKey: string;
let systemKey: string;

/** Calls a tool over MCP, as the user of the token. */
const call = (token: string | undefined, tool: string, headers: Record<string, string> = {}, scope = '') =>
  rpc(
    hub.mcp(scope),
    'tools/call',
    { name: tool, arguments: {} },
    {
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    },
  );

beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      alpha: (await hostileHttp({ name: 'alpha', tools: ['echo', 'fail'] })).config,
      beta: (await hostileHttp({ name: 'beta', tools: ['echo'] })).config,
    },
    groups: [{ id: 'g1', name: 'dev', servers: ['alpha'], owner: 'admin' }],
    env: { TRUST_PROXY: 'loopback' },
  });
  await hub.connected(2);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann', { servers: ['alpha'] });
  bob = await userToken(hub, admin, 'bob', { servers: ['alpha', 'beta'] });
  annsKey = await keyToken(hub, ann);
  systemKey = await keyToken(hub, admin, { name: 'CI' });
  await call(ann, 'alpha-echo', { 'x-forwarded-for': '203.0.113.7' });
  await call(annsKey, 'echo', {}, 'dev');
  await call(bob, 'alpha-fail');
  const direct = await api(hub, 'POST', '/tools/call/beta', {
    token: bob,
    body: { toolName: 'echo' },
    headers: { 'x-forwarded-for': '198.51.100.1, 203.0.113.8' },
  });
  expect(direct.status, direct.text).toBe(200);
  await call(systemKey, 'alpha-echo');
  await call(undefined, 'beta-echo');
});

async function list(token: string, query = '') {
  const { status, text, body } = await api(hub, 'GET', `/activities${query}`, { token });
  expect(status, text).toBe(200);
  return { data: body.data as Shown[], pagination: body['pagination'] as { total: number } };
}
const names = async (token: string, query = '') =>
  (await list(token, query)).data.map(({ server, tool, username }) => `${username ?? '-'}:${server}.${tool}`);

describe('GET /activities', () => {
  test('has one record per call however it was made, newest first, in MCPHub’s words and ours', async () => {
    const { data, pagination } = await list(admin);
    expect(data.map(({ server, tool, principal }) => `${principal}:${server}.${tool}`)).toEqual([
      'anonymous:beta.echo',
      'key:alpha.echo',
      'user:beta.echo',
      'user:alpha.fail',
      'key:alpha.echo',
      'user:alpha.echo',
    ]);
    for (const one of data) {
      expect(one).toMatchObject({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
        duration: one.durationMs,
        resultBytes: expect.any(Number) as number,
        queueMs: 0,
        serverMs: expect.any(Number) as number,
      });
    }
    expect(data.map(({ status }) => status)).toEqual(['success', 'success', 'success', 'error', 'success', 'success']);
    for (const { serverMs = -1, durationMs } of data) expect(serverMs >= 0 && serverMs <= durationMs).toBe(true);
    expect(data[1]).toMatchObject({ keyName: 'CI' });
    expect(data[1]).not.toHaveProperty('username');
    expect(data[4]).toMatchObject({ username: 'ann', group: 'dev', keyName: 'key' });
    expect(pagination).toEqual({ page: 1, limit: 20, total: 6, totalPages: 1, hasNextPage: false, hasPrevPage: false });
  });

  test('knows the client behind a trusted proxy, over MCP and over REST', async () => {
    const { data } = await list(admin);
    expect([data[5]?.sourceIp, data[2]?.sourceIp, data[0]?.sourceIp]).toEqual([
      '203.0.113.7',
      '203.0.113.8',
      '127.0.0.1',
    ]);
  });

  test('shows users their own calls and those of their keys, whatever they ask for', async () => {
    const own = ['ann:alpha.echo', 'ann:alpha.echo'];
    for (const token of [ann, annsKey]) {
      expect(await names(token)).toEqual(own);
      expect(await names(token, '?server=alpha')).toEqual(own);
      for (const query of ['?username=bob', '?username=', '?keyName=CI', '?server=beta', '?status=error']) {
        expect(
          (await names(token, query)).every((name) => own.includes(name)),
          query,
        ).toBe(true);
        expect((await names(token, query)).join()).not.toMatch(/bob|beta/);
      }
    }
    expect(await names(bob)).toEqual(['bob:beta.echo', 'bob:alpha.fail']);
  });

  test('filters and pages', async () => {
    expect(await names(admin, '?server=beta')).toEqual(['-:beta.echo', 'bob:beta.echo']);
    expect(await names(admin, '?tool=fail')).toEqual(['bob:alpha.fail']);
    expect(await names(admin, '?status=error')).toEqual(['bob:alpha.fail']);
    expect(await names(admin, '?username=ann&group=dev')).toEqual(['ann:alpha.echo']);
    expect(await names(admin, '?keyName=CI')).toEqual(['-:alpha.echo']);
    expect(await names(admin, '?startDate=2999-01-01')).toEqual([]);
    expect(await names(admin, '?endDate=2999-01-01')).toHaveLength(6);
    const page = await list(admin, '?page=2&limit=4');
    expect(page.data).toEqual((await list(admin)).data.slice(4));
    expect(page.pagination).toMatchObject({ page: 2, limit: 4, total: 6, totalPages: 2, hasPrevPage: true });
  });

  test.each([
    ['page=0', 'page'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['status=failed', 'status'],
    ['startDate=yesterday', 'startDate'],
    ['endDate=2026-13-45', 'endDate'],
    ['without=server', 'without'],
    [`server=${'x'.repeat(201)}`, 'server'],
  ])('refuses ?%s by name', async (query, path) => {
    for (const route of ['/activities', '/activities/stats', '/activities/failures']) {
      const { status, body } = await api(hub, 'GET', `${route}?${query}`, { token: admin });
      expect([status, body.success, body.errors?.map((error) => error.path)]).toEqual([400, false, [path]]);
    }
  });
});

test('/available, /stats and /filters, each as far as the caller sees', async () => {
  const get = async (path: string, token: string) => (await api(hub, 'GET', `/activities${path}`, { token })).body.data;
  expect(await get('/available', ann)).toEqual({ available: true });
  expect(await get('/stats', admin)).toEqual({
    totalCalls: 6,
    successCount: 5,
    errorCount: 1,
    avgDuration: expect.any(Number) as number,
    search: { searches: 0, empty: 0, used: 0, meanRank: 0, firstShare: 0 },
  });
  const failures = [{ server: 'alpha', status: 'error', cause: 'the tool failed', tools: ['fail'], calls: 1 }];
  expect(await get('/failures', admin)).toMatchObject(failures);
  expect(await get('/failures', bob)).toMatchObject(failures);
  expect(await get('/failures', ann)).toEqual([]);
  expect(await get('/stats', bob)).toMatchObject({ totalCalls: 2, errorCount: 1 });
  expect(await get('/stats?username=bob', ann)).toMatchObject({ totalCalls: 0 });
  expect(await get('/filters', admin)).toEqual({
    servers: ['alpha', 'beta'],
    tools: ['echo', 'fail'],
    groups: ['dev'],
    usernames: ['ann', 'bob'],
    keyNames: ['CI', 'key'],
    clients: [],
  });
  expect(await get('/filters', ann)).toEqual({
    servers: ['alpha'],
    tools: ['echo'],
    groups: ['dev'],
    usernames: ['ann'],
    keyNames: ['key'],
    clients: [],
  });
});

test('/stats and /timeline in groups, each as far as the caller sees', async () => {
  const get = async (path: string, token: string) => {
    const { body, text } = await api(hub, 'GET', `/activities${path}`, { token });
    expect(body.success, text).toBe(true);
    return body.data as { groups?: { calls: number; failed: number }[]; others?: object; since?: string };
  };
  expect(await get('/stats', admin)).not.toHaveProperty('groups');
  const of = async (token: string, query: string) => (await get(`/stats?${query}`, token)).groups;
  expect(await of(admin, 'groupBy=server')).toMatchObject([
    { server: 'alpha', calls: 4, failed: 1 },
    { server: 'beta', calls: 2, failed: 0 },
  ]);
  expect(await of(bob, 'groupBy=server,tool&username=ann')).toEqual([]);
  expect(await of(ann, 'groupBy=username,keyName')).toMatchObject([
    { username: 'ann', keyName: '', calls: 1 },
    { username: 'ann', keyName: 'key', calls: 1 },
  ]);
  // Since when calls are known, of what the caller sees, whatever the filter is.
  const since = async (token: string, query = '') => (await get(`/stats?groupBy=tool${query}`, token)).since;
  const oldest = async (token: string) => (await list(token)).data.at(-1)?.timestamp;
  for (const token of [admin, ann, bob]) expect(await since(token, '&tool=gone')).toBe(await oldest(token));
  expect(await since(bob)).not.toBe(await since(admin));
  const { groups, others } = await get('/timeline?groupBy=server&groups=1&buckets=3', admin);
  expect(groups).toMatchObject([{ server: 'alpha', overTime: { calls: [0, 0, 4], failed: [0, 0, 1] } }]);
  expect(others).toMatchObject({ groups: 1, calls: 2, failed: 0, overTime: { calls: [0, 0, 2] } });
});

test('one record by its id; that of another user is as one that does not exist', async () => {
  const [own] = (await list(ann)).data;
  const [others] = (await list(bob)).data;
  const get = (id: string | undefined, token: string) => api(hub, 'GET', `/activities/${id}`, { token });
  expect((await get(own?.id, ann)).body).toEqual({ success: true, data: own });
  expect((await get(others?.id, admin)).body.data).toEqual(others);
  for (const id of [others?.id ?? '', '00000000-0000-7000-8000-000000000000', 'x', '__proto__', '%27--', '%00']) {
    const answer = await get(id, ann);
    expect([answer.status, answer.body], id).toEqual([
      404,
      { success: false, message: `There is no activity "${decodeURIComponent(id)}".` },
    ]);
  }
});

test('an account does not see the calls of an earlier one of its name', async () => {
  const first = await userToken(hub, admin, 'twice', { servers: ['alpha'] });
  await call(first, 'alpha-echo');
  const [old] = (await list(first)).data;
  expect(old?.username).toBe('twice');
  await api(hub, 'DELETE', '/users/twice', { token: admin });
  await until('a millisecond has passed', () => new Date().toISOString() > (old?.timestamp ?? ''));
  const second = await userToken(hub, admin, 'twice', { servers: ['alpha'] });
  expect(await names(second)).toEqual([]);
  expect((await api(hub, 'GET', '/activities/filters', { token: second })).body.data).toMatchObject({ tools: [] });
  expect((await api(hub, 'GET', '/activities/stats', { token: second })).body.data).toMatchObject({ totalCalls: 0 });
  expect((await api(hub, 'GET', `/activities/${old?.id}`, { token: second })).status).toBe(404);
  await call(second, 'alpha-echo');
  expect(await names(second)).toEqual(['twice:alpha.echo']);
});

describe('arguments and results', () => {
  const newest = async () => (await list(admin, '?limit=1')).data[0] as Shown & { input?: string };
  const keep = (method: 'POST' | 'DELETE', token: string | undefined, server = 'alpha', body?: unknown) =>
    api(hub, method, `/servers/${server}/payloads`, { token, ...(method === 'POST' && { body: body ?? {} }) });
  const made = (server: string, args: object) =>
    api(hub, 'POST', `/tools/call/${server}`, { token: admin, body: { toolName: 'echo', arguments: args } });

  test('are kept of one server for a while when an admin says so, without secrets, and no more when it is ended', async () => {
    const { status, body } = await keep('POST', admin, 'alpha', { minutes: 5 });
    expect(status, JSON.stringify(body)).toBe(200);
    const until = Date.parse(String((body.data as { payloadsKeptUntil?: string }).payloadsKeptUntil));
    expect(Math.abs(until - Date.now() - 5 * 60_000)).toBeLessThan(60_000);
    await made('alpha', { text: 'kept', password: 'of ann' });
    expect(JSON.parse((await newest()).input ?? '')).toMatchObject({ arguments: { text: 'kept', password: '••••' } });
    await made('beta', { text: 'not this one' });
    expect(await newest()).not.toHaveProperty('input');
    // Who may use it sees that its calls are kept.
    const seen = (await api(hub, 'GET', '/servers/alpha', { token: ann })).body.data;
    expect(seen).toHaveProperty('payloadsKeptUntil');
    expect((await keep('DELETE', admin)).body.data).not.toHaveProperty('payloadsKeptUntil');
    await made('alpha', { text: 'no more' });
    expect(await newest()).not.toHaveProperty('input');
  });

  test('are for admins to keep, of servers that are there, for an hour at most', async () => {
    for (const [token, expected] of [
      [undefined, 401],
      [ann, 403],
      [annsKey, 403],
    ] as const) {
      expect((await keep('POST', token)).status).toBe(expected);
      expect((await keep('DELETE', token)).status).toBe(expected);
    }
    expect((await keep('POST', admin, 'nothing')).status).toBe(404);
    for (const minutes of [0, 61, 1.5, '5', null])
      expect((await keep('POST', admin, 'alpha', { minutes })).status).toBe(400);
    expect((await keep('DELETE', admin)).body.data).not.toHaveProperty('payloadsKeptUntil');
  });

  test('are never kept of a server that gets what its callers set, and the time is in the settings', async () => {
    const { config } = await hostileHttp({ tools: ['echo'] });
    const time = (ms: number) => new Date(Date.now() + ms).toISOString();
    const own = await testHub({
      mcpServers: {
        now: { ...config, keepPayloadsUntil: time(3_600_000) },
        over: { ...config, keepPayloadsUntil: time(-1_000) },
        theirs: {
          ...config,
          keepPayloadsUntil: time(3_600_000),
          credentialTemplate: [{ target: 'headers', name: 'X' }],
        },
      },
    });
    // The third connects where there is a database, which keeps what users set.
    const others = () => own.hub.servers().filter(({ name, status }) => name !== 'theirs' && status === 'connected');
    await until('both are connected', () => others().length === 2);
    const token = await login(own);
    const inputs = async (server: string) => {
      await api(own, 'POST', `/tools/call/${server}`, { token, body: { toolName: 'echo', arguments: {} } });
      const { data } = (await api(own, 'GET', `/activities?server=${server}`, { token })).body;
      return (data as { input?: string }[]).map(({ input }) => input !== undefined);
    };
    expect([await inputs('now'), await inputs('over')]).toEqual([[true], [false]]);
    expect((await api(own, 'POST', '/servers/theirs/payloads', { token, body: {} })).status).toBe(409);
  });
});

describe('what the client calls itself', () => {
  let token: string;

  beforeAll(async () => void (token = await userToken(hub, admin, 'carl', { servers: ['alpha'] })));

  test.each(clientKinds)('is in the record of a call: %s', async (kind) => {
    const client = await connect(kind, hub.url, '', { authorization: `Bearer ${token}` });
    await client.callTool('alpha-echo');
    expect((await list(token)).data[0]).toMatchObject({ tool: 'echo', client: 'toolhub-test' });
    await expect(client.callTool('alpha-nothing')).rejects.toThrow('alpha-nothing');
    expect((await list(token)).data[0]).toMatchObject({ status: 'refused', client: 'toolhub-test' });
  });

  test('can be filtered for, is offered to who made its calls alone, and is not there over REST', async () => {
    await api(hub, 'POST', '/tools/call/alpha', { token, body: { toolName: 'echo' } });
    const [direct] = (await list(token)).data;
    expect(direct).toMatchObject({ tool: 'echo', status: 'success' });
    expect(direct).not.toHaveProperty('client');
    expect(await names(token, '?client=toolhub-test')).toHaveLength(2 * clientKinds.length);
    expect(await names(token, '?client=another')).toEqual([]);
    const offered = async (of: string) => (await api(hub, 'GET', '/activities/filters', { token: of })).body.data;
    expect(await offered(token)).toMatchObject({ clients: ['toolhub-test'] });
    expect(await offered(ann)).toMatchObject({ clients: [] });
  });

  test('is plain, and bounded', async () => {
    const client = await session(hub.mcp(''), {
      headers: { authorization: `Bearer ${token}` },
      clientInfo: { name: ` A\u202e\n\0${'x'.repeat(500)}`, version: '1' },
    });
    await client.call('alpha-echo');
    expect((await list(token)).data[0]?.client).toBe(`A${'x'.repeat(79)}`);
  });
});

describe('who may not', () => {
  const routes = ['/available', '', '/stats', '/failures', '/filters', '/x'].map((path) => `/activities${path}`);

  test('no caller without a good credential', async () => {
    for (const path of routes) {
      for (const token of [undefined, 'eyJ.eyJ.x', `mcphub_${'0'.repeat(64)}`]) {
        expect((await api(hub, 'GET', path, { token })).status, path).toBe(401);
      }
    }
  });

  test('a key without an owner has no calls of its own to see', async () => {
    for (const path of routes.slice(1)) {
      const answer = await api(hub, 'GET', path, { token: systemKey });
      expect([answer.status, answer.body.success], path).toEqual([403, false]);
    }
  });

  test('only admins remove records', async () => {
    const { total } = (await list(admin)).pagination;
    const remove = (token: string | undefined, query = '') =>
      api(hub, 'DELETE', `/activities/cleanup${query}`, { token });
    expect((await remove(undefined)).status).toBe(401);
    for (const token of [ann, annsKey, systemKey, await keyToken(hub, admin, { kind: 'user' })]) {
      expect((await remove(token, '?daysOld=0')).status).toBe(403);
    }
    for (const daysOld of ['-1', '1.5', 'x', '99999']) {
      const { status, body } = await remove(admin, `?daysOld=${daysOld}`);
      expect([status, body.errors?.map(({ path }) => path)]).toEqual([400, ['daysOld']]);
    }
    expect((await remove(admin)).body).toEqual({
      success: true,
      data: { deletedCount: 0, cutoffDate: expect.stringMatching(/^\d{4}-/) as string },
      message: '0 activities removed.',
    });
    expect((await list(admin)).pagination.total).toBe(total);
    const all = await remove(admin, '?daysOld=0');
    expect(all.body.data).toMatchObject({ deletedCount: total });
    expect(await names(admin)).toEqual([]);
  });
});

describe('a call over HTTP that is refused before any server sees it leaves one record', () => {
  let own: TestHub;
  let tokens: { admin: string; ann: string; bob: string };
  const records = async (token: string) =>
    ((await api(own, 'GET', '/activities', { token })).body.data as Shown[]).map(
      ({ status, server, tool, username, errorMessage }) => [status, server, tool, username, errorMessage],
    );

  beforeAll(async () => {
    const typed = {
      name: 'typed',
      inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    };
    own = await testHub({
      mcpServers: {
        alpha: { ...(await hostileHttp({ name: 'alpha', tools: [typed] })).config, visibility: 'public' },
        secret: { ...(await hostileHttp({ name: 'secret', tools: ['t'] })).config, visibility: 'private' },
      },
    });
    await own.connected(2);
    const admin = await login(own);
    tokens = { admin, ann: await userToken(own, admin, 'ann'), bob: await userToken(own, admin, 'bob') };
  });

  test.each<[what: string, status: number, path: string, body: unknown, record: [string, string]]>([
    ['an unknown tool', 404, '/tools/call/alpha', { toolName: 'nothing' }, ['alpha', 'nothing']],
    ['a hidden server', 404, '/tools/call/secret', { toolName: 't' }, ['secret', 't']],
    ['arguments that do not fit', 400, '/tools/call/alpha', { toolName: 'typed', arguments: {} }, ['alpha', 'typed']],
    ['the same, OpenAPI style', 400, '/tools/alpha/typed', { n: 'x' }, ['alpha', 'typed']],
    ['a body that is none', 400, '/tools/alpha/typed', 'broken', ['alpha', 'typed']],
    ['an unknown scope', 404, '/nothing/tools/alpha/typed', { n: 1 }, ['alpha', 'typed']],
    ['a name without end', 404, `/tools/alpha/${'x'.repeat(500)}`, {}, ['alpha', 'x'.repeat(200)]],
  ])('%s', async (_, status, path, body, [server, tool]) => {
    const before = (await records(tokens.admin)).length;
    const answer = await api(own, 'POST', path, { token: tokens.ann, body });
    expect(answer.status, answer.text).toBe(status);
    const after = await records(tokens.admin);
    // What was wrong with an argument may be what it was.
    const kept = answer.body.message?.replace(/(?<=\bn )(?:is required|expected integer.*)(?=\.$)/, 'does not fit');
    expect(after[0]).toEqual(['refused', server, tool, 'ann', kept]);
    expect(after).toHaveLength(before + 1);
    // What a user tried is for that user and for admins.
    expect((await records(tokens.ann))[0]).toEqual(after[0]);
    expect(await records(tokens.bob)).toEqual([]);
  });

  test('and none for what is no call, nor a second one for what has reached a server', async () => {
    const before = await records(tokens.admin);
    await api(own, 'POST', '/tools/call/alpha', { token: tokens.ann, body: 'broken' });
    await api(own, 'POST', '/tools/call/alpha', { token: tokens.ann, body: {} });
    await api(own, 'POST', '/tools/call/alpha', { body: { toolName: 'typed' } });
    expect(await records(tokens.admin)).toEqual(before);
    const good = { toolName: 'typed', arguments: { n: 1 } };
    await api(own, 'POST', '/tools/call/alpha', { token: tokens.ann, body: good });
    expect(await records(tokens.admin)).toHaveLength(before.length + 1);
  });

  test('also where the OpenAPI-style routes are closed', async () => {
    const closed = { routing: { openApiAccess: 'authenticated' } };
    await api(own, 'PUT', '/system-config', { token: tokens.admin, body: closed });
    expect((await api(own, 'POST', '/tools/alpha/typed', { body: { n: 1 } })).status).toBe(401);
    expect((await records(tokens.admin))[0]?.slice(0, 3)).toEqual(['refused', 'alpha', 'typed']);
  });

  test('which can be filtered for', async () => {
    const answer = await api(own, 'GET', '/activities?status=refused&tool=nothing', { token: tokens.admin });
    expect(answer.body.data).toHaveLength(1);
  });
});

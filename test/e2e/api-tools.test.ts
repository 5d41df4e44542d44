import { request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { httpLimits } from '../../src/http/limits.ts';
import { mcpLimits } from '../../src/mcp/limits.ts';
import { api, keyToken, login, passwordOf, userToken } from '../kit/api.ts';
import { askingHttp, askingStdio, filled, togetherMs, type Told } from '../kit/asking.ts';
import { exactAt } from '../kit/exact-json.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { rewriteSettings, storedSettings } from '../kit/hub-database.ts';
import { answerJson, documentOf, restApi } from '../kit/openapi.ts';
import { legacySession, session } from '../kit/sessions.ts';
import { several } from '../kit/several.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// POST /api/tools/call/:server (SPEC, Tool call; CONTRACT §4), and what servers offer besides tools.

const typed = {
  name: 'typed',
  inputSchema: {
    type: 'object',
    properties: {
      count: { type: 'integer' },
      ratio: { type: 'number', exclusiveMinimum: 0 },
      on: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
      filter: { type: 'object', properties: { size: { type: 'integer' } }, additionalProperties: false },
      either: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      'a.b': { type: 'integer' },
    },
    required: ['count'],
  },
};
const main = await hostileHttp({
  name: 'main',
  tools: [typed, 'delay', 'hang', 'fail', 'rpc_error', 'secret', 'exact', 'bare', 'hub-main', 'refuse'],
  results: {
    exact: '{"content":[],"structuredContent":{"id":12345678901234567890,"e":1.0e2},"_meta":{"own":1},"isError":true}',
    bare: '{"toolResult":7}',
  },
  prompts: [{ name: 'greet' }, { name: 'hidden' }],
  resources: [{ uri: 'main://open' }, { uri: 'main://closed' }],
});
const privately = await hostileHttp({
  name: 'privately',
  prompts: [{ name: 'greet' }],
  resources: [{ uri: 'priv://x' }],
});
const dead = hostileStdio({ exitAt: 'start', lastWords: 'cannot start' });
const slow = await hostileHttp({ name: 'slow' });
let hub: TestHub;
let admin: string;
let alice: string;
let bob: string;
let key: string;

beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      main: {
        ...main.config,
        tools: { secret: { enabled: false } },
        prompts: { hidden: { enabled: false } },
        resources: { 'main://closed': { enabled: false } },
      },
      privately: { ...privately.config, visibility: 'private' },
      dead: dead.config,
      'dead private': { ...dead.config, visibility: 'private' },
      slow: { ...slow.config, options: { timeout: 300 } },
      off: { ...main.config, enabled: false },
    },
    // A group of the same name, which is about something else.
    groups: [{ id: '11111111-1111-4111-8111-111111111111', name: 'main', servers: ['slow'] }],
  });
  await hub.connected(3);
  admin = await login(hub);
  alice = await userToken(hub, admin, 'alice', { servers: ['main', 'dead', 'slow', 'off'] });
  bob = await userToken(hub, admin, 'bob', { servers: ['privately'] });
  key = await keyToken(hub, admin, { accessType: 'servers', allowedServers: ['main'] });
});

const call = (server: string, toolName: string, args?: unknown, token = alice, headers: Record<string, string> = {}) =>
  api(hub, 'POST', `/tools/call/${encodeURIComponent(server)}`, {
    token,
    headers,
    body: { toolName, ...(args !== undefined && { arguments: args }) },
  });
/** What the server was called with, as it echoes it. */
const echoed = (data: unknown) =>
  (JSON.parse((data as { content: { text: string }[] }).content[0]?.text ?? '{}') as { arguments: unknown }).arguments;

describe('arguments', () => {
  test('are converted as the schema says, and the server gets what the answer shows', async () => {
    const given = { count: '3', ratio: '1.5', on: 'true', tags: '["a","b"]', filter: '{"size":"2"}', either: 'null' };
    const { status, body } = await call('main', 'typed', { ...given, 'a.b': '7', other: '8' });
    expect(status).toBe(200);
    const converted = {
      count: 3,
      ratio: 1.5,
      on: true,
      tags: ['a', 'b'],
      filter: { size: 2 },
      either: null,
      'a.b': 7,
      other: '8',
    };
    expect(body).toMatchObject({ success: true, data: { isError: false, toolName: 'typed', arguments: converted } });
    expect(echoed(body.data)).toEqual(converted);
  });

  test.each([
    [{ count: '3.5' }, 'arguments.count'],
    [{ count: '' }, 'arguments.count'],
    [{ count: '1e400' }, 'arguments.count'],
    [{ count: '9007199254740993' }, 'arguments.count'],
    [{ count: null }, 'arguments.count'],
    [{ count: 1, on: 'yes' }, 'arguments.on'],
    [{ count: 1, tags: 'a,b' }, 'arguments.tags'],
    [{ count: 1, tags: ['a', 1] }, 'arguments.tags[1]'],
    [{ count: 1, filter: { size: 'x' } }, 'arguments.filter.size'],
    [{ count: 1, filter: { more: 1 } }, 'arguments.filter'],
    [{ count: 1, ratio: 0 }, 'arguments.ratio'],
    [{ count: 1, 'a.b': 'x' }, 'arguments["a.b"]'],
    [{}, 'arguments'],
    [undefined, 'arguments'],
    [null, 'arguments'],
  ])('%j are refused at %s and never reach the server', async (args, path) => {
    const before = main.received('tools/call').length;
    const { status, body } = await call('main', 'typed', args);
    expect(status).toBe(400);
    expect(body).toMatchObject({ success: false, message: expect.stringContaining('typed') as string });
    expect(body.errors?.some((problem) => problem.path.startsWith(path))).toBe(true);
    expect(main.received('tools/call')).toHaveLength(before);
  });

  test('and results keep 64-bit numbers', async () => {
    const body = '{"toolName":"delay","arguments":{"id":12345678901234567890,"n":1.0,"ms":"0","tag":"x"}}';
    const answer = await api(hub, 'POST', '/tools/call/main', { token: alice, body });
    expect(exactAt(answer.text, 'data', 'arguments', 'id')).toBe('12345678901234567890');
    expect(main.received('tools/call').at(-1)?.text).toContain('"id":12345678901234567890,"n":1.0');
    const exact = await call('main', 'exact');
    expect(exactAt(exact.text, 'data', 'structuredContent')).toBe('{"e":1.0e2,"id":12345678901234567890}');
    expect(exact.body.data).toMatchObject({ isError: true, _meta: { own: 1 }, toolName: 'exact', arguments: {} });
  });

  test.each([
    ['no tool name', {}, 'toolName'],
    ['an empty tool name', { toolName: '' }, 'toolName'],
    ['a tool name that is none', { toolName: 7 }, 'toolName'],
    ['arguments that are a list', { toolName: 'delay', arguments: [] }, 'arguments'],
    ['arguments that are a text', { toolName: 'delay', arguments: '{}' }, 'arguments'],
  ])('a body with %s is refused', async (_what, body, path) => {
    const answer = await api(hub, 'POST', '/tools/call/main', { token: alice, body });
    expect(answer.status).toBe(400);
    expect(answer.body.errors?.map((problem) => problem.path)).toEqual([path]);
  });

  test('a body that is no JSON, no object, no JSON type, or too large is refused', async () => {
    const send = (body: unknown, headers = {}) => api(hub, 'POST', '/tools/call/main', { token: alice, body, headers });
    expect((await send('{')).status).toBe(400);
    expect((await send('[]')).status).toBe(400);
    expect((await send('null')).status).toBe(400);
    expect((await send('{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await send('{}', { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await send('x'.repeat(httpLimits.apiBodyBytes + 1))).status).toBe(413);
  });
});

describe('answers', () => {
  test('a tool that reports failure is an answer', async () => {
    const { status, body } = await call('main', 'fail');
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      data: { content: [{ type: 'text', text: 'the tool failed' }], isError: true, toolName: 'fail', arguments: {} },
    });
  });

  test('a result without content gets an empty one', async () => {
    expect((await call('main', 'bare')).body.data).toEqual({
      toolResult: 7,
      content: [],
      isError: false,
      toolName: 'bare',
      arguments: {},
    });
  });

  test('the tool may be named bare or as clients see it, and stays named so', async () => {
    const { body } = await call('main', 'main-delay', { tag: 'prefixed' });
    expect(body.data).toMatchObject({ toolName: 'main-delay', content: [{ text: 'prefixed' }] });
    expect((await call('main', 'hub-main')).status).toBe(200);
  });

  test('an error of the server itself is its own: 502 with its words', async () => {
    const { status, body } = await call('main', 'rpc_error');
    expect(status).toBe(502);
    expect(body).toEqual({ success: false, message: 'The server refused: own words' });
  });

  test('what is not there and what may not be seen answer alike', async () => {
    const answers = await Promise.all([
      call('main', 'nothing'),
      call('main', 'secret'),
      call('privately', 'delay'),
      call('nobody', 'delay'),
      call('off', 'delay'),
      call('dead private', 'delay'),
      call('main', 'privately-delay'),
      call('main', 'slow-delay'),
      call('slow', 'delay', {}, bob),
      call('dead', 'delay', {}, bob),
      call('privately', 'delay', {}, key),
      call('__proto__', 'constructor'),
    ]);
    for (const { status, body } of answers) {
      expect(status).toBe(404);
      const message = body.message?.replaceAll(/"[^"]*"/g, '""');
      expect({ ...body, message }).toEqual({
        success: false,
        message: 'Unknown tool: there is no "" on a server "".',
      });
    }
    expect(privately.received('tools/call')).toEqual([]);
    expect((await call('privately', 'delay', {}, bob)).status).toBe(200);
  });

  test('a server that is down is 503 with a time to come back, whatever tool was meant', async () => {
    await until(
      'it was found dead',
      () => hub.hub.servers().find(({ name }) => name === 'dead')?.status === 'disconnected',
    );
    const { status, body, headers } = await call('dead', 'delay');
    expect(status).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(body.message).toContain('dead');
    expect(body.message).not.toContain('cannot start');
  });

  test('a server that dies later is 503 too, while its tools are still listed', async () => {
    const dying = await hostileHttp({ name: 'dying' });
    const own = await testHub({ mcpServers: { dying: dying.config } });
    await own.connected(1);
    const token = await login(own);
    dying.stop();
    const answer = await api(own, 'POST', '/tools/call/dying', { token, body: { toolName: 'delay' } });
    expect(answer.status, answer.text).toBe(503);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('a server that does not answer in time is 504, and is told', async () => {
    const { status, body } = await call('slow', 'hang', { tag: 'late' });
    expect(status).toBe(504);
    expect(body.message).toContain('slow');
    await until('it was told', () => slow.received('notifications/cancelled').length > 0);
  });

  test('a client that leaves cancels its call', async () => {
    const left = request(`${hub.url}/api/tools/call/main`, {
      method: 'POST',
      headers: { authorization: `Bearer ${alice}`, 'content-type': 'application/json' },
    });
    left.on('error', () => undefined);
    left.end(JSON.stringify({ toolName: 'hang', arguments: { tag: 'gone' } }));
    const { id } = await until('the call arrived', () =>
      main.received('tools/call').find(({ params }) => JSON.stringify(params).includes('gone')),
    );
    left.destroy();
    await until('the server was told', () =>
      main.received('notifications/cancelled').some(({ params }) => params['requestId'] === id),
    );
  });
});

test('no caller without a valid credential calls tools here', async () => {
  const before = main.received('tools/call').length;
  const body = { toolName: 'delay' };
  expect((await api(hub, 'POST', '/tools/call/main', { body })).status).toBe(401);
  expect((await api(hub, 'POST', '/tools/call/main', { body, token: 'bad' })).status).toBe(401);
  expect((await api(hub, 'POST', '/tools/call/main', { body, token: `mcphub_${'0'.repeat(64)}` })).status).toBe(401);
  expect(main.received('tools/call')).toHaveLength(before);
  for (const token of [admin, alice, key]) expect((await call('main', 'delay', { tag: 't' }, token)).status).toBe(200);
});

test('a read-only hub calls tools, and tries guards', async () => {
  const own = await testHub({ mcpServers: { main: main.config }, env: { READONLY: 'true' } });
  await own.connected(1);
  const token = await login(own);
  const ask = (path: string, body: unknown) => api(own, 'POST', path, { token, body });
  expect((await ask('/tools/call/main', { toolName: 'delay' })).status).toBe(200);
  expect((await ask('/tools/main/delay', {})).status).toBe(200);
  expect((await ask('/main/tools/main/delay', {})).status).toBe(200);
  expect((await ask('/mcp/main/prompts/greet', {})).status).toBe(200);
  expect((await ask('/resources/read', { uri: 'main://open' })).status).toBe(200);
  expect((await ask('/guards/none/try', { on: 'call', sample: {} })).status).toBe(404);
});

describe('sessions of servers with perSessionClient', () => {
  const own = several(hostileStdio({ name: 'own', tools: ['pid', 'die'] }));
  const shared = hostileStdio({ name: 'shared', tools: ['pid'] });
  let http: Awaited<ReturnType<typeof hostileHttp>>;
  let there: TestHub;
  let tokens: Record<'alice' | 'bob', string>;
  const config = () => ({
    own: { ...own.config, perSessionClient: true },
    shared: shared.config,
    http: { ...http.config, perSessionClient: true },
  });
  beforeAll(async () => {
    http = await hostileHttp({ name: 'http' });
    there = await testHub({ mcpServers: config() });
    await there.connected(3);
    const root = await login(there);
    const servers = ['own', 'shared', 'http'];
    tokens = {
      alice: await userToken(there, root, 'alice', { servers }),
      bob: await userToken(there, root, 'bob', { servers }),
    };
  });
  const pid = async (token: string | undefined, id?: string, path = '/tools/call/own') => {
    const { status, text, body } = await api(there, 'POST', path, {
      token,
      body: { toolName: 'pid' },
      ...(id !== undefined && { headers: { 'x-session-id': id } }),
    });
    expect(status, text).toBe(200);
    const result = (body.data ?? body) as { content: { text: string }[] };
    return result.content[0]?.text;
  };

  test('same id and principal share one; other ids and other principals never do', async () => {
    const [a, b] = [tokens.alice, tokens.bob];
    const first = await Promise.all([pid(a, '1'), pid(a, '1'), pid(a, '2'), pid(a), pid(b, '1'), pid(b)]);
    const anonymous = [await pid(undefined, '1', '/tools/own/pid'), await pid(undefined, undefined, '/tools/own/pid')];
    expect(first[0]).toBe(first[1]);
    expect(new Set([...first.slice(1), ...anonymous]).size).toBe(7);
    expect([...first, ...anonymous]).not.toContain(String(own.pids()[0]));
    expect(await Promise.all([pid(a, '1'), pid(a, '2'), pid(a), pid(b, '1')])).toEqual([
      first[0],
      first[2],
      first[3],
      first[4],
    ]);
    expect(await pid(a, '1', '/tools/own/pid')).toBe(first[0]);
  });

  test('MCP sessions have one each, which ends with them; no x-session-id leads there', async () => {
    const headers = { authorization: `Bearer ${tokens.alice}` };
    const [mine, yours] = [await session(there.mcp('own'), { headers }), await session(there.mcp('own'), { headers })];
    const legacy = await legacySession(there.sse('own'), { headers });
    const ask = async (one: typeof mine) => (await one.call('pid')).result?.content?.[0]?.text;
    const old = async () => (await legacy.request('tools/call', { name: 'pid' })).result?.content?.[0]?.text;
    const pids = [await ask(mine), await ask(yours), await old()];
    expect([await ask(mine), await ask(yours), await old()]).toEqual(pids);
    const sid = mine.id;
    expect(new Set([...pids, await pid(tokens.alice, sid), await pid(tokens.alice, `mcp ${sid}`)]).size).toBe(5);
    await mine.end();
    legacy.stream.close();
    const runs = (one: string | undefined) => {
      try {
        return process.kill(Number(one), 0);
      } catch {
        return false;
      }
    };
    await until('their processes are gone', () => !runs(pids[0]) && !runs(pids[2]));
    expect(await ask(yours)).toBe(pids[1]);
  });

  test('over HTTP each has an upstream session of its own', async () => {
    const ask = (token: string, id: string, tag: string) =>
      api(there, 'POST', '/tools/call/http', {
        token,
        body: { toolName: 'delay', arguments: { tag } },
        headers: { 'x-session-id': id },
      });
    for (const [token, id, tag] of [
      [tokens.alice, '1', 'a1'],
      [tokens.alice, '2', 'a2'],
      [tokens.bob, '1', 'b1'],
      [tokens.alice, '1', 'a1 again'],
    ] as const)
      expect((await ask(token, id, tag)).status).toBe(200);
    const used = new Map(
      http
        .journal()
        .filter(({ method, event }) => method === 'tools/call' && event === 'message')
        .map(({ text = '', headers }) => [
          (JSON.parse(text) as { params: { arguments: { tag: string } } }).params.arguments.tag,
          headers?.['mcp-session-id'],
        ]),
    );
    expect(used.get('a1')).toBe(used.get('a1 again'));
    expect(new Set(used.values()).size).toBe(3);
  });

  test('keep the cookies of a REST API apart, and calls without a session keep none', async () => {
    const rest = await restApi();
    rest.on('/login', ({ query }, res) => {
      res.setHeader('set-cookie', `sid=${query[0]?.[1]}`);
      answerJson(res, {});
    });
    const schema = documentOf(rest.origin, {
      '/login': { get: { operationId: 'login', parameters: [{ in: 'query', name: 'who' }] } },
      '/who': { get: { operationId: 'who' } },
    });
    const token = await login(there);
    const config = { openapi: { schema, cookieSession: true }, visibility: 'public' };
    expect((await api(there, 'POST', '/servers', { token, body: { name: 'shop', config } })).status).toBe(201);
    await there.connected(4);
    const cookieOf = async (toolName: string, id?: string, who?: string) => {
      const headers = id === undefined ? {} : { 'x-session-id': id };
      const body = { toolName, arguments: who === undefined ? {} : { who } };
      const { status, text } = await api(there, 'POST', '/tools/call/shop', { token, body, headers });
      expect(status, text).toBe(200);
      return rest.received.at(-1)?.headers['cookie'];
    };
    for (const id of ['one', 'two', undefined]) await cookieOf('login', id, id ?? 'none');
    for (const id of ['one', 'two']) expect(await cookieOf('who', id)).toBe(`sid=${id}`);
    for (const id of ['three', undefined]) expect(await cookieOf('who', id)).toBeUndefined();
    // Each anonymous caller could name the session of another one.
    for (const [tool, body] of [
      ['login', { who: 'any' }],
      ['who', {}],
    ] as const) {
      const headers = { 'x-session-id': 'any' };
      expect((await api(there, 'POST', `/tools/shop/${tool}`, { body, headers })).status).toBe(200);
    }
    expect(rest.received.at(-1)?.path).toMatch(/^\/who/);
    expect(rest.received.at(-1)?.headers['cookie']).toBeUndefined();
    const clients = await Promise.all(['a', 'b'].map(() => session(there.mcp('shop'))));
    for (const [i, client] of clients.entries()) await client.call('login', { who: `client${i}` });
    for (const [i, client] of clients.entries()) {
      await client.call('who');
      expect(rest.received.at(-1)?.headers['cookie']).toBe(`sid=client${i}`);
    }
  });

  test('a server without it is shared by all', async () => {
    const ask = (token: string, id: string) => pid(token, id, '/tools/call/shared');
    const pids = [await ask(tokens.alice, '1'), await ask(tokens.alice, '2'), await ask(tokens.bob, '1')];
    expect(new Set(pids)).toEqual(new Set([String(shared.pids()[0])]));
  });

  test('an id that is too long is refused', async () => {
    const body = { toolName: 'pid' };
    const headers = { 'x-session-id': 'x'.repeat(httpLimits.sessionIdChars + 1) };
    expect((await api(there, 'POST', '/tools/call/own', { token: tokens.alice, body, headers })).status).toBe(400);
  });

  test('a change of the server’s settings, and the end of the hub, end them all', async () => {
    const before = await pid(tokens.alice, 'stays?');
    const settings = JSON.parse(await storedSettings(there)) as { mcpServers: Record<string, object> };
    settings.mcpServers['own'] = { ...settings.mcpServers['own'], env: { CHANGED: '1' } };
    await rewriteSettings(there, settings);
    await until('it is another process', async () => (await pid(tokens.alice, 'stays?')) !== before);
    const pids = own.pids();
    await there.close();
    for (const one of pids) expect(() => process.kill(one, 0)).toThrow();
  });
});

describe('prompts and resources', () => {
  const prompt = (server: string, name: string, token: string | undefined = alice, body: unknown = {}) =>
    api(hub, 'POST', `/mcp/${server}/prompts/${name}`, { token, body });
  const read = (uri: unknown, token: string | undefined = alice) =>
    api(hub, 'POST', '/resources/read', { token, body: { uri } });

  test('a prompt is got by its own name or the one clients see, in the path or the body', async () => {
    const expected = { messages: [{ role: 'user', content: { type: 'text', text: 'main:greet' } }] };
    for (const answer of [
      await prompt('main', 'greet'),
      await prompt('main', 'main-greet'),
      await prompt('main', 'x', alice, { name: 'greet', arguments: { a: 'b' } }),
    ])
      expect(answer.body).toEqual({ success: true, data: expected });
    expect(main.received('prompts/get').at(-1)?.params['arguments']).toEqual({ a: 'b' });
    expect((await prompt('main', 'greet', alice, { arguments: { a: 1 } })).status).toBe(400);
  });

  test('a resource is read by its URI', async () => {
    expect((await read('main://open')).body).toEqual({
      success: true,
      data: { contents: [{ uri: 'main://open', text: 'main has main://open' }] },
    });
    for (const uri of [undefined, '', 7]) expect((await read(uri)).status).toBe(400);
    // Of one server, which answers for itself alone.
    const of = async (server: unknown) =>
      (await api(hub, 'POST', '/resources/read', { token: alice, body: { uri: 'main://open', server } })).text;
    expect(await of('main')).toContain('main has main://open');
    expect(await of('slow')).toContain('slow has main://open');
    expect(await of('privately')).toBe(await of('none'));
    expect(await of(7)).toContain('server');
  });

  test('what may not be seen is not there, and anonymous gets nothing', async () => {
    for (const answer of [
      await prompt('main', 'hidden'),
      await prompt('main', 'nothing'),
      await prompt('privately', 'greet'),
      await prompt('main', 'greet', bob),
      await read('main://closed'),
      await read('priv://x'),
      await read('main://open', bob),
    ])
      expect(answer.status).toBe(404);
    expect((await api(hub, 'POST', '/mcp/main/prompts/greet', { body: {} })).status).toBe(401);
    expect((await api(hub, 'POST', '/resources/read', { body: { uri: 'main://open' } })).status).toBe(401);
    expect((await prompt('dead', 'greet')).status).toBe(503);
    expect(privately.received('prompts/get')).toEqual([]);
  });
});

const streamed = async (
  hub: TestHub,
  token: string,
  body: unknown,
  accept = 'text/event-stream, application/json',
  server = 'alpha',
) => {
  const response = await fetch(`${hub.url}/api/tools/call/${server}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: accept },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const frames = isStream
    ? text
        .split('\n\n')
        .filter(Boolean)
        .map((frame) => JSON.parse(frame.replace(/^data: /, '')) as Record<string, unknown>)
    : [];
  return { status: response.status, text, frames };
};

describe('a caller that speaks as an MCP client', () => {
  let hub: TestHub;
  let token: string;
  beforeAll(async () => {
    hub = await testHub({ mcpServers: { asking: await askingHttp(), pipe: askingStdio() } });
    await hub.connected(2);
    token = await login(hub);
    await userToken(hub, token, 'ann', { servers: ['asking'] });
  });
  const client = { capabilities: { elicitation: { form: {} }, sampling: {} }, logLevel: 'info' };
  const asked = async (body: object, by = token, server = 'asking') => {
    const { frames, ...rest } = await streamed(hub, by, body, undefined, server);
    const last = frames.at(-1) as { status: number; body: { data: Asked; message?: string } } | undefined;
    return { ...rest, frames, status: last?.status ?? rest.status, data: last?.body.data };
  };
  const answersTo = ({ inputRequests = {} }: Partial<Asked>, ...given: object[]) =>
    Object.fromEntries(Object.keys(inputRequests).map((key, index) => [key, given[index]]));

  test('hears every message, and answers what the server asks by the same call', async () => {
    setLimits(mcpLimits, { askGatherMs: togetherMs });
    const call = { toolName: 'both', arguments: { label: 'who?' }, client };
    const first = await asked(call);
    expect(first.data).toMatchObject({ resultType: 'input_required', isError: false, content: [] });
    expect(Object.values(first.data?.inputRequests ?? {}).map(({ method }) => method)).toEqual([
      'elicitation/create',
      'sampling/createMessage',
    ]);
    expect(first.frames.map(({ type, from, message }) => [type, from, (message as Heard | undefined)?.method])).toEqual(
      [
        ['message', 'client', 'tools/call'],
        ['message', 'server', undefined],
        ['answer', undefined, undefined],
      ],
    );
    const { requestState } = first.data ?? {};
    const inputResponses = answersTo(first.data ?? {}, filled('me').result, { role: 'assistant' });
    const second = await asked({ ...call, inputResponses, requestState });
    expect(second.data?.resultType).toBe('complete');
    expect(JSON.parse(String(second.data?.content[0]?.['text']))).toMatchObject([
      filled('me'),
      { result: { role: 'assistant' } },
    ]);
    // It is good for one use, for the one who got it, and for the call it came from.
    expect((await asked({ ...call, inputResponses, requestState })).status).toBe(400);
  });

  test('answers nothing that another caller, another tool or other arguments were asked', async () => {
    const call = { toolName: 'form', arguments: { label: 'mine' }, client };
    const { data } = await asked(call);
    const again = { inputResponses: answersTo(data ?? {}, filled('x').result), requestState: data?.requestState };
    const ann = await login(hub, 'ann', passwordOf('ann'));
    expect((await asked({ ...call, ...again }, ann)).status).toBe(400);
    expect((await asked({ ...call, ...again, toolName: 'sampling' })).status).toBe(400);
    expect((await asked({ ...call, ...again, arguments: { label: 'yours' } })).status).toBe(400);
    expect((await asked({ ...call, ...again }, token, 'pipe')).status).toBe(400);
    expect((await asked({ ...call, ...again })).data?.resultType).toBe('complete');
  });

  test('is asked nothing else than it says, and without `client` nothing', async () => {
    const told = async (body: object) => {
      const { data } = await asked({ toolName: 'form', arguments: { label: 'x' }, ...body });
      return (JSON.parse(String(data?.content[0]?.['text'])) as Told).error?.code;
    };
    expect(await told({ client: {} })).toBe(-32601);
    const { text } = await streamed(hub, token, { toolName: 'form', arguments: { label: 'x' } }, undefined, 'asking');
    expect(text).toContain('-32601');
    for (const client of [{ capabilities: [] }, { logLevel: 'loud' }, { name: 'x' }, 'all'])
      expect((await asked({ toolName: 'form', client })).status).toBe(400);
  });
});

interface Asked {
  readonly resultType?: string;
  readonly content: readonly Record<string, unknown>[];
  readonly inputRequests?: Readonly<Record<string, { readonly method: string }>>;
  readonly requestState?: string;
}

interface Heard {
  readonly method?: string;
}

describe('progress', () => {
  const steps = { type: 'object', properties: { steps: { type: 'integer' }, tag: { type: 'string' } } };
  const open = async () => {
    const tools = ['echo', { name: 'progress', inputSchema: steps }, 'hang', 'die'];
    const alpha = hostileStdio({ tools });
    const hub = await testHub({ mcpServers: { alpha: alpha.config } });
    await hub.connected(1);
    return { hub, alpha, token: await login(hub) };
  };

  test('comes before the answer for who takes a stream, and the answer is as it would have been', async () => {
    const { hub, token } = await open();
    const body = { toolName: 'progress', arguments: { steps: '3', tag: 'é"\n' } };
    const { frames } = await streamed(hub, token, body);
    expect(frames.map(({ type, progress, total }) => [type, progress, total])).toEqual([
      ['progress', 1, 3],
      ['progress', 2, 3],
      ['progress', 3, 3],
      ['answer', undefined, undefined],
    ]);
    const plain = await streamed(hub, token, body, 'application/json');
    expect(frames.at(-1)).toEqual({ type: 'answer', status: 200, body: JSON.parse(plain.text) });
  });

  test('is no reason for a stream where there is none, nor are failures before it', async () => {
    const { hub, token } = await open();
    expect(JSON.parse((await streamed(hub, token, { toolName: 'echo' })).text)).toMatchObject({ success: true });
    expect((await streamed(hub, token, { toolName: 'nope' })).status).toBe(404);
    expect((await streamed(hub, token, { toolName: 'progress', arguments: { steps: 'x' } })).status).toBe(400);
  });

  test('is bounded: what is more than so many messages, or long, is counted and left out', async () => {
    const { hub, token } = await open();
    setLimits(httpLimits, { streamedMessages: 4, streamedMessageBytes: 400 });
    const many = await streamed(hub, token, { toolName: 'progress', arguments: { steps: 9 } });
    expect(many.frames).toHaveLength(5);
    expect(many.frames.at(-1)).toMatchObject({ type: 'answer', status: 200, dropped: 5 });
    const long = await streamed(hub, token, { toolName: 'echo', arguments: { text: 'x'.repeat(500) }, client: {} });
    expect(long.frames.map(({ type, bytes }) => [type, Number(bytes) > 400])).toEqual([
      ['message', true],
      ['message', true],
      ['answer', false],
    ]);
  });

  test('ends with the failure, and its status, when the server dies meanwhile', async () => {
    const { hub, alpha, token } = await open();
    const hanging = streamed(hub, token, { toolName: 'hang' });
    await until('it hangs', () => alpha.received('tools/call').length > 0);
    await streamed(hub, token, { toolName: 'die' });
    const { frames } = await hanging;
    expect(frames[0]).toMatchObject({ type: 'progress', progress: 0 });
    expect(frames.at(-1)).toMatchObject({ type: 'answer', body: { success: false } });
    expect(Number(frames.at(-1)?.['status'])).toBeGreaterThanOrEqual(500);
  });
});

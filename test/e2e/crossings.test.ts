import { beforeAll, describe, expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { askable, begin, reply } from '../kit/asking.ts';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { type AnyResult, rpc } from '../kit/raw.ts';
import { json, scriptedHttp, type ScriptedHttp } from '../kit/scripted-http.ts';
import { modern, modernMeta, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Where two features meet: what each of them promises holds beside the other.

const secret = `ghp_${'aB3dE5gH7j'.repeat(4)}`;
const token = `eyJhbGciOiJIUzI1NiJ9.eyJzdGVwIjoxfQ.${'a'.repeat(43)}`;
const content = (text: string) => ({ content: [{ type: 'text', text }] });
const schema = { inputSchema: { type: 'object' } };
const rows = Array.from({ length: 200 }, (_, n) => ({ n, city: 'x'.repeat(30) }));
let hub: TestHub;
let crm: Hostile;
let own: Hostile;
let asking: ScriptedHttp;
/** The states that the asking server was brought back. */
const states: unknown[] = [];
/** What stands in "_meta" of its questions. */
let questionMeta: object | undefined;
let admin: string;
let ann: string;

beforeAll(async () => {
  const echo = {
    name: 'echo',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' }, tenant: { type: 'string' } },
      required: ['text', 'tenant'],
    },
  };
  crm = await hostileHttp({
    capabilities: { tools: {}, prompts: {}, resources: {}, tasks: { requests: { tools: { call: {} } } } },
    prompts: [{ name: 'hello', arguments: [{ name: 'who' }] }],
    resources: [{ uri: 'note://1', name: 'one' }],
    tools: [
      echo,
      { name: 'plain', ...schema },
      { name: 'held', ...schema },
      { name: 'rows', ...schema },
      { name: 'work', ...schema },
      { name: 'draw', ...schema, _meta: { ui: { visibility: ['app'] } } },
      { name: 'show', ...schema, _meta: { ui: { resourceUri: 'ui://crm/page' } } },
    ],
    results: {
      rows: JSON.stringify(content(JSON.stringify(rows))),
      work: '{"task":{"taskId":"t1","status":"working","ttl":60000}}',
      draw: '{"task":{"taskId":"t2","status":"working","ttl":60000}}',
      'tasks/result t2': JSON.stringify(content('drawn')),
    },
  });
  own = await hostileHttp({ capabilities: { tools: {}, logging: {} }, tools: [{ name: 'plain', ...schema }] });
  asking = await scriptedHttp(({ message }, response) => {
    const { id, method, params } = message as { id: number; method: string; params: Record<string, unknown> };
    const answer = (result: object) => json(response, { jsonrpc: '2.0', id, result });
    const complete = (result: object) => answer({ resultType: 'complete', ttlMs: 0, cacheScope: 'public', ...result });
    if (method === 'server/discover')
      return complete({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
    if (method === 'tools/list')
      return complete({
        tools: [
          { name: 'ask', ...schema },
          { name: 'open', ...schema },
        ],
      });
    if (params['name'] === 'open') {
      const elicitations = [
        { mode: 'url', message: 'Open it', url: `https://example.com/?state=${token}`, elicitationId: 'e' },
      ];
      const data = { note: secret, elicitations };
      const error = { code: -32042, message: `Sign in with ${secret}`, data };
      return json(response, { jsonrpc: '2.0', id, error });
    }
    const { requestState } = params;
    states.push(requestState);
    if (requestState !== undefined) return complete(content(secret));
    const question = {
      method: 'elicitation/create',
      params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
    };
    const _meta = questionMeta;
    return answer({ resultType: 'input_required', requestState: token, inputRequests: { q: question }, _meta });
  });
  const open = { visibility: 'public' };
  hub = await testHub({
    // The audit log is in a database.
    env: { DB_URL: '' },
    mcpServers: {
      crm: {
        ...crm.config,
        ...open,
        tools: { echo: { arguments: { tenant: { value: 'acme', hidden: true } } }, show: { name: 'present' } },
        maxResultTokens: 500,
      },
      own: { ...own.config, ...open, perSessionClient: true, secretsInCalls: { results: 'mask' } },
      asking: { type: 'streamable-http', url: `${asking.origin}/mcp`, ...open },
    },
    groups: [
      {
        id: 'g',
        name: 'team',
        servers: [{ name: 'crm', overrides: { plain: { annotations: { readOnlyHint: true } } } }],
      },
    ],
    systemConfig: { routing: { enableBearerAuth: true } },
  });
  await hub.connected(3);
  await until('the database is ready', async () => (await hub.health()).database.state === 'ready');
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
});

const bearer = (of = ann) => ({ headers: { authorization: `Bearer ${of}` } });
const done = async (answer: ReturnType<typeof api>) => {
  const { status, text } = await answer;
  expect(status, text).toBeLessThan(300);
};
const system = (body: object) => done(api(hub, 'PUT', '/system-config', { token: admin, body }));
const server = (name: string, config: object) =>
  done(api(hub, 'PUT', `/servers/${name}`, { token: admin, body: { config } }));
const pin = (decision: 'approve' | 'reject', name: string) =>
  done(api(hub, 'POST', `/pins/crm/${decision}`, { token: admin, body: { items: [{ kind: 'tool', name }] } }));

describe('what a server asks by its answer', () => {
  const meta = modernMeta({ 'io.modelcontextprotocol/clientCapabilities': askable });
  const yes = { action: 'accept', content: {} };
  const call = (name: string, again: object = {}) =>
    modern(hub.mcp(), 'tools/call', { name: `asking-${name}`, arguments: {}, ...again }, { meta, ...bearer() });
  const asked = async () => {
    states.splice(0);
    const requestState = (await call('ask')).result?.['requestState'];
    return call('ask', { requestState, inputResponses: { q: yes } });
  };
  const askedInSession = async () => {
    states.splice(0);
    const client = await session(hub.mcp(), { capabilities: askable, ...bearer() });
    const begun = await begin(client, 'asking-ask');
    await reply(hub.mcp(), client, (await begun.asked()).id, { result: yes });
    return begun.stream.message('the answer', ({ id }) => id === 'call');
  };

  test.each(['mask', 'refuse'])(
    'is not changed by secretsInCalls.results %j, and its last answer is',
    async (results) => {
      await server('asking', { secretsInCalls: { results } });
      for (const answer of [await asked(), await askedInSession()]) {
        expect(states).toEqual([undefined, token]);
        expect(JSON.stringify(answer)).not.toContain(secret);
        if (results === 'mask') expect(answer.result).toMatchObject(content('••••'));
        else expect(answer.error).toMatchObject({ data: { reason: 'guard', guard: 'secrets' } });
      }
      await server('asking', { secretsInCalls: null });
    },
  );

  test('leads to the address that the server named, where secrets are masked', async () => {
    await server('asking', { secretsInCalls: { results: 'mask' } });
    const client = await session(hub.mcp(), { capabilities: askable, ...bearer() });
    const { error } = await client.call('asking-open');
    expect(error).toMatchObject({
      code: -32042,
      message: 'Sign in with ••••',
      data: { note: '••••', elicitations: [{ url: `https://example.com/?state=${token}`, elicitationId: 'e' }] },
    });
    await server('asking', { secretsInCalls: null });
  });

  test('has what a server says beside its addresses checked', async () => {
    const client = await session(hub.mcp(), { capabilities: askable, ...bearer() });
    await server('asking', { secretsInCalls: { results: 'refuse' } });
    const withheld = (await client.call('asking-open')).error;
    await server('asking', { secretsInCalls: null });
    expect(withheld).toMatchObject({ data: { reason: 'guard', guard: 'secrets' } });
    const guard = await scriptedHttp((_, response) => json(response, { decision: 'allow' }));
    await system({ guards: [{ id: 'one', url: guard.origin, on: ['result'] }] });
    const passed = (await client.call('asking-open')).error;
    await system({ guards: null });
    expect(passed).toMatchObject({ data: { elicitations: [{ url: `https://example.com/?state=${token}` }] } });
    expect(guard.seen.map(({ message }) => message)).toMatchObject([
      { error: { data: { note: secret, elicitations: [{ mode: 'url', message: 'Open it' }] } } },
    ]);
    expect(JSON.stringify(guard.seen)).not.toContain(token);
  });

  test('with a text of its own in "_meta" is shown to guards', async () => {
    questionMeta = { note: 'x' };
    const guard = await scriptedHttp((_, response) => json(response, { decision: 'refuse' }));
    await system({ guards: [{ id: 'one', url: guard.origin, on: ['result'] }] });
    const { error } = await (await session(hub.mcp(), { capabilities: askable, ...bearer() })).call('asking-ask');
    questionMeta = undefined;
    await system({ guards: null });
    expect(error).toMatchObject({ data: { reason: 'guard', guard: 'one' } });
    expect(guard.seen.map(({ message }) => message)).toMatchObject([{ result: { _meta: { note: 'x' } } }]);
  });

  test('is not shown to guards, and its last answer is', async () => {
    const guard = await scriptedHttp((_, response) => json(response, { decision: 'refuse' }));
    await system({ guards: [{ id: 'one', url: guard.origin, on: ['result'] }] });
    for (const answer of [await asked(), await askedInSession()])
      expect(answer.error).toMatchObject({ data: { reason: 'guard', guard: 'one' } });
    expect(guard.seen.map(({ message }) => message)).toMatchObject([
      { result: content(secret) },
      { result: content(secret) },
    ]);
    await system({ guards: null });
  });
});

describe('secrets that are masked in results', () => {
  test('are masked in what is said of a task', async () => {
    await server('crm', { secretsInCalls: { results: 'mask' } });
    const client = await session(hub.mcp(), bearer());
    const events = await client.listen();
    await client.call('crm-work');
    const params = JSON.stringify({ taskId: 't1', status: 'working', statusMessage: `with ${secret}` });
    await crm.control({ emit: `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":${params}}` });
    const told = await events.message('it is told', ({ method }) => method === 'notifications/tasks/status');
    expect(told.params).toMatchObject({ taskId: 't1', statusMessage: 'with ••••' });
    await server('crm', { secretsInCalls: null });
  });

  test('are masked in what a server logs to its own client between calls', async () => {
    const client = await session(hub.mcp(), bearer());
    const events = await client.listen();
    await client.call('own-plain');
    const params = JSON.stringify({ level: 'warning', data: `with ${secret}` });
    await own.control({ emit: `{"jsonrpc":"2.0","method":"notifications/message","params":${params}}` });
    const told = await events.message('it is told', ({ method }) => method === 'notifications/message');
    expect(told.params).toMatchObject({ data: 'with ••••' });
  });
});

describe('the rest of a result', () => {
  const more = (result: AnyResult | undefined) =>
    (result?.['_meta'] as { 'toolhub/more'?: { handle: string } })?.['toolhub/more'];
  const call = (args: object = {}) => rpc(hub.mcp(), 'tools/call', { name: 'crm-rows', arguments: args }, bearer());
  const read = async (handle = '') => {
    const params = { name: 'read_result', arguments: { handle } };
    return (await rpc(hub.mcp(), 'tools/call', params, bearer())).text.includes('city');
  };

  test.each([
    [
      'is switched off',
      () => done(api(hub, 'POST', '/servers/crm/tools/rows/toggle', { token: admin, body: { enabled: false } })),
      () => done(api(hub, 'POST', '/servers/crm/tools/rows/toggle', { token: admin, body: { enabled: true } })),
    ],
    ['is held back by its pin', () => pin('reject', 'rows'), () => pin('approve', 'rows')],
  ])('is not read on while the tool %s', async (_, take, give) => {
    const handle = more((await call()).result)?.handle;
    expect(await read(handle)).toBe(true);
    await take();
    expect(await read(handle)).toBe(false);
    await give();
    expect(await read(handle)).toBe(true);
  });

  test('is not read on once a policy forbids the call that it is of', async () => {
    const [red, blue] = await Promise.all(['red', 'blue'].map(async (of) => more((await call({ of })).result)?.handle));
    const text = 'forbid(principal, action, resource == Tool::"crm/rows") when { context.arguments.of == "red" };';
    await system({ policies: [{ id: 'p', text }] });
    expect([await read(red), await read(blue)]).toEqual([false, true]);
    await system({ policies: null });
  });
});

describe('an argument that the settings hide', () => {
  test('is not shown to the caller whose call waits for approval, and is to who decides', async () => {
    const text = '@approve("admin") forbid(principal, action, resource == Tool::"crm/echo");';
    await system({ policies: [{ id: 'p', text }] });
    const running = rpc(hub.mcp(), 'tools/call', { name: 'crm-echo', arguments: { text: 'x' } }, bearer());
    const seen = async (of: string) =>
      (await api(hub, 'GET', '/approvals', { token: of })).body.data as { id: string }[];
    await until('it is asked', async () => (await seen(ann)).length > 0);
    expect(await seen(ann)).toMatchObject([{ arguments: '{"text":"x"}', mayDecide: false }]);
    const [waiting] = await seen(admin);
    expect(JSON.stringify(waiting)).toContain('acme');
    const one = await api(hub, 'GET', `/approvals/${waiting?.id}`, { token: ann });
    expect(one.text).not.toContain('acme');
    await done(api(hub, 'POST', `/approvals/${waiting?.id}`, { token: admin, body: { decision: 'approve' } }));
    expect((await running).error).toBeUndefined();
    expect(crm.received('tools/call').at(-1)?.params).toMatchObject({ arguments: { tenant: 'acme', text: 'x' } });
    await system({ policies: null });
  });

  test('is among the arguments that `why` asks policies about', async () => {
    const text = 'forbid(principal, action, resource == Tool::"crm/echo") when { context.arguments.tenant == "acme" };';
    await system({ policies: [{ id: 'p', text }] });
    const refused = await rpc(hub.mcp(), 'tools/call', { name: 'crm-echo', arguments: { text: 'x' } }, bearer());
    expect(refused.error).toMatchObject({ data: { policy: 'p' } });
    const why = await api(hub, 'GET', '/why?tool=crm-echo&arguments={"text":"x"}', { token: ann });
    expect(why.body.data).toMatchObject({ allowed: false, steps: [{}, {}, { step: 'policy', ref: 'p' }, {}, {}] });
    await system({ policies: null });
  });
});

describe('the record of a call that is refused', () => {
  const echo = { name: 'call_tool', arguments: { toolName: 'crm-echo', arguments: { text: 5 } } };
  const run = { name: 'run_code', arguments: { code: 'return await tools.crm.nowhere({});' } };
  const newest = async (path: string) => ((await api(hub, 'GET', path, { token: admin })).body.data as object[])[0];
  const counted = async () => {
    const { body } = await api(hub, 'GET', '/audit?action=call&limit=1000', { token: admin });
    return (body.data as { count: number }[]).reduce((sum, { count }) => sum + count, 0);
  };

  test('is no attempt at what is not allowed where arguments do not fit, by `call_tool` as over REST', async () => {
    await server('crm', {
      tools: {
        echo: { name: 'say', arguments: { tenant: { value: 'acme', hidden: true } } },
        show: { name: 'present' },
      },
    });
    const before = await counted();
    const smart = { ...echo, arguments: { ...echo.arguments, toolName: 'crm-say' } };
    expect((await rpc(hub.mcp('$smart'), 'tools/call', smart, bearer())).result?.isError).toBe(true);
    const refused = { server: 'crm', tool: 'echo', status: 'refused' };
    expect(await newest('/activities?limit=1')).toMatchObject({ ...refused, scope: '$smart' });
    const body = { toolName: 'say', arguments: { text: {} } };
    expect((await api(hub, 'POST', '/tools/call/crm', { token: ann, body })).status).toBe(400);
    expect((await api(hub, 'POST', '/tools/crm/say', { token: ann, body: { text: {} } })).status).toBe(400);
    const { body: all } = await api(hub, 'GET', '/activities?limit=2', { token: admin });
    expect(all.data).toMatchObject([refused, refused]);
    expect(await counted()).toBe(before);
  });

  test('is there where code calls a tool that is not there', async () => {
    const before = await counted();
    await rpc(hub.mcp('$code'), 'tools/call', run, bearer());
    expect(await newest('/activities?limit=1')).toMatchObject({ tool: 'crm.nowhere', status: 'refused', scope: '' });
    expect(await counted()).toBe(before + 1);
  });

  test('says how the call came, and is there for prompts and resources too', async () => {
    await system({ policies: [{ id: 'p', text: 'forbid(principal, action, resource);' }] });
    const last = () => newest('/audit?limit=1');
    await api(hub, 'POST', '/tools/call/crm', { token: ann, body: { toolName: 'plain' } });
    expect(await last()).toMatchObject({ via: 'api', action: 'call', target: 'crm/plain', result: 'refused' });
    await rpc(hub.mcp(), 'tools/call', { name: 'crm-plain', arguments: {} }, bearer());
    expect(await last()).toMatchObject({ via: 'mcp', action: 'call', target: 'crm/plain', result: 'refused' });
    const why = { why: expect.stringContaining('"p" forbids') as string };
    const read = { actor: { kind: 'user', name: 'ann' }, action: 'read', result: 'refused', after: why };
    await rpc(hub.mcp(), 'prompts/get', { name: 'crm-hello' }, bearer());
    expect(await last()).toMatchObject({ ...read, via: 'mcp', target: 'crm/hello' });
    await rpc(hub.mcp(), 'resources/read', { uri: 'note://1' }, bearer());
    expect(await last()).toMatchObject({ ...read, via: 'mcp', target: 'crm/note://1' });
    await api(hub, 'POST', '/resources/read', { token: ann, body: { uri: 'note://1' } });
    expect(await last()).toMatchObject({ ...read, via: 'api', target: 'crm/note://1' });
    const ref = { type: 'ref/prompt', name: 'crm-hello' };
    await rpc(hub.mcp(), 'completion/complete', { ref, argument: { name: 'who', value: '' } }, bearer());
    expect(await last()).toMatchObject({ ...read, via: 'mcp', target: 'crm-hello' });
    await system({ policies: null });
  });
});

test('the tool that reads on is on the bill of every endpoint that lists it', async () => {
  for (const path of ['/costs', '/costs?group=team', '/costs?smart=true'])
    expect((await api(hub, 'GET', path, { token: admin })).text, path).toContain('"read_result"');
});

test('code calls tools where its sender may make one call at a time', async () => {
  const limit = (limits: object | null) => done(api(hub, 'PUT', '/users/ann', { token: admin, body: { limits } }));
  await limit({ concurrentCalls: 1 });
  const code = 'await tools.crm.plain({}); return await tools.crm.plain({}).then(() => "done")';
  const run = { name: 'run_code', arguments: { code } };
  const { result } = await rpc(hub.mcp('$code'), 'tools/call', run, bearer());
  expect(result?.structuredContent).toMatchObject({ result: 'done', calls: 2 });
  await limit(null);
});

test('code runs where no place is free among calls at the same time', async () => {
  const limit = (limits: object | null) => done(api(hub, 'PUT', '/users/ann', { token: admin, body: { limits } }));
  let release = (): void => undefined;
  const guard = await scriptedHttp((_, response) => {
    release = () => json(response, { decision: 'allow' });
  });
  await limit({ concurrentCalls: 1 });
  await system({ guards: [{ id: 'one', url: guard.origin, on: ['call'], timeoutMs: 20_000 }] });
  const held = rpc(hub.mcp(), 'tools/call', { name: 'crm-plain', arguments: {} }, bearer());
  await until('the one place is taken', () => guard.seen.length === 1);
  const run = { name: 'run_code', arguments: { code: 'return 1' } };
  const { result } = await rpc(hub.mcp('$code'), 'tools/call', run, bearer());
  release();
  await held;
  await system({ guards: null });
  await limit(null);
  expect(result?.structuredContent).toMatchObject({ result: 1 });
});

test('a page gets the result of a task that its own tool has begun, a tool for apps alone', async () => {
  const client = await session(hub.mcp('crm'), bearer());
  expect((await client.call('draw')).result).toMatchObject({ task: { taskId: 't2' } });
  expect((await client.request('tasks/result', { taskId: 't2' })).result).toMatchObject(content('drawn'));
});

test('a task is not followed while a policy forbids the call that made it', async () => {
  const client = await session(hub.mcp(), bearer());
  const events = await client.listen();
  for (const [taskId, of] of Object.entries({ t3: 'red', t4: 'blue' })) {
    await crm.control({
      set: { results: { work: JSON.stringify({ task: { taskId, status: 'working', ttl: 60_000 } }) } },
    });
    expect((await client.call('crm-work', { of })).result).toMatchObject({ task: { taskId } });
  }
  const emit = (taskId: string) => {
    const params = JSON.stringify({ taskId, status: 'working' });
    return crm.control({ emit: `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":${params}}` });
  };
  const text = 'forbid(principal, action, resource == Tool::"crm/work") when { context.arguments.of == "red" };';
  await system({ policies: [{ id: 'p', text }] });
  const asked = crm.received('tasks/result').length;
  for (const method of ['tasks/get', 'tasks/result', 'tasks/update', 'tasks/cancel']) {
    const { error } = await client.request(method, { taskId: 't3' });
    expect(error).toMatchObject({ code: -32001, data: { reason: 'policy', policy: 'p' } });
  }
  expect(crm.received('tasks/result')).toHaveLength(asked);
  expect((await client.request('tasks/result', { taskId: 't4' })).error).toBeUndefined();
  await emit('t3');
  await emit('t4');
  const told = await events.message('it is told', ({ method }) => method === 'notifications/tasks/status');
  expect(told.params).toMatchObject({ taskId: 't4' });
  await system({ policies: null });
  expect((await client.request('tasks/result', { taskId: 't3' })).error).toBeUndefined();
});

test.each(['', 'crm', 'team', '$smart'])(
  'a page at "%s" calls a tool of its server by the name that the server gives it, whatever the operator calls it',
  async (path) => {
    const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
    const host = await session(hub.mcp(path), { capabilities: { extensions }, ...bearer(admin) });
    for (const name of ['show', 'present', 'crm-present']) {
      expect((await host.call(name)).error, name).toBeUndefined();
      expect(crm.received('tools/call').at(-1)?.params).toMatchObject({ name: 'show' });
    }
    const why = await api(hub, 'GET', '/why?tool=crm-present', { token: admin });
    expect(why.body.data).toMatchObject({ allowed: true });
  },
);

test('who edits a group is told of a tool that is held back what is told of one that is not there', async () => {
  await pin('reject', 'held');
  await done(api(hub, 'POST', '/groups', { token: ann, body: { name: 'anns', servers: ['crm'] } }));
  const said = async (tool: string, by: string) => {
    const path = '/groups/anns/server-configs/crm/tools';
    const { body } = await api(hub, 'PUT', path, { token: by, body: { tools: [tool] } });
    return body.message?.replaceAll(tool, '…');
  };
  expect(await said('held', ann)).toBe(await said('nowhere', ann));
  expect(await said('held', admin)).not.toBe(await said('nowhere', admin));
  expect(await said('held', admin)).toBe(await said('plain', ann));
  await pin('approve', 'held');
});

test('a browser runs no tool by GET because a group says that it only reads', async () => {
  const get = (headers: Record<string, string>) => api(hub, 'GET', '/team/tools/crm/plain', { token: admin, headers });
  expect((await get({})).status).toBe(200);
  expect((await get({ 'sec-fetch-mode': 'navigate' })).status).toBe(403);
  await server('crm', { tools: { plain: { annotations: { readOnlyHint: true } } } });
  expect((await get({ 'sec-fetch-mode': 'navigate' })).status).toBe(200);
});

import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { askable } from '../kit/asking.ts';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { jsonHeaders, raw, rpc } from '../kit/raw.ts';
import { json, scriptedHttp, type ScriptedHttp } from '../kit/scripted-http.ts';
import { modern, modernMeta, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What looks at calls and results besides policies: secrets in them, and webhooks (docs/guards.md).

const secret = `ghp_${'aB3dE5gH7j'.repeat(4)}`;
const content = (text: string) => ({ content: [{ type: 'text', text }] });
const typed = {
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
};
const echoed = (args: object) => content(JSON.stringify({ server: 'hostile', tool: 'echo', arguments: args }));
let hub: TestHub;
let db: Hostile;
let admin: string;
let ann: string;
beforeAll(async () => {
  db = await hostileHttp({
    capabilities: { tools: {}, prompts: {}, resources: {}, tasks: { requests: { tools: { call: {} } } } },
    tools: ['echo', 'work', 'leak', 'progress', 'rpc_error', 'huge', 'hang', { ...typed, name: 'typed' }],
    prompts: [{ name: 'hello', arguments: [{ name: 'who' }] }],
    resources: [{ uri: 'note://1', name: 'one' }],
    results: {
      work: '{"task":{"taskId":"t1","status":"working","ttl":60000}}',
      'tasks/result t1': JSON.stringify(content('late')),
      leak: JSON.stringify({ ...content(`one\n${secret}`), structuredContent: { token: secret, n: 1 } }),
      typed: JSON.stringify({ ...content('{"n":1}'), structuredContent: { n: 1 } }),
      huge: JSON.stringify(content(`${'x'.repeat(300_000)} ${secret}`)),
      hello: JSON.stringify({ messages: [{ role: 'user', content: { type: 'text', text: secret } }] }),
      'note://1': JSON.stringify({ contents: [{ uri: 'note://1', text: secret }] }),
    },
  });
  hub = await testHub({
    env: { LOG_LEVEL: 'info' },
    mcpServers: { db: { ...db.config, visibility: 'public' } },
    systemConfig: { routing: { enableBearerAuth: true }, activityLog: { storeToolPayload: true } },
  });
  await hub.connected(1);
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
});

const bearer = (token = ann) => ({ headers: { authorization: `Bearer ${token}` } });
const call = (name: string, args: Record<string, unknown> = {}) =>
  rpc(hub.mcp(), 'tools/call', { name: `db-${name}`, arguments: args }, bearer());
const sent = (method = 'tools/call') => db.received(method).map(({ params }) => params);
const change = async (path: string, body: object) => {
  const answer = await api(hub, 'PUT', path, { token: admin, body });
  expect(answer.status, answer.text).toBe(200);
};

describe('secrets in calls', () => {
  const set = (secretsInCalls: object | null) => change('/servers/db', { config: { secretsInCalls } });
  const ways: [string, () => Promise<{ text: string }>][] = [
    ['a tool', () => call('leak')],
    ['a large result', () => call('huge')],
    ['a prompt', () => rpc(hub.mcp(), 'prompts/get', { name: 'db-hello' }, bearer())],
    ['a resource', () => rpc(hub.mcp(), 'resources/read', { uri: 'note://1' }, bearer())],
    ['a tool, of the stateless revision', () => modern(hub.mcp(), 'tools/call', { name: 'db-leak' }, bearer())],
    ['a tool, over REST', () => api(hub, 'POST', '/tools/call/db', { token: ann, body: { toolName: 'leak' } })],
  ];

  test('pass as they are where nothing is set', async () => {
    for (const [name, way] of ways) expect((await way()).text, name).toContain(secret);
    await call('echo', { text: secret });
    expect(sent().at(-1)).toMatchObject({ arguments: { text: secret } });
  });

  test('are masked in results, whatever the way, and the rest stays', async () => {
    await set({ results: 'mask' });
    for (const [name, way] of ways) {
      const { text } = await way();
      expect(text, name).not.toContain(secret);
      expect(text, name).toContain('••••');
    }
    const masked = await call('leak');
    expect(masked.result).toEqual({ ...content('one\n••••'), structuredContent: { token: '••••', n: 1 } });
  });

  test('are a reason to withhold a result, which is recorded as refused', async () => {
    await set({ results: 'refuse' });
    for (const [name, way] of ways) {
      const { text } = await way();
      expect(text, name).not.toContain(secret);
      expect(text, name).toMatch(/holds a GitHub token and is withheld/);
    }
    const { error } = await call('leak');
    expect(error).toMatchObject({ code: -32001, data: { reason: 'guard', guard: 'secrets' } });
    const { body } = await api(hub, 'GET', '/activities?limit=1', { token: admin });
    expect(body.data).toMatchObject([{ tool: 'leak', status: 'refused', errorMessage: error?.message }]);
    const rest = await api(hub, 'POST', '/tools/call/db', { token: ann, body: { toolName: 'leak' } });
    expect([rest.status, rest.body]).toMatchObject([403, { reason: 'guard', guard: 'secrets' }]);
  });

  test('are as the hub has it for all servers, where a server says nothing itself', async () => {
    const forAll = (secretsInCalls: object | null) => change('/system-config', { secretsInCalls });
    await forAll({ arguments: 'refuse', results: 'mask' });
    for (const given of [null, {}]) {
      await set(given);
      for (const [name, way] of ways) expect((await way()).text, name).toContain('••••');
      expect((await call('echo', { text: secret })).error).toMatchObject({ data: { guard: 'secrets' } });
    }
    const plain = await api(hub, 'GET', '/why?tool=db-echo', { token: admin });
    expect(plain.body.data).toMatchObject({ allowed: true, guards: [{ guard: 'secrets', on: ['call', 'result'] }] });
    const why = await api(hub, 'GET', `/why?tool=db-echo&arguments=${JSON.stringify({ text: secret })}`, {
      token: admin,
    });
    expect(why.body.data).toMatchObject({ allowed: false, steps: [{}, {}, { ref: 'secrets' }, {}, {}] });
    // Each member for itself.
    await set({ results: 'allow' });
    expect((await call('leak')).text).toContain(secret);
    expect((await call('echo', { text: secret })).error).toMatchObject({ data: { guard: 'secrets' } });
    await set({ arguments: 'allow' });
    await call('echo', { text: secret });
    expect(sent().at(-1)).toMatchObject({ arguments: { text: secret } });
    expect((await call('leak')).text).not.toContain(secret);
    const bad = { token: admin, body: { secretsInCalls: { results: 'hide' } } };
    expect((await api(hub, 'PUT', '/system-config', bad)).status).toBe(400);
    expect((await api(hub, 'PUT', '/system-config', { ...bad, token: ann })).status).toBe(403);
    await forAll(null);
    await set(null);
    expect((await call('leak')).text).toContain(secret);
  });

  test('are masked in arguments, before anything else looks at them', async () => {
    await set({ arguments: 'mask' });
    const policies = [
      { id: 'p', text: 'forbid(principal, action, resource) when { context.arguments.text like "*ghp_*" };' },
    ];
    await change('/system-config', { policies });
    const own = await session(hub.mcp(), bearer());
    for (const answer of [
      await call('echo', { text: secret, n: 1 }),
      await own.call('db-echo', { text: secret, n: 1 }),
    ])
      expect(answer.error).toBeUndefined();
    const masked = { arguments: { text: '••••', n: 1 } };
    expect(sent().slice(-2)).toMatchObject([masked, masked]);
    const params = { name: 'db-hello', arguments: { who: secret } };
    await rpc(hub.mcp(), 'prompts/get', params, bearer());
    expect(sent('prompts/get').at(-1)).toMatchObject({ arguments: { who: '••••' } });
    await change('/system-config', { policies: null });
    const { text } = await api(hub, 'GET', '/activities?limit=5', { token: admin });
    expect(text).not.toContain(secret);
  });

  test('are a reason to refuse a call before its server sees it, on smart endpoints too', async () => {
    await set({ arguments: 'refuse' });
    const before = sent().length;
    const smart = { name: 'call_tool', arguments: { toolName: 'db-echo', arguments: { text: secret } } };
    const answers = [
      await call('echo', { text: secret }),
      await call('echo', { nested: [{ [secret]: 1 }] }),
      await rpc(hub.mcp('$smart'), 'tools/call', smart, bearer()),
    ];
    for (const { error } of answers) {
      expect(error).toMatchObject({ code: -32001, data: { reason: 'guard', guard: 'secrets' } });
      expect(error?.message).toContain('hold a GitHub token');
    }
    expect(sent()).toHaveLength(before);
    expect((await call('echo', { text: 'nothing' })).error).toBeUndefined();
    const why = async (text: string) => {
      const query = new URLSearchParams({ tool: 'db/echo', arguments: JSON.stringify({ text }) });
      return (await api(hub, 'GET', `/why?${query.toString()}`, { token: admin })).body.data;
    };
    const step = { step: 'policy', result: 'refuse', ref: 'secrets' };
    expect(await why(secret)).toMatchObject({
      allowed: false,
      steps: expect.arrayContaining([expect.objectContaining(step)]) as object,
    });
    expect(await why('nothing')).toMatchObject({ allowed: true, guards: [{ guard: 'secrets', on: ['call'] }] });
  });

  test('are looked for by what admins decide', async () => {
    const made = await api(hub, 'POST', '/servers', {
      token: ann,
      body: { name: 'own', config: { url: 'https://example.com/mcp', secretsInCalls: { results: 'mask' } } },
    });
    expect(made.status).toBe(403);
    const wrong = await api(hub, 'PUT', '/servers/db', {
      token: admin,
      body: { config: { secretsInCalls: { results: 'hide' } } },
    });
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('\\"refuse\\"; found \\"hide\\"')]);
    await set(null);
  });
});

describe('a guard', () => {
  type Question = Record<string, unknown> & { arguments?: Record<string, unknown>; result?: Record<string, unknown> };
  let respond: (question: Question, response: ServerResponse) => void;
  let guard: ScriptedHttp;
  beforeAll(async () => {
    guard = await scriptedHttp(({ message }, response) => respond(message as Question, response));
  });
  const asked = () => guard.seen.map(({ message }) => message as Question);
  const answer = (body: unknown) => (_: Question, response: ServerResponse) => json(response, body);
  const set = async (...guards: object[]) => {
    const own = guards.map((one) => ({ url: guard.origin, on: ['call'], ...one }));
    await change('/system-config', { guards: own });
    guard.seen.splice(0);
  };
  const refused = (name: string) => ({ code: -32001, data: { reason: 'guard', guard: name } });

  test('is asked who calls what with which arguments, and refuses in its own words', async () => {
    await set({ id: 'pii', secret: 'shared' });
    respond = answer({ decision: 'refuse', message: 'No personal data.' });
    const before = sent().length;
    const { error } = await call('echo', { text: 'x', n: 12 });
    expect(error).toEqual({ message: 'No personal data.', ...refused('pii') });
    expect(sent()).toHaveLength(before);
    expect(asked()).toMatchObject([
      {
        on: 'call',
        kind: 'tool',
        server: 'db',
        name: 'echo',
        caller: { kind: 'user', name: 'ann', groups: [] },
        scope: '',
        arguments: { text: 'x', n: 12 },
      },
    ]);
    const { headers, message } = guard.seen[0] ?? expect.fail();
    const signature = createHmac('sha256', 'shared').update(JSON.stringify(message)).digest('hex');
    expect(headers['x-toolhub-signature']).toBe(`sha256=${signature}`);
    const rest = await api(hub, 'POST', '/tools/call/db', { token: ann, body: { toolName: 'echo', arguments: {} } });
    expect([rest.status, rest.body]).toMatchObject([403, { message: 'No personal data.', reason: 'guard' }]);
    const { body } = await api(hub, 'GET', '/activities?limit=1', { token: admin });
    expect(body.data).toMatchObject([{ tool: 'echo', status: 'refused', errorMessage: 'No personal data.' }]);
  });

  test('changes arguments, of which policies decide again, and the next guard sees what it left', async () => {
    await set({ id: 'one' }, { id: 'two' });
    respond = ({ arguments: given }, response) => {
      const text = `${String(given?.['text'])}+`;
      response.end(`{"decision":"change","arguments":{"text":"${text}","n":12345678901234567890}}`);
    };
    expect((await call('echo', { text: 'a' })).text).toContain('a++');
    expect(asked().map((one) => one.arguments?.['text'])).toEqual(['a', 'a+']);
    expect(db.received('tools/call').at(-1)?.text ?? '').toContain('"n":12345678901234567890');
    const { body } = await api(hub, 'GET', '/activities?limit=1', { token: admin });
    expect((body.data as { input: string }[])[0]?.input).toContain('a++');
    const policies = [
      { id: 'p', text: 'forbid(principal, action, resource) when { context.arguments.text == "a++" };' },
    ];
    await change('/system-config', { policies });
    expect((await call('echo', { text: 'a' })).error).toMatchObject({ data: { reason: 'policy', policy: 'p' } });
    await change('/system-config', { policies: null });
  });

  test('changes what a person is asked about, in a call of the stateless revision too, whose client sends what it first sent', async () => {
    await set({ id: 'one' });
    respond = answer({ decision: 'change', arguments: { text: 'changed' } });
    const policies = [
      {
        id: 'ask',
        text: '@approve("caller") forbid(principal, action, resource) when { context.arguments.text == "changed" };',
      },
    ];
    await change('/system-config', { policies });
    const how = { meta: modernMeta({ 'io.modelcontextprotocol/clientCapabilities': askable }), ...bearer() };
    const params = { name: 'db-echo', arguments: { text: 'mine' } };
    const round = async (more: object) => (await modern(hub.mcp(), 'tools/call', { ...params, ...more }, how)).result;
    const first = await round({});
    const [[name, question] = expect.fail()] = Object.entries(first?.['inputRequests'] as object);
    expect(JSON.stringify(question)).toContain('changed');
    const inputResponses = { [name]: { action: 'accept', content: {} } };
    const last = await round({ requestState: first?.['requestState'], inputResponses });
    expect(last).toMatchObject(echoed({ text: 'changed' }));
    expect(asked()).toHaveLength(1);
    await change('/system-config', { policies: null });
  });

  test('takes its place in limits back when it refuses', async () => {
    await set({ id: 'one' });
    await change('/servers/db', { config: { limits: { concurrentCalls: 1 } } });
    respond = answer({ decision: 'refuse' });
    for (let i = 0; i < 3; i++) expect((await call('echo')).error).toMatchObject(refused('one'));
    await change('/servers/db', { config: { limits: null } });
  });

  test('sees the result of a task', async () => {
    await set({ on: ['result'] });
    respond = ({ kind }, response) => json(response, { decision: kind === 'task' ? 'refuse' : 'allow' });
    const own = await session(hub.mcp(), bearer());
    expect((await own.call('db-work', {})).error).toBeUndefined();
    expect((await own.request('tasks/result', { taskId: 't1' })).error).toMatchObject(refused('1'));
    expect(asked().at(-1)).toMatchObject({ kind: 'task', name: 't1', result: content('late') });
  });

  test('sees results and errors, and changes or withholds them', async () => {
    await set({ on: ['result'] });
    respond = ({ error }, response) =>
      json(response, {
        decision: 'change',
        ...(error ? { error: { code: -32000, message: 'less' } } : { result: content('less') }),
      });
    expect((await call('echo', { text: 'much' })).result).toMatchObject(content('less'));
    expect(asked()[0]).toMatchObject({ on: 'result', result: echoed({ text: 'much' }) });
    expect(asked()[0]).not.toHaveProperty('arguments');
    expect((await call('rpc_error')).error).toEqual({ code: -32000, message: 'less' });
    expect((await call('huge')).result).toEqual(content('less'));
    respond = answer({ decision: 'refuse' });
    const { error } = await call('echo', { text: 'much' });
    expect(error).toMatchObject(refused('1'));
    expect(error?.message).toContain('withholds the answer');
  });

  test('sees the same call and its result under one id, and only servers that it is set for', async () => {
    respond = answer({ decision: 'allow' });
    await set({ on: ['call', 'result'], servers: ['db'] }, { on: ['call', 'result'], servers: ['other'] });
    expect((await call('echo', { text: 'x' })).result).toMatchObject(echoed({ text: 'x' }));
    expect(asked().map(({ on }) => on)).toEqual(['call', 'result']);
    expect(asked()[0]?.['id']).toBe(asked()[1]?.['id']);
  });

  const faults: [string, RegExp, (question: Question, response: ServerResponse) => void][] = [
    ['answers with no JSON', /no JSON/, (_, response) => response.end('<html>')],
    ['answers with another decision', /no decision/, answer({ decision: 'maybe' })],
    ['answers with a change and another decision', /no decision/, answer({ decision: 'allow', arguments: {} })],
    ['answers with a change that is none', /without "arguments"/, answer({ decision: 'change', arguments: 'x' })],
    [
      'answers with a change of what it was not asked',
      /without "arguments"/,
      answer({ decision: 'change', result: {} }),
    ],
    ['answers with an error', /status 500/, (_, response) => json(response, {}, {}, 500)],
    [
      'redirects to itself',
      /status 302/,
      (_, response) => json(response, { decision: 'allow' }, { location: guard.origin }, 302),
    ],
    ['closes the connection', /cannot be reached/, (_, response) => response.destroy()],
    [
      'closes it in the middle',
      /cannot be reached/,
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"decision":', () => response.destroy());
      },
    ],
    [
      'answers without an end',
      /more than \d+ bytes/,
      (_, response) => {
        const more = (): void => void (response.destroyed || response.write(Buffer.alloc(1_000_000), () => more()));
        more();
      },
    ],
    ['does not answer', /did not answer within 50 ms/, () => undefined],
  ];

  test.each(faults)('that %s costs a refusal, or nothing, as the settings have it', async (_name, why, script) => {
    respond = script;
    await set({ id: 'bad', timeoutMs: why.source.includes('50 ms') ? 50 : 20_000 });
    const before = sent().length;
    const { error } = await call('echo', { text: 'x' });
    expect(error).toMatchObject(refused('bad'));
    expect(error?.message).toMatch(why);
    expect(sent()).toHaveLength(before);
    // On a busy machine the time may be over before it is asked.
    if (why.source.includes('50 ms')) expect(asked().length).toBeLessThanOrEqual(1);
    else expect(asked()).toHaveLength(1);
    await set({ id: 'bad', timeoutMs: 50, onFailure: 'allow' });
    expect((await call('echo', { text: 'x' })).result).toMatchObject(echoed({ text: 'x' }));
  });

  test('cannot make a result that breaks the output schema of its tool', async () => {
    await set({ id: 'bad', on: ['result'] });
    const results: [string, object][] = [
      ['structuredContent', content('{}')],
      ['output schema', { ...content('{}'), structuredContent: { n: 'one' } }],
      ['content', { structuredContent: { n: 1 } }],
    ];
    for (const [what, result] of results) {
      respond = answer({ decision: 'change', result });
      const { error } = await call('typed');
      expect(error, what).toMatchObject(refused('bad'));
      expect(error?.message).toContain(what);
    }
    const good = { ...content('{"n":2}'), structuredContent: { n: 2 } };
    respond = answer({ decision: 'change', result: good });
    expect((await call('typed')).result).toEqual(good);
  });

  test('that nothing answers at is named in the log once, and when it answers again', async () => {
    await set({ id: 'gone', url: 'http://127.0.0.1:9/' });
    for (let i = 0; i < 3; i++) expect((await call('echo')).error).toMatchObject(refused('gone'));
    const logged = async () =>
      (await api(hub, 'GET', '/logs?q=guard%20%22gone%22', { token: admin })).body.data as object[];
    expect(await logged()).toHaveLength(1);
    const states = async () => (await api(hub, 'GET', '/guards', { token: admin })).body.data;
    expect(await states()).toEqual([
      {
        guard: 'gone',
        failing: expect.stringContaining('cannot be reached'),
        code: 'unreachable',
        since: expect.any(String),
      },
    ]);
    expect((await api(hub, 'GET', '/guards', { token: ann })).status).toBe(403);
    respond = answer({ decision: 'allow' });
    await set({ id: 'gone' });
    expect((await call('echo')).error).toBeUndefined();
    expect(await logged()).toHaveLength(2);
    expect(await states()).toEqual([{ guard: 'gone' }]);
  });

  test('has no id that could be the place of another', async () => {
    const guards = [{ id: '2', url: guard.origin, on: ['call'] }];
    const { status, text } = await api(hub, 'PUT', '/system-config', { token: admin, body: { guards } });
    expect(status).toBe(400);
    expect(text).toContain('digits alone');
  });

  test('is tried with a sample, which calls nothing', async () => {
    await set({ id: 'pii', on: ['call'] }, { id: 'off', enabled: false });
    const before = sent().length;
    const tried = (guard: string, body: object, token = admin) =>
      api(hub, 'POST', `/guards/${guard}/try`, { token, body });
    respond = answer({ decision: 'change', arguments: { text: '•' } });
    const sample = { on: 'call', server: 'db', tool: 'echo', sample: { text: 'secret' } };
    expect((await tried('pii', sample)).body.data).toEqual({ decision: 'change', changed: { text: '•' } });
    expect(asked()).toMatchObject([{ on: 'call', server: 'db', name: 'echo', arguments: { text: 'secret' } }]);
    respond = answer({ decision: 'refuse', message: 'No.' });
    expect((await tried('pii', sample)).body.data).toEqual({ decision: 'refuse', message: 'No.' });
    respond = answer({ decision: 'maybe' });
    expect((await tried('pii', sample)).body.data).toMatchObject({ decision: 'failed', code: 'no_decision' });
    expect(sent()).toHaveLength(before);
    expect((await tried('off', sample)).status).toBe(404);
    expect((await tried('pii', { on: 'call', sample: 'text' })).status).toBe(400);
    expect((await tried('pii', sample, ann)).status).toBe(403);
  });

  test('is no longer asked when the caller leaves', async () => {
    await set({ timeoutMs: 30_000 });
    respond = () => undefined;
    const left = new AbortController();
    const gone = fetch(hub.mcp(), {
      method: 'POST',
      signal: left.signal,
      headers: { ...jsonHeaders, ...bearer().headers },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"db-echo","arguments":{}}}',
    }).catch(() => undefined);
    await until('it is asked', () => guard.open.size > 0);
    left.abort();
    await gone;
    await until('the question has ended', () => guard.open.size === 0);
  });

  test('holds up no other call while it hangs', async () => {
    await set({ timeoutMs: 30_000 });
    const waiting: ServerResponse[] = [];
    respond = ({ arguments: given }, response) => {
      if (given?.['hang'] === true) waiting.push(response);
      else json(response, { decision: 'allow' });
    };
    const hanging = Array.from({ length: 5 }, () => call('echo', { hang: true }));
    await until('they wait', () => waiting.length === 5);
    expect((await call('echo', { text: 'x' })).result).toMatchObject(echoed({ text: 'x' }));
    for (const response of waiting) json(response, { decision: 'allow' });
    for (const one of hanging) expect((await one).error).toBeUndefined();
  });

  test('is not got around by a name that is twice', async () => {
    await set({ id: 'one' });
    respond = answer({ decision: 'allow' });
    const twice =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"db-echo","arguments":{"text":"a"},"arguments":{"text":"b"}}}';
    const said = await raw(hub.mcp(), { body: twice, headers: { ...jsonHeaders, ...bearer().headers } });
    expect(said.message).toMatchObject({ error: { code: -32001, data: { reason: 'guard' } } });
    expect(asked()).toEqual([]);
  });

  test('is set by admins, in settings that are checked, hide secrets and follow a server', async () => {
    const put = (guards: unknown, token = admin) => api(hub, 'PUT', '/system-config', { token, body: { guards } });
    expect((await put([], ann)).status).toBe(403);
    const wrong: [unknown, string][] = [
      [[{ url: 'ftp://x', on: ['call'] }], 'guards[0].url'],
      [[{ url: 'http://x', on: [] }], 'guards[0].on'],
      [[{ url: 'http://x', on: ['call'], timeoutMs: 60_000 }], 'guards[0].timeoutMs'],
      [[{ url: 'http://x', on: ['call'], onFailure: 'ignore' }], 'guards[0].onFailure'],
      [[{ url: 'http://x', on: ['call'], timeout: 1 }], 'guards[0]'],
      [[{ url: 'http://x', on: ['call'], id: 'secrets' }], 'guards[0].id'],
      ['http://x', 'guards'],
    ];
    for (const [guards, path] of wrong) {
      const { status, text } = await put(guards);
      expect([status, text.includes(path)], `${path} ${text}`).toEqual([400, true]);
    }
    const kept = { id: 'a', url: 'http://127.0.0.1:9/', on: ['call'], servers: ['db', 'gone'], secret: 'hidden-value' };
    expect((await put([kept])).status).toBe(200);
    const shown = async () => {
      const { body } = await api(hub, 'GET', '/settings', { token: admin });
      return (body.data as { systemConfig: { guards: Record<string, unknown>[] } }).systemConfig.guards;
    };
    expect(await shown()).toEqual([{ ...kept, secret: '••••' }]);
    expect((await put([{ ...kept, secret: '••••', timeoutMs: 100 }])).status).toBe(200);
    expect((await put([{ ...kept, secret: '••••', url: 'http://127.0.0.1:10/' }])).text).toContain('another address');
    const { text: logs } = await api(hub, 'GET', '/logs?q=there%20is%20no%20server', { token: admin });
    expect(logs).toContain('gone');
    const why = await api(hub, 'GET', '/why?tool=db/echo', { token: admin });
    expect(why.body.data).toMatchObject({ allowed: true, guards: [{ guard: 'a', on: ['call'] }] });
    const rename = (from: string, to: string) =>
      api(hub, 'PUT', `/servers/${from}`, { token: admin, body: { newName: to } });
    expect((await rename('db', 'base')).status).toBe(200);
    expect((await shown())[0]?.['servers']).toEqual(['base', 'gone']);
    expect((await rename('base', 'db')).status).toBe(200);
    await change('/system-config', { guards: null });
  });
});

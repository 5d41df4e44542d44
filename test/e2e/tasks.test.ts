import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { type Hostile, hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { modern, modernMeta, session } from '../kit/sessions.ts';
import { type SettingsDocument, testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// A task belongs to the caller that made it, at the server that made it; for all others there is none (decisions/0021).

const keys = { ann: `mcphub_${'a'.repeat(64)}`, bob: `mcphub_${'b'.repeat(64)}` };
const hashed = (value: string): string => createHash('sha256').update(value).digest('hex');
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

const task = (taskId: string): string => `{"task":{"taskId":"${taskId}","status":"working","ttl":60000,"x-exact":1.0}}`;
const capabilities = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } };

const extensions = { 'io.modelcontextprotocol/tasks': {} };
/** Of a client of 2026-07-28 that follows tasks. */
const follows = modernMeta({ 'io.modelcontextprotocol/clientCapabilities': { extensions } });

let hub: TestHub;
let settings: SettingsDocument;
let first: Hostile;
let second: Hostile;
beforeAll(async () => {
  first = await hostileHttp({
    name: 'first',
    capabilities,
    tools: ['work', 'other', 'bobs', 'finished'],
    results: {
      work: task('task-of-first'),
      other: task('another'),
      bobs: task('task-of-bob'),
      finished: task('finished'),
      'tasks/result finished': '{"content":[{"type":"text","text":"done"}]}',
      'tasks/result task-of-first':
        '{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"task-of-first"}}}',
    },
  });
  // Claims a task of the same name.
  second = await hostileHttp({ name: 'second', tools: ['steal'], results: { steal: task('task-of-first') } });
  const key = (id: string, token: string) => ({
    id,
    name: id,
    enabled: true,
    tokenHash: hashed(token),
    token,
    accessType: 'all',
    allowedGroups: [],
    allowedServers: [],
  });
  settings = {
    mcpServers: { first: first.config, second: second.config },
    bearerKeys: [key('ann', keys.ann), key('bob', keys.bob)],
    systemConfig: { routing: { enableBearerAuth: true } },
  };
  hub = await testHub(settings);
  await hub.connected(2);
});

const asked = (server: Hostile): number =>
  ['get', 'result', 'cancel', 'update'].reduce((sum, name) => sum + server.received(`tasks/${name}`).length, 0);

test('is declared where a visible server has them, and only there', async () => {
  const [has, hasNot] = await Promise.all([
    session(hub.mcp('first'), bearer(keys.ann)),
    session(hub.mcp('second'), bearer(keys.ann)),
  ]);
  expect(has.initialized.result?.capabilities?.['tasks']).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
  expect(hasNot.initialized.result?.capabilities?.['tasks']).toBeUndefined();
});

test('requests about a task go to its server, unchanged, and for no other caller', async () => {
  const [ann, again, bob] = await Promise.all([
    session(hub.mcp(), bearer(keys.ann)),
    session(hub.mcp('first'), bearer(keys.ann)),
    session(hub.mcp(), bearer(keys.bob)),
  ]);
  const unknown = await ann.request('tasks/get', { taskId: 'task-of-first' });
  expect(unknown.error).toMatchObject({ code: -32602, message: 'Unknown task: task-of-first' });
  const made = await ann.request('tools/call', { name: 'first-work', arguments: {}, task: { ttl: 60_000 } });
  expect(made.text).toContain(task('task-of-first'));
  expect(first.received('tools/call').at(-1)?.params['task']).toEqual({ ttl: 60_000 });
  for (const own of [ann, again]) {
    const got = await own.request('tasks/get', { taskId: 'task-of-first', 'x-more': [1] });
    expect(got.result).toMatchObject({ taskId: 'task-of-first', server: 'first' });
  }
  expect(first.received('tasks/get').at(-1)?.params).toEqual({ taskId: 'task-of-first', 'x-more': [1] });
  const result = await ann.request('tasks/result', { taskId: 'task-of-first' });
  expect(result.result?.['_meta']).toEqual({ 'io.modelcontextprotocol/related-task': { taskId: 'task-of-first' } });
  expect((await ann.request('tasks/cancel', { taskId: 'task-of-first' })).error).toBeUndefined();

  const before = asked(first);
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update']) {
    const answer = await bob.request(method, { taskId: 'task-of-first' });
    expect(answer.error, method).toEqual(unknown.error);
    expect((await ann.request(method, {})).error?.code).toBe(-32602);
    expect((await ann.request(method, { taskId: { toString: 'x' } })).error?.code).toBe(-32602);
  }
  expect((await ann.request('tasks/list', {})).error?.code).toBe(-32601);
  // Another server that claims the name gets nothing of it, nor does its maker.
  await ann.call('second-steal');
  // Nor does a client to whom a server tells the name.
  await bob.call('first-work');
  expect((await bob.request('tasks/get', { taskId: 'task-of-first' })).error).toEqual(unknown.error);
  await ann.request('tasks/get', { taskId: 'task-of-first' });
  expect(asked(second)).toBe(0);
  expect(asked(first)).toBe(before + 1);
});

test('a stateless client asks for its task with the headers of the revision', async () => {
  await modern(hub.mcp(), 'tools/call', { name: 'first-other', arguments: {} }, bearer(keys.ann));
  const headers = { ...bearer(keys.ann).headers, 'mcp-name': 'another' };
  const got = await modern(hub.mcp(), 'tasks/get', { taskId: 'another' }, { headers, meta: follows });
  expect(got.result).toMatchObject({ taskId: 'another', resultType: 'complete' });
  const wrong = await modern(hub.mcp(), 'tasks/get', { taskId: 'another' }, { ...bearer(keys.ann), meta: follows });
  expect([wrong.status, wrong.error?.code]).toEqual([400, -32020]);
});

test('a stateless client that does not declare the extension is told so, whether there is such a task or not', async () => {
  await modern(hub.mcp(), 'tools/call', { name: 'first-other', arguments: {} }, bearer(keys.ann));
  const before = asked(first);
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    for (const taskId of ['another', 'nowhere']) {
      const headers = { ...bearer(keys.ann).headers, 'mcp-name': taskId };
      const { status, error } = await modern(hub.mcp(), method, { taskId }, { headers });
      expect([status, error?.code, error?.data], method).toEqual([
        400,
        -32021,
        { requiredCapabilities: { extensions } },
      ]);
    }
  }
  // The revision has no such method: the result is in the answer to `tasks/get`.
  const headers = { ...bearer(keys.ann).headers, 'mcp-name': 'nowhere' };
  const removed = await modern(hub.mcp(), 'tasks/result', { taskId: 'nowhere' }, { headers, meta: follows });
  expect([removed.status, removed.error?.code]).toEqual([404, -32601]);
  expect(asked(first)).toBe(before);
});

test('a stateless client gets the result of its own task at a server of an older revision, and no other client', async () => {
  const call = await modern(hub.mcp(), 'tools/call', { name: 'first-finished', arguments: {} }, bearer(keys.ann));
  expect(call.error).toBeUndefined();
  const resultFor = (key: string) =>
    modern(hub.mcp(), 'tasks/result', { taskId: 'finished' }, { headers: bearer(key).headers, meta: follows });
  const other = await resultFor(keys.bob);
  expect([other.status, other.error?.code]).toEqual([404, -32601]);
  expect((await resultFor(keys.ann)).result).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
});

test('its owner’s session hears of it, no other; and with the tool the task is out of sight', async () => {
  const [ann, bob] = await Promise.all([session(hub.mcp(), bearer(keys.ann)), session(hub.mcp(), bearer(keys.bob))]);
  const open = await Promise.all([ann.listen(), bob.listen()]);
  await bob.call('first-bobs');
  const status = (taskId: string): string =>
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tasks/status', params: { taskId, status: 'completed' } });
  await first.control({ emit: status('nobody-has-this') });
  await first.control({ emit: status('task-of-bob') });
  await until('bob hears it', () => open[1]?.messages.some(({ method }) => method === 'notifications/tasks/status'));
  expect(JSON.stringify(open[1]?.messages)).not.toContain('nobody-has-this');
  expect(open[0]?.messages).toEqual([]);

  hub.write({
    ...settings,
    mcpServers: { ...settings.mcpServers, first: { ...first.config, tools: { bobs: { enabled: false } } } },
  });
  await until('the task is out of sight', async () => {
    return (await bob.request('tasks/get', { taskId: 'task-of-bob' })).error?.message === 'Unknown task: task-of-bob';
  });
  hub.write(settings);
  await until(
    'it is there again',
    async () => (await bob.request('tasks/get', { taskId: 'task-of-bob' })).error === undefined,
  );
});

test.each<[what: string, happen: (hub: TestHub, server: Hostile, settings: SettingsDocument) => Promise<unknown>]>([
  ['a server that has ended', (_, server) => server.control({ exit: 0 })],
  [
    'an earlier server of the name',
    async (hub, server, settings) => {
      hub.write({ ...settings, mcpServers: {} });
      await hub.connected(0);
      hub.write({ ...settings, mcpServers: { s: { ...server.config, env: { ANOTHER: 'one' } } } });
    },
  ],
])('a task of %s is not the one that gets its name', async (_, happen) => {
  const server = hostileStdio({
    name: 's',
    capabilities,
    tools: ['work'],
    results: { work: task('1') },
  });
  const own = { ...settings, mcpServers: { s: server.config } };
  const hub = await testHub(own);
  await hub.connected(1);
  const make = (token: string) =>
    modern(hub.mcp(), 'tools/call', { name: 's-work', arguments: {} }, bearer(token)).then(({ text }) => text);
  const ask = (token: string) => {
    const headers = { ...bearer(token).headers, 'mcp-name': '1' };
    return modern(hub.mcp(), 'tasks/get', { taskId: '1' }, { headers, meta: follows });
  };
  await make(keys.ann);
  expect((await ask(keys.ann)).result).toBeDefined();
  await happen(hub, server, own);
  await until(
    'it is there again',
    async () => server.pids().length === 2 && (await make(keys.bob)).includes('"taskId"'),
  );
  expect((await ask(keys.ann)).error?.message).toBe('Unknown task: 1');
  expect((await ask(keys.bob)).result).toBeDefined();
});

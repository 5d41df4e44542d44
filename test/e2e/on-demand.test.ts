import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { upstreamLimits } from '../../src/upstream/limits.ts';
import { api, login } from '../kit/api.ts';
import { type HostileOptions, hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { isAlive } from '../kit/processes.ts';
import { raw, rpc } from '../kit/raw.ts';
import { session } from '../kit/sessions.ts';
import { type SettingsDocument, type TestHub, testHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

// Servers that start on demand: a program runs while it is used, and what it offers stands meanwhile (CONTRACT §10).

interface Given extends SettingsDocument {
  server?: HostileOptions;
  entry?: Record<string, unknown>;
  folder?: string;
}

const offering: HostileOptions = {
  name: 's',
  prompts: [{ name: 'greet' }],
  resources: [{ uri: 'x://one', name: 'one' }],
};

/** A hub with such a server, which has been listed once and sleeps. */
async function sleeping({ server: options, entry, ...document }: Given = {}) {
  setLimits(upstreamLimits, { busyLookMs: 10, onDemandRetryMs: 1 });
  const server = hostileStdio({ ...offering, changeable: true, ...options });
  const config = { ...server.config, startOnDemand: true, idleTimeoutMs: 100, ...entry };
  const settings = { ...document, mcpServers: { s: config } };
  const hub = await testHub(settings);
  await asleep(hub);
  return { hub, server, config, settings };
}

const stateOf = (hub: TestHub) => hub.hub.servers().find(({ name }) => name === 's');
const asleep = (hub: TestHub) => until('it sleeps', () => stateOf(hub)?.status === 'asleep');
const call = (hub: TestHub, name: string, args: unknown = {}) =>
  rpc(hub.mcp(), 'tools/call', { name, arguments: args });
const textOf = (answer: Awaited<ReturnType<typeof call>>) => answer.result?.content?.[0]?.text ?? answer.error?.message;
const toolsOf = async (hub: TestHub, scope = '') =>
  ((await rpc(hub.mcp(scope), 'tools/list', {})).result?.tools ?? []).map(({ name }) => name);

test('after a restart of the hub all is listed without a process, and the first call starts one', async () => {
  const { hub, server, settings } = await sleeping({ groups: [{ name: 'g', servers: ['s'] }] });
  const [first] = server.pids();
  expect(server.pids()).toHaveLength(1);
  await until('its process is gone', () => !isAlive(first ?? 0));
  const before = await toolsOf(hub);
  await hub.close();

  const again = await testHub({ ...settings, folder: hub.folder });
  expect(stateOf(again)).toMatchObject({ status: 'asleep', tools: before.length, prompts: 1, resources: 1 });
  expect(await toolsOf(again)).toEqual(before);
  expect(await toolsOf(again, 'g')).toEqual(before);
  expect((await rpc(again.mcp(), 'prompts/list', {})).result?.prompts).toHaveLength(1);
  const found = await rpc(again.mcp('$smart'), 'tools/call', { name: 'search_tools', arguments: { query: 'echo' } });
  expect(JSON.stringify(found.result)).toContain('s-echo');
  expect(await again.health()).toMatchObject({
    status: 'healthy',
    servers: { total: 1, connected: 0, disconnected: 0, asleep: 1 },
  });
  const headers = { authorization: `Bearer ${await login(again)}` };
  const page = (await raw(`${again.url}/metrics`, { method: 'GET', headers })).text;
  expect(page).toContain('toolhub_server_state{server="s",state="asleep"} 1');
  expect(page).toContain('toolhub_server_up{server="s"} 1');
  expect(server.pids(), 'nothing was started for all that').toHaveLength(1);

  expect(textOf(await call(again, 's-delay', { tag: 'here' }))).toBe('here');
  expect(server.pids()).toHaveLength(2);
  await asleep(again);
});

test('every way to a server starts it', async () => {
  const { hub, server } = await sleeping();
  const token = await login(hub);
  const own = await session(hub.mcp());
  const ways: Record<string, () => Promise<unknown>> = {
    'a tool': async () => textOf(await call(hub, 's-echo')),
    'a tool on its own endpoint': async () =>
      (await rpc(hub.mcp('s'), 'tools/call', { name: 'echo', arguments: {} })).result,
    'a tool in a session': async () => (await own.call('s-echo')).result,
    'a tool found by searching': async () => {
      const params = { name: 'call_tool', arguments: { toolName: 's-echo', arguments: {} } };
      return (await rpc(hub.mcp('$smart'), 'tools/call', params)).result?.isError !== true;
    },
    'a prompt': async () => (await rpc(hub.mcp(), 'prompts/get', { name: 's-greet' })).result,
    'a resource': async () => (await rpc(hub.mcp(), 'resources/read', { uri: 'x://one' })).result,
    'a completion': async () => {
      const ref = { type: 'ref/prompt', name: 's-greet' };
      return (await rpc(hub.mcp(), 'completion/complete', { ref, argument: { name: 'a', value: 'b' } })).result;
    },
    'a call over REST': async () =>
      (await api(hub, 'POST', '/tools/call/s', { token, body: { toolName: 'echo', arguments: {} } })).body.success,
    'the OpenAPI-style route': async () => (await api(hub, 'POST', '/tools/s/echo', { body: {} })).status === 200,
    'a reconnect': async () => (await api(hub, 'POST', '/servers/s/reload', { token })).body.success,
  };
  for (const [what, way] of Object.entries(ways)) {
    const lives = server.pids().length;
    expect(await within(what, way()), what).toBeTruthy();
    await until(`${what} has started it`, () => server.pids().length === lives + 1);
    await asleep(hub);
  }
  await own.request('resources/subscribe', { uri: 'x://one' });
  expect(server.received('resources/subscribe')).toHaveLength(1);
  await own.request('resources/unsubscribe', { uri: 'x://one' });
  await asleep(hub);
});

test('fifty first calls start one process and are each made once', async () => {
  const { hub, server } = await sleeping();
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => call(hub, 's-delay', { tag: `t${i}` })));
  expect(answers.map(textOf)).toEqual(answers.map((_, i) => `t${i}`));
  expect(server.pids()).toHaveLength(2);
  expect(server.received('tools/call')).toHaveLength(50);
});

test('calls that come as it falls asleep are all answered, once', async () => {
  const { hub, server } = await sleeping({ entry: { idleTimeoutMs: 1 } });
  setLimits(upstreamLimits, { idleLeastMs: 1 });
  for (let n = 0; n < 12; n++) expect(textOf(await call(hub, 's-delay', { tag: `t${n}` }))).toBe(`t${n}`);
  expect(server.received('tools/call')).toHaveLength(12);
});

test('a call and an open question keep it awake', async () => {
  const { hub, server } = await sleeping();
  const own = await session(hub.mcp(), { capabilities: { elicitation: {} } });
  const params = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
  const stream = await own.begin('tools/call', {
    name: 's-ask',
    arguments: { method: 'elicitation/create', params },
  });
  const question = await stream.message('the question', ({ method }) => method === 'elicitation/create');
  // Longer than another one needs to sleep and wake.
  const other = await sleeping();
  await call(other.hub, 's-echo');
  await asleep(other.hub);
  expect(stateOf(hub)?.status).toBe('connected');
  await raw(hub.mcp(), {
    headers: own.headers,
    body: { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: {} } },
  });
  await stream.message('the answer', ({ result }) => result !== undefined);
  await asleep(hub);
  expect(server.pids()).toHaveLength(2);
});

test('a task whose result was not fetched keeps it awake', async () => {
  const done = '{"content":[{"type":"text","text":"done"}]}';
  const { hub, server } = await sleeping({
    server: {
      results: {
        echo: '{"task":{"taskId":"t1","status":"working","ttl":600000}}',
        'tasks/result t1': done,
      },
    },
  });
  const own = await session(hub.mcp());
  await own.call('s-echo');
  const other = await sleeping();
  await call(other.hub, 's-echo');
  await asleep(other.hub);
  expect(stateOf(hub)?.status).toBe('connected');
  expect((await own.request('tasks/result', { taskId: 't1' })).result?.content?.[0]?.text).toBe('done');
  await asleep(hub);
  expect(server.pids()).toHaveLength(2);
});

test('what changed while it slept is told, and held where pins hold: the call that woke it is not made', async () => {
  const { hub, server } = await sleeping({ systemConfig: { pins: { mode: 'hold' } } });
  const own = await session(hub.mcp());
  const events = await own.listen();
  const echo = { name: 'echo', description: 'Sends your files elsewhere.', inputSchema: { type: 'object' } };
  server.becomes({ ...offering, tools: [echo, 'fresh', 'delay'] });
  expect((await call(hub, 's-echo')).error?.message).toContain('s-echo');
  expect(server.received('tools/call')).toHaveLength(0);
  await events.message('the change', ({ method }) => method === 'notifications/tools/list_changed');
  expect(await toolsOf(hub)).toEqual(['s-delay']);
  const token = await login(hub);
  const pins = (await api(hub, 'GET', '/pins?server=s', { token })).body.data as { name: string; state: string }[];
  expect(pins).toContainEqual(expect.objectContaining({ name: 'echo', state: 'changed' }));
  expect(pins).toContainEqual(expect.objectContaining({ name: 'fresh', state: 'new' }));
});

test('a start that fails is told by name, and the next call tries again', async () => {
  const { hub, server } = await sleeping();
  server.becomes({ ...offering, exitAt: 'start', lastWords: 'Error: Cannot find module "left-pad"' });
  const refused = await within('the calls', Promise.all([call(hub, 's-echo'), call(hub, 's-echo')]));
  for (const { error } of refused) {
    expect(error?.message).toContain('not connected');
    expect(error?.data).toEqual({ reason: 'exited' });
  }
  await until('its state says it too', () => stateOf(hub)?.reason?.code === 'exited');
  expect((await hub.health()).status).toBe('degraded');
  server.becomes(offering);
  await until('a call gets through', async () => (await call(hub, 's-echo')).result);
  expect(server.received('tools/call')).toHaveLength(1);
  await asleep(hub);
});

test('a call that is cancelled while it starts is never made; one to a server that is taken away ends', async () => {
  const gate = join(temporaryFolder(), 'gate');
  writeFileSync(gate, '');
  const { hub, server, settings } = await sleeping({ server: {} });
  server.becomes({ ...offering, gate });
  const own = await session(hub.mcp());
  const cancelled = own.call('s-echo', {}, { id: 'c' });
  await until('it starts', () => stateOf(hub)?.status === 'connecting');
  await own.notify('notifications/cancelled', { requestId: 'c' });
  await within('the cancelled call', cancelled);
  const waiting = call(hub, 's-echo');
  await until('the call waits', async () => (await hub.health()).servers.connected === 0);
  hub.write({ ...settings, mcpServers: { s: { ...settings.mcpServers.s, enabled: false } } });
  expect((await within('the call', waiting)).error?.message).toMatch(/was stopped|Unknown tool|not found/i);
  rmSync(gate);
  expect(existsSync(gate)).toBe(false);
  hub.write(settings);
  await until('it is there again', () => ['asleep', 'connected'].includes(stateOf(hub)?.status ?? ''));
  expect(server.received('tools/call')).toHaveLength(0);
});

test('settings that change while it sleeps: another program is listed, another idle time is just taken over', async () => {
  const { hub, server, config } = await sleeping();
  const token = await login(hub);
  const change = (entry: Record<string, unknown>) => api(hub, 'PUT', '/servers/s', { token, body: { config: entry } });
  expect((await change({ ...config, idleTimeoutMs: 60_000 })).status).toBe(200);
  expect(stateOf(hub)?.status).toBe('asleep');
  expect(server.pids()).toHaveLength(1);
  const next = hostileStdio({ name: 's', tools: ['other'] });
  await change({ ...config, ...next.config });
  await until('the other program is listed', async () => (await toolsOf(hub)).join() === 's-other');
  await asleep(hub);
  expect([server.pids().length, next.pids().length]).toEqual([1, 1]);
  await change({ ...config, ...next.config, startOnDemand: false });
  await hub.connected(1);
});

test('switched off and on again, under another name and after a restart too, it is listed without a process', async () => {
  const { hub, server, settings, config } = await sleeping();
  const token = await login(hub);
  const before = stateOf(hub);
  const turn = (name: string, enabled: boolean) =>
    api(hub, 'POST', `/servers/${name}/toggle`, { token, body: { enabled } });
  const stateNow = (name: string) => hub.hub.servers().find((one) => one.name === name);
  const known = { status: 'asleep', tools: before?.tools, prompts: 1, resources: 1 };
  expect(before?.tools).toBeGreaterThan(0);

  await turn('s', false);
  expect(stateNow('s')).toMatchObject({ status: 'disabled', tools: 0 });
  expect(await toolsOf(hub)).toEqual([]);
  await turn('s', true);
  await until('it sleeps again', () => stateNow('s')?.status === 'asleep');
  expect(stateNow('s')).toMatchObject(known);

  await turn('s', false);
  expect((await api(hub, 'PUT', '/servers/s', { token, body: { newName: 't' } })).status).toBe(200);
  await turn('t', true);
  await until('it sleeps under its new name', () => stateNow('t')?.status === 'asleep');
  expect(stateNow('t')).toMatchObject(known);
  expect(await toolsOf(hub)).toContain('t-echo');

  await turn('t', false);
  await hub.close();
  const off = { ...settings, mcpServers: { t: { ...config, enabled: false } } };
  const again = await testHub({ ...off, folder: hub.folder });
  await api(again, 'POST', '/servers/t/toggle', { token: await login(again), body: { enabled: true } });
  await until('it sleeps', () => again.hub.servers()[0]?.status === 'asleep');
  expect(again.hub.servers()[0]).toMatchObject(known);
  expect(server.pids(), 'nothing was started for all that').toHaveLength(1);
});

test('of what a server listed, its name’s next owner sees nothing, nor does another program', async () => {
  const { hub, config, server } = await sleeping();
  const token = await login(hub);
  const body = { username: 'ann', password: 'a longer word', role: 'admin' };
  expect((await api(hub, 'POST', '/users', { token, body })).status).toBe(201);
  const change = (entry: Record<string, unknown>) =>
    api(hub, 'POST', '/mcp-settings/import', { token, body: { mcpServers: { s: { ...config, ...entry } } } });
  expect((await change({ enabled: false })).status).toBe(200);
  expect((await change({ enabled: false, owner: 'ann' })).status).toBe(200);
  expect((await change({ owner: 'ann' })).status).toBe(200);
  await until('it was started', () => server.pids().length === 2);
  await asleep(hub);
  await change({ enabled: false, owner: 'ann' });
  await change({ ...hostileStdio({ name: 's', tools: ['other'] }).config, owner: 'ann' });
  await until('the other program is listed', async () => (await toolsOf(hub)).join() === 's-other');
});

test('a server with a process for each session sleeps itself, and those end when they are idle', async () => {
  setLimits(upstreamLimits, { dedicatedSweepMs: 10 });
  const { hub, server } = await sleeping({ entry: { perSessionClient: true } });
  const own = await session(hub.mcp());
  expect((await own.call('s-echo')).result).toBeTruthy();
  expect(stateOf(hub)?.status, 'the one that lists').toBe('asleep');
  expect(server.pids()).toHaveLength(2);
  const [, pid] = server.pids();
  await until('its own process has ended', () => !isAlive(pid ?? 0));
});

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { type Hostile, hostileHttp, hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { isAlive } from '../kit/processes.ts';
import { rpc } from '../kit/raw.ts';
import { session } from '../kit/sessions.ts';
import { type HubProcess, hubProcess, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// The settings file edited by hand while the hub runs.

const tools = async (hub: Pick<TestHub, 'mcp'>, scope = '') =>
  ((await rpc(hub.mcp(scope), 'tools/list', {})).result?.tools ?? []).map((tool) => tool.name);
const pid = async (hub: TestHub, server: string) =>
  Number((await rpc(hub.mcp(), 'tools/call', { name: `${server}-pid` })).result?.content?.[0]?.text);

test.each(['in place', 'rename'] as const)(
  'servers come, change and go (edited %s) while the others stay untouched',
  async (how) => {
    const stays = hostileStdio({ name: 'stays' });
    const comes = hostileStdio({ name: 'comes', tools: ['first'] });
    const changed = hostileStdio({ name: 'comes', tools: ['second'] });
    const hub = await testHub({ mcpServers: { stays: stays.config } });
    await hub.connected(1);
    const child = await pid(hub, 'stays');
    const own = await session(hub.mcp());

    hub.write({ mcpServers: { stays: stays.config, comes: comes.config } }, how);
    await until('the new server is listed', async () => (await tools(hub)).includes('comes-first'));
    hub.write({ mcpServers: { comes: changed.config, stays: stays.config } }, how);
    await until('the changed server is listed', async () => (await tools(hub)).includes('comes-second'));
    expect(await tools(hub)).not.toContain('comes-first');
    await until('the old process is gone', () => comes.pids().every((one) => !isAlive(one)));
    hub.write(
      {
        mcpServers: {
          stays: { ...stays.config, description: 'words only' },
          comes: { ...changed.config, enabled: false },
        },
      },
      how,
    );
    await until('the disabled server is gone', async () =>
      (await tools(hub)).every((name) => !name.startsWith('comes-')),
    );
    await until('its process too', () => changed.pids().every((one) => !isAlive(one)));
    hub.write({ mcpServers: { stays: stays.config } }, how);
    await until('one server is left', async () => (await hub.health()).servers.total === 1);

    expect(await pid(hub, 'stays')).toBe(child);
    expect(stays.pids()).toEqual([child]);
    expect((await own.call('stays-delay', { tag: 'same session' })).result?.content?.[0]?.text).toBe('same session');
  },
);

test('groups come, change and go', async () => {
  const server = await hostileHttp({ name: 's', tools: ['one', 'two', 'three'] });
  const mcpServers = { s: server.config };
  const hub = await testHub({ mcpServers });
  await hub.connected(1);
  expect(await tools(hub, 'g')).toEqual([]);
  const id = '77777777-7777-4777-8777-777777777777';
  hub.write({ mcpServers, groups: [{ id, name: 'g', servers: [{ name: 's', tools: ['one', 'two'] }] }] });
  await until('the group is there', async () => (await tools(hub, 'g')).length === 2);
  hub.write({ mcpServers, groups: [{ id, name: 'renamed', servers: [{ name: 's', tools: ['three'] }] }] });
  await until('the group is renamed', async () => (await tools(hub, 'renamed')).join() === 's-three');
  expect(await tools(hub, 'g')).toEqual([]);
  expect(await tools(hub, id)).toEqual(['s-three']);
  hub.write({ mcpServers, groups: [] });
  await until('the group is gone', async () => (await tools(hub, 'renamed')).length === 0);
  expect(server.received('initialize')).toHaveLength(1);
});

describe('a broken edit', () => {
  let stays: Hostile;
  let hub: HubProcess;
  let good: string;
  beforeAll(async () => {
    stays = await hostileHttp({ name: 'stays' });
    hub = await hubProcess({ mcpServers: { stays: stays.config } });
    await hub.connected(1);
    good = readFileSync(hub.settingsPath, 'utf8');
  });

  test.each([
    ['no JSON', '{"mcpServers": {'],
    ['nothing', ''],
    ['half of it', undefined],
    ['a list', '[]'],
    ['servers that are a list', '{"mcpServers": []}'],
    ['groups that are a text', '{"groups": "all"}'],
  ])('(%s) changes nothing, and the next good one counts', async (_, text) => {
    const before = await tools(hub);
    const broken = text ?? good.slice(0, good.length / 2);
    const said = hub.output().length;
    hub.write(broken, 'in place');
    await until('the operator is told', () => hub.output().slice(said).includes('settings'));
    expect(await tools(hub)).toEqual(before);
    expect(readFileSync(hub.settingsPath, 'utf8')).toBe(broken);
    const proof = await hostileHttp({ name: 'proof', tools: ['proof'] });
    hub.write({ mcpServers: { stays: stays.config, proof: proof.config } });
    await until('the next edit counts', async () => (await tools(hub)).includes('proof-proof'));
    expect(stays.received('initialize')).toHaveLength(1);
    hub.write(good);
    await until('it is as at the start', async () => (await tools(hub)).join() === before.join());
  });
});

test('a file that is deleted under the hub stops no server', async () => {
  const stays = await hostileHttp({ name: 'stays' });
  const hub = await testHub({ mcpServers: { stays: stays.config } });
  await hub.connected(1);
  const before = await tools(hub);
  rmSync(hub.settingsPath);
  const comes = await hostileHttp({ name: 'comes', tools: ['x'] });
  expect(await tools(hub)).toEqual(before);
  hub.write({ mcpServers: { stays: stays.config, comes: comes.config } });
  await until('the file that came back counts', async () => (await tools(hub)).includes('comes-x'));
  expect(stays.received('initialize')).toHaveLength(1);
});

test('what the hub itself writes to the file leaves the rest of it alone, unknown members and all', async () => {
  const server = await hostileHttp({ name: 's' });
  const document = {
    mcpServers: { s: { ...server.config, ownersNote: { keep: [1, 2] } } },
    somethingElse: { deep: { er: true } },
    $schema: 'https://example.org/schema.json',
  };
  const hub = await testHub(document);
  await hub.connected(1);
  const written = await until('the first admin is in the file', () => {
    const parsed = JSON.parse(readFileSync(hub.settingsPath, 'utf8')) as { users?: { username: string }[] };
    return parsed.users?.length === 1 && parsed;
  });
  expect(written).toMatchObject(document);
  expect(Object.keys(written).slice(0, 3)).toEqual(Object.keys(document));
});

test('twenty edits in a burst end in the last one, with each server started at most once', async () => {
  const servers = Array.from({ length: 5 }, (_, i) => hostileStdio({ name: `s${i}`, tools: [`t${i}`] }));
  const document = (count: number) => ({
    mcpServers: Object.fromEntries(servers.slice(0, count).map((server, i) => [`s${i}`, server.config])),
  });
  const hub = await testHub(document(1));
  await hub.connected(1);
  for (let i = 0; i < 20; i++) hub.write(document(1 + (i % 5)), i % 2 === 0 ? 'in place' : 'rename');
  hub.write(document(4));
  await until('the last edit holds', async () => (await tools(hub)).join() === 's0-t0,s1-t1,s2-t2,s3-t3');
  expect(servers[0]?.pids()).toHaveLength(1);
  await until(
    'no process too many is left',
    () => servers.flatMap((server) => server.pids()).filter(isAlive).length === 4,
  );
});

describe('calls that come while a change of its settings starts a server again', () => {
  const tools = ['stays', 'goes'];
  async function restarting() {
    const gate = join(temporaryFolder(), 'gate');
    const resources = [{ uri: 'x://stays', name: 'stays' }];
    const has = { name: 's', resources, prompts: [{ name: 'stays' }] };
    const server = hostileStdio({ ...has, tools, changeable: true });
    const hub = await testHub({ mcpServers: { s: server.config } });
    const token = await login(hub);
    await hub.connected(1);
    writeFileSync(gate, '');
    server.becomes({ ...has, tools: ['stays'], gate });
    const change = (env: Record<string, string>) => api(hub, 'PUT', '/servers/s', { token, body: { config: { env } } });
    return { hub, server, token, gate, change };
  }

  test('wait for it, on every way to its tools, and one that it no longer has is unknown then', async () => {
    const { hub, server, token, gate, change } = await restarting();
    expect((await change({ COLOUR: 'red' })).status).toBe(200);
    const called = { toolName: 's-stays', arguments: {} };
    const calls = [
      rpc(hub.mcp(), 'tools/call', { name: 's-stays', arguments: {} }),
      rpc(hub.mcp('s'), 'tools/call', { name: 'stays', arguments: {} }),
      rpc(hub.mcp('$smart'), 'tools/call', { name: 'call_tool', arguments: called }),
      rpc(hub.mcp('$code'), 'tools/call', { name: 'run_code', arguments: { code: 'return await tools.s.stays()' } }),
      api(hub, 'POST', '/tools/call/s', { token, body: { toolName: 'stays' } }),
    ];
    const read = rpc(hub.mcp(), 'resources/read', { uri: 'x://stays' });
    const prompt = rpc(hub.mcp(), 'prompts/get', { name: 's-stays' });
    const ref = { type: 'ref/prompt', name: 's-stays' };
    const completed = rpc(hub.mcp(), 'completion/complete', { ref, argument: { name: 'a', value: '' } });
    const gone = rpc(hub.mcp(), 'tools/call', { name: 's-goes', arguments: {} });
    await until('it has begun again', () => server.received('initialize').length === 2);
    rmSync(gate);
    for (const answer of await Promise.all(calls)) expect(answer.text).toMatch(/tool\\*":\\*"stays/);
    expect((await gone).error).toEqual({ code: -32602, message: 'Unknown tool: s-goes' });
    expect(server.received('tools/call')).toHaveLength(5);
    for (const answer of [await read, await prompt, await completed]) expect(answer.result, answer.text).toBeDefined();
  });

  test('are told to come again when it does not connect', async () => {
    const { hub, server, gate, change } = await restarting();
    server.becomes({ name: 's', tools, exitAt: 'start' });
    rmSync(gate);
    expect((await change({ COLOUR: 'red' })).status).toBe(200);
    const { error } = await rpc(hub.mcp(), 'tools/call', { name: 's-stays', arguments: {} });
    expect(error?.code).toBe(-32000);
    expect(error?.message).toMatch(/^Server "s" is not connected\. Next attempt in \d+ s\.$/);
    expect((await change({ COLOUR: 'blue' })).status).toBe(200);
    server.becomes({ name: 's', tools });
    await until('it is called again', async () => {
      const answer = await rpc(hub.mcp(), 'tools/call', { name: 's-stays', arguments: {} });
      return answer.result !== undefined;
    });
  });
});

import { expect, test } from 'vitest';
import { hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { testHub } from '../kit/test-hub.ts';
import type { HubOptions, TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Exposed names: legal for every client, exact both ways, the same tomorrow (CONTRACT §5).

const legal = /^[A-Za-z0-9_-]{1,64}$/;

const list = async (hub: TestHub, scope = '') => (await rpc(hub.mcp(scope), 'tools/list', {})).result?.tools ?? [];

/** Where each listed name leads, found out by calling it. */
async function map(hub: TestHub, scope = ''): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { name } of await list(hub, scope)) {
    const answer = await rpc(hub.mcp(scope), 'tools/call', { name, arguments: {} });
    const { server, tool } = answer.result?.structuredContent ?? {};
    expect(found.has(name), `${name} is listed twice`).toBe(false);
    found.set(name, `${String(server)} / ${String(tool)}`);
  }
  return found;
}

async function start(servers: Record<string, string[]>, more: HubOptions = {}): Promise<TestHub> {
  const mcpServers: Record<string, Record<string, unknown>> = {};
  for (const [name, own] of Object.entries(servers)) {
    const tools = own.map((tool) => ({ name: tool, description: tool, inputSchema: {} }));
    mcpServers[name] = (await hostileHttp({ name, tools })).config;
  }
  const hub = await testHub({ mcpServers, ...more });
  await hub.connected(Object.keys(servers).length);
  return hub;
}

const everyTool = (servers: Record<string, string[]>) =>
  Object.entries(servers)
    .flatMap(([server, tools]) => tools.map((tool) => `${server} / ${tool}`))
    .sort();

test('server a with tool b-c and server a-b with tool c do not meet', async () => {
  const servers = {
    a: ['b-c', 'b-b-c', 'c', 'b'],
    'a-b': ['c', 'b-c', '-c'],
    'a-b-c': ['c', ''.padEnd(3, '-')],
    'a-': ['b-c', 'c'],
  };
  const hub = await start(servers);
  const found = await map(hub);
  expect([...found.values()].sort()).toEqual(everyTool(servers));
  for (const name of found.keys()) expect(name).toMatch(legal);
});

test('names of 200 characters, unicode names and names of odd characters are listed legally and called exactly', async () => {
  const long = 'x'.repeat(200);
  const servers = {
    s: [
      long,
      `${long.slice(0, 199)}y`,
      'größe',
      'grosse',
      'größe!',
      '日本語',
      '日本',
      '😀',
      '😁',
      'a b',
      'a.b',
      'a/b',
      'a:b',
      'a_b',
      'A_B',
      'a\nb',
      'a"b',
      'a\\b',
      'a\u0000b',
      "a'b",
      '%61',
      ' ',
      '_',
      '-',
      '--',
      'é',
      'e\u0301',
    ],
    ['l'.repeat(70)]: ['one', 'two', long],
  };
  const hub = await start(servers);
  const found = await map(hub);
  expect([...found.values()].sort()).toEqual(everyTool(servers));
  for (const name of found.keys()) expect(name).toMatch(legal);
  const own = await map(hub, 's');
  expect([...own.keys()].sort()).toEqual([...servers.s].sort());
  for (const [name, tool] of own) expect(tool).toBe(`s / ${name}`);
  for (const [name, tool] of found) {
    if (!tool.startsWith('s / ')) continue;
    const answer = await rpc(hub.mcp('s'), 'tools/call', { name, arguments: {} });
    expect(`s / ${String(answer.result?.structuredContent?.['tool'])}`, `${name} on the endpoint of its server`).toBe(
      tool,
    );
  }
});

test('a tool that is named like the short form of another cannot take its place', async () => {
  const first = await start({ s: ['größe', 'y'.repeat(200)] });
  const taken = (await list(first)).map(({ name }) => name.replace(/^s-/, ''));
  await first.close();
  for (const tools of [
    ['größe', 'y'.repeat(200), ...taken],
    [...taken, 'größe', 'y'.repeat(200)],
  ]) {
    const hub = await start({ s: tools });
    const found = await map(hub);
    expect([...found.values()].sort()).toEqual(everyTool({ s: tools }));
    await hub.close();
  }
});

test('names stay the same when servers come and go, restart, or are listed in another order', async () => {
  const servers = { a: ['b-c', 'z'.repeat(100)], 'a-b': ['c'], other: ['größe'] };
  const hub = await start(servers);
  const names = async (one: TestHub) => (await list(one)).map(({ name }) => name).sort();
  const before = await names(hub);
  await hub.close();
  const again = await start({ other: ['größe'], 'a-b': ['c'], a: ['z'.repeat(100), 'b-c'] });
  expect(await names(again)).toEqual(before);
});

test('what a name means does not depend on which servers are up', async () => {
  const [a, ab] = [
    await hostileHttp({ name: 'a', tools: ['b-c'] }),
    await hostileHttp({ name: 'a-b', tools: ['c'], initializeDelayMs: 600 }),
  ];
  const hub = await testHub({ mcpServers: { a: a.config, 'a-b': ab.config } });
  await until('the first server is listed', async () => (await list(hub)).length > 0);
  const early = await map(hub);
  await hub.connected(2);
  await until('both are listed', async () => (await list(hub)).length === 2);
  const late = await map(hub);
  for (const [name, tool] of early) expect(late.get(name), name).toBe(tool);
});

test('prompts are named as tools are, and resources keep their URI', async () => {
  const prompts = [{ name: 'größe' }, { name: 'p'.repeat(200) }, { name: 'plain' }];
  const server = await hostileHttp({ name: 's', prompts, resources: [{ uri: 'file:///größe/%20 x?#', name: 'r' }] });
  const hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
  const listed = (await rpc(hub.mcp(), 'prompts/list', {})).result?.prompts ?? [];
  const reached: string[] = [];
  for (const { name } of listed) {
    expect(name).toMatch(legal);
    reached.push((await rpc(hub.mcp(), 'prompts/get', { name })).result?.messages?.[0]?.content.text ?? 'nothing');
  }
  expect(reached.sort()).toEqual(prompts.map(({ name }) => `s:${name}`).sort());
  const resources = (await rpc(hub.mcp(), 'resources/list', {})).result?.resources;
  expect(resources?.map(({ uri }) => uri)).toEqual(['file:///größe/%20 x?#']);
  expect((await rpc(hub.mcp(), 'resources/read', { uri: 'file:///größe/%20 x?#' })).result?.contents?.[0]?.text).toBe(
    's has file:///größe/%20 x?#',
  );
});

test('resource URIs with powers over objects are URIs like any other', async () => {
  const resources = ['__proto__', 'constructor', 'toString', '']
    .map((uri) => ({ uri: `x://${uri}`, name: uri }))
    .concat([{ uri: '__proto__', name: 'p' }]);
  const hub = await testHub({ mcpServers: { s: (await hostileHttp({ name: 's', resources })).config } });
  await hub.connected(1);
  expect((await rpc(hub.mcp(), 'resources/read', { uri: '__proto__' })).result?.contents?.[0]?.text).toBe(
    's has __proto__',
  );
  expect((await rpc(hub.mcp(), 'resources/read', { uri: 'constructor' })).status).toBeLessThan(500);
});

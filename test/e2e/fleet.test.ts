import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hostileHttp, hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { raw, rpc } from '../kit/raw.ts';
import { hubProcess, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Fifty servers, twenty of them bad: the hub is there at once, the good ones come as fast as the machine starts them.

const fleet = (gate: string) => {
  const of = (count: number, kind: string, options = {}) =>
    Array.from(
      { length: count },
      (_, i) => [`${kind}${i}`, hostileStdio({ name: `${kind}${i}`, tools: ['echo'], ...options })] as const,
    );
  // The bad ones first, so that a hub that starts in order meets them first.
  const servers = [
    ...of(10, 'hangs', { silentOn: ['initialize'] }),
    ...of(10, 'crashes', { exitAt: 'start' }),
    ...of(30, 'good', { gate }),
  ];
  return { servers, mcpServers: Object.fromEntries(servers.map(([name, server]) => [name, server.config])) };
};

test('with fifty servers, ten hanging and ten crashing, the hub answers before any is connected, and the thirty good ones connect while the hanging ones are waited for', async () => {
  const gate = join(temporaryFolder(), 'gate');
  writeFileSync(gate, '');
  const { servers, mcpServers } = fleet(gate);
  // The hanging ones are waited for longer than this test may take, so that whatever waits for one of them fails it.
  const hub = await hubProcess({ mcpServers, env: { CONNECT_TIMEOUT_MS: '600000' } });
  expect((await rpc(hub.mcp(), 'tools/list', {})).status).toBe(200);
  expect((await hub.health()).servers).toMatchObject({ total: 50, connected: 0 });
  rmSync(gate);
  await hub.connected(30, 110_000);
  await until(
    'all their tools are listed',
    async () => (await rpc(hub.mcp(), 'tools/list', {})).result?.tools?.length === 30,
  );
  const health = await hub.health();
  expect(health.servers.total).toBe(50);
  expect(health.status).toBe('degraded');
  expect((await raw(new URL('/health', hub.url).href, { method: 'GET' })).status).toBe(200);
  const call = await rpc(hub.mcp(), 'tools/call', { name: 'good29-echo', arguments: { tag: 'x' } });
  expect(call.result?.structuredContent).toMatchObject({ tag: 'x' });
  // Each of these is still in its first attempt, and one that crashes is not started in a loop.
  for (const [name, server] of servers) {
    if (name.startsWith('good') || name.startsWith('hangs')) expect(server.pids().length, name).toBe(1);
    else expect(server.pids().length, name).toBeLessThanOrEqual(12);
  }
}, 180_000);

test('a slow server joins when it is ready, and the others do not wait for it', async () => {
  const gate = join(temporaryFolder(), 'gate');
  writeFileSync(gate, '');
  const slow = await hostileHttp({ name: 'slow', tools: ['echo'], gate });
  const quick = await hostileHttp({ name: 'quick', tools: ['echo'] });
  const hub = await testHub({ mcpServers: { slow: slow.config, quick: quick.config } });
  const names = async () => ((await rpc(hub.mcp(), 'tools/list', {})).result?.tools ?? []).map((tool) => tool.name);
  await until('the quick one is listed', async () => (await names()).includes('quick-echo'));
  expect(await names()).not.toContain('slow-echo');
  // A call to the slow one is answered meanwhile, whatever with.
  const early = rpc(hub.mcp('slow'), 'tools/call', { name: 'echo', arguments: { tag: 'early' } });
  rmSync(gate);
  const { result, error } = await early;
  expect(result?.structuredContent ?? error).toBeDefined();
  await until('the slow one is listed', async () => (await names()).includes('slow-echo'));
});

test('a server that is called connected has its tools listed', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const mcpServers: Record<string, Record<string, unknown>> = {};
  for (const name of names) mcpServers[name] = (await hostileHttp({ name, tools: ['echo'] })).config;
  const hub = await testHub({ mcpServers });
  const late: string[] = [];
  const seen = new Set<string>();
  await until('all are connected', async () => {
    const connected = hub.hub
      .servers()
      .filter((server) => server.status === 'connected')
      .map((server) => server.name);
    const listed = (await rpc(hub.mcp(), 'tools/list', {})).result?.tools?.map((tool) => tool.name) ?? [];
    for (const name of connected) {
      if (!seen.has(name) && !listed.includes(`${name}-echo`)) late.push(name);
      seen.add(name);
    }
    return seen.size === names.length;
  });
  expect(late).toEqual([]);
});

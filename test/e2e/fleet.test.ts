import { expect, test } from 'vitest';
import { hostileStdio } from '../kit/hostile.ts';
import { raw, rpc } from '../kit/raw.ts';
import { hubProcess, testHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

// Fifty servers, twenty of them bad: the hub is there at once, the good ones come as fast as the machine starts them.

const fleet = () => {
  const of = (count: number, kind: string, options = {}) =>
    Array.from(
      { length: count },
      (_, i) => [`${kind}${i}`, hostileStdio({ name: `${kind}${i}`, tools: ['echo'], ...options })] as const,
    );
  // The bad ones first, so that a hub that starts in order meets them first.
  const servers = [
    ...of(10, 'hangs', { silentOn: ['initialize'] }),
    ...of(10, 'crashes', { exitAt: 'start' }),
    ...of(30, 'good'),
  ];
  return { servers, mcpServers: Object.fromEntries(servers.map(([name, server]) => [name, server.config])) };
};

test('with fifty servers, ten hanging and ten crashing, the hub answers at once and the thirty good ones connect', async () => {
  const { servers, mcpServers } = fleet();
  const empty = await startTime({});
  const began = performance.now();
  const hub = await hubProcess({ mcpServers, env: { CONNECT_TIMEOUT_MS: '120000' } });
  const ready = performance.now() - began;
  const listed = await within('the first list', rpc(hub.mcp(), 'tools/list', {}), 10_000);
  expect(listed.status).toBe(200);
  // Little more than a hub without servers takes on this machine now; the hanging ones would take minutes.
  expect(ready).toBeLessThan(empty * 3 + 2_000);
  await until(
    'the thirty good servers are connected',
    async () => (await hub.health()).servers.connected === 30,
    // The hanging ones hold nobody up: were one of them waited for, it would take two minutes.
    60_000,
  );
  await until(
    'all their tools are listed',
    async () => (await rpc(hub.mcp(), 'tools/list', {})).result?.tools?.length === 30,
  );
  const health = await hub.health();
  expect(health.servers.total).toBe(50);
  expect(health.status).toBe('degraded');
  expect((await raw(new URL('/health', hub.url).href, { method: 'GET' })).status).toBe(200);
  const call = await within(
    'a call',
    rpc(hub.mcp(), 'tools/call', { name: 'good29-echo', arguments: { tag: 'x' } }),
    20_000,
  );
  expect(call.result?.structuredContent).toMatchObject({ tag: 'x' });
  // Nobody is started a second time while it is still trying, and who crashes is not started in a loop.
  for (const [name, server] of servers) {
    if (name.startsWith('good') || name.startsWith('hangs')) expect(server.pids().length, name).toBe(1);
    else expect(server.pids().length, name).toBeLessThanOrEqual(6);
  }
});

test('the good servers connect hardly later than without the bad ones', async () => {
  const all = fleet();
  const good = fleet();
  const time = async (mcpServers: Record<string, Record<string, unknown>>) => {
    const began = performance.now();
    const hub = await testHub({ mcpServers });
    await hub.connected(30, 40_000);
    const took = performance.now() - began;
    await hub.close();
    return took;
  };
  const alone = await time(
    Object.fromEntries(Object.entries(good.mcpServers).filter(([name]) => name.startsWith('good'))),
  );
  const beside = await time(all.mcpServers);
  // Fifty processes instead of thirty, on the same cores, and room for a slot that a hanging one may hold for a second.
  expect(beside).toBeLessThan(alone * 4 + 4_000);
});

test('a slow server joins when it is ready, and the others do not wait for it', async () => {
  const slow = hostileStdio({ name: 'slow', tools: ['echo'], initializeDelayMs: 1_500 });
  const quick = hostileStdio({ name: 'quick', tools: ['echo'] });
  const hub = await testHub({ mcpServers: { slow: slow.config, quick: quick.config } });
  const names = async () => ((await rpc(hub.mcp(), 'tools/list', {})).result?.tools ?? []).map((tool) => tool.name);
  await until('the quick one is listed', async () => (await names()).includes('quick-echo'));
  expect(await names()).not.toContain('slow-echo');
  // A call to the slow one waits for it instead of failing.
  const early = await rpc(hub.mcp('slow'), 'tools/call', { name: 'echo', arguments: { tag: 'early' } });
  expect(early.result?.structuredContent ?? early.error).toBeDefined();
  await until('the slow one is listed', async () => (await names()).includes('slow-echo'));
});

test('a server that is called connected has its tools listed', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const hub = await testHub({
    mcpServers: Object.fromEntries(names.map((name) => [name, hostileStdio({ name, tools: ['echo'] }).config])),
  });
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

async function startTime(mcpServers: Record<string, Record<string, unknown>>): Promise<number> {
  const began = performance.now();
  const hub = await hubProcess({ mcpServers });
  const took = performance.now() - began;
  await hub.stop('SIGTERM');
  return took;
}

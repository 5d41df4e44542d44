import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hostileHttp, hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What a hub finds in its data folder when it is started again.

/** Of hubs whose settings are changed in their file: with a shared database they would be in that. */
const env = { DB_URL: 'off' };

const tools = async (hub: TestHub) =>
  ((await rpc(hub.mcp(), 'tools/list', {})).result?.tools ?? []).map((tool) => tool.name);

test('the catalogue of the last run is served at once, while servers still connect', async () => {
  const gate = join(temporaryFolder(), 'gate');
  const server = hostileStdio({
    name: 's',
    tools: ['echo', 'delay'],
    prompts: [{ name: 'p' }],
    resources: [{ uri: 's://r', name: 'r' }],
    gate,
  });
  const hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
  await until('it is listed', async () => (await tools(hub)).length === 2);
  await hub.close();
  writeFileSync(gate, '');
  const again = await testHub({ folder: hub.folder });
  expect((await tools(again)).sort()).toEqual(['s-delay', 's-echo']);
  expect((await rpc(again.mcp(), 'prompts/list', {})).result?.prompts).toHaveLength(1);
  expect((await rpc(again.mcp(), 'resources/list', {})).result?.resources).toHaveLength(1);
  expect((await again.health()).servers.connected).toBe(0);
  // A call waits for the server that is on its way.
  const early = rpc(again.mcp(), 'tools/call', { name: 's-delay', arguments: { tag: 'early' } });
  // So it can be found, too.
  const smart = (name: string, args: object) => rpc(again.mcp('$smart'), 'tools/call', { name, arguments: args });
  const found = (await smart('search_tools', { query: 'delay' })).result;
  expect(found?.structuredContent).toMatchObject({
    tools: expect.arrayContaining([expect.objectContaining({ name: 's-delay' })]),
  });
  const called = smart('call_tool', { toolName: 's-delay', arguments: { tag: 'found' } });
  await until('the server was started', () => server.received('initialize').length === 2);
  rmSync(gate);
  expect((await early).result?.content?.[0]?.text).toBe('early');
  expect((await called).result?.content?.[0]?.text).toBe('found');
});

test('a server whose definition changed while the hub was away does not show its old tools', async () => {
  const hub = await testHub({ env, mcpServers: { s: (await hostileHttp({ name: 's', tools: ['old'] })).config } });
  await hub.connected(1);
  await hub.close();
  const other = await hostileHttp({ name: 's', tools: ['new'] });
  hub.write({ mcpServers: { s: other.config } });
  const again = await testHub({ env, folder: hub.folder });
  await until('the new tool is listed', async () => (await tools(again)).join() === 's-new');
  hub.write({ mcpServers: {} });
  await until('removed servers are gone', async () => (await tools(again)).length === 0);
});

test('a server that is taken away while the last run is still all that is known of it leaves nothing to the next of its name', async () => {
  const gate = join(temporaryFolder(), 'gate');
  const { config } = await hostileHttp({ name: 's', tools: ['old'], gate });
  const hub = await testHub({ env, mcpServers: { s: config } });
  await hub.connected(1);
  await until('it is listed', async () => (await tools(hub)).length === 1);
  await hub.close();
  writeFileSync(gate, '');
  const again = await testHub({ env, folder: hub.folder });
  expect(await tools(again)).toEqual(['s-old']);
  again.write({ mcpServers: {} });
  await until('it is gone', async () => (await tools(again)).length === 0);
  again.write({ mcpServers: { s: config } });
  await until('it is back', async () => (await again.health()).servers.total === 1);
  expect(await tools(again)).toEqual([]);
  rmSync(gate);
  await until('it is listed again', async () => (await tools(again)).join() === 's-old');
});

test.each(['garbage', '', '{"servers":7}', 'null'])(
  'a snapshot, secret or data file damaged to %j does not keep the hub from starting',
  async (damage) => {
    const hub = await testHub({ env, mcpServers: { s: (await hostileHttp({ name: 's', tools: ['echo'] })).config } });
    await hub.connected(1);
    await until('it is listed', async () => (await tools(hub)).length === 1);
    await hub.close();
    const data = join(hub.folder, 'data');
    const files = readdirSync(data, { withFileTypes: true }).filter(
      (entry) => entry.isFile() && entry.name.includes('catalog'),
    );
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) writeFileSync(join(data, file.name), damage);
    const again = await testHub({ env, folder: hub.folder });
    await until('it is listed again', async () => (await tools(again)).join() === 's-echo');
  },
);

test('secrets on disk are for the owner only', async () => {
  const hub = await testHub({ mcpServers: {} });
  const data = join(hub.folder, 'data');
  const secrets = readdirSync(data, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && /secret|key/i.test(entry.name),
  );
  expect(secrets.length).toBeGreaterThan(0);
  for (const file of secrets) expect(statSync(join(data, file.name)).mode & 0o077, file.name).toBe(0);
});

test('the calls of a day count on after a restart', async () => {
  const { config } = await hostileHttp({ name: 's', tools: ['echo'] });
  const call = (at: TestHub) => rpc(at.mcp(), 'tools/call', { name: 's-echo', arguments: {} });
  const day = (): number => Math.floor(Date.now() / 86_400_000);
  const counted = async () => {
    const hub = await testHub({ mcpServers: { s: config }, systemConfig: { limits: { default: { callsPerDay: 2 } } } });
    await hub.connected(1);
    for (let i = 0; i < 2; i++) expect((await call(hub)).message).toHaveProperty('result');
    await hub.close();
    return (await call(await testHub({ folder: hub.folder }))).message;
  };
  const begun = day();
  let answer = await counted();
  // Another day counts by itself: what was begun before midnight says nothing.
  if (day() !== begun) answer = await counted();
  expect(answer).toMatchObject({ error: { code: -32005 } });
});

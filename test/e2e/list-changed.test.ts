import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { hostileHttp, hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import type { Hostile } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import type { Stream } from '../kit/raw.ts';
import { advertises, session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import type { SettingsDocument, TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Who hears of a change: exactly those whose lists it changed.

const alpha = hostileStdio({ name: 'alpha', prompts: [{ name: 'p' }], resources: [{ uri: 'a://one', name: 'one' }] });
let beta: Hostile;
let settings: SettingsDocument;
let hub: TestHub;
beforeAll(async () => {
  beta = await hostileHttp({ name: 'beta', resources: [{ uri: 'b://one', name: 'one' }] });
  settings = {
    mcpServers: { alpha: alpha.config, beta: beta.config },
    groups: [
      { id: 'g-1', name: 'only alpha', servers: ['alpha'] },
      { id: 'g-2', name: 'only echo', servers: [{ name: 'alpha', tools: ['echo'] }] },
    ],
  };
  hub = await testHub(settings);
  await hub.connected(2);
});

const toolChanges = (events: Stream) =>
  events.messages.filter((message) => message.method === 'notifications/tools/list_changed').length;

async function listener(scope: string): Promise<{ events: Stream; tools: () => Promise<string[]> }> {
  const own = await session(hub.mcp(encodeURI(scope)));
  await own.request('tools/list');
  const events = await own.listen();
  expect(events.status).toBe(200);
  return {
    events,
    tools: async () => ((await own.request('tools/list')).result?.tools ?? []).map((tool) => tool.name),
  };
}

test('only clients whose tools changed hear of it', async () => {
  const global = await listener('');
  const group = await listener('only alpha');
  const subset = await listener('only echo');
  const single = await listener('beta');
  await rpc(hub.mcp(), 'tools/call', { name: 'alpha-grow', arguments: { tool: 'new_of_alpha' } });
  await until('the global client hears', () => toolChanges(global.events) === 1);
  await until('the group hears', () => toolChanges(group.events) === 1);
  expect(await global.tools()).toContain('alpha-new_of_alpha');
  await rpc(hub.mcp(), 'tools/call', { name: 'beta-grow', arguments: { tool: 'new_of_beta' } });
  await until('the global client hears again', () => toolChanges(global.events) === 2);
  await until('the client of beta hears', () => toolChanges(single.events) === 1);
  expect(await single.tools()).toContain('new_of_beta');
  // Both changes were told by now to whom they concern, so what the others heard is final.
  expect([toolChanges(group.events), toolChanges(subset.events), toolChanges(single.events)]).toEqual([1, 0, 1]);
});

test('a storm of notifications becomes few, and ends with the right list', async () => {
  const own = await listener('only alpha');
  await rpc(hub.mcp(), 'tools/call', { name: 'alpha-grow', arguments: { tool: 'after_the_storm', times: 500 } });
  await until('the new tool is listed', async () => (await own.tools()).includes('alpha-after_the_storm'));
  await until('it heard', () => toolChanges(own.events) >= 1);
  await rpc(hub.mcp(), 'tools/call', { name: 'alpha-grow', arguments: { tool: 'calm' } });
  await until('the calm tool is listed', async () => (await own.tools()).includes('alpha-calm'));
  await until('the second change is told', () => toolChanges(own.events) >= 2);
  expect(toolChanges(own.events)).toBeLessThanOrEqual(5);
});

test('a notification without a change is told to no client', async () => {
  const own = await listener('only alpha');
  const asked = alpha.received('tools/list').length;
  await alpha.control({ emit: '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' });
  await until('the hub has listed again', () => alpha.received('tools/list').length > asked);
  await rpc(hub.mcp(), 'tools/call', { name: 'alpha-grow', arguments: { tool: 'a_real_change' } });
  await until('the real change is told', () => toolChanges(own.events) >= 1);
  expect(toolChanges(own.events)).toBe(1);
});

test('a resource update reaches its subscribers only', async () => {
  const [mine, yours] = [await session(hub.mcp()), await session(hub.mcp())];
  const [subscribed, not] = [await mine.listen(), await yours.listen()];
  const updates = (events: Stream) =>
    events.messages
      .filter((message) => message.method === 'notifications/resources/updated')
      .map((message) => message.params?.['uri']);
  const subscription = await mine.request('resources/subscribe', { uri: 'a://one' });
  if (!advertises(mine, 'resources', 'subscribe')) return expect(subscription.error?.code).toBe(-32601);
  expect(subscription.result).toBeDefined();
  await until('the server knows', () => alpha.received('resources/subscribe').length >= 1);
  await alpha.control({
    emit: '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://one"}}',
  });
  await until('the subscriber hears', () => updates(subscribed).length === 1);
  expect((await yours.request('resources/subscribe', { uri: 'b://one' })).result).toBeDefined();
  await until('the other server knows', () => beta.received('resources/subscribe').length >= 1);
  await beta.control({
    emit: '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"b://one"}}',
  });
  await until('the other subscriber hears', () => updates(not).length === 1);
  expect([updates(subscribed), updates(not)]).toEqual([['a://one'], ['b://one']]);
  await mine.request('resources/unsubscribe', { uri: 'a://one' });
  await until('the server is told that no client listens', () => alpha.received('resources/unsubscribe').length >= 1);
  expect((await mine.request('resources/subscribe', { uri: 'nowhere://x' })).error).toBeDefined();
});

test('one subscriber leaving does not unsubscribe the other', async () => {
  const [mine, yours] = [await session(hub.mcp()), await session(hub.mcp())];
  const [, heard] = [await mine.listen(), await yours.listen()];
  const subscriptions = [];
  for (const own of [mine, yours]) subscriptions.push(await own.request('resources/subscribe', { uri: 'a://one' }));
  if (!advertises(mine, 'resources', 'subscribe')) return expect(subscriptions[1]?.error?.code).toBe(-32601);
  await mine.end();
  await alpha.control({
    emit: '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://one"}}',
  });
  await heard.message('the update', (message) => message.method === 'notifications/resources/updated');
});

test('edits of settings are told to those whose lists they change', async () => {
  const global = await listener('');
  const group = await listener('only alpha');
  const subset = await listener('only echo');
  const single = await listener('beta');
  const groups = [
    { id: 'g-1', name: 'only alpha', servers: ['alpha'] },
    { id: 'g-2', name: 'only echo', servers: [{ name: 'alpha', tools: ['echo', 'pid'] }] },
  ];
  hub.write({ ...settings, groups });
  await until('the subset hears', () => toolChanges(subset.events) === 1);
  expect((await subset.tools()).sort()).toEqual(['alpha-echo', 'alpha-pid']);
  hub.write({ mcpServers: { beta: beta.config }, groups });
  await until(
    'each with alpha hears',
    () => toolChanges(global.events) === 1 && toolChanges(group.events) === 1 && toolChanges(subset.events) === 2,
  );
  expect([await group.tools(), await subset.tools()]).toEqual([[], []]);
  expect(toolChanges(single.events)).toBe(0);
});

test('a renamed server keeps its tools while it connects again, and clients hear of the names once', async () => {
  const folder = temporaryFolder();
  const gate = join(folder, 'gate');
  const own = await hostileHttp({ name: 'own', tools: ['one', 'two'], gate });
  const renaming = await testHub({
    mcpServers: { before: own.config },
    groups: [{ id: 'g', name: 'group', servers: [{ name: 'before', tools: ['one'] }] }],
  });
  await renaming.connected(1);
  const client = await session(renaming.mcp('group'));
  const names = async () => ((await client.request('tools/list')).result?.tools ?? []).map(({ name }) => name);
  expect(await names()).toEqual(['before-one']);
  const events = await client.listen();
  writeFileSync(gate, '');
  const token = await login(renaming);
  await api(renaming, 'PUT', '/servers/before', { token, body: { newName: 'after' } });
  await until('it is told', () => toolChanges(events) === 1);
  expect(await names()).toEqual(['after-one']);
  expect((await renaming.health()).servers.connected).toBe(0);
  rmSync(gate);
  await renaming.connected(1);
  await api(renaming, 'POST', '/servers', { token, body: { name: 'later', config: alpha.config } });
  await renaming.connected(2);
  await api(renaming, 'PUT', '/groups/g', { token, body: { servers: ['after', 'later'] } });
  await until('the next change is told', async () => toolChanges(events) > 1 && (await names()).includes('later-echo'));
  expect(toolChanges(events)).toBe(2);
});

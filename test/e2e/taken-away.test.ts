import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { askable, askingStdio } from '../kit/asking.ts';
import { embeddingService } from '../kit/embedding-service.ts';
import { hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { modern, session } from '../kit/sessions.ts';
import { type HubOptions, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What is taken away is gone also for what began before: a call that waits for its server, a search that waits for its
// embedding, news of what was begun (CONTRACT §2).

/** A hub with one server, which `ann` sees until `show` says otherwise. */
async function world(config: Record<string, unknown>, options: HubOptions = {}) {
  const hub = await testHub({ mcpServers: { s: { ...config, visibility: 'public' } }, ...options });
  const admin = await login(hub);
  const ann = await userToken(hub, admin, 'ann');
  await hub.connected(1);
  const show = async (visibility: 'public' | 'private') => {
    const changed = await api(hub, 'PUT', '/servers/s', { token: admin, body: { config: { visibility } } });
    expect(changed.status, changed.text).toBe(200);
  };
  const headers = { authorization: `Bearer ${ann}` };
  return { hub, admin, ann, headers, show };
}

test('a call that waits for its server does not reach it', async () => {
  const gate = join(temporaryFolder(), 'gate');
  const server = await hostileHttp({ name: 's', tools: ['do'], gate });
  const { hub, admin, ann, headers, show } = await world(server.config);
  writeFileSync(gate, '');
  expect((await api(hub, 'POST', '/servers/s/reload', { token: admin })).status).toBe(200);
  const calls = [
    modern(hub.mcp(), 'tools/call', { name: 's-do', arguments: {} }, { headers }),
    api(hub, 'POST', '/tools/call/s', { token: ann, body: { toolName: 'do' } }),
    modern(hub.mcp('$smart'), 'tools/call', { name: 's-do', arguments: {} }, { headers }),
  ];
  await hub.health();
  await show('private');
  rmSync(gate);
  for (const text of (await Promise.all(calls)).map((answer) => answer.text)) expect(text).toContain('Unknown tool');
  await hub.connected(1);
  expect(server.received('tools/call')).toEqual([]);
});

test('a search that waits for its embedding does not find it', async () => {
  const service = await embeddingService();
  const server = await hostileHttp({ name: 's', tools: ['invoice', 'refund'] });
  const smartRouting = { openaiApiBaseUrl: service.url, openaiApiKey: 'k', embeddingModel: 'm' };
  const { hub, headers, show } = await world(server.config, { systemConfig: { smartRouting } });
  await until('its tools are embedded', () => service.texts().length >= 2);
  service.fail('hang');
  const before = service.requests.length;
  const call = { name: 'search_tools', arguments: { query: 'invoice' } };
  const searching = modern(hub.mcp('$smart'), 'tools/call', call, { headers });
  await until('the query is embedded', () => service.requests.length > before);
  await show('private');
  await service.close();
  expect((await searching).result?.structuredContent).toMatchObject({ tools: [], metadata: { totalResults: 0 } });
});

test('its news of a task are not heard any more', async () => {
  const task = '{"task":{"taskId":"t1","status":"working","ttl":60000}}';
  const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } } } };
  const server = await hostileHttp({ name: 's', capabilities, tools: ['work', 'other'], results: { work: task } });
  const { hub, admin, headers, show } = await world(server.config);
  const own = await session(hub.mcp(), { headers });
  const open = await own.listen();
  await own.call('s-work');
  const say = (status: string) =>
    server.control({
      emit: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tasks/status', params: { taskId: 't1', status } }),
    });
  const heard = () =>
    open.messages.flatMap(({ method, params }) => (method?.includes('task') ? params?.['status'] : []));
  await say('working');
  await until('it is heard', () => heard().length > 0);
  await show('private');
  await say('input_required');
  // Comes behind it.
  expect((await api(hub, 'POST', '/tools/call/s', { token: admin, body: { toolName: 'other' } })).status).toBe(200);
  await show('public');
  await say('completed');
  await until('it is heard again', () => heard().includes('completed'));
  expect(heard()).toEqual(['working', 'completed']);
});

test('the end of an elicitation by address is not heard any more', async () => {
  const { hub, admin, headers, show } = await world(askingStdio());
  const [own, theirs] = await Promise.all([
    session(hub.mcp(), { headers, capabilities: askable }),
    session(hub.mcp(), { headers: { authorization: `Bearer ${admin}` } }),
  ]);
  const open = await own.listen();
  for (const label of ['one', 'two']) expect((await own.call('s-signIn', { label })).error?.code).toBe(-32042);
  await show('private');
  await theirs.call('s-finish', { label: 'one' });
  await show('public');
  await theirs.call('s-finish', { label: 'two' });
  const ends = () => open.messages.flatMap(({ params }) => params?.['elicitationId'] ?? []);
  await until('one is heard', () => ends().length > 0);
  expect(ends()).toEqual(['e-two']);
});

import { beforeAll, describe, expect, test } from 'vitest';
import { hostileHttp } from '../kit/hostile.ts';
import type { Message } from '../kit/raw.ts';
import { raw, rpc, stream } from '../kit/raw.ts';
import { modern, modernMeta, modernRequest } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Revision 2026-07-28 on the same URLs: no session, everything in the request.

const server = await hostileHttp({
  name: 'alpha',
  resources: [{ uri: 'note://one', name: 'one' }],
  prompts: [{ name: 'greet' }],
  tools: ['echo', 'delay', 'progress', 'hang', 'log', 'grow', 'größe', 'rpc_error'],
});
let hub: TestHub;
beforeAll(async () => {
  hub = await testHub({ mcpServers: { alpha: server.config } });
  await hub.connected(1);
});

test('server/discover tells which revisions and capabilities there are', async () => {
  const { status, headers, result } = await modern(hub.mcp(), 'server/discover');
  expect(status).toBe(200);
  expect(headers['mcp-session-id']).toBeUndefined();
  expect(result?.['supportedVersions']).toContain('2026-07-28');
  expect(result).toMatchObject({ capabilities: { tools: expect.any(Object) }, resultType: 'complete' });
  expectCacheHints(result);
});

test('lists come without a session, with cache hints', async () => {
  for (const [method, member, one] of [
    ['tools/list', 'tools', 'alpha-echo'],
    ['prompts/list', 'prompts', 'alpha-greet'],
    ['resources/list', 'resources', 'note://one'],
    ['resources/templates/list', 'resourceTemplates', undefined],
  ] as const) {
    const { status, headers, result } = await modern(hub.mcp(), method);
    expect(status, method).toBe(200);
    expect(headers['mcp-session-id']).toBeUndefined();
    expect(result?.['resultType']).toBe('complete');
    expectCacheHints(result);
    const names = ((result?.[member] ?? []) as { name: string; uri?: string }[]).map((item) => item.uri ?? item.name);
    if (one !== undefined) expect(names).toContain(one);
  }
});

test('calls, prompts and resources are answered with a complete result', async () => {
  const call = await modern(hub.mcp(), 'tools/call', { name: 'alpha-delay', arguments: { tag: 'now' } });
  expect([call.status, call.result?.content?.[0]?.text, call.result?.['resultType']]).toEqual([200, 'now', 'complete']);
  const prompt = await modern(hub.mcp(), 'prompts/get', { name: 'alpha-greet' });
  expect([prompt.result?.messages?.[0]?.content.text, prompt.result?.['resultType']]).toEqual([
    'alpha:greet',
    'complete',
  ]);
  const resource = await modern(hub.mcp(), 'resources/read', { uri: 'note://one' });
  expect([resource.result?.contents?.[0]?.text, resource.result?.['resultType']]).toEqual([
    'alpha has note://one',
    'complete',
  ]);
  expectCacheHints(resource.result);
});

test('a resource that no server has is -32602 with its URI, never the retired -32002', async () => {
  const { error } = await modern(hub.mcp(), 'resources/read', { uri: 'nowhere://x' });
  expect(error).toMatchObject({ code: -32602, data: { uri: 'nowhere://x' } });
});

test('a name beyond ASCII travels encoded in Mcp-Name', async () => {
  const name = 'größe';
  const encoded = `=?base64?${Buffer.from(name).toString('base64')}?=`;
  const good = await modern(hub.mcp('alpha'), 'tools/call', { name }, { headers: { 'mcp-name': encoded } });
  expect([good.status, good.result?.structuredContent?.['tool']]).toEqual([200, name]);
  const other = `=?base64?${Buffer.from('echo').toString('base64')}?=`;
  const bad = await modern(hub.mcp('alpha'), 'tools/call', { name }, { headers: { 'mcp-name': other } });
  expect([bad.status, bad.error?.code]).toEqual([400, -32020]);
});

describe('headers must say what the body says', () => {
  const call = { name: 'alpha-echo', arguments: {} };
  test.each([
    ['no Mcp-Method', 'tools/call', { 'mcp-method': undefined }],
    ['another Mcp-Method', 'tools/call', { 'mcp-method': 'tools/list' }],
    ['no Mcp-Name', 'tools/call', { 'mcp-name': undefined }],
    ['another Mcp-Name', 'tools/call', { 'mcp-name': 'alpha-delay' }],
    ['another revision', 'tools/call', { 'mcp-protocol-version': '2025-11-25' }],
    ['no revision', 'tools/call', { 'mcp-protocol-version': undefined }],
    ['broken base64', 'tools/call', { 'mcp-name': '=?base64?%%%?=' }],
    ['no Mcp-Method on a list', 'tools/list', { 'mcp-method': undefined }],
  ])('%s: 400, and no server hears of it', async (_, method, headers) => {
    const before = server.received('tools/call').length;
    const answer = await modern(hub.mcp(), method, method === 'tools/call' ? call : {}, {
      headers,
    });
    expect(answer.status).toBe(400);
    expect(answer.error?.code).toBe(-32020);
    expect(server.received('tools/call')).toHaveLength(before);
  });

  test('the method is compared as it is written', async () => {
    const answer = await modern(hub.mcp(), 'tools/list', {}, { headers: { 'mcp-method': 'Tools/List' } });
    expect([answer.status, answer.error?.code]).toEqual([400, -32020]);
  });
});

describe('what the request must say of its client', () => {
  const without = (key: string) => {
    const meta: Record<string, unknown> = modernMeta();
    delete meta[`io.modelcontextprotocol/${key}`];
    return meta;
  };

  test('client capabilities are required: 400 and -32602', async () => {
    const answer = await modern(hub.mcp(), 'tools/list', {}, { meta: without('clientCapabilities') });
    expect([answer.status, answer.error?.code]).toEqual([400, -32602]);
  });

  test('the revision is required in the body too: 400', async () => {
    const answer = await modern(hub.mcp(), 'tools/list', {}, { meta: without('protocolVersion') });
    expect(answer.status).toBe(400);
    expect([-32602, -32020]).toContain(answer.error?.code);
  });

  test('who the client is may be left out', async () => {
    expect((await modern(hub.mcp(), 'tools/list', {}, { meta: without('clientInfo') })).status).toBe(200);
  });

  test('a revision from the future is 400, -32022 and names what there is', async () => {
    const answer = await modern(
      hub.mcp(),
      'tools/list',
      {},
      {
        headers: { 'mcp-protocol-version': '2099-01-01' },
        meta: modernMeta({ 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }),
      },
    );
    expect([answer.status, answer.error?.code]).toEqual([400, -32022]);
    expect(answer.error?.data).toMatchObject({
      requested: '2099-01-01',
      supported: expect.arrayContaining(['2026-07-28']),
    });
  });
});

test('methods that the revision took away, and methods that never were, are 404 and -32601', async () => {
  for (const method of ['tools/destroy', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']) {
    const answer = await modern(hub.mcp(), method, method.startsWith('resources') ? { uri: 'note://one' } : {});
    expect([answer.status, answer.error?.code], method).toEqual([404, -32601]);
  }
});

test('an error of the server reaches the client with its code and data', async () => {
  const answer = await modern(hub.mcp(), 'tools/call', { name: 'alpha-rpc_error' });
  expect(answer.error).toMatchObject({ code: -31999, message: 'own words' });
  expect(answer.text).toContain('12345678901234567890');
});

test('progress comes before the result, with the token the client chose', async () => {
  const answer = await modern(
    hub.mcp(),
    'tools/call',
    { name: 'alpha-progress', arguments: { steps: 5, tag: 'p' } },
    { meta: modernMeta({ progressToken: 'mine' }) },
  );
  expect(answer.headers['content-type']).toContain('text/event-stream');
  expect(answer.messages.map((message) => message.params?.progress ?? 'result')).toEqual([1, 2, 3, 4, 5, 'result']);
  expect(answer.messages.slice(0, 5).every((message) => message.params?.progressToken === 'mine')).toBe(true);
});

test('without a wish for log messages none are sent; with it they are', async () => {
  const logs = (messages: Message[]) =>
    messages.filter((message) => message.method === 'notifications/message').map((message) => message.params?.data);
  const silent = await modern(hub.mcp(), 'tools/call', { name: 'alpha-log', arguments: { tag: 'unwanted' } });
  expect(logs(silent.messages)).toEqual([]);
  expect(silent.result?.content?.[0]?.text).toBe('logged');
});

test('closing the response is cancelling: the server hears of it', async () => {
  const open = await stream(hub.mcp(), {
    method: 'POST',
    ...modernRequest(
      'tools/call',
      { name: 'alpha-hang', arguments: { tag: 'closing' } },
      { meta: modernMeta({ progressToken: 1 }) },
    ),
  });
  const upstream = await until('the call arrived', () =>
    server.received('tools/call').find((call) => JSON.stringify(call.params).includes('closing')),
  );
  open.close();
  await until('the cancellation arrived', () =>
    server.received('notifications/cancelled').some((note) => note.params['requestId'] === upstream.id),
  );
});

test('subscriptions/listen acknowledges first, then tells of changes it was asked for', async () => {
  const open = await stream(hub.mcp(), {
    method: 'POST',
    ...modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: 'sub-1' }),
  });
  expect(open.status).toBe(200);
  const first = await open.message('the acknowledgement', () => true);
  expect(first.method).toBe('notifications/subscriptions/acknowledged');
  await rpc(hub.mcp(), 'tools/call', { name: 'alpha-grow', arguments: {} });
  const change = await open.message('the change', (message) => message.method === 'notifications/tools/list_changed');
  for (const message of [first, change]) {
    expect(message.params?.['_meta']).toMatchObject({ 'io.modelcontextprotocol/subscriptionId': 'sub-1' });
  }
});

test('both eras are served side by side on one URL', async () => {
  const [old, now] = await Promise.all([rpc(hub.mcp(), 'tools/list', {}), modern(hub.mcp(), 'tools/list')]);
  expect(old.result?.tools).toEqual(now.result?.tools);
  expect((await raw(hub.mcp(), { body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).result).toEqual({});
});

function expectCacheHints(result: Record<string, unknown> | undefined): void {
  expect(result?.['ttlMs']).toBeGreaterThanOrEqual(0);
  expect(['public', 'private']).toContain(result?.['cacheScope']);
}

import { beforeAll, describe, expect, test } from 'vitest';
import { clientKinds, connect } from '../kit/clients.ts';
import { httpFixture, stdioFixture } from '../kit/conformance-fixture.ts';
import { type EraEntry, eraHttp, type EraServer, eraStdio } from '../kit/era-server.ts';
import { jsonHeaders, raw, rpc, stream } from '../kit/raw.ts';
import { modern, modernMeta, modernRequest, session } from '../kit/sessions.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Servers of 2026-07-28 behind the hub: what they get, and what comes back, for clients of both eras.

const key = (name: string): string => `io.modelcontextprotocol/${name}`;
const speaks = ['stateless'] as const;

async function hubOf(server: EraServer): Promise<TestHub> {
  const hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
  return hub;
}

function called(server: EraServer): EraEntry {
  const call = server.journal().findLast(({ method }) => method === 'tools/call');
  if (!call) throw new Error('no call arrived');
  return call;
}
const metaOf = (server: EraServer) => called(server).params?.['_meta'] as Record<string, unknown>;

test.each(['stdio', 'http'] as const)(
  'a request over %s says who sends it, what its client can do, and nothing else of the client',
  async (place) => {
    const server = place === 'stdio' ? eraStdio({ speaks }) : await eraHttp({ speaks });
    const hub = await hubOf(server);
    const hubIs = { name: 'toolhub', title: 'Tool Hub', version: expect.any(String) as string };

    await rpc(hub.mcp(), 'tools/call', { name: 's-seen', arguments: {} });
    expect(metaOf(server)).toEqual({
      [key('protocolVersion')]: '2026-07-28',
      [key('clientInfo')]: hubIs,
      [key('clientCapabilities')]: {},
    });

    const capabilities = { elicitation: { form: {} }, extensions: { 'example.org/x': { n: 1 } } };
    const own = { traceparent: '00-1', 'example.org/y': [1] };
    const meta = modernMeta({ [key('clientCapabilities')]: capabilities, [key('logLevel')]: 'warning', ...own });
    await modern(hub.mcp(), 'tools/call', { name: 's-seen', arguments: {} }, { meta });
    expect(metaOf(server)).toEqual({
      [key('protocolVersion')]: '2026-07-28',
      [key('clientInfo')]: hubIs,
      [key('clientCapabilities')]: capabilities,
      [key('logLevel')]: 'warning',
      ...own,
    });

    const old = await session(hub.mcp(), { capabilities: { sampling: {}, roots: {} } });
    await old.call('s-seen', {}, { meta: { ...own, [key('clientInfo')]: { name: 'me' } } });
    expect(metaOf(server)).toMatchObject({
      [key('protocolVersion')]: '2026-07-28',
      [key('clientCapabilities')]: { sampling: {}, roots: {} },
      [key('clientInfo')]: hubIs,
      ...own,
    });
  },
);

test('a request is written as the client wrote it, except for what says who sends it', async () => {
  const server = eraStdio({ speaks });
  const hub = await hubOf(server);
  const text =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"n":12345678901234567890,"_meta":1},"name":"s-seen"}}';
  await raw(hub.mcp(), { body: text });
  const { params } = called(server);
  expect(params?.['arguments']).toMatchObject({ _meta: 1 });
  expect(Object.keys(params ?? {})).toEqual(['_meta', 'arguments', 'name']);
});

test('over HTTP the headers repeat the request, also where they must be encoded', async () => {
  const server = await eraHttp({ speaks });
  const hub = await hubOf(server);
  const { result } = await rpc(hub.mcp('s'), 'tools/call', { name: 'näme', arguments: { region: ' süd\n' } });
  expect(result?.isError).not.toBe(true);
  expect(called(server).headers).toMatchObject({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': '=?base64?bsOkbWU=?=',
    'mcp-param-region': '=?base64?IHPDvGQK?=',
  });
  // Null and nothing have no header.
  for (const args of [{ region: null }, {}]) {
    await rpc(hub.mcp('s'), 'tools/call', { name: 'näme', arguments: args });
    expect(called(server).headers).not.toHaveProperty('mcp-param-region');
  }
});

test('a session of their own does not change what calls carry', async () => {
  const server = await eraHttp({ speaks }, { perSessionClient: true });
  const hub = await hubOf(server);
  const own = await session(hub.mcp('s'));
  const { result } = await own.call('näme', { region: 'eu' });
  expect(JSON.parse(result?.content?.[0]?.text ?? '{}')).toMatchObject({ headers: { 'mcp-param-region': 'eu' } });
});

test('a tool whose headers have changed is called with the new ones', async () => {
  const server = await eraHttp({ speaks });
  const hub = await hubOf(server);
  server.become({ speaks, header: 'Area' });
  const { result, error } = await rpc(hub.mcp('s'), 'tools/call', { name: 'näme', arguments: { region: 'eu' } });
  expect(error).toBeUndefined();
  expect(JSON.parse(result?.content?.[0]?.text ?? '{}')).toMatchObject({ headers: { 'mcp-param-area': 'eu' } });
});

test('a tool that names headers wrongly is left out over HTTP, and no other', async () => {
  const bad = {
    name: 'bad',
    inputSchema: { type: 'object', properties: { n: { type: 'number', 'x-mcp-header': 'N' } } },
  };
  const names = async (server: EraServer) =>
    (await rpc((await hubOf(server)).mcp('s'), 'tools/list', {})).result?.tools?.map(({ name }) => name);
  expect(await names(await eraHttp({ speaks, tools: [bad] }))).toEqual(['seen', 'grow', 'wait', 'näme']);
  // There are no headers on stdio.
  expect(await names(eraStdio({ speaks, tools: [bad] }))).toContain('bad');
});

test('what the operator writes in headers does not replace those of the protocol', async () => {
  const server = await eraHttp({ speaks }, { headers: { 'Mcp-Name': 'x', 'Mcp-Method': 'y', 'X-Own': 'z' } });
  const hub = await hubOf(server);
  await rpc(hub.mcp(), 'tools/call', { name: 's-seen', arguments: {} });
  expect(called(server).headers).toMatchObject({ 'mcp-name': 'seen', 'mcp-method': 'tools/call', 'x-own': 'z' });
});

test('a client that leaves ends its call: over HTTP by leaving the response, on stdio by saying so', async () => {
  const http = await eraHttp({ speaks });
  const stdio = eraStdio({ speaks });
  for (const [server, isHttp] of [
    [http, true],
    [stdio, false],
  ] as const) {
    const hub = await hubOf(server);
    const leaving = new AbortController();
    const { headers, body } = modernRequest('tools/call', { name: 's-wait', arguments: {} }, {});
    const running = fetch(hub.mcp(), {
      method: 'POST',
      headers: { ...jsonHeaders, ...headers } as Record<string, string>,
      body: JSON.stringify(body),
      signal: leaving.signal,
    }).catch(() => 'left');
    const id = await until(
      'the call arrived',
      () => server.journal().find(({ params }) => params?.['name'] === 'wait')?.id,
    );
    leaving.abort();
    expect(await running).toBe('left');
    const left = () =>
      server.journal().some((entry) => entry.event === 'left' && entry.id === id && entry.ended === false);
    const told = () =>
      server
        .journal()
        .some(({ method, params }) => method === 'notifications/cancelled' && params?.['requestId'] === id);
    await until('the server knows', isHttp ? left : told);
    if (isHttp) expect(server.asked()).not.toContain('notifications/cancelled');
  }
});

const toolNames = async (hub: TestHub) =>
  (await rpc(hub.mcp('s'), 'tools/list', {})).result?.tools?.map(({ name }) => name) ?? [];

test.each(['stdio', 'http'] as const)('a changed list over %s is heard of, and read again', async (place) => {
  const server = place === 'stdio' ? eraStdio({ speaks }) : await eraHttp({ speaks });
  const hub = await hubOf(server);
  await rpc(hub.mcp('s'), 'tools/call', { name: 'grow', arguments: {} });
  await until('the new tool is listed', async () => (await toolNames(hub)).includes('extra'));
  const listening = server.journal().filter(({ method }) => method === 'subscriptions/listen');
  expect(listening).toHaveLength(1);
  expect(listening[0]?.params?.['notifications']).toEqual({ toolsListChanged: true });
});

test('a stream of changes that broke is opened again, and what was missed is read', async () => {
  const server = await eraHttp({ speaks });
  const hub = await hubOf(server);
  server.cutStreams();
  await until('the hub has noticed', () =>
    server.journal().some(({ event, ended }) => event === 'left' && ended === false),
  );
  server.become({ speaks, tools: [{ name: 'meanwhile', inputSchema: { type: 'object' } }] });
  await until('the new tool is listed', async () => (await toolNames(hub)).includes('meanwhile'));
  expect(server.journal().filter(({ method }) => method === 'subscriptions/listen').length).toBeGreaterThan(1);
});

test('a server that tells of no changes is asked once, and works', async () => {
  const server = await eraHttp({ speaks, noListen: true });
  const hub = await hubOf(server);
  for (let i = 0; i < 3; i++)
    expect((await rpc(hub.mcp(), 'tools/call', { name: 's-seen', arguments: {} })).error).toBeUndefined();
  expect(server.asked().filter((method) => method === 'subscriptions/listen')).toHaveLength(1);
});

test.each(['stdio', 'http'] as const)(
  'a resource of an official server over %s is watched for clients of both eras',
  async (place) => {
    const uri = 'test://watched-resource';
    const config = place === 'stdio' ? stdioFixture('new') : { type: 'streamable-http', url: await httpFixture('new') };
    const hub = await testHub({ mcpServers: { s: config } });
    await hub.connected(1);
    const old = await session(hub.mcp('s'));
    const streams = [
      await old.listen(),
      await stream(hub.mcp(), {
        method: 'POST',
        ...modernRequest('subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } }, { id: 'mine' }),
      }),
    ];
    expect((await old.request('resources/subscribe', { uri })).error).toBeUndefined();
    await until(
      'it is acknowledged',
      () => streams[1]?.messages[0]?.method === 'notifications/subscriptions/acknowledged',
    );
    await old.call('test_trigger_resource_update');
    const told = () =>
      streams.map(
        ({ messages }) => messages.find(({ method }) => method === 'notifications/resources/updated')?.params,
      );
    await until('both hear', () => told().every((params) => params !== undefined));
    expect(told()).toEqual([{ uri }, { uri, _meta: { [key('subscriptionId')]: 'mine' } }]);
  },
);

test('a server without sessions gets nothing of before: no ping, no session, no GET', async () => {
  const server = await eraHttp({ speaks }, { keepAliveInterval: 1_000 });
  await hubOf(server);
  server.asked();
  await until('it was asked for a sign of life', () => server.asked().includes('server/discover'));
  const journal = server.journal().filter(({ event }) => event === 'http');
  expect(new Set(journal.map(({ verb }) => verb))).toEqual(new Set(['POST']));
  expect(journal.map(({ method }) => method)).not.toContain('ping');
  expect(journal.some(({ headers }) => headers?.['mcp-session-id'] !== undefined)).toBe(false);
});

describe('official servers of 2026-07-28', () => {
  let hub: TestHub;
  beforeAll(async () => {
    const url = await httpFixture('new');
    hub = await testHub({ mcpServers: { stdio: stdioFixture('new'), http: { type: 'streamable-http', url } } });
    await hub.connected(2);
  });

  test.each(clientKinds)('work for a %s client, over stdio and HTTP', async (kind) => {
    for (const name of ['stdio', 'http']) {
      const client = await connect(kind, hub.url, name);
      expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('test_simple_text');
      const steps: number[] = [];
      const burst = await client.callTool(
        'test_progress_burst',
        {},
        { onprogress: ({ progress }) => void steps.push(progress) },
      );
      expect(burst.content[0]?.text).toBe('Done in a burst.');
      // The libraries' SSE clients lose what arrives together with the answer, from any server.
      if (!kind.endsWith('sse')) expect(steps).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
      expect((await client.callTool('test_structured_content', { city: 'Oslo' })).structuredContent).toEqual({
        city: 'Oslo',
        degrees: 21.5,
      });
      expect((await client.callTool('test_header_parameter', { region: 'süd', shard: 3 })).content[0]?.text).toBe(
        '{"region":"süd","shard":3}',
      );
      expect((await client.readResource('test://static-text')).contents[0]?.text).toContain('static text');
      expect((await client.readResource('test://template/7/data')).contents[0]?.text).toContain('Data for ID: 7');
      expect((await client.getPrompt('test_simple_prompt')).messages).toHaveLength(1);
      expect(await client.complete('test_prompt_with_arguments', 'arg1', 'par')).toEqual(['paris', 'park', 'party']);
      const changes = client.toolChanges();
      await client.callTool('test_trigger_tool_change');
      if (kind !== 'v2 stateless') await until('the change is heard', () => client.toolChanges() > changes);
      await until('the tool is there', async () =>
        (await client.listTools()).tools.some((tool) => tool.name === 'test_passing_tool'),
      );
      await client.callTool('test_trigger_tool_change');
      await until('the tool is gone again', async () =>
        (await client.listTools()).tools.every((tool) => tool.name !== 'test_passing_tool'),
      );
      await client.close();
    }
  });

  test('stop the call of a client that cancels', async () => {
    for (const name of ['stdio', 'http'])
      for (const kind of ['v1 http', 'v2 stateless'] as const) {
        const client = await connect(kind, hub.url, name);
        const counts = async () =>
          JSON.parse((await client.callTool('test_cancellations')).content[0]?.text ?? '{}') as Record<string, number>;
        const before = (await counts())['cancelled'] ?? 0;
        const leaving = new AbortController();
        const call = client.callTool('test_wait_for_cancellation', {}, { signal: leaving.signal }).catch(() => 'left');
        await until('it runs', async () => (await counts())['running'] === 1);
        leaving.abort();
        expect(await call).toBe('left');
        await until('it was cancelled', async () => ((await counts())['cancelled'] ?? 0) > before);
      }
  });
});

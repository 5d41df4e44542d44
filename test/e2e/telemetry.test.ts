import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { askingHttp } from '../kit/asking.ts';
import { connect } from '../kit/clients.ts';
import { attributesOf, type Collector, collector } from '../kit/collector.ts';
import { eraHttp, type EraServer, eraStdio } from '../kit/era-server.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { oauthFixture } from '../kit/oauth-server.ts';
import { documentOf, restApi } from '../kit/openapi.ts';
import { person } from '../kit/person.ts';
import { raw, rpc } from '../kit/raw.ts';
import { modern, modernMeta, session } from '../kit/sessions.ts';
import { hubProcess, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// OpenTelemetry (CONTRACT §10): a call is one trace, from the client's span through the hub to its server.

const clientSpan = (n: number) => ({
  traceId: `${n}`.padStart(32, 'a'),
  spanId: `${n}`.padStart(16, 'b'),
});
let last = 0;
/** A parent of its own for each call. */
function parent(flags = '01') {
  const { traceId, spanId } = clientSpan(++last);
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

/** What the server got of the trace with its last call. */
function seen(server: EraServer) {
  const calls = server.journal().filter(({ method }) => method === 'tools/call');
  const { params, headers } = calls.at(-1) ?? {};
  const meta = (params?.['_meta'] ?? {}) as Record<string, unknown>;
  return { meta, headers };
}

describe('a call is one trace', () => {
  let hub: TestHub;
  let to: Collector;
  const servers: Record<string, EraServer> = {};

  beforeAll(async () => {
    to = await collector();
    servers['oldpipe'] = eraStdio({ speaks: ['session'] });
    servers['newpipe'] = eraStdio({ speaks: ['stateless'] });
    servers['oldhttp'] = await eraHttp({ speaks: ['session'] });
    servers['newhttp'] = await eraHttp({ speaks: ['stateless'] });
    const broken = await hostileHttp({
      tools: [{ name: 'broken', inputSchema: { type: 'object' } }],
      results: { broken: '{"content":[{"type":"text","text":"secret words"}],"isError":true}' },
    });
    const mcpServers = Object.fromEntries(Object.entries(servers).map(([name, { config }]) => [name, config]));
    hub = await testHub({
      mcpServers: { ...mcpServers, broken: broken.config },
      env: { ...to.env, LOG_LEVEL: 'info' },
    });
    await hub.connected(5);
  });

  const cases = ['oldpipe', 'newpipe', 'oldhttp', 'newhttp'].flatMap((server) =>
    (['session', 'stateless', 'header'] as const).map((client) => [client, server] as const),
  );
  test.each(cases)('of a client (%s) at %s', async (client, name) => {
    const { traceId, spanId, traceparent } = parent();
    const meta = { traceparent, tracestate: 'vendor=1', baggage: 'k=v' };
    const params = { name: `${name}-seen`, arguments: { word: 'never-in-a-span' } };
    if (client === 'session') await (await session(hub.mcp())).call(`${name}-seen`, params.arguments, { meta });
    else if (client === 'stateless') await modern(hub.mcp(), 'tools/call', params, { meta: modernMeta(meta) });
    else await rpc(hub.mcp(), 'tools/call', params, { headers: { traceparent, tracestate: 'vendor=1' } });

    const request = await to.span({ traceId, kind: 'server' });
    expect(request).toMatchObject({ name: `tools/call ${name}-seen`, parent: spanId, isError: false });
    expect(request.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': `${name}-seen`,
      'gen_ai.operation.name': 'execute_tool',
      'network.transport': 'tcp',
    });
    expect('mcp.session.id' in request.attributes).toBe(client === 'session');
    const call = await to.span({ traceId, kind: 'client' });
    expect(call).toMatchObject({ name: 'tools/call seen', parent: request.spanId, tracestate: 'vendor=1' });
    expect(call.attributes).toMatchObject({
      'toolhub.server.name': name,
      'network.transport': name.endsWith('pipe') ? 'pipe' : 'tcp',
      'mcp.protocol.version': name.startsWith('new') ? '2026-07-28' : '2025-11-25',
    });
    const handedOn = `00-${traceId}-${call.spanId}-01`;
    const got = seen(servers[name] as EraServer);
    expect(got.meta).toMatchObject({ traceparent: handedOn, tracestate: 'vendor=1' });
    expect(got.meta['baggage']).toBe(client === 'header' ? undefined : 'k=v');
    if (name.endsWith('http')) expect(got.headers).toMatchObject({ traceparent: handedOn, tracestate: 'vendor=1' });
  });

  test('of a caller over REST, and of one that has no trace', async () => {
    const token = await login(hub);
    const { traceId, spanId, traceparent } = parent();
    const body = { toolName: 'seen', arguments: {} };
    const answer = await api(hub, 'POST', '/tools/call/oldpipe', { token, body, headers: { traceparent } });
    expect(answer.status).toBe(200);
    expect(await to.span({ traceId, kind: 'server' })).toMatchObject({ parent: spanId });

    await rpc(hub.mcp('newpipe'), 'tools/call', { name: 'seen', arguments: {} }, { id: 'mine' });
    const own = to.spans().length;
    await until('its span', () => to.spans().some(({ attributes }) => attributes['jsonrpc.request.id'] === 'mine'));
    const root = to.spans().find(({ attributes }) => attributes['jsonrpc.request.id'] === 'mine');
    expect(root).toMatchObject({ name: 'tools/call seen', parent: undefined });
    expect(own).toBeGreaterThan(0);
    // The record of the call names its trace.
    const { data } = (await api(hub, 'GET', '/activities?limit=5', { token })).body as unknown as {
      data: { traceId?: string }[];
    };
    expect(data.map((one) => one.traceId)).toContain(root?.traceId);
  });

  test('a trace that is not recorded stays so, and its server is told', async () => {
    const { traceId, traceparent } = parent('00');
    await (await session(hub.mcp())).call('newhttp-seen', {}, { meta: { traceparent } });
    expect(seen(servers['newhttp'] as EraServer).meta['traceparent']).toMatch(
      new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`),
    );
    await rpc(hub.mcp('newhttp'), 'tools/call', { name: 'seen', arguments: {} }, { id: 'after' });
    await until('the next span', () =>
      to.spans().some(({ attributes }) => attributes['jsonrpc.request.id'] === 'after'),
    );
    expect(to.spans().filter((span) => span.traceId === traceId)).toEqual([]);
  });

  test.each([
    ['no form', 'x'.repeat(100_000)],
    ['zeros', `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`],
    ['another version with more', `00-${'c'.repeat(32)}-${'b'.repeat(16)}-01-${'x'.repeat(500)}`],
    ['an object', { traceId: 1 }],
  ])('a parent of %s begins a trace, and its state goes no further', async (_, traceparent) => {
    const id = `bad ${++last}`;
    const params = { name: 'seen', arguments: {}, _meta: { traceparent, tracestate: 'vendor=1' } };
    await rpc(hub.mcp('newpipe'), 'tools/call', params, { id });
    await until('its span', () => to.spans().some(({ attributes }) => attributes['jsonrpc.request.id'] === id));
    const { meta } = seen(servers['newpipe'] as EraServer);
    expect(meta['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(meta['tracestate']).toBeUndefined();
    expect(to.spans().find(({ attributes }) => attributes['jsonrpc.request.id'] === id)?.parent).toBeUndefined();
  });

  test('names, arguments and results of callers are in no span; failures are of few kinds', async () => {
    const failures = [
      { name: 'broken-broken', arguments: { word: 'secret words' } },
      { name: 'secret words', arguments: {} },
    ];
    for (const [i, params] of failures.entries()) await rpc(hub.mcp(), 'tools/call', params, { id: `fails ${i}` });
    await rpc(hub.mcp(), 'secret words/x', {}, { id: 'fails 2' });
    const of = (i: number) => to.spans().find(({ attributes }) => attributes['jsonrpc.request.id'] === `fails ${i}`);
    await until('their spans', () => [0, 1, 2].every((i) => of(i) !== undefined));
    expect([0, 1, 2].map((i) => [of(i)?.name, of(i)?.attributes['error.type'], of(i)?.isError])).toEqual([
      ['tools/call broken-broken', 'tool_error', true],
      ['tools/call', '-32602', true],
      ['_OTHER', '-32601', true],
    ]);
    expect(of(1)?.attributes['toolhub.error']).toBe('not_found');
    const sent = to.requests.filter(({ path }) => path === '/v1/traces').map(({ body }) => body.toString());
    expect(sent.join('\n')).not.toMatch(/secret words|never-in-a-span/);
  });

  test('metrics and the log go out as well, and a bucket points to a trace where OpenMetrics is asked for', async () => {
    await until('metrics', () => to.metrics().has('mcp.server.operation.duration'));
    const points = () => to.metrics().get('mcp.client.operation.duration')?.histogram?.dataPoints ?? [];
    await until('the calls', () => points().length > 4);
    expect(points().map(({ attributes }) => attributesOf(attributes))).toContainEqual({
      'mcp.method.name': 'tools/call',
      'toolhub.server.name': 'newhttp',
      'gen_ai.tool.name': 'seen',
      'gen_ai.operation.name': 'execute_tool',
    });
    expect([...to.metrics().keys()]).toContain('toolhub_calls_total');
    await until('the log', () => to.logs().some((text) => text.startsWith('connected')));

    const token = await login(hub);
    const ask = (accept: string) =>
      raw(new URL('/metrics', hub.url).href, { method: 'GET', headers: { authorization: `Bearer ${token}`, accept } });
    const open = await ask('application/openmetrics-text; version=1.0.0');
    expect(open.headers['content-type']).toContain('application/openmetrics-text');
    expect(open.text).toMatch(
      /_bucket\{.*\} \d+ # \{trace_id="[0-9a-f]{32}",span_id="[0-9a-f]{16}"\} [\d.e-]+ [\d.]+\n/,
    );
    expect(open.text.endsWith('# EOF\n')).toBe(true);
    expect((await ask('text/plain')).text).not.toContain('trace_id');
  });

  test('a collector that takes nothing is told of once, and by /health; calls go on', async () => {
    const health = async () => (await hub.health()) as unknown as { status: string; telemetry?: unknown };
    expect(await health()).toMatchObject({ telemetry: { traces: 'ok', metrics: 'ok', logs: 'ok' } });
    to.answer(400);
    await rpc(hub.mcp('newpipe'), 'tools/call', { name: 'seen', arguments: {} });
    await until('all fail', async () => {
      const { telemetry } = await health();
      return JSON.stringify(telemetry) === '{"traces":"failing","metrics":"failing","logs":"failing"}';
    });
    expect((await rpc(hub.mcp('newpipe'), 'tools/call', { name: 'seen', arguments: {} })).result).toBeDefined();
    const { data } = (await api(hub, 'GET', '/logs?q=collector', { token: await login(hub) })).body as unknown as {
      data: { message: string }[];
    };
    expect(data.filter(({ message }) => message.includes('takes no telemetry'))).toHaveLength(3);
    to.answer(200);
    await rpc(hub.mcp('newpipe'), 'tools/call', { name: 'seen', arguments: {} });
    await until('it takes them again', async () =>
      JSON.stringify((await health()).telemetry).includes('"traces":"ok"'),
    );
  });
});

test('where a tenth is recorded, requests of clients that want more are bounded', async () => {
  const to = await collector();
  const server = await eraHttp({ speaks: ['session'] });
  const env = { ...to.env, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
  const hub = await testHub({ mcpServers: { s: server.config }, env });
  await hub.connected(1);
  await rpc(hub.mcp(), 'tools/call', { name: 's-seen', arguments: {} });
  const { traceId, traceparent } = parent();
  await rpc(hub.mcp(), 'tools/call', { name: 's-seen', arguments: {}, _meta: { traceparent } });
  await to.span({ traceId, kind: 'client' });
  expect(new Set(to.spans().map((span) => span.traceId))).toEqual(new Set([traceId]));
  await hub.close();
});

test('protobuf by default, with the headers that the operator gave, and all that waits is sent at the end', async () => {
  const to = await collector();
  const server = await eraHttp({ speaks: ['session'] });
  const env = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${to.url}/own/path`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20its-token',
    OTEL_SERVICE_NAME: 'hub of the test',
  };
  const hub = await testHub({ mcpServers: { s: server.config }, env });
  await hub.connected(1);
  await rpc(hub.mcp(), 'tools/call', { name: 's-seen', arguments: {} });
  expect(to.requests).toEqual([]);
  await hub.close();
  expect(to.requests.map(({ path }) => path)).toEqual(['/own/path']);
  const [{ headers, body } = { headers: {}, body: Buffer.from('') }] = to.requests;
  expect(headers).toMatchObject({ 'content-type': 'application/x-protobuf', authorization: 'Bearer its-token' });
  for (const text of ['hub of the test', 'tools/call s-seen', 'tools/call seen', 'toolhub.server.name'])
    expect(body.includes(text), text).toBe(true);
});

test('the built program sends traces, metrics and the log too', async () => {
  const to = await collector();
  const hub = await hubProcess({ mcpServers: {}, env: { ...to.env, LOG_LEVEL: 'info' } });
  await rpc(hub.mcp(), 'ping', {});
  await to.span({ name: 'ping', kind: 'server' });
  await until('the log arrived', () => to.logs().length > 0);
  await until('the metrics arrived', () => to.metrics().has('mcp.server.operation.duration'));
  expect(await hub.health()).toMatchObject({ telemetry: { traces: 'ok', metrics: 'ok', logs: 'ok' } });
  // Nothing of Node or of a library is between the lines of the log.
  expect(hub.output().split('\n')).toEqual(
    hub
      .output()
      .split('\n')
      .map(() => expect.stringMatching(/^\{.*\}$|^$/)),
  );
});

test('off: the trace of a client passes as it is, and nothing is added', async () => {
  const server = await eraHttp({ speaks: ['session'] });
  const off = { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  const hub = await testHub({ mcpServers: { s: server.config }, env: off });
  await hub.connected(1);
  await rpc(hub.mcp(), 'tools/call', { name: 's-seen', arguments: {}, _meta: { traceparent: 'as it is' } });
  expect(seen(server)).toMatchObject({ meta: { traceparent: 'as it is' } });
  await rpc(
    hub.mcp(),
    'tools/call',
    { name: 's-seen', arguments: {} },
    { headers: { traceparent: parent().traceparent } },
  );
  expect(seen(server).meta).toEqual({});
  expect(seen(server).headers).not.toHaveProperty('traceparent');
  expect(await hub.health()).not.toHaveProperty('telemetry');
});

test('searches, what code calls and sign-ins to servers have spans of their own', async () => {
  const to = await collector();
  const server = await eraHttp({ speaks: ['session'] });
  const fixture = await oauthFixture();
  const mail = { type: 'streamable-http', url: fixture.url };
  const hub = await testHub({ mcpServers: { s: server.config, mail }, env: to.env });
  const token = await login(hub);
  const signIn = await until('the page to sign in at', async () => {
    const { body } = await api(hub, 'GET', '/servers', { token });
    const servers = body.data as { name: string; oauth?: { authorizationUrl: string } }[];
    return servers.find(({ name }) => name === 'mail')?.oauth?.authorizationUrl;
  });
  await person().open(signIn);
  expect(await to.span({ name: 'sign-in redeem' })).toMatchObject({
    kind: 'client',
    parent: undefined,
    attributes: { 'toolhub.server.name': 'mail' },
  });

  await hub.connected(2);
  await rpc(hub.mcp('$smart'), 'tools/call', { name: 'search_tools', arguments: { query: 'seen' } });
  const request = await to.span({ name: 'tools/call search_tools' });
  expect(await to.span({ name: 'search tools' })).toMatchObject({ parent: request.spanId, kind: 'internal' });

  await rpc(hub.mcp('$code'), 'tools/call', { name: 'run_code', arguments: { code: 'return tools.s.seen({})' } });
  const run = await to.span({ name: 'tools/call run_code' });
  const inner = await to.span({ name: 'tools/call s-seen' });
  expect(inner).toMatchObject({ parent: run.spanId, traceId: run.traceId, kind: 'internal' });
  expect(await to.span({ name: 'tools/call seen', traceId: run.traceId })).toMatchObject({ parent: inner.spanId });
});

test('what a server asks of a client is a part of its call, whatever the client answers', async () => {
  const to = await collector();
  const hub = await testHub({ mcpServers: { ask: await askingHttp() }, env: to.env });
  await hub.connected(1);
  const answers = {
    elicit: () => ({ action: 'accept' as const, content: { word: 'never-in-a-span' } }),
    sample: () => ({ role: 'assistant' as const, model: 'm', content: { type: 'text' as const, text: 'x' } }),
    roots: () => ({ roots: [] }),
  };
  for (const kind of ['v1 http', 'v2 stateless'] as const) {
    const { traceparent, traceId } = parent();
    const client = await connect(kind, hub.url, 'ask', { traceparent }, answers);
    await client.callTool('ask-form', { label: 'x' });
    const call = await to.span({ traceId, name: 'tools/call form', kind: 'client' });
    const asked = await to.span({ traceId, name: 'elicitation/create' });
    expect(asked).toMatchObject({ kind: 'client', parent: call.spanId, isError: false });
    expect(asked.attributes).toEqual({ 'mcp.method.name': 'elicitation/create', 'toolhub.server.name': 'ask' });
  }
  const { traceparent, traceId } = parent();
  const mute = await connect('v1 http', hub.url, 'ask', { traceparent });
  await mute.callTool('ask-form', { label: 'x' }).catch(() => undefined);
  expect(await to.span({ traceId, name: 'elicitation/create' })).toMatchObject({ isError: true });
  const counted = await until('questions are counted', () => to.metrics().get('mcp.client.operation.duration'));
  const kinds = counted.histogram?.dataPoints.map(({ attributes }) => attributesOf(attributes)['mcp.method.name']);
  expect(kinds).toContain('elicitation/create');
  const bodies = to.requests.map(({ body }) => body.toString()).join('');
  expect(bodies).not.toContain('never-in-a-span');
});

test('a REST API gets the trace of the call', async () => {
  const to = await collector();
  const rest = await restApi();
  const document = documentOf(rest.origin, { '/pets': { get: { operationId: 'pets' } } });
  const hub = await testHub({
    mcpServers: { pets: { type: 'openapi', openapi: { schema: document } } },
    env: to.env,
  });
  await hub.connected(1);
  const { traceId, traceparent } = parent();
  const headers = { traceparent, tracestate: 'vendor=1' };
  await rpc(hub.mcp(), 'tools/call', { name: 'pets-pets', arguments: {} }, { headers });
  const call = await to.span({ traceId, kind: 'client' });
  expect(rest.received.at(-1)?.headers).toMatchObject({
    traceparent: `00-${traceId}-${call.spanId}-01`,
    tracestate: 'vendor=1',
  });
});

test('sessions of clients and with servers are timed when they end', async () => {
  const to = await collector();
  const server = await eraHttp({ speaks: ['session'] });
  const hub = await testHub({ mcpServers: { s: server.config }, env: to.env });
  await hub.connected(1);
  const own = await session(hub.mcp());
  await own.end();
  const token = await login(hub);
  await api(hub, 'POST', '/servers/s/toggle', { token, body: { enabled: false } });
  const series = (name: string) =>
    to
      .metrics()
      .get(name)
      ?.histogram?.dataPoints.map(({ attributes, count }) => {
        return { ...attributesOf(attributes), count };
      }) ?? [];
  const common = { 'network.transport': 'tcp', 'network.protocol.name': 'http', count: 1 };
  await until('both are counted', () => series('mcp.client.session.duration').length > 0);
  expect(series('mcp.server.session.duration')).toMatchObject([{ ...common }]);
  expect(series('mcp.client.session.duration')).toMatchObject([{ ...common, 'toolhub.server.name': 's' }]);
  expect(series('mcp.client.session.duration')[0]).not.toHaveProperty('error.type');
});

test('off: what a hub loads has no code of the exporters in it', () => {
  const folder = new URL('../../dist/', import.meta.url);
  const texts = new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith('.js'))
      .map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]),
  );
  const exporters = [...texts].filter(([, text]) => text.includes('BatchLogRecordProcessor')).map(([name]) => name);
  expect(exporters).toHaveLength(1);
  // What stands at the beginning of a line is loaded with the file, what stands in a function is not.
  const users = [...texts].filter(([, text]) => text.includes(`require("./${exporters[0]}")`));
  expect(users.map(([name]) => name)).toEqual(['start-hub.js']);
  for (const [, text] of users)
    for (const line of text.split('\n').filter((one) => one.includes(`"./${exporters[0]}"`)))
      expect(line).toMatch(/^\t.*await Promise\.resolve\(\)\.then\(/);
});

import { beforeAll, describe, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { type Hostile, hostileHttp } from '../kit/hostile.ts';
import { raw, type RawAnswer, rpc } from '../kit/raw.ts';
import { modern, modernMeta, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Servers whose pages of MCP Apps have one address, tools for apps alone, and calls that pages make (CONTRACT §11).

const page = 'ui://map/view.html';
const apps = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } };
let hub: TestHub;
const servers: Record<string, Hostile> = {};

async function server(name: string, more: Record<string, unknown>[] = []): Promise<Hostile> {
  const schema = { inputSchema: { type: 'object' } };
  return hostileHttp({
    name,
    tools: [
      { name: 'show', description: `Shows the map of ${name}`, ...schema, _meta: { ui: { resourceUri: page } } },
      { name: 'refresh', description: `Draws the map again`, ...schema, _meta: { ui: { visibility: ['app'] } } },
      ...more.map((one) => ({ ...schema, ...one })),
    ],
    resources: [{ uri: page, name: 'page', mimeType: 'text/html;profile=mcp-app' }],
    capabilities: { tools: {}, resources: { subscribe: true } },
    results: {
      [page]: `{"contents":[{"uri":"${page}","mimeType":"text/html;profile=mcp-app","text":"${name}"}]}`,
      'ui://map/made.html': `{"contents":[{"uri":"ui://map/made.html","text":"made by ${name}"}]}`,
      show: `{"content":[{"type":"resource_link","uri":"ui://map/made.html","name":"x"}],"_meta":{"ui":{"resourceUri":"${page}"}}}`,
    },
  });
}

beforeAll(async () => {
  servers['geo'] = await server('geo', [{ name: 'zoom', _meta: { ui: { visibility: ['app'] } } }]);
  servers['sea'] = await server('sea');
  const plain = await hostileHttp({ name: 'plain', tools: [{ name: 'other', inputSchema: { type: 'object' } }] });
  hub = await testHub({
    mcpServers: { geo: servers['geo'].config, sea: servers['sea'].config, plain: plain.config },
    groups: [
      { id: 'g', name: 'maps', servers: ['geo', 'sea'] },
      { id: 'h', name: 'one', servers: ['geo', 'plain'] },
    ],
  });
  await hub.connected(3);
});

const names = ({ result }: Pick<RawAnswer, 'result'>): string[] => (result?.tools ?? []).map(({ name }) => name);
const pageOf = (tool: Record<string, unknown> | undefined): unknown =>
  (tool?.['_meta'] as { ui?: { resourceUri?: unknown } } | undefined)?.ui?.resourceUri;

describe.each(['', 'maps'])('at "%s", pages of the same address', (scope) => {
  test('are told apart: in the tools, in the list, when read, and in results', async () => {
    const client = await session(hub.mcp(scope));
    const { tools } = (await client.request('tools/list')).result ?? {};
    const { resources } = (await client.request('resources/list')).result ?? {};
    const uris: string[] = [];
    for (const name of ['geo', 'sea']) {
      const uri = String(pageOf(tools?.find((one) => one.name === `${name}-show`)));
      uris.push(uri);
      expect(uri).toMatch(/^ui:\/\//);
      expect(resources?.map((one) => one.uri)).toContain(uri);
      const read = await client.request('resources/read', { uri });
      expect(read.result?.contents).toMatchObject([{ uri, text: name }]);
      expect((await modern(hub.mcp(scope), 'resources/read', { uri })).result?.contents).toMatchObject([
        { uri, text: name },
      ]);
      const called = (await client.call(`${name}-show`)).result;
      expect(pageOf(called)).toBe(uri);
      const made = called?.content?.[0]?.['uri'];
      expect((await client.request('resources/read', { uri: made })).result?.contents).toMatchObject([
        { uri: made, text: `made by ${name}` },
      ]);
    }
    expect(new Set(uris).size).toBe(2);
    const own = await client.request('resources/read', { uri: page });
    expect(own.error, 'several have it').toMatchObject({ code: -32002 });
  });

  test('are heard of by the address that was subscribed to', async () => {
    const client = await session(hub.mcp(scope));
    const stream = await client.listen();
    await client.request('resources/subscribe', { uri: 'ui://sea/map/view.html' });
    const update = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: page } });
    await servers['sea']?.control({ emit: update });
    await until('the news', () => stream.messages.some(({ params }) => params?.['uri'] === 'ui://sea/map/view.html'));
    expect(servers['sea']?.received('resources/subscribe').map(({ params }) => params['uri'])).toContain(page);
    await client.end();
  });
});

test.each(['geo', 'one'])('at "%s", where one server has pages, they keep their address', async (scope) => {
  const client = await session(hub.mcp(scope));
  const { tools } = (await client.request('tools/list')).result ?? {};
  expect(pageOf(tools?.find((one) => one.name.endsWith('show')))).toBe(page);
  expect((await client.request('resources/read', { uri: page })).result?.contents).toMatchObject([
    { uri: page, text: 'geo' },
  ]);
  const made = 'ui://map/made.html';
  expect((await client.request('resources/read', { uri: made })).result?.contents).toMatchObject([{ uri: made }]);
});

describe('tools for apps alone', () => {
  test.each(['', 'maps', 'geo'])('at "%s" are listed for clients that show apps, and for no other', async (scope) => {
    const plain = await session(hub.mcp(scope));
    expect(names(await plain.request('tools/list')).filter((name) => /refresh|zoom/.test(name))).toEqual([]);
    const host = await session(hub.mcp(scope), { capabilities: apps });
    expect(names(await host.request('tools/list')).filter((name) => name.endsWith('zoom'))).toHaveLength(1);
    const meta = modernMeta({ 'io.modelcontextprotocol/clientCapabilities': apps });
    const since = await modern(hub.mcp(scope), 'tools/list', {}, { meta });
    expect(names(since).filter((name) => name.endsWith('zoom'))).toHaveLength(1);
  });

  test('are neither found nor described nor called by smart routing, and in no OpenAPI document', async () => {
    const smart = async (name: string, args: object) =>
      (await rpc(hub.mcp('$smart'), 'tools/call', { name, arguments: args })).result;
    await until('the search', async () =>
      JSON.stringify(await smart('search_tools', { query: 'shows the map' })).includes('geo-show'),
    );
    const found = await smart('search_tools', { query: 'draws the map again', limit: 100 });
    expect(JSON.stringify(found)).not.toContain('refresh');
    expect((await smart('call_tool', { toolName: 'geo-refresh' }))?.isError).toBe(true);
    const document = await api(hub, 'GET', '/openapi.json', { token: await login(hub) });
    expect(document.text).toContain('geo-show');
    expect(document.text).not.toContain('refresh');
  });
});

describe('a call that a page makes', () => {
  test.each(['', 'maps', '$smart'])('by a bare name at "%s" reaches the server that has the tool', async (scope) => {
    const host = await session(hub.mcp(scope), { capabilities: apps });
    expect((await host.call('zoom', { text: 'a' })).error).toBeUndefined();
    expect(servers['geo']?.received('tools/call').at(-1)?.params).toMatchObject({ name: 'zoom' });
  });

  test('by a name that several have is refused with the candidates', async () => {
    const host = await session(hub.mcp(), { capabilities: apps });
    const before = servers['geo']?.received('tools/call').length;
    expect((await host.call('refresh')).error).toMatchObject({
      code: -32602,
      data: { candidates: ['geo-refresh', 'sea-refresh'] },
    });
    expect(servers['geo']?.received('tools/call')).toHaveLength(before ?? -1);
    expect((await host.call('sea-refresh')).error).toBeUndefined();
  });

  test('does not make names of servers without pages shorter', async () => {
    const host = await session(hub.mcp(), { capabilities: apps });
    expect((await host.call('other')).error).toMatchObject({ code: -32602 });
  });
});

describe('beside servers that would take their place', () => {
  const pageAt = (uri: string, text: string) => `{"contents":[{"uri":"${uri}","text":"${text}"}]}`;
  const shows = (uri: string) => [
    { name: 'show', inputSchema: { type: 'object' }, _meta: { ui: { resourceUri: uri } } },
  ];
  const capabilities = { tools: {}, resources: {} };
  const listing = (uri: string) => ({ uri, name: 'page' });

  async function hubOf(given: Record<string, Hostile>): Promise<TestHub> {
    const mcpServers = Object.fromEntries(Object.entries(given).map(([name, { config }]) => [name, config]));
    const other = await testHub({ mcpServers });
    await other.connected(Object.keys(given).length);
    return other;
  }

  async function textAt(other: TestHub, uri: unknown): Promise<unknown> {
    const { result, error } = await rpc(other.mcp(), 'resources/read', { uri });
    return result?.contents?.[0]?.['text'] ?? error?.code;
  }

  test('a page that only a tool names is read at its server', async () => {
    const named = (name: string, uri: string) =>
      hostileHttp({ name, capabilities, tools: shows(uri), results: { [uri]: pageAt(uri, name) } });
    const catching = await hostileHttp({
      name: 'wide',
      capabilities,
      resourceTemplates: [{ uriTemplate: '{+path}', name: 'all' }],
      results: { 'ui://one/view': pageAt('ui://one/view', 'wide'), 'ui://view/two': pageAt('ui://view/two', 'wide') },
    });
    const one = await named('one', 'ui://one/view');
    const two = await named('two', 'ui://view/two');
    const other = await hubOf({ wide: catching, one, two });
    const { tools } = (await rpc(other.mcp(), 'tools/list')).result ?? {};
    for (const name of ['one', 'two'])
      expect(await textAt(other, pageOf(tools?.find((tool) => tool.name === `${name}-show`))), name).toBe(name);
  });

  test('a shared address leads to its own server', async () => {
    const shared = 'ui://geo/map/view.html';
    const evil = await hostileHttp({
      name: 'evil',
      capabilities,
      resources: [listing(page), listing(shared)],
      results: { [page]: pageAt(page, 'evil'), [shared]: pageAt(shared, 'evil') },
    });
    const geo = await hostileHttp({
      name: 'geo',
      capabilities,
      tools: shows(page),
      resources: [listing(page)],
      results: { [page]: pageAt(page, 'geo') },
    });
    const other = await hubOf({ evil, geo });
    expect(await textAt(other, shared)).toBe('geo');
    expect(await textAt(other, `ui://evil/${shared.slice('ui://'.length)}`)).toBe('evil');
  });
});

test('servers are told that clients of the hub show apps', () => {
  const [first] = servers['geo']?.received('initialize') ?? [];
  expect(first?.params).toMatchObject({ capabilities: apps });
});

test('the session of a client that shows apps is known again after a restart of its stream', async () => {
  const host = await session(hub.mcp(), { capabilities: apps });
  const answer = await raw(hub.mcp(), {
    headers: host.headers,
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  });
  expect(names(answer)).toContain('geo-zoom');
});

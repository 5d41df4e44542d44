import { load } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { resolveRef } from '../../src/core/schema/ref.ts';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { exactAt } from '../kit/exact-json.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { rewriteSettings, storedSettings } from '../kit/hub-database.ts';
import { rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Tools as plain HTTP operations, and the OpenAPI documents that describe them (SPEC, Tool execution without
// authentication; CONTRACT §2, §4).

const simple = {
  name: 'simple',
  title: 'Simple',
  description: 'Counts "things".',
  inputSchema: {
    type: 'object',
    properties: { count: { type: 'integer', maximum: 10 }, on: { type: 'boolean' } },
    required: ['count'],
  },
  outputSchema: { type: 'object', properties: { server: { type: 'string' } } },
};
const rich = {
  name: 'rich',
  inputSchema: {
    type: 'object',
    properties: {
      tags: { type: 'array', items: { type: 'string' } },
      filter: { type: 'object', properties: { size: { type: 'integer' }, in: { type: 'object' } } },
      node: { $ref: '#/$defs/node' },
      far: { $ref: 'http://198.51.100.7/schema.json' },
    },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, n: { type: 'integer' } } } },
  },
};
const open = await hostileHttp({
  name: 'open',
  tools: [simple, rich, 'fail', 'rpc_error', 'hang', 'odd/na me', 'off'],
  toolTexts: [
    ...[simple, rich].map((tool) => JSON.stringify(tool)),
    ...['fail', 'rpc_error', 'hang', 'odd/na me', 'off'].map((name) =>
      JSON.stringify({ name, inputSchema: { type: 'object' } }),
    ),
    '{"name":"big","inputSchema":{"type":"object","properties":{"id":{"type":"string","x":18446744073709551615}}}}',
    '{"name":"strange","inputSchema":7}',
    '{"name":"anything","inputSchema":true}',
  ],
  results: { big: '{"content":[],"structuredContent":{"id":12345678901234567890}}' },
});
const closed = await hostileHttp({ name: 'closed', tools: ['peek', 'poke'] });
const theirs = await hostileHttp({ name: 'theirs', tools: ['peek'] });
const named = await hostileHttp({ name: 'call', tools: ['me'] });
const dead = hostileStdio({ exitAt: 'start' });

let hub: TestHub;
let admin: string;
let alice: string;
let bob: string;
let servers: Record<string, Record<string, unknown>>;

beforeAll(async () => {
  servers = {
    open: { ...open.config, tools: { off: { enabled: false } }, options: { timeout: 2_000 } },
    closed: { ...closed.config, visibility: 'private' },
    theirs: { ...theirs.config, visibility: 'group', sharedWithUsers: ['bob'] },
    call: named.config,
    dead: dead.config,
  };
  hub = await testHub({
    mcpServers: servers,
    groups: [
      {
        id: 'aaaaaaaa-1111-4111-8111-111111111111',
        name: 'some',
        servers: [{ name: 'open', tools: ['simple', 'fail'] }, 'closed'],
      },
      { id: 'bbbbbbbb-1111-4111-8111-111111111111', name: 'tools', servers: ['open'] },
      { id: 'cccccccc-1111-4111-8111-111111111111', name: 'hidden', servers: ['open'], visibility: 'private' },
    ],
  });
  await hub.connected(4);
  admin = await login(hub);
  alice = await userToken(hub, admin, 'alice', { servers: ['open', 'closed'] });
  bob = await userToken(hub, admin, 'bob', { servers: ['open'] });
});

type Method = 'GET' | 'POST';
const run = (
  method: Method,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
) => api(hub, method, path, options);
/** The arguments that the fixture got, of an answer that echoes them. */
const echoed = ({ body }: { body: Record<string, unknown> }) =>
  (JSON.parse((body['content'] as { text: string }[])[0]?.text ?? '{}') as { arguments: unknown }).arguments;

describe('execution', () => {
  test('a GET takes arguments from the query, a POST from the body; both answer the bare result', async () => {
    const got = await run('GET', '/tools/open/simple?count=3&on=true');
    expect(got.status).toBe(200);
    expect(got.body).toEqual({
      content: [{ type: 'text', text: expect.any(String) as string }],
      structuredContent: { server: 'open', tool: 'simple', tag: null },
      isError: false,
    });
    expect(echoed(got)).toEqual({ count: 3, on: true });
    expect(echoed(await run('POST', '/tools/open/simple', { body: { count: '4' } }))).toEqual({ count: 4 });
    expect(echoed(await run('POST', '/tools/open/rich'))).toEqual({});
  });

  test.each([
    ['tags=a&tags=b', { tags: ['a', 'b'] }],
    ['tags=a', { tags: ['a'] }],
    ['tags=["a","b"]', { tags: ['a', 'b'] }],
    ['filter.size=3&filter.in.x=y', { filter: { size: 3, in: { x: 'y' } } }],
    ['filter={"size":"3"}', { filter: { size: 3 } }],
    ['node.next.next.n=1', { node: { next: { next: { n: 1 } } } }],
    ['unknown=1&unknown=2', { unknown: ['1', '2'] }],
    ['__proto__.x=1', JSON.parse('{"__proto__":{"x":"1"}}')],
  ])('?%s means what one would think', async (query, expected) => {
    expect(echoed(await run('GET', `/tools/open/rich?${encodeURI(query)}`))).toEqual(expected);
  });

  test.each([
    ['GET', '/tools/open/simple', 'count'],
    ['GET', '/tools/open/simple?count=3.5', 'count'],
    ['GET', '/tools/open/simple?count=', 'count'],
    ['GET', '/tools/open/simple?count=1&count=2', 'count'],
    ['GET', '/tools/open/simple?count=11', 'count'],
    ['GET', '/tools/open/rich?filter=1&filter.size=2', 'filter.size'],
    ['POST', '/tools/open/simple', 'count'],
  ] as const)('%s %s is refused for %s', async (method, path, argument) => {
    const { status, body } = await run(method, path, method === 'POST' ? { body: { count: {} } } : {});
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: 'invalid_input',
      message: expect.stringContaining('Cannot call tool') as string,
    });
    expect(body).not.toHaveProperty('success');
    expect(body.errors?.map(({ path, message }) => `${path} ${message}`).join()).toContain(argument);
  });

  test('bodies that are no object are refused', async () => {
    for (const body of ['[]', '7', 'null', '{', '"x"']) {
      const answer = await run('POST', '/tools/open/simple', { body });
      expect([answer.status, answer.body['error']]).toEqual([400, 'invalid_input']);
    }
    const headers = { 'content-type': 'text/plain' };
    expect((await run('POST', '/tools/open/simple', { body: '{}', headers })).status).toBe(415);
  });

  test('failures of the tool are answers, those of the server are not', async () => {
    expect(await run('GET', '/tools/open/fail')).toMatchObject({ status: 200, body: { isError: true } });
    const refused = await run('GET', '/tools/open/rpc_error');
    expect([refused.status, refused.body]).toEqual([
      502,
      { error: 'upstream_failed', message: 'The server refused: own words' },
    ]);
    expect(await run('GET', '/tools/open/hang')).toMatchObject({ status: 504, body: { error: 'timeout' } });
    await until(
      'it was found dead',
      () => hub.hub.servers().find(({ name }) => name === 'dead')?.status === 'disconnected',
    );
    const gone = await run('POST', '/tools/dead/x', { body: {} });
    expect([gone.status, gone.body['error']]).toEqual([503, 'upstream_unavailable']);
    expect(Number(gone.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('numbers keep their digits both ways', async () => {
    const body = '{"id":"x","n":12345678901234567890}';
    const { text } = await run('POST', '/tools/open/big', { body });
    expect(exactAt(text, 'structuredContent', 'id')).toBe('12345678901234567890');
    expect(open.received('tools/call').at(-1)?.text).toContain('"n":12345678901234567890');
  });

  test('names are decoded, and a server may be called "call"', async () => {
    expect((await run('GET', '/tools/open/odd%2Fna%20me')).status).toBe(200);
    expect((await run('GET', '/tools/open/open-simple?count=1')).status).toBe(200);
    expect((await run('GET', '/tools/call/me')).status).toBe(200);
    expect((await run('POST', '/call/tools/call/me', { body: {} })).status).toBe(200);
    // Here the path is that of tool calls, which are for those who log in.
    expect((await run('POST', '/tools/call/me', { body: { toolName: 'me' } })).status).toBe(401);
    expect((await run('POST', '/tools/call/call', { token: admin, body: { toolName: 'me' } })).status).toBe(200);
  });

  test('a group or server in front really limits', async () => {
    expect((await run('GET', '/some/tools/open/simple?count=1')).status).toBe(200);
    expect((await run('GET', '/open/tools/open/fail')).status).toBe(200);
    expect((await run('GET', '/aaaaaaaa-1111-4111-8111-111111111111/tools/open/fail')).status).toBe(200);
    for (const path of [
      '/some/tools/open/rich',
      '/some/tools/call/me',
      '/some/tools/closed/peek',
      '/open/tools/call/me',
      '/call/tools/open/simple',
      '/nobody/tools/open/simple',
      '/hidden/tools/open/simple',
      '/$smart/tools/open/simple',
      '/closed/tools/closed/peek',
    ])
      expect([path, (await run('GET', `${path}?count=1`)).status]).toEqual([path, 404]);
    expect((await run('GET', '/some/tools/closed/peek', { token: alice })).status).toBe(200);
    expect((await run('GET', '/hidden/tools/open/simple?count=1', { token: admin })).status).toBe(200);
  });

  test('a name that looks like another kind of scope is not taken for it, nor in its way', async () => {
    const own = await testHub({ mcpServers: { open: open.config } });
    await own.connected(1);
    for (const name of ['%24server%2Fopen', '%24smart', '%24smart%2Fopen'])
      expect((await api(own, 'GET', `/${name}/tools/open/fail`)).status).toBe(404);
    expect((await api(own, 'GET', '/tools/open/fail')).status).toBe(200);
    expect((await api(own, 'GET', '/%24server%2Fopen/tools/open/fail')).status).toBe(404);
  });

  test('asking for the headers runs nothing', async () => {
    const before = open.received('tools/call').length;
    for (const token of [undefined, alice])
      expect((await api(hub, 'HEAD', '/tools/open/fail', { token })).status).toBe(405);
    expect(open.received('tools/call')).toHaveLength(before);
  });

  test('other methods are answered with those there are, to all alike, and where a login decides with 401', async () => {
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'HEAD'])
      for (const path of ['/tools/open/fail', '/tools/none/none', '/some/tools/closed/peek'])
        for (const token of [undefined, alice]) {
          const { status, headers } = await api(hub, method, path, { token });
          expect([status, headers['allow']], `${method} ${path}`).toEqual([405, 'GET, POST']);
        }
    expect((await api(hub, 'PUT', '/tools/open/fail')).body).toEqual({
      error: 'method_not_allowed',
      message: 'Use one of these methods here: GET, POST.',
    });
    expect((await api(hub, 'POST', '/open/openapi.json')).headers['allow']).toBe('GET, HEAD');
    for (const path of ['/tools/call/open', '/groups', '/groups/tools/a/b'])
      expect((await api(hub, 'PUT', path)).status, path).toBe(401);
  });

  test('the headers of what is open to all are open to all', async () => {
    for (const path of ['/openapi.json', '/open/openapi.yaml', '/docs', '/docs/openapi.json']) {
      const { status, headers, text } = await api(hub, 'HEAD', path);
      const { headers: whole } = await api(hub, 'GET', path);
      expect([status, headers['content-type'], text], path).toEqual([200, whole['content-type'], '']);
    }
  });
});

describe('who may', () => {
  test('a credential that is sent counts, and a bad one is refused', async () => {
    for (const path of [
      '/tools/open/fail',
      '/tools/open/fail/',
      '/some/tools/open/fail',
      '/openapi.json',
      '/open/openapi.json',
    ]) {
      const { status, body } = await run('GET', path, { token: 'bad' });
      expect([path, status, body['error']]).toEqual([path, 401, 'unauthenticated']);
      expect((await run('GET', path)).status).toBe(200);
    }
    expect((await run('GET', '/tools/closed/peek')).status).toBe(404);
    expect((await run('GET', '/tools/closed/peek', { token: alice })).status).toBe(200);
  });

  test('other web pages may not, whatever way they ask', async () => {
    const before = open.received('tools/call').length;
    const foreign = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    ];
    for (const headers of foreign) {
      for (const path of ['/tools/open/fail', '/tools/open/fail/', '/some/tools/open/fail', '/openapi.json']) {
        const { status, body } = await run('GET', path, { headers });
        // The shape of these routes, wherever the refusal is made (CONTRACT §4).
        expect([headers, status, body]).toEqual([
          headers,
          403,
          { error: 'forbidden', message: expect.stringContaining('ALLOWED_ORIGINS') as string },
        ]);
      }
      expect((await run('POST', '/tools/open/fail', { headers, body: {}, token: alice })).status).toBe(403);
    }
    expect(open.received('tools/call')).toHaveLength(before);
    for (const site of ['same-origin', 'none'])
      expect((await run('GET', '/tools/open/fail', { headers: { 'sec-fetch-site': site } })).status).toBe(200);
  });

  test('a page that the operator named may', async () => {
    const origin = 'https://app.example.com';
    const own = await testHub({ mcpServers: { open: open.config }, env: { ALLOWED_ORIGINS: origin } });
    await own.connected(1);
    const headers = { origin, 'sec-fetch-site': 'cross-site' };
    const answer = await api(own, 'GET', '/tools/open/fail', { headers });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, origin]);
    const other = { origin: 'https://other.example.com', 'sec-fetch-site': 'cross-site' };
    expect((await api(own, 'GET', '/tools/open/fail', { headers: other })).status).toBe(403);
  });

  test('routing.openApiAccess closes it for anonymous, or for all', async () => {
    const routing = (openApiAccess: string) => ({
      systemConfig: { routing: { openApiAccess } },
      mcpServers: { open: open.config },
    });
    const own = await testHub(routing('authenticated'));
    await own.connected(1);
    const token = await login(own);
    const statuses = async (more: object) =>
      Promise.all(
        ['/tools/open/fail', '/open/tools/open/fail', '/openapi.json', '/open/openapi.yaml'].map(
          async (path) => (await api(own, 'GET', path, more)).status,
        ),
      );
    expect(await statuses({})).toEqual([401, 401, 401, 401]);
    expect(await statuses({ token })).toEqual([200, 200, 200, 200]);
    await rewriteSettings(own, { ...routing('off'), users: await usersOf(own) });
    await until('it is off', async () => (await api(own, 'GET', '/openapi.json')).status === 403);
    expect(await statuses({ token })).toEqual([403, 403, 403, 403]);
    expect((await api(own, 'POST', '/tools/call/open', { token, body: { toolName: 'fail' } })).status).toBe(200);
  });

  test('names of groups open nothing of the management API', async () => {
    // A group called "tools" makes `/groups/tools/…` look like a scoped execution.
    for (const path of ['/groups/tools/server-configs/open', '/groups/tools/servers/open', '/groups/openapi.json'])
      expect([path, (await run('GET', path)).status]).toEqual([path, 401]);
    expect((await run('POST', '/servers/tools/x/y', { body: {} })).status).toBe(401);
  });
});

interface Operation {
  operationId: string;
  tags: string[];
  parameters?: { name: string; in: string; required: boolean; schema: unknown }[];
  requestBody?: { content: Record<string, { schema: Record<string, unknown> }> };
  responses: Record<string, { content?: Record<string, { schema: unknown }> }>;
}
interface Document {
  openapi: string;
  info: Record<string, string>;
  servers: { url: string }[];
  security: unknown[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>>;
}
const documentOf = async (path = '/openapi.json', token?: string) => {
  const answer = await run('GET', path, token === undefined ? {} : { token });
  expect(answer.status, answer.text).toBe(200);
  return { document: answer.body as unknown as Document, text: answer.text, headers: answer.headers };
};
const operations = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
const ids = (document: Document) => operations(document).map(({ operation }) => operation.operationId);

/** What OpenAPI 3.1 demands of the parts that are there. */
function expectSound(document: Document): void {
  expect(document.openapi).toBe('3.1.0');
  expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
  expect(document.servers.every(({ url }) => URL.canParse(url))).toBe(true);
  expect(new Set(ids(document)).size).toBe(ids(document).length);
  const tags = new Set(document.tags.map(({ name }) => name));
  for (const { path, method, operation } of operations(document)) {
    expect(path).toMatch(/^\/tools\/[^/{}]+\/[^/{}]+$/);
    expect(['get', 'post']).toContain(method);
    expect(operation.tags.every((tag) => tags.has(tag))).toBe(true);
    expect(operation.requestBody !== undefined).toBe(method === 'post');
    for (const parameter of operation.parameters ?? []) {
      expect(parameter).toMatchObject({ name: expect.any(String), in: 'query', required: expect.any(Boolean) });
    }
    expect(Object.keys(operation.responses)).toEqual(['200', 'default']);
  }
  for (const name of Object.values(document.components).flatMap((kind) => Object.keys(kind)))
    expect(name).toMatch(/^[A-Za-z0-9._-]+$/);
  for (const ref of refs(document)) {
    expect(ref).toMatch(/^#\//);
    expect([ref, resolveRef(document, ref) !== undefined]).toEqual([ref, true]);
  }
}

function refs(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(refs);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === '$ref' && typeof member === 'string' ? [member] : refs(member),
  );
}

describe('documents', () => {
  test('are sound OpenAPI 3.1, with an operation for each tool that may be seen', async () => {
    const { document, headers } = await documentOf();
    expectSound(document);
    expect(headers['content-type']).toContain('application/json');
    expect(document.servers).toEqual([{ url: `${hub.url}/api` }]);
    expect(document.security).toEqual([{}, { bearerAuth: [] }]);
    const listed = (await rpc(hub.mcp(), 'tools/list')).result?.tools?.map(({ name }) => name);
    expect(ids(document)).toEqual(listed);
    expect(document.tags.map(({ name }) => name)).toEqual(['open', 'call']);
  });

  test('simple tools are GET with parameters, the others POST with the schema as it is', async () => {
    const { document, text } = await documentOf();
    const get = document.paths['/tools/open/simple']?.['get'];
    expect(get).toMatchObject({ summary: 'Simple', description: 'Counts "things".', tags: ['open'] });
    expect(get?.parameters).toEqual([
      { name: 'count', in: 'query', required: true, schema: { type: 'integer', maximum: 10 } },
      { name: 'on', in: 'query', required: false, schema: { type: 'boolean' } },
    ]);
    expect(JSON.stringify(get?.responses['200'])).toContain(JSON.stringify(simple.outputSchema));
    const schemaOf = (tool: string) =>
      document.paths[`/tools/open/${tool}`]?.['post']?.requestBody?.content['application/json']?.schema;
    const { $ref } = schemaOf('rich') as { $ref: string };
    const input = resolveRef(document, $ref) as typeof rich.inputSchema;
    expect(resolveRef(document, input.properties.node.$ref)).toMatchObject({ properties: { n: { type: 'integer' } } });
    expect(text).not.toContain('"$ref":"http');
    expect(schemaOf('anything')).toBe(true);
    expect(schemaOf('big')).toMatchObject({ type: 'object' });
    expect(text).toContain('18446744073709551615');
    expect(document.paths['/tools/open/odd%2Fna%20me']).toBeDefined();
  });

  test('of a group or server have what that shows, and lead to routes with the same limits', async () => {
    const some = (await documentOf('/some/openapi.json')).document;
    expectSound(some);
    expect(ids(some)).toEqual(['open-simple', 'open-fail']);
    expect(some.info['title']).toBe('some Group MCP API');
    expect(some.servers).toEqual([{ url: `${hub.url}/api/some` }]);
    expect((await documentOf('/openapi.json?group=some')).document).toEqual(some);
    const one = (await documentOf('/call/openapi.json')).document;
    expect([ids(one), one.info['title']]).toEqual([['me'], 'call MCP API']);
    for (const { path, method } of operations(one)) {
      const { pathname } = new URL(`${one.servers[0]?.url}${path}`);
      const answer = await run(method.toUpperCase() as Method, pathname.replace('/api', ''));
      expect(answer.status).toBe(200);
    }
    for (const path of [
      '/nobody/openapi.json',
      '/closed/openapi.json',
      '/hidden/openapi.json',
      '/openapi.json?group=hidden',
    ]) {
      const { status, body } = await run('GET', path);
      expect([path, status, body['error']]).toEqual([path, 404, 'not_found']);
    }
  });

  test('take the title, the address and the servers one asks for, and nothing that is none', async () => {
    const query = 'title=T&description=D&version=9&serverUrl=https://hub.example.com/x&servers=call,closed';
    const { document } = await documentOf(`/openapi.json?${query}`);
    expect(document.info).toEqual({ title: 'T', description: 'D', version: '9' });
    expect(document.servers).toEqual([{ url: 'https://hub.example.com/x' }]);
    expect(ids(document)).toEqual(['call-me']);
    for (const bad of ['serverUrl=javascript:alert(1)', 'serverUrl=x', `title=${'x'.repeat(5_000)}`])
      expect((await run('GET', `/openapi.json?${bad}`)).status).toBe(400);
  });

  test('name the address by which the hub is reached', async () => {
    const own = await testHub({
      mcpServers: { open: { ...open.config, visibility: 'public' } },
      env: { BASE_PATH: '/hub', INSTALL_BASE_URL: 'https://hub.example.com/tools' },
    });
    const { body } = await api(own, 'GET', '/open/openapi.json');
    expect((body as unknown as Document).servers).toEqual([{ url: 'https://hub.example.com/tools/hub/api/open' }]);
  });

  test.each([
    ['what the settings say', 'https://hub.example.com/tools', {}, 'https://hub.example.com/tools/hub'],
    [
      'but the environment goes before',
      'https://hub.example.com',
      { INSTALL_BASE_URL: 'https://a.example' },
      'https://a.example/hub',
    ],
    ['and what MCPHub writes into every file is not taken at its word', 'http://localhost:3000', {}, undefined],
    ['nor are other names of this machine', 'http://[::1]:3000', {}, undefined],
  ])('name the address of the settings: %s', async (_, baseUrl, env, expected) => {
    const own = await testHub({
      mcpServers: { open: open.config },
      systemConfig: { install: { baseUrl } },
      env: { BASE_PATH: '/hub', ...env },
    });
    const address = expected ?? own.url;
    const { body } = await api(own, 'GET', '/openapi.json');
    expect((body as unknown as Document).servers).toEqual([{ url: `${address}/api` }]);
    const connect = await api(own, 'GET', '/connect?server=open', { token: await login(own) });
    expect(connect.body.data).toMatchObject({ url: `${address}/mcp/open` });
  });

  test.each(['', '/dotted', '/some'])('lead to tools whose names are steps of a path too (%s)', async (scope) => {
    const toolTexts = ['.', '..', '...'].map((name) => JSON.stringify({ name, inputSchema: { type: 'object' } }));
    const own = await testHub({
      mcpServers: { dotted: (await hostileHttp({ name: 'dotted', tools: ['.', '..', '...'], toolTexts })).config },
      groups: [{ name: 'some', servers: [{ name: 'dotted', alias: 'd' }] }],
    });
    await own.connected(1);
    const { body } = await api(own, 'GET', `${scope}/openapi.json`);
    const { servers, paths } = body as unknown as Document;
    const called = Object.keys(paths).map(async (path) => {
      const answer = await fetch(`${servers[0]?.url}${path}`, { method: 'POST' });
      const { structuredContent } = (await answer.json()) as { structuredContent?: { tool: string } };
      return structuredContent?.tool;
    });
    expect(new Set(await Promise.all(called))).toEqual(new Set(['.', '..', '...']));
  });

  test('are there as YAML', async () => {
    const yaml = await documentOf('/some/openapi.yaml');
    expect(yaml.headers['content-type']).toContain('application/yaml');
    expect(load(yaml.text)).toEqual((await documentOf('/some/openapi.json')).document);
  });

  test('can be given to another hub, which then has the same tools', async () => {
    const other = await testHub({
      mcpServers: { remote: { type: 'openapi', openapi: { url: `${hub.url}/api/some/openapi.json` } } },
    });
    await other.connected(1);
    const tools = (await rpc(other.mcp('remote'), 'tools/list')).result?.tools?.map(({ name }) => name);
    expect(tools).toEqual(['open-simple', 'open-fail']);
    const answer = await rpc(other.mcp('remote'), 'tools/call', { name: 'open-simple', arguments: { count: 5 } });
    expect(answer.text).toContain('structuredContent');
    expect(answer.result?.isError ?? false).toBe(false);
  });

  test('servers and numbers are for those who log in, and of what they see', async () => {
    for (const path of ['/openapi/servers', '/openapi/stats']) expect((await run('GET', path)).status).toBe(401);
    expect((await run('GET', '/openapi/servers', { token: alice })).body.data).toEqual(['open', 'closed']);
    const { data } = (await run('GET', '/openapi/stats', { token: bob })).body;
    expect(data).toMatchObject({
      totalServers: 2,
      serverBreakdown: [{ name: 'open' }, { name: 'theirs', toolCount: 1 }],
    });
  });
});

describe('what one may not see is absent from every surface and runs on none', () => {
  const who: [string, () => string | undefined, string[]][] = [
    ['anonymous', () => undefined, ['open', 'call']],
    ['alice', () => alice, ['open', 'closed']],
    ['bob', () => bob, ['open', 'theirs']],
    ['admin', () => admin, ['open', 'closed', 'theirs', 'call']],
  ];
  const tools: Record<string, string> = { open: 'fail', closed: 'peek', theirs: 'peek', call: 'me' };

  test.each(who)('%s', async (_name, tokenOf, allowed) => {
    const token = tokenOf();
    const { document, text } = await documentOf('/openapi.json', token);
    expect(document.tags.map(({ name }) => name).sort()).toEqual([...allowed].sort());
    for (const [server, tool] of Object.entries(tools)) {
      const sees = allowed.includes(server);
      const as = token === undefined ? {} : { token };
      const answers = [
        await run('GET', `/tools/${server}/${tool}`, as),
        ...(server === 'call' ? [] : [await run('POST', `/tools/${server}/${tool}`, { ...as, body: {} })]),
        await run('GET', `/${server}/tools/${server}/${tool}`, as),
        await run('GET', `/${server}/openapi.json`, as),
        ...(token === undefined
          ? []
          : [await run('POST', `/tools/call/${server}`, { token, body: { toolName: tool } })]),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => (sees ? 200 : 404)));
      expect(text.includes(`/tools/${server}/`)).toBe(sees);
    }
  });

  test('an access key sees its scope', async () => {
    const key = await keyToken(hub, admin, { accessType: 'groups', allowedGroups: ['some'] });
    expect(ids((await documentOf('/some/openapi.json', key)).document)).toEqual([
      'open-simple',
      'open-fail',
      'closed-peek',
      'closed-poke',
    ]);
    expect(ids((await documentOf('/openapi.json', key)).document)).toEqual([]);
    expect((await run('GET', '/some/tools/closed/peek', { token: key })).status).toBe(200);
    expect((await run('GET', '/tools/closed/peek', { token: key })).status).toBe(404);
    expect((await run('GET', '/tools/open/fail', { token: key })).status).toBe(404);
  });
});

test('the start says what anonymous callers can run, when others can reach the hub', async () => {
  const open = { ...servers['open'], visibility: 'public' };
  const start = (systemConfig: Record<string, unknown>, host = '0.0.0.0') =>
    testHub({ mcpServers: { ...servers, open }, systemConfig, env: { HOST: host } });
  const lines = async (systemConfig: Record<string, unknown>, host?: string) =>
    (await start(systemConfig, host)).hub.exposure;
  expect(await lines({}, '127.0.0.1')).toBeUndefined();
  const http = await lines({});
  expect(http).toEqual(['call the tools of open (/api/tools/open/…)', expect.stringContaining('openApiAccess')]);
  expect(await lines({ routing: { openApiAccess: 'authenticated' } })).toEqual([]);
  const mcp = await lines({ routing: { openApiAccess: 'off', enableBearerAuth: false } });
  expect(mcp?.[0]).toBe('use everything of open, call, dead over MCP (/mcp, /sse)');
});

/** So that a settings file written again keeps the accounts. */
async function usersOf(own: TestHub): Promise<Record<string, unknown>[]> {
  return (JSON.parse(await storedSettings(own)) as { users: Record<string, unknown>[] }).users;
}

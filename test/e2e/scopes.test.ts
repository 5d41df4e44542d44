import { beforeAll, describe, expect, test } from 'vitest';
import { errorTable } from '../../src/core/errors.ts';
import { api, login } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { raw, rpc } from '../kit/raw.ts';
import { advertises, modern, session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';
import type { TestHub } from '../kit/test-hub.ts';

// What an endpoint shows, and that nothing else can be reached through it.

const prompts = [{ name: 'ask' }, { name: 'tell' }];
const alpha = await hostileHttp({
  name: 'alpha',
  tools: ['read', 'write', 'remove'],
  prompts,
  resources: [
    { uri: 'same://one', name: 'of alpha' },
    { uri: 'alpha://two', name: 'two' },
  ],
});
const beta = await hostileHttp({
  name: 'beta',
  tools: ['read', 'write'],
  prompts,
  resources: [
    { uri: 'same://one', name: 'of beta' },
    { uri: 'beta://two', name: 'two' },
  ],
});
const gamma = await hostileHttp({ name: 'gamma', tools: ['read', 'write', 'remove'] });
const off = await hostileHttp({ name: 'off', tools: ['read'] });
let hub: TestHub;
beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      alpha: alpha.config,
      beta: beta.config,
      gamma: {
        ...gamma.config,
        tools: {
          remove: { enabled: false },
          'gamma-write': { enabled: false },
          read: { enabled: true, description: 'As the operator says.' },
        },
      },
      off: { ...off.config, enabled: false },
    },
    groups: [
      {
        id: '11111111-1111-4111-8111-111111111111',
        name: 'subset',
        servers: [
          { name: 'alpha', tools: ['read', 'not there'], prompts: ['ask'], resources: ['alpha://two'] },
          'beta',
        ],
      },
      { id: '22222222-2222-4222-8222-222222222222', name: 'gamma', servers: ['alpha'] },
      { id: '33333333-3333-4333-8333-333333333333', name: 'empty', servers: [] },
      { id: '44444444-4444-4444-8444-444444444444', name: 'only ghosts', servers: ['off', 'nobody'] },
      {
        id: '55555555-5555-4555-8555-555555555555',
        name: 'aliased',
        servers: [
          { name: 'alpha', alias: 'first' },
          { name: 'beta', alias: 'second' },
        ],
      },
      {
        id: '66666666-6666-4666-8666-666666666666',
        name: 'nothing of it',
        servers: [{ name: 'alpha', tools: [], prompts: [], resources: [] }, 'beta'],
      },
    ],
  });
  await hub.connected(3);
});

const names = async (scope: string) =>
  (await rpc(hub.mcp(encodeURI(scope)), 'tools/list', {})).result?.tools?.map((tool) => tool.name);
const call = (scope: string, name: string, args: unknown = {}) =>
  rpc(hub.mcp(encodeURI(scope)), 'tools/call', { name, arguments: args });

test('the global endpoint shows every enabled tool of every enabled server', async () => {
  expect((await names(''))?.sort()).toEqual([
    'alpha-read',
    'alpha-remove',
    'alpha-write',
    'beta-read',
    'beta-write',
    'gamma-read',
  ]);
});

test('a group shows exactly the named subset of its servers, by name and by id', async () => {
  const expected = ['alpha-read', 'beta-read', 'beta-write'];
  expect((await names('subset'))?.sort()).toEqual(expected);
  expect((await names('11111111-1111-4111-8111-111111111111'))?.sort()).toEqual(expected);
  const found = await call('subset', 'alpha-read', { tag: 't' });
  expect(found.result?.structuredContent).toEqual({ server: 'alpha', tool: 'read', tag: 't' });
});

test('a tool outside the group is refused exactly as one that does not exist, and its server never hears of it', async () => {
  const before = [alpha, beta, gamma, off].map((server) => server.received('tools/call').length);
  const refused = async (scope: string, name: string) => {
    const answer = await call(scope, name);
    return { status: answer.status, answer: JSON.stringify(answer.message).replaceAll(name, '<name>') };
  };
  const unknown = await refused('subset', 'alpha-nothing');
  for (const name of [
    'alpha-write',
    'alpha-remove',
    'alpha-not there',
    'gamma-read',
    'gamma-remove',
    'off-read',
    'write',
    'alpha-alpha-read',
    'alpha_write',
    'alpha-Read',
    ' alpha-read',
    'alpha-read ',
    'ALPHA-READ',
    'alpha/read',
    'alpha.write',
  ]) {
    expect(await refused('subset', name), name).toEqual(unknown);
  }
  for (const name of ['gamma-remove', 'gamma-write', 'off-read', 'off', 'read']) {
    expect((await refused('', name)).answer, name).toContain('"error"');
  }
  expect([alpha, beta, gamma, off].map((server) => server.received('tools/call').length)).toEqual(before);
});

test('a name given twice in one call is either refused or means the same to hub and server', async () => {
  for (const [first, last] of [
    ['alpha-read', 'alpha-write'],
    ['alpha-write', 'alpha-read'],
  ] as const) {
    await raw(hub.mcp('subset'), {
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${first}","na\\u006de":"${last}","arguments":{}}}`,
    });
    await raw(hub.mcp('subset'), {
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${first}","arguments":{}},"params":{"name":"${last}","arguments":{}}}`,
    });
    await raw(hub.mcp('subset'), {
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"${last}","__proto__":{"name":"${first}"}}}`,
    });
  }
  const reached = alpha
    .received('tools/call')
    .filter(({ text }) => /"na(m|\\u006d)e":"(alpha-)?write"/.test(text.replace(/"__proto__":\{[^}]*\}/, '')));
  expect(reached).toEqual([]);
});

test('prompts and resources obey the selection as tools do', async () => {
  const at = (scope: string, method: string, params: unknown = {}) => rpc(hub.mcp(encodeURI(scope)), method, params);
  expect((await at('subset', 'prompts/list')).result?.prompts?.map((prompt) => prompt.name).sort()).toEqual([
    'alpha-ask',
    'beta-ask',
    'beta-tell',
  ]);
  expect((await at('subset', 'prompts/get', { name: 'alpha-ask' })).result?.messages?.[0]?.content.text).toBe(
    'alpha:ask',
  );
  expect((await at('subset', 'prompts/get', { name: 'alpha-tell' })).error?.code).toBe(-32602);
  expect((await at('subset', 'resources/list')).result?.resources?.map((resource) => resource.uri).sort()).toEqual([
    'alpha://two',
    'beta://two',
    'same://one',
  ]);
  const seen = alpha.journal().length;
  expect((await at('subset', 'resources/read', { uri: 'same://one' })).result?.contents?.[0]?.text).toBe(
    'beta has same://one',
  );
  expect((await at('nothing of it', 'resources/read', { uri: 'alpha://two' })).error).toBeDefined();
  expect(
    (
      await at('subset', 'completion/complete', {
        ref: { type: 'ref/prompt', name: 'alpha-tell' },
        argument: { name: 'a', value: 'v' },
      })
    ).error,
  ).toBeDefined();
  expect(alpha.journal()).toHaveLength(seen);
  expect((await at('nothing of it', 'prompts/list')).result?.prompts?.map((prompt) => prompt.name).sort()).toEqual([
    'beta-ask',
    'beta-tell',
  ]);
  expect((await names('nothing of it'))?.sort()).toEqual(['beta-read', 'beta-write']);
});

test('where two servers have the same resource the first in the file wins, and each keeps its others', async () => {
  const listed = (await rpc(hub.mcp(), 'resources/list', {})).result?.resources ?? [];
  expect(listed.map((resource) => resource.uri).sort()).toEqual(['alpha://two', 'beta://two', 'same://one']);
  expect(listed.find((resource) => resource.uri === 'same://one')?.name).toBe('of alpha');
  const read = await rpc(hub.mcp(), 'resources/read', { uri: 'same://one' });
  expect(read.result?.contents?.[0]?.text).toBe('alpha has same://one');
});

test('completions go to the server that has the prompt, under its own name for it', async () => {
  const own = await session(hub.mcp());
  const answer = await own.request('completion/complete', {
    ref: { type: 'ref/prompt', name: 'beta-tell' },
    argument: { name: 'a', value: 'v' },
  });
  if (!advertises(own, 'completions')) return expect(answer.error?.code).toBe(-32601);
  expect(answer.result?.['completion']).toEqual({ values: ['beta:tell:v'] });
});

describe('the endpoint of one server', () => {
  test('shows its own names and takes both forms', async () => {
    expect((await names('beta'))?.sort()).toEqual(['read', 'write']);
    for (const name of ['read', 'beta-read']) {
      expect((await call('beta', name)).result?.structuredContent, name).toMatchObject({
        server: 'beta',
        tool: 'read',
      });
    }
    const own = await session(hub.mcp('beta'));
    expect(own.initialized.result?.serverInfo?.name).toBe('beta');
    expect((await own.request('prompts/list')).result?.prompts?.map((prompt) => prompt.name).sort()).toEqual([
      'ask',
      'tell',
    ]);
    for (const name of ['ask', 'beta-ask']) {
      expect((await own.request('prompts/get', { name })).result?.messages?.[0]?.content.text, name).toBe('beta:ask');
    }
  });

  test('knows no other server', async () => {
    expect((await call('beta', 'alpha-read')).error?.code).toBe(-32602);
    expect((await call('beta', 'alpha-remove')).error?.code).toBe(-32602);
  });

  test('of a disabled server is empty', async () => {
    expect(await names('off')).toEqual([]);
    expect((await call('off', 'read')).error).toBeDefined();
  });
});

test('a group wins over a server of the same name', async () => {
  const listed = await names('gamma');
  expect(listed?.map((name) => name.replace(/^alpha-/, '')).sort()).toEqual(['read', 'remove', 'write']);
  expect((await call('gamma', 'alpha-remove')).result?.structuredContent).toMatchObject({ server: 'alpha' });
  expect((await call('gamma', 'gamma-read')).error).toBeDefined();
});

test('an empty group, a group of servers that are gone and no group at all have empty lists and are no error', async () => {
  for (const scope of ['empty', 'only ghosts', 'nobody', '99999999-9999-4999-8999-999999999999']) {
    const own = await session(hub.mcp(encodeURI(scope)));
    for (const [method, member] of [
      ['tools/list', 'tools'],
      ['prompts/list', 'prompts'],
      ['resources/list', 'resources'],
      ['resources/templates/list', 'resourceTemplates'],
    ] as const) {
      expect((await own.request(method)).result?.[member], `${scope} ${method}`).toEqual([]);
    }
    expect((await own.call('alpha-read')).error?.code).toBe(-32602);
  }
});

test('an alias takes the place of the prefix within its group', async () => {
  expect((await names('aliased'))?.sort()).toEqual([
    'first-read',
    'first-remove',
    'first-write',
    'second-read',
    'second-write',
  ]);
  expect((await call('aliased', 'first-read')).result?.structuredContent).toMatchObject({ server: 'alpha' });
  expect((await call('aliased', 'second-read')).result?.structuredContent).toMatchObject({ server: 'beta' });
});

test("the operator's description replaces the server's, and nothing else", async () => {
  const tools = (await rpc(hub.mcp(), 'tools/list', {})).result?.tools ?? [];
  expect(tools.find((tool) => tool.name === 'gamma-read')).toMatchObject({
    description: 'As the operator says.',
    inputSchema: { type: 'object' },
  });
  expect(tools.find((tool) => tool.name === 'alpha-read')?.description).toBe('Does read.');
});

test('the separator is the operator’s to choose, and the global route may be closed', async () => {
  const own = await testHub({
    mcpServers: { beta: beta.config },
    groups: [{ id: 'g', name: 'g', servers: ['beta'] }],
    systemConfig: { nameSeparator: '__', routing: { enableGlobalRoute: false } },
  });
  await own.connected(1);
  expect((await rpc(own.mcp('g'), 'tools/call', { name: 'beta__read' })).result?.structuredContent).toMatchObject({
    tool: 'read',
  });
  expect((await rpc(own.mcp('beta'), 'tools/list', {})).result?.tools).toHaveLength(2);
});

test('without routes by the names of groups their ids open them, and a name is that of a server', async () => {
  const own = await testHub({
    mcpServers: { beta: beta.config, other: alpha.config },
    groups: [
      { id: 'g1', name: 'dev', servers: ['beta'] },
      { id: 'g2', name: 'other', servers: ['beta'] },
    ],
    systemConfig: { routing: { enableGroupNameRoute: false } },
  });
  await own.connected(2);
  const names = async (scope: string) => {
    const { status, result } = await rpc(own.mcp(scope), 'tools/list', {});
    expect(status, scope).toBe(200);
    return ((result?.tools ?? []) as { name: string }[]).map(({ name }) => name.split('-')[0]);
  };
  expect(new Set(await names('g1'))).toEqual(new Set(['beta']));
  expect(await names('dev')).toEqual([]);
  // Its own names: the group of that name is not looked at.
  expect(await names('other')).not.toContain('beta');
  expect((await rpc(own.mcp('other'), 'tools/list', {})).result?.tools).not.toHaveLength(0);
  const search = { name: 'search_tools', arguments: { query: 'read' } };
  const found = async (scope: string) =>
    (await rpc(own.mcp(scope), 'tools/call', search)).result?.structuredContent as { tools: unknown[] };
  await until('the search is ready', async () => (await found('$smart/g1')).tools.length > 0);
  expect((await found('$smart/dev')).tools).toEqual([]);

  // What the dashboard asks by the name of a group leads to the address that opens it.
  const token = await login(own);
  const ask = async (path: string) => (await api(own, 'GET', path, { token })).body.data as Record<string, unknown>;
  for (const [given, id] of [
    ['dev', 'g1'],
    ['g1', 'g1'],
    ['other', 'g2'],
  ] as const) {
    const connect = await ask(`/connect?group=${given}`);
    expect(connect, given).toMatchObject({ url: own.mcp(id), cost: { all: { tools: 2 } } });
    expect(JSON.stringify(connect['clients']), given).toContain(`/mcp/${id}`);
    expect((await ask(`/connect?group=${given}&smart=true`))['url'], given).toBe(own.mcp(`%24smart/${id}`));
    for (const query of [`group=${given}`, `group=${given}&smart=true`])
      expect(JSON.stringify(await ask(`/costs?${query}`)), query).not.toBe('[]');
    expect(await ask(`/costs?group=${given}`), given).toMatchObject([{ name: 'beta' }]);
    expect(await ask(`/why?tool=beta-read&group=${given}`), given).toMatchObject({ allowed: true });
    const body = { query: 'read', group: given };
    const search = await api(own, 'POST', '/smart-routing/search', { token, body });
    expect(search.body.data, given).toMatchObject({ searched: 2 });
  }
  // A server of that name.
  expect(await ask('/why?tool=read&group=beta')).toMatchObject({ allowed: true });
});

test('without the global route, whatever reaches all servers without naming one is closed, and what names one is not', async () => {
  const own = await testHub({
    mcpServers: { beta: beta.config },
    groups: [{ id: 'g', name: 'g', servers: ['beta'] }],
    systemConfig: { routing: { enableGlobalRoute: false } },
  });
  await own.connected(1);
  const token = await login(own);
  const headers = { authorization: `Bearer ${token}` };
  for (const scope of ['', '/', '$smart', '$smart/', '%24smart', '$code', '$code/', '%24code'])
    for (const at of [`/mcp/${scope}`, `/sse/${scope}`, `/admin/mcp/${scope}`, `/admin/sse/${scope}`]) {
      const url = `${own.url}${at}`;
      const { status, error, text } = at.includes('sse')
        ? await raw(url, { method: 'GET', headers })
        : await rpc(url, 'tools/list', {}, { headers });
      expect(status, at).toBe(403);
      expect(text, at).toContain('routing.enableGlobalRoute');
      if (!at.includes('sse')) expect(error?.code, at).toBe(errorTable.forbidden.rpc);
    }
  for (const scope of ['$smart', '$code'])
    for (const ask of [rpc, modern]) {
      const params = { name: 'search_tools', arguments: { query: 'read' } };
      expect((await ask(own.mcp(scope), 'tools/call', params, { headers })).status).toBe(403);
    }
  expect((await api(own, 'GET', '/openapi.json', { token })).status).toBe(403);
  expect((await api(own, 'GET', '/openapi.yaml', { token })).status).toBe(403);
  expect((await api(own, 'POST', '/resources/read', { token, body: { uri: 'x://beta/doc' } })).status).toBe(403);

  for (const scope of ['$smart/g', '$code/g', 'g', 'beta'])
    expect((await rpc(own.mcp(scope), 'tools/list', {}, { headers })).status, scope).toBe(200);
  for (const path of ['/openapi.json?servers=beta', '/openapi.json?group=g', '/beta/openapi.json'])
    expect(Object.keys((await api(own, 'GET', path, { token })).body['paths'] ?? {}), path).toHaveLength(2);
  expect((await api(own, 'GET', '/tools/beta/read', { token })).status).toBe(200);
  const call = { token, body: { toolName: 'read' } };
  expect((await api(own, 'POST', '/tools/call/beta', call)).status).toBe(200);
});

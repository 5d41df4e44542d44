import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { clientKinds, connect } from '../kit/clients.ts';
import { sharedPostgres } from '../kit/databases.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What the dashboard asks beside what all ask: events, connect, costs, registry, names and counts of servers, clients.

let hub: TestHub;
let registry: Server;
let answer: RequestListener;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  registry = createServer((request, response) => answer(request, response));
  await new Promise<void>((listening) => registry.listen(0, '127.0.0.1', listening));
  atEnd(() => new Promise<void>((closed) => registry.close(() => closed())));
  const { port } = registry.address() as AddressInfo;
  hub = await testHub({
    mcpServers: {
      alpha: {
        ...(await hostileHttp({ tools: ['echo', 'add', 'env'] })).config,
        tools: { add: { description: 'Described in words of its own' } },
        visibility: 'private',
      },
      beta: {
        ...(await hostileHttp({ tools: [{ name: 'echo', title: 'Says it back', inputSchema: { type: 'object' } }] }))
          .config,
        visibility: 'private',
      },
    },
    groups: [
      { id: 'g1', name: 'dev', servers: [{ name: 'alpha', tools: ['echo'] }], owner: 'admin' },
      { id: 'g2', name: 'secret', servers: ['beta'], owner: 'admin', visibility: 'private' },
    ],
    env: { MCP_REGISTRY_URL: `http://127.0.0.1:${port}` },
  });
  await hub.connected(2);
  tokens['admin'] = await login(hub);
  tokens['user'] = await userToken(hub, tokens['admin'], 'ann', { groups: ['dev'] });
  tokens['key'] = await keyToken(hub, tokens['admin'], { accessType: 'all' });
});

const routes = [
  '/exposure',
  '/activities/timeline',
  '/events',
  '/connect',
  '/costs',
  '/registry/servers',
  '/servers?items=count',
  '/servers?items=names',
  '/clients',
];

test.each(routes)('GET %s is refused without a credential', async (path) => {
  expect((await api(hub, 'GET', path)).status).toBe(401);
  expect((await api(hub, 'GET', path, { token: 'not one of ours' })).status).toBe(401);
});

interface Refusal {
  readonly errors?: readonly { readonly path: string; readonly message: string; readonly said?: unknown }[];
}

test('a refusal goes by name too, for whom reads another language than English, and its values are short', async () => {
  const ask = async (language: string | undefined, name = 'gone') => {
    const headers = { 'accept-language': language };
    return (await api(hub, 'GET', `/servers/${name}`, { token: tokens['admin'], headers })).body;
  };
  const plain = { success: false, message: 'There is no server "gone".' };
  for (const language of [undefined, '*', 'en', 'en-GB,zh;q=0.5', ';;;']) expect(await ask(language)).toEqual(plain);
  expect(await ask('zh-CN,zh;q=0.9,en;q=0.8')).toEqual({
    ...plain,
    said: { code: 'no_server', values: { name: 'gone' } },
  });
  const { said } = (await ask('zh', 'x'.repeat(2_000))) as { said?: { values: { name: string } } };
  expect(said?.values.name).toBe('x'.repeat(300));
  // What is refused in the middle of a change keeps its name.
  const headers = { 'accept-language': 'de' };
  const own = (await api(hub, 'DELETE', '/users/admin', { token: tokens['admin'], headers })).body;
  expect(own).toMatchObject({ said: { code: 'own_account' } });
});

test('what is wrong with a value goes by name too, for whom reads another language than English', async () => {
  const ask = async (language: string) => {
    const headers = { 'accept-language': language };
    const body = { name: 'a b', config: { url: 'ftp://x.example' } };
    return (await api(hub, 'POST', '/servers', { token: tokens['admin'], headers, body })).body as Refusal;
  };
  const { errors: plain = [] } = await ask('en');
  expect(plain.map(({ path, said }) => [path, said])).toEqual([['name', undefined]]);
  const { errors: named = [] } = await ask('zh');
  expect(named).toEqual(plain.map((problem) => ({ ...problem, said: { code: 'server_name_letters', values: {} } })));
});

describe('GET /servers?items=count', () => {
  test('has numbers in place of items, and for a user only what the user may call', async () => {
    const all = (await api(hub, 'GET', '/servers?items=count', { token: tokens['admin'] })).body.data as Summary[];
    expect(all.map(({ name, managed, tools }) => [name, managed, tools.total, tools.enabled])).toEqual([
      ['alpha', true, 3, 3],
      ['beta', true, 1, 1],
    ]);
    expect(all[0]?.tools.tokens).toBeGreaterThan(20);
    const own = (await api(hub, 'GET', '/servers?items=count', { token: tokens['user'] })).body.data as Summary[];
    expect(own.map(({ name, managed, tools }) => [name, managed, tools.total])).toEqual([['alpha', false, 1]]);
  });

  test('counts what is switched off as such', async () => {
    const toggle = (enabled: boolean) =>
      api(hub, 'POST', '/servers/alpha/tools/env/toggle', { token: tokens['admin'], body: { enabled } });
    await toggle(false);
    const [alpha] = (await api(hub, 'GET', '/servers?items=count', { token: tokens['admin'] })).body.data as Summary[];
    expect(alpha?.tools).toMatchObject({ total: 3, enabled: 2 });
    await toggle(true);
  });

  test('is a page when one is asked for, and nothing else than count', async () => {
    const page = await api(hub, 'GET', '/servers?items=count&page=2&limit=1', { token: tokens['admin'] });
    expect((page.body.data as Summary[]).map(({ name }) => name)).toEqual(['beta']);
    expect((await api(hub, 'GET', '/servers?items=all', { token: tokens['admin'] })).status).toBe(400);
  });
});

test('GET /servers?items=names has the names of tools and nothing else, and for a user only of what the user may call', async () => {
  const names = async (who: string) =>
    (await api(hub, 'GET', '/servers?items=names', { token: tokens[who] })).body.data as Names[];
  expect(await names('admin')).toEqual([
    { name: 'alpha', enabled: true, managed: true, tools: ['echo', 'add', 'env'] },
    { name: 'beta', enabled: true, managed: true, tools: ['echo'], titles: { echo: 'Says it back' } },
  ]);
  expect((await names('user')).map(({ name, managed, tools }) => [name, managed, tools.length])).toEqual([
    ['alpha', false, 1],
  ]);
});

test('GET /servers?items=names&q= searches names, titles and descriptions, and for a user only what the user may call', async () => {
  const found = async (who: string, q: string) =>
    (
      (await api(hub, 'GET', `/servers?items=names&q=${encodeURIComponent(q)}`, { token: tokens[who] })).body
        .data as Names[]
    ).map(({ name, tools, descriptions }) => [name, tools, Object.keys(descriptions ?? {})]);
  expect(await found('admin', 'SAYS back')).toEqual([['beta', ['echo'], ['echo']]]);
  expect(await found('admin', 'described words')).toEqual([['alpha', ['add'], ['add']]]);
  expect(await found('user', 'described words')).toEqual([]);
  expect(await found('admin', 'alpha')).toEqual([['alpha', ['echo', 'add', 'env'], ['echo', 'add', 'env']]]);
  expect((await api(hub, 'GET', '/servers?q=echo', { token: tokens['admin'] })).status).toBe(400);
});

interface Names {
  descriptions?: Record<string, string>;
  name: string;
  managed: boolean;
  tools: string[];
}

interface Summary {
  name: string;
  managed: boolean;
  tools: { total: number; enabled: number; tokens: number };
}

interface Connect {
  url: string;
  keyRequired: boolean;
  clients: { client: string; text: string }[];
  cost: Record<'all' | 'smart' | 'code', { tools: number; tokens: number }>;
}

interface ServerCost {
  name: string;
  managed: boolean;
  tools: Record<string, number>;
  off: Record<string, number>;
}

describe('GET /costs', () => {
  const costs = async (query = '', who = 'admin') =>
    (await api(hub, 'GET', `/costs${query}`, { token: tokens[who] })).body.data as ServerCost[];
  const named = async (query?: string, who?: string) =>
    (await costs(query, who)).map(({ name, tools, off }) => [name, Object.keys(tools), Object.keys(off)]);

  test('has each tool that the caller lists there, by server, and is the sum that /connect says', async () => {
    expect(await named()).toEqual([
      ['alpha', ['echo', 'add', 'env'], []],
      ['beta', ['echo'], []],
    ]);
    expect(await named('?group=dev')).toEqual([['alpha', ['echo'], []]]);
    expect(await named('?smart=true')).toEqual([['$smart', ['search_tools', 'call_tool'], []]]);
    for (const query of ['', '?group=dev', '?smart=true', '?group=dev&smart=true']) {
      const { cost } = (await api(hub, 'GET', `/connect${query}`, { token: tokens['admin'] })).body.data as Connect;
      const sum = (await costs(query)).flatMap(({ tools }) => Object.values(tools)).reduce((a, b) => a + b, 0);
      expect(sum, query).toBe(cost[query.includes('smart') ? 'smart' : 'all'].tokens);
    }
  });

  test('has what is switched off for who can switch it, and for no other user', async () => {
    const toggle = (items: string[], enabled: boolean) =>
      api(hub, 'POST', '/servers/alpha/tools/toggle', { token: tokens['admin'], body: { items, enabled } });
    await toggle(['env', 'echo'], false);
    expect(await named()).toEqual([
      ['alpha', ['add'], ['echo', 'env']],
      ['beta', ['echo'], []],
    ]);
    expect(await named('', 'user')).toEqual([]);
    expect(await named('?group=dev')).toEqual([]);
    await toggle(['env', 'echo'], true);
    expect((await costs('', 'user')).map(({ name, managed, off }) => [name, managed, off])).toEqual([
      ['alpha', false, {}],
    ]);
  });

  test('knows nothing of what the caller does not see', async () => {
    expect(await named('', 'user')).toEqual([['alpha', ['echo'], []]]);
    const hidden = await api(hub, 'GET', '/costs?group=secret', { token: tokens['user'] });
    const unknown = await api(hub, 'GET', '/costs?group=gone', { token: tokens['user'] });
    expect([hidden.status, unknown.status]).toEqual([404, 404]);
    expect((await api(hub, 'GET', '/costs?smart=maybe', { token: tokens['admin'] })).status).toBe(400);
  });

  test('has a tool that a group pins where it is listed, under its server', async () => {
    const body = { name: 'pins', servers: [{ name: 'alpha', pinnedTools: ['add'] }] };
    await api(hub, 'POST', '/groups', { token: tokens['admin'], body });
    expect(await named('?group=pins&smart=true')).toEqual([
      ['$smart', ['search_tools', 'call_tool'], []],
      ['alpha', ['add'], []],
    ]);
    await api(hub, 'DELETE', '/groups/pins', { token: tokens['admin'] });
  });
});

describe('GET /connect', () => {
  const connect = async (query: string, who = 'admin') => {
    const { status, body } = await api(hub, 'GET', `/connect${query}`, { token: tokens[who] });
    return { status, message: body.message, ...(body.data as Connect) };
  };

  test('has the address of everything, of a group by name or id, of a server, and of their search', async () => {
    const url = async (query: string) => (await connect(query)).url.slice(hub.url.length);
    expect(await url('')).toBe('/mcp');
    expect(await url('?group=dev')).toBe('/mcp/dev');
    expect(await url('?group=g1')).toBe('/mcp/dev');
    expect(await url('?server=beta')).toBe('/mcp/beta');
    expect(await url('?smart=true')).toBe('/mcp/%24smart');
    expect(await url('?code=true')).toBe('/mcp/%24code');
    expect(await url('?group=dev&code=true')).toBe('/mcp/%24code/dev');
    expect(await url('?group=dev&smart=true')).toBe('/mcp/%24smart/dev');
  });

  test('has a text for each client, with that address in it', async () => {
    const { url, clients } = await connect('?group=dev');
    expect(clients.map(({ client }) => client)).toEqual(
      expect.arrayContaining(['claude-code', 'cursor', 'vscode', 'codex']),
    );
    for (const { client, text } of clients) expect([client, text.includes(url)]).toEqual([client, true]);
  });

  test('has a key where there is nothing for an anonymous caller, and none elsewhere', async () => {
    const { config } = await hostileHttp({ tools: ['echo'] });
    const mail = { url: 'http://127.0.0.1:9/mcp', oauth: { perUser: true }, visibility: 'public' };
    const mixed = await testHub({
      mcpServers: { open: config, closed: { ...config, visibility: 'private' }, mail },
      groups: [
        { name: 'mixed', servers: ['open', 'closed', 'mail'] },
        { name: 'closed-inside', servers: ['closed'] },
        { name: 'mails', servers: ['mail'] },
        { name: 'empty', servers: [] },
        { name: 'secret', servers: ['open'], visibility: 'private' },
      ],
    });
    const token = await login(mixed);
    const asks = async (at: TestHub, who: string | undefined, query: string) => {
      const { data } = (await api(at, 'GET', `/connect${query}`, { token: who })).body;
      const { keyRequired, clients } = data as Connect;
      expect(JSON.stringify(clients).includes('YOUR_ACCESS_KEY'), query).toBe(keyRequired);
      const asked = (await api(at, 'GET', `/connect${query === '' ? '?' : `${query}&`}key=true`, { token: who })).body;
      expect(JSON.stringify(asked.data), query).toContain('YOUR_ACCESS_KEY');
      return keyRequired;
    };
    for (const query of ['', '?group=mixed', '?group=empty', '?server=open', '?smart=true', '?group=mixed&smart=true'])
      expect(await asks(mixed, token, query), query).toBe(false);
    for (const name of ['group=secret', 'group=closed-inside', 'group=mails', 'server=closed', 'server=mail'])
      expect(await asks(mixed, token, `?${name}`), name).toBe(true);
    expect(await asks(mixed, token, '?group=closed-inside&smart=true')).toBe(true);
    expect(await asks(hub, tokens['admin'], ''), 'all that there is is private').toBe(true);
  });

  test('says what it costs, of what the caller sees there', async () => {
    expect((await connect('')).cost.all.tools).toBe(4);
    expect((await connect('?group=dev')).cost.all.tools).toBe(1);
    expect((await connect('', 'user')).cost.all.tools).toBe(1);
    const { all, smart, code } = (await connect('?server=alpha')).cost;
    expect(all.tokens).toBeGreaterThan(20);
    expect(smart.tools).toBe(2);
    // A search, and what runs code.
    expect(code.tools).toBe(2);
    expect(code.tokens).toBeGreaterThan(0);
  });

  test('knows nothing of what the caller does not see', async () => {
    for (const query of ['?group=secret', '?server=beta', '?group=g2']) {
      const hidden = await connect(query, 'user');
      const missing = await connect(query.replace(/=.*/, '=nope'), 'user');
      expect(hidden.status).toBe(404);
      expect(hidden.message?.replace(/secret|beta|g2/, 'nope')).toBe(missing.message);
    }
  });
});

describe('GET /registry/servers', () => {
  test('is a page of the registry, in the form of older ones and of newer ones', async () => {
    const asked: string[] = [];
    answer = (request, response) => {
      asked.push(request.url ?? '');
      const servers = [
        { server: { name: 'a/new' }, _meta: {} },
        { name: 'b/old' },
        'no server',
        { server: { title: 'nameless' } },
      ];
      response.end(JSON.stringify({ servers, metadata: { nextCursor: 'more' } }));
    };
    const { status, body } = await api(hub, 'GET', '/registry/servers?search=a%26b&cursor=c', {
      token: tokens['user'],
    });
    expect([status, body.data]).toEqual([200, { servers: [{ name: 'a/new' }, { name: 'b/old' }], nextCursor: 'more' }]);
    expect(asked).toEqual(['/v0/servers?version=latest&limit=30&search=a%26b&cursor=c']);
  });

  test.each<[string, RequestListener]>([
    ['fails', (_request, response) => void response.writeHead(500).end('no')],
    ['answers nonsense', (_request, response) => void response.end('<html>')],
    ['answers too much', (_request, response) => void response.end('x'.repeat(5 * 1024 * 1024))],
    ['breaks off', (request) => request.socket.destroy()],
  ])('is 503 when the registry %s', async (_what, listener) => {
    answer = listener;
    const { status, body } = await api(hub, 'GET', '/registry/servers', { token: tokens['admin'] });
    expect([status, body.message]).toEqual([503, expect.stringContaining('cannot be reached')]);
  });

  test('is not for keys, and not asked for more than a word or two', async () => {
    expect((await api(hub, 'GET', '/registry/servers', { token: tokens['key'] })).status).toBe(403);
    const long = await api(hub, 'GET', `/registry/servers?search=${'x'.repeat(2_000)}`, { token: tokens['admin'] });
    expect(long.status).toBe(400);
  });
});

describe('GET /exposure', () => {
  test('says what anonymous can call, as far as it is open', async () => {
    const open = await testHub({
      mcpServers: {
        shown: (await hostileHttp({ tools: ['echo', 'add'] })).config,
        kept: { ...(await hostileHttp({ tools: ['echo'] })).config, visibility: 'private' },
      },
    });
    await open.connected(2);
    const token = await login(open);
    const exposure = async () => (await api(open, 'GET', '/exposure', { token })).body.data;
    const all = { servers: ['shown'], tools: 2 };
    expect(await exposure()).toEqual({ loopback: true, http: all, mcp: all });
    const routing = { openApiAccess: 'off', enableBearerAuth: true };
    await api(open, 'PUT', '/system-config', { token, body: { routing } });
    expect(await exposure()).toEqual({ loopback: true, http: null, mcp: null });
  });

  test('is for admins', async () => {
    expect((await api(hub, 'GET', '/exposure', { token: tokens['user'] })).status).toBe(403);
  });
});

describe('GET /activities/timeline', () => {
  interface Timeline {
    bucketMs: number;
    buckets: { start: string; calls: number; errors: number; p50: number; p95: number }[];
    totals?: { totalCalls: number };
  }
  const timeline = async (who: string, query = '') => {
    const { body, text } = await api(hub, 'GET', `/activities/timeline${query}`, { token: tokens[who] });
    expect(body.success, text).toBe(true);
    return body.data as Timeline;
  };
  const sum = ({ buckets }: Timeline) => [
    buckets.reduce((total, { calls }) => total + calls, 0),
    buckets.reduce((total, { errors }) => total + errors, 0),
  ];

  test('has calls and errors in equal stretches, for a user only their own, and filters', async () => {
    const call = (who: string, server: string, toolName: string) =>
      api(hub, 'POST', `/tools/call/${server}`, { token: tokens[who], body: { toolName } });
    await call('admin', 'alpha', 'echo');
    await call('admin', 'beta', 'echo');
    await call('user', 'alpha', 'echo');
    const all = await timeline('admin');
    expect([all.buckets.length, all.bucketMs]).toEqual([48, 30 * 60_000 + 1]);
    expect(sum(all)).toEqual([3, 0]);
    const busy = all.buckets.findLast(({ calls }) => calls > 0);
    expect(busy?.p95).toBeGreaterThanOrEqual(busy?.p50 ?? Infinity);
    expect(sum(await timeline('user'))).toEqual([1, 0]);
    expect(sum(await timeline('admin', '?server=beta&buckets=3'))).toEqual([1, 0]);
    expect((await timeline('admin', '?buckets=3')).buckets).toHaveLength(3);
    expect(sum(await timeline('admin', '?startDate=2020-01-01&endDate=2020-01-02'))).toEqual([0, 0]);
  });

  test('has the same calls together where that is asked for, and what a user sees of them', async () => {
    const query = '?startDate=2020-01-01&buckets=4&totals=true';
    for (const who of ['admin', 'user']) {
      const all = await timeline(who, query);
      const stats = await api(hub, 'GET', '/activities/stats?startDate=2020-01-01', { token: tokens[who] });
      expect(all.totals).toEqual(stats.body.data);
      expect(all.totals?.totalCalls).toBe(sum(all)[0]);
    }
    expect((await timeline('admin', '?totals=false')).totals).toBe(undefined);
  });

  test.each(['buckets=0', 'buckets=751', 'buckets=x', 'status=nope', 'totals=yes'])('refuses %s', async (query) => {
    expect((await api(hub, 'GET', `/activities/timeline?${query}`, { token: tokens['admin'] })).status).toBe(400);
  });
});

describe('GET /clients', () => {
  const clients = async (who: string) => {
    const { status, body } = await api(hub, 'GET', '/clients', { token: tokens[who] });
    return { status, seen: body.data as Seen[] };
  };

  test('has each client that connected, by its credential, and whether it has called; a user sees the own ones', async () => {
    const key = async (name: string, who: string) => keyToken(hub, tokens[who] ?? '', { name, accessType: 'all' });
    for (const kind of clientKinds) {
      const authorization = `Bearer ${await key(kind, 'admin')}`;
      const client = await connect(kind, hub.url, '', { authorization });
      await client.listTools();
      const mine = async () => (await clients('admin')).seen.find(({ keyName }) => keyName === kind);
      expect(await mine()).toMatchObject({ name: 'toolhub-test', version: '1.0.0', scope: '', hasCalled: false });
      await client.callTool('alpha-echo', { message: 'hello' });
      expect(await mine()).toMatchObject({ credential: 'key', hasCalled: true });
      await client.close();
    }
    const own = await connect('v1 http', hub.url, 'dev', { authorization: `Bearer ${await key('own', 'user')}` });
    expect((await clients('user')).seen).toMatchObject([{ keyName: 'own', username: 'ann', scope: 'dev' }]);
    expect((await clients('admin')).seen).toHaveLength(clientKinds.length + 1);
    await own.close();
    // An access key sees none.
    expect((await clients('key')).status).toBe(403);
  });

  test('tells open pages of it', async () => {
    const headers = { authorization: `Bearer ${tokens['admin']}` };
    const response = await fetch(`${hub.url}/api/events`, { headers });
    const client = await connect('v1 http', hub.url);
    for await (const chunk of response.body ?? []) if (Buffer.from(chunk).includes('changed')) break;
    await client.close();
  });

  test('has those of the other hubs on the same database', async () => {
    const DB_URL = await (await sharedPostgres()).createDatabase();
    const secret = { DB_URL, JWT_SECRET: 'the secret of these tests, long enough for HS256' };
    const [one, other] = [await testHub({ env: secret }), await testHub({ env: secret })];
    const token = await login(one);
    // Notifications begin with the database: until then another client tries.
    await until('the other hub has heard', async () => {
      await (await connect('v1 http', one.url)).close();
      return ((await api(other, 'GET', '/clients', { token })).body.data as Seen[]).length === 1;
    });
    // So do pages of the other hub hear of calls of the one.
    const bob = await userToken(one, token, 'bob');
    await until(
      'the other hub knows bob',
      async () => (await api(other, 'GET', '/auth/user', { token: bob })).status === 200,
    );
    const response = await fetch(`${other.url}/api/events`, { headers: { authorization: `Bearer ${bob}` } });
    await api(one, 'POST', '/tools/call/gone', { token: bob, body: { toolName: 'echo' } });
    for await (const chunk of response.body ?? []) if (Buffer.from(chunk).includes('called')) break;
  });
});

describe('GET /events', () => {
  /** Frames as they come, until it is closed. */
  async function listen(token: string) {
    const stop = new AbortController();
    const response = await fetch(`${hub.url}/api/events`, {
      headers: { Authorization: `Bearer ${token}` },
      signal: stop.signal,
    });
    let text = '';
    let ended = false;
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
    })();
    reading.catch(() => undefined).finally(() => (ended = true));
    return {
      response,
      changes: () => text.split('"changed"').length - 1,
      text: () => text,
      ended: () => ended,
      close: () => stop.abort(),
    };
  }

  test('says that something has changed, to all who listen, and not what', async () => {
    const listeners = await Promise.all(['admin', 'user', 'key'].map((who) => listen(tokens[who] ?? '')));
    for (const { response } of listeners) expect(response.headers.get('content-type')).toBe('text/event-stream');
    await until('the streams are open', () => listeners.every(({ text }) => text().includes(': open')));
    await api(hub, 'PUT', '/groups/secret', { token: tokens['admin'], body: { description: 'hush' } });
    await until('all have heard', () => listeners.every(({ changes }) => changes() > 0));
    for (const { text, close } of listeners) {
      expect(text()).not.toMatch(/hush|secret|beta/);
      close();
    }
  });

  const called = '{"type":"called"}';
  const echo = (who: string, at: Pick<TestHub, 'url'> = hub) =>
    api(at, 'POST', '/tools/call/alpha', { token: tokens[who], body: { toolName: 'echo' } });

  test('says that there are new calls to those who may list one of them, and not whose', async () => {
    const listeners = await Promise.all(['admin', 'user', 'key'].map((who) => listen(tokens[who] ?? '')));
    const [admin, user, key] = listeners;
    await until('the streams are open', () => listeners.every(({ text }) => text().includes(': open')));
    await echo('admin');
    await until('the admin has heard', () => admin?.text().includes(called) === true);
    await api(hub, 'PUT', '/groups/secret', { token: tokens['admin'], body: { description: 'later' } });
    await until('all have heard what came later', () => listeners.every(({ changes }) => changes() > 0));
    expect(user?.text()).not.toContain(called);
    await echo('user');
    await until('the user has heard', () => user?.text().includes(called) === true);
    expect(key?.text()).not.toContain(called);
    for (const { text, close } of listeners) {
      expect(text()).not.toMatch(/ann|echo|alpha/);
      close();
    }
  });

  test('ends with the credential it was opened with', async () => {
    const token = await login(hub);
    const { ended } = await listen(token);
    await api(hub, 'POST', '/auth/logout', { token });
    await until('the stream has ended', ended);
  });

  test('is not opened by asking for its head', async () => {
    expect((await api(hub, 'HEAD', '/events', { token: tokens['admin'] })).status).toBe(200);
  });
});

interface Seen {
  name: string;
  version: string;
  scope: string;
  credential: string;
  hasCalled: boolean;
  username?: string;
  keyName?: string;
}

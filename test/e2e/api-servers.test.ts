import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, type ApiAnswer, keyToken, login, userToken } from '../kit/api.ts';
import { storedSettings } from '../kit/hub-database.ts';
import { type Hostile, hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// /api/servers (CONTRACT §4, Servers; reference: MCPHub §1.5).

interface Server {
  name: string;
  status: string;
  error: string | null;
  attempts: number;
  enabled: boolean;
  nextRetryAt?: string;
  lastConnectedAt?: string;
  tools: { name: string; originalName: string; description: string; defaultDescription: string; enabled: boolean }[];
  prompts: { name: string }[];
  config: Record<string, unknown>;
  configRestricted?: boolean;
}

const env = { SECRET_OF_THE_HUB: 'value-of-the-hub-1' };
const entryOf = async (name: string, on = hub) =>
  (JSON.parse(await storedSettings(on)) as { mcpServers: Record<string, Record<string, unknown>> }).mcpServers[name];
const dataOf = (answer: ApiAnswer) => answer.body.data as Server;
const listOf = (answer: ApiAnswer) => answer.body.data as Server[];
const remote = {
  type: 'streamable-http',
  url: 'https://mcp.example/mcp',
  headers: { Authorization: 'Bearer canary-1' },
  enabled: false,
};

let hub: TestHub;
let alpha: Hostile;
let admin: string;
let ann: string;
let bob: string;
let key: string;
beforeAll(async () => {
  alpha = hostileStdio({
    name: 'alpha',
    tools: ['one', 'two'],
    prompts: [{ name: 'ask', description: 'Asks' }],
    resources: [{ uri: 'file:///a b?c=%20', name: 'r' }],
  });
  hub = await testHub({
    mcpServers: {
      alpha: { ...alpha.config, env: { TOKEN: 'canary-env' }, visibility: 'public' },
      anns: { ...remote, owner: 'ann', visibility: 'public', publishedBy: 'admin' },
      secret: { command: 'x', enabled: false, visibility: 'private' },
    },
    env,
  });
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
  bob = await userToken(hub, admin, 'bob');
  key = await keyToken(hub, ann);
  await hub.connected(1);
});

const call = (method: string, path: string, token: string | undefined, body?: unknown) =>
  api(hub, method, `/servers${path}`, { token, body });
const add = (name: string, config: unknown = remote, token = admin) => call('POST', '', token, { name, config });
async function refused(answer: () => Promise<ApiAnswer>, status: number, message: string | RegExp = '') {
  const before = await storedSettings(hub);
  const { status: found, body, text } = await answer();
  expect([found, body.success], text).toEqual([status, false]);
  expect(body.message).toMatch(message);
  expect(await storedSettings(hub)).toBe(before);
}

const routes: [method: string, path: string, body: unknown][] = [
  ['GET', '', undefined],
  ['POST', '', { name: 'x', config: remote }],
  ['POST', '/batch', { servers: [{ name: 'x', config: remote }] }],
  ['POST', '/import', { text: 'https://x.example/mcp' }],
  ['GET', '/anns', undefined],
  ['PUT', '/anns', { config: { description: 'Mine' } }],
  ['PUT', '/anns', { newName: 'mine' }],
  ['DELETE', '/anns', undefined],
  ['POST', '/anns/toggle', { enabled: true }],
  ['POST', '/anns/reload', undefined],
  ['POST', '/anns/tools/t/toggle', { enabled: false }],
  ['PUT', '/anns/tools/t/description', { description: 'x' }],
  ['DELETE', '/anns/tools/t/description', undefined],
  ['POST', '/anns/tools/toggle', { items: ['t'], enabled: false }],
  ['POST', '/anns/prompts/p/toggle', { enabled: false }],
  ['PUT', '/anns/resources/file%3A%2F%2F%2Fx/description', { description: 'x' }],
];
const changes = routes.filter(([method, path]) => method !== 'GET' && path.startsWith('/anns'));

describe('every route', () => {
  test.each(routes)('%s /servers%s needs a credential that holds', async (method, path, body) => {
    for (const token of [undefined, 'eyJ.eyJ.x', `mcphub_${'0'.repeat(64)}`]) {
      await refused(() => call(method, path, token, body), 401);
    }
  });

  test.each(changes)(
    '%s /servers%s is refused to others than owner and admin, and to keys',
    async (method, path, body) => {
      await refused(() => call(method, path, bob, body), 403, /belongs to ann/);
      await refused(() => call(method, path, key, body), 403, /key/);
    },
  );

  test.each(routes.filter(([, path]) => path.startsWith('/anns')))(
    '%s /servers%s answers for a server that may not be seen as for none',
    async (method, path, body) => {
      for (const token of [bob, ann]) {
        const answers = await Promise.all(
          ['secret', 'nowhere', '__proto__', 'constructor'].map(async (name) => {
            const answer = await call(method, path.replace('/anns', `/${name}`), token, body);
            return [answer.status, answer.text.replaceAll(name, '?')];
          }),
        );
        expect(answers[0]?.[0]).toBe(404);
        for (const answer of answers) expect(answer).toEqual(answers[0]);
      }
    },
  );

  test.each(routes.filter(([method, , body]) => method !== 'GET' && body !== undefined))(
    '%s /servers%s refuses what is no JSON, and what is not its input',
    async (method, path) => {
      for (const body of [
        '{"name":',
        [],
        'null',
        '7',
        {},
        { name: 7, config: 'x', enabled: 'yes', newName: '../x', servers: {} },
      ]) {
        await refused(() => call(method, path, admin, body), 400);
      }
    },
  );
});

describe('what is shown', () => {
  test('to who manages a server: all of it, secrets hidden', async () => {
    const { tools, prompts, config, ...rest } = dataOf(await call('GET', '/alpha', admin));
    expect(rest).toMatchObject({
      name: 'alpha',
      type: 'stdio',
      owner: 'admin',
      enabled: true,
      status: 'connected',
      error: null,
      attempts: 0,
      lastConnectedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    expect(tools.map(({ name, originalName, enabled }) => [name, originalName, enabled])).toEqual([
      ['alpha-one', 'one', true],
      ['alpha-two', 'two', true],
    ]);
    expect(prompts.map(({ name }) => name)).toEqual(['alpha-ask']);
    expect(config).toMatchObject({ env: { TOKEN: '••••' }, visibility: 'public' });
    expect(dataOf(await call('GET', '/anns', ann)).config).toMatchObject({ headers: { Authorization: '••••' } });
  });

  test('to who may only call it: nothing of how it is reached', async () => {
    for (const token of [bob, key]) {
      const answer = await call('GET', '/alpha', token);
      expect(dataOf(answer)).toMatchObject({
        configRestricted: true,
        config: { type: 'stdio', owner: 'admin', enabled: true },
      });
      expect(Object.keys(dataOf(answer).config).sort()).toEqual(['enabled', 'owner', 'type']);
      expect(answer.text).not.toMatch(/canary|TOKEN|hostile-stdio/);
      expect(listOf(await call('GET', '', token)).map(({ name }) => name)).not.toContain('secret');
    }
  });

  test('to who comes by a group: what the group selects', async () => {
    const own = await testHub({
      mcpServers: {
        alpha: {
          ...(await hostileHttp({ tools: ['one', 'two', 'three'] })).config,
          visibility: 'private',
          tools: { three: { enabled: false } },
        },
      },
      groups: [{ id: 'g', name: 'g', servers: [{ name: 'alpha', tools: ['two', 'three'] }] }],
      env,
    });
    const chief = await login(own);
    await own.connected(1);
    const tools = async (token: string) =>
      dataOf(await api(own, 'GET', '/servers/alpha', { token })).tools.map(({ originalName }) => originalName);
    expect(await tools(chief)).toEqual(['one', 'two', 'three']);
    expect(await tools(await userToken(own, chief, 'member', { groups: ['g'] }))).toEqual(['two']);
  });

  test('of a server that is away: when it is tried again, and why it is away to who manages it', async () => {
    await add('away', { url: 'http://127.0.0.1:9/canary-path', visibility: 'public' });
    const shown = await until('it failed', async () => {
      const server = dataOf(await call('GET', '/away', admin));
      return server.status === 'disconnected' && server;
    });
    expect(shown.error).toContain('127.0.0.1:9');
    expect(shown.attempts).toBeGreaterThan(0);
    expect(Date.parse(shown.nextRetryAt ?? '')).toBeGreaterThan(Date.now() - 60_000);
    const text = (await call('GET', '/away', bob)).text;
    expect(text).not.toContain('127.0.0.1');
    expect(dataOf(await call('GET', '/away', bob)).error).toEqual(expect.any(String));
  });

  test('page by page', async () => {
    const page = async (query: string) => (await call('GET', query, admin)).body;
    const { total } = (await page('?page=1&limit=1'))['pagination'] as { total: number };
    expect((await page('?page=2&limit=1'))['pagination']).toEqual({
      page: 2,
      limit: 1,
      total,
      totalPages: total,
      hasNextPage: true,
      hasPrevPage: true,
    });
    expect((await page('?page=2&limit=1')).data).toHaveLength(1);
    expect(await page('?page=999')).toMatchObject({ data: [], pagination: { hasNextPage: false } });
    for (const query of ['?page=0', '?limit=0', '?limit=1001', '?page=-1', '?page=x', '?limit=1.5', '?page=']) {
      expect((await call('GET', query, admin)).status).toBe(400);
    }
  });
});

describe('adding', () => {
  test('answers 201 with the server, which is then connected', async () => {
    const server = await hostileHttp({ tools: ['hello'] });
    const answer = await add('http-one', { ...server.config, headers: { 'x-key': 'canary-header' } });
    expect([answer.status, answer.body.message]).toEqual([201, 'Server added successfully.']);
    expect(dataOf(answer)).toMatchObject({
      name: 'http-one',
      config: { headers: { 'x-key': '••••' }, owner: 'admin' },
    });
    await until('it is connected', async () => dataOf(await call('GET', '/http-one', admin)).status === 'connected');
    expect(server.journal().some(({ headers }) => headers?.['x-key'] === 'canary-header')).toBe(true);
    await refused(() => add('http-one'), 409);
  });

  test('refuses what cannot be a server, and names the member', async () => {
    const bad: [string, unknown, string][] = [
      ['a b', remote, 'name'],
      ['__proto__', remote, 'name'],
      ['../up', remote, 'name'],
      ['x'.repeat(129), remote, 'name'],
      ['bad', {}, 'config'],
      ['bad', { url: 'ftp://x' }, 'config.url'],
      ['a.b', { url: 'ftp://x' }, 'config.url'],
      ['bad', { command: 'x', args: 'y' }, 'config.args'],
      ['bad', { type: 'carrier-pigeon', url: 'https://x.example' }, 'config.type'],
      ['bad', { url: 'https://x.example', headers: { A: '••••' } }, 'config.headers.A'],
      ['bad', { url: 'https://x.example', options: { timeout: 'x' } }, 'config.options.timeout'],
      ['bad', { url: 'https://x.example', owner: 'nobody' }, 'config.owner'],
    ];
    for (const [name, config, path] of bad) {
      const before = await storedSettings(hub);
      const answer = await add(name, config);
      expect([answer.status, answer.body.errors?.[0]?.path], answer.text).toEqual([400, path]);
      expect(answer.text).not.toContain('mcpServers');
      expect(await storedSettings(hub)).toBe(before);
    }
  });

  test.each<[config: Record<string, unknown>, advice: string]>([
    [{ command: 'no-such-program', headers: { A: 'b' } }, 'config.headers has no effect on a program'],
    [{ url: 'http://127.0.0.1:9/mcp', env: { A: 'canary-env-value' } }, 'config.env has no effect on a remote server'],
    [{ type: 'sse', url: 'http://127.0.0.1:9/mcp', command: 'npx' }, 'config.command has no effect'],
    [{ command: 'no-such-program', url: 'http://127.0.0.1:9/mcp' }, 'config has a "command" and a url'],
  ])('accepts a pasted configuration with members of another transport, and says so: %j', async (config, advice) => {
    const added = await add('pasted', { ...config, enabled: false });
    expect([added.status, added.body.message], added.text).toEqual([201, expect.stringContaining(advice)]);
    expect(added.body.message).not.toContain('canary');
    const described = await call('PUT', '/pasted', admin, { config: { description: 'nothing to do with it' } });
    if (!advice.startsWith('config has')) expect(described.body.message).toBe('Server updated successfully.');
    const imported = await call('POST', '/import', admin, {
      mcpServers: { 'pasted-2': { ...config, enabled: false } },
    });
    expect(imported.status, imported.text).toBe(201);
    for (const name of ['pasted', 'pasted-2']) await call('DELETE', `/${name}`, admin);
  });

  test('changes that cannot be are refused at their path too', async () => {
    await add('renamed-from', { url: 'http://127.0.0.1:9/mcp', enabled: false });
    const body = { newName: 'renamed-to', config: { keepAliveInterval: 0 } };
    const answer = await call('PUT', '/renamed-from', admin, body);
    expect([answer.status, answer.body.errors?.[0]?.path]).toEqual([400, 'config.keepAliveInterval']);
    await call('DELETE', '/renamed-from', admin);
  });

  test('lets users bring remote servers only, for themselves, outside the network', async () => {
    const made = await add('bobs', remote, bob);
    expect([made.status, await entryOf('bobs')]).toEqual([201, { visibility: 'private', ...remote, owner: 'bob' }]);
    expect((await call('GET', '/bobs', ann)).status).toBe(404);
    for (const config of [
      { command: 'sh' },
      { type: 'stdio', url: 'https://x.example' },
      { ...remote, owner: 'ann' },
      { ...remote, passthroughHeaders: ['Authorization'] },
      { ...remote, bundle: { folder: 'notes-1.0.0' } },
      { url: 'http://127.0.0.1:3000/mcp' },
      { url: 'http://169.254.169.254/latest/meta-data' },
      { url: 'http://[::1]/mcp' },
      { url: 'http://localhost/mcp' },
    ]) {
      await refused(() => add('evil', config, bob), 403);
      await refused(() => call('PUT', '/bobs', bob, { config }), 403);
    }
  });

  test('in a batch each stands for itself', async () => {
    const batch = (servers: unknown, token = admin) => call('POST', '/batch', token, { servers });
    const some = await batch([
      { name: 'b-1', config: remote },
      { name: 'alpha', config: remote },
      { name: 'b-2', config: {} },
      7,
    ]);
    expect(some.status).toBe(207);
    expect(some.body.data).toMatchObject({ successCount: 1, failureCount: 3 });
    expect((await batch([{ name: 'b-3', config: { command: 'sh' } }], bob)).status).toBe(400);
    expect(await entryOf('b-3')).toBeUndefined();
    expect((await batch([{ name: 'b-4', config: remote }])).status).toBe(200);
  });
});

describe('changing', () => {
  test('keeps hidden values, what was not sent, and the connection when only words change', async () => {
    const pids = alpha.pids();
    const { config } = dataOf(await call('GET', '/alpha', admin));
    const answer = await call('PUT', '/alpha', admin, { config: { ...config, description: 'Words' } });
    expect(answer.body.message).toBe('Server updated successfully.');
    expect(await entryOf('alpha')).toMatchObject({ env: { TOKEN: 'canary-env' }, description: 'Words' });
    expect(dataOf(await call('GET', '/alpha', admin)).status).toBe('connected');
    expect(alpha.pids()).toEqual(pids);
  });

  test('renames everywhere', async () => {
    await add('old');
    await api(hub, 'POST', '/groups', { token: admin, body: { name: 'renames', servers: ['old'] } });
    const answer = await call('PUT', '/old', admin, { newName: 'new' });
    expect(answer.body).toMatchObject({ message: 'Server renamed and updated successfully.', data: { name: 'new' } });
    expect((await call('GET', '/old', admin)).status).toBe(404);
    expect((await api(hub, 'GET', '/groups/renames', { token: admin })).body.data).toMatchObject({ servers: ['new'] });
    await refused(() => call('PUT', '/new', admin, { newName: 'alpha' }), 409);
    const gone = await call('DELETE', '/new', admin);
    expect([gone.status, gone.body]).toEqual([200, { success: true, message: 'Server removed successfully.' }]);
    expect((await api(hub, 'GET', '/groups/renames', { token: admin })).body.data).toMatchObject({ servers: [] });
  });

  test('a secret does not follow a server to another address by the hand of a user', async () => {
    const { config } = dataOf(await call('GET', '/anns', ann));
    await refused(
      () => call('PUT', '/anns', ann, { config: { ...config, url: 'https://evil.example/mcp' } }),
      400,
      /hidden/,
    );
  });

  describe('secrets that an admin gave along with a server go nowhere else by the hand of its owner', () => {
    const clientSecret = 'canary-client';
    const evil = 'https://evil.example';
    const client = { clientId: 'c', clientSecret };
    const oauth2 = (tokenUrl: string) => ({ type: 'oauth2', oauth2: { ...client, tokenUrl } });
    const security = oauth2('https://api.example/token');
    const schema = (url: string) => ({
      openapi: '3.0.0',
      servers: [{ url }],
      paths: { '/who': { get: { operationId: 'who', responses: {} } } },
    });
    const openapi = { url: 'https://api.example/openapi.json', security };
    const api = { type: 'openapi', openapi };
    const inline = { type: 'openapi', openapi: { schema: schema('https://api.example'), security } };
    const oauth = { ...client, refreshToken: 'canary-refresh', tokenEndpoint: 'https://mcp.example/token' };
    const signedIn = { type: 'streamable-http', url: 'https://mcp.example/mcp', oauth };
    const registering = { initialAccessToken: 'canary-initial', registrationEndpoint: 'https://mcp.example/register' };
    const registered = { ...signedIn, oauth: { dynamicRegistration: registering } };
    const masked = (config: object) => JSON.parse(JSON.stringify(config).replace(/canary-\w+/g, '••••')) as object;

    test.each<[string, Record<string, unknown>, object]>([
      ['the token address of an API', api, { ...api, openapi: { ...openapi, security: oauth2(`${evil}/token`) } }],
      ['the document of an API', api, { ...api, openapi: { ...openapi, url: 'https://api.example/of-mine.json' } }],
      ['the document of an API behind a url', api, { ...api, url: openapi.url, openapi: { ...openapi, url: evil } }],
      ['the address of an API beside its document', api, { ...api, openapi: { ...openapi, baseUrl: `${evil}/v1` } }],
      [
        'what is filled in there',
        inline,
        { ...inline, openapi: { ...inline.openapi, serverVariables: { host: evil } } },
      ],
      ['its own document', inline, { ...inline, openapi: { schema: schema(evil), security } }],
      ['the token address of a sign-in', signedIn, { ...signedIn, oauth: { ...oauth, tokenEndpoint: `${evil}/t` } }],
      ['the issuer of a sign-in', signedIn, { ...signedIn, oauth: { ...oauth, issuer: evil } }],
      [
        'where a client is registered',
        registered,
        { ...registered, oauth: { dynamicRegistration: { ...registering, registrationEndpoint: evil } } },
      ],
      ['the address, with a sign-in that is not sent', signedIn, { type: 'streamable-http', url: `${evil}/mcp` }],
    ])('%s', async (_, config, changed) => {
      const given = { ...config, enabled: false, owner: 'ann' };
      const name = `given-${crypto.randomUUID()}`;
      expect((await add(name, given)).status).toBe(201);
      const put = (config: object) => call('PUT', `/${name}`, ann, { config });
      await refused(() => put(masked(changed)), 400, /hidden values/);
      // What answers show, sent back with other words, changes nothing but those.
      const { config: shown } = dataOf(await call('GET', `/${name}`, ann));
      expect(JSON.stringify(shown)).not.toContain('canary');
      expect((await put({ ...shown, description: 'Words' })).status).toBe(200);
      expect(await entryOf(name)).toEqual({ ...given, description: 'Words' });
      const anew = JSON.parse(JSON.stringify({ oauth: null, ...changed }).replaceAll('canary', 'own')) as object;
      expect((await put(anew)).status).toBe(200);
      expect(JSON.stringify(await entryOf(name))).not.toContain('canary');
      await call('DELETE', `/${name}`, admin);
    });
  });

  test('switching off ends the server, switching on starts it, reloading restarts it and no other', async () => {
    const one = hostileStdio({ tools: ['t'] });
    const other = hostileStdio({ tools: ['t'] });
    const own = await testHub({ mcpServers: { one: one.config, other: other.config }, env });
    const token = await login(own);
    const post = (path: string, body?: unknown) => api(own, 'POST', `/servers/one${path}`, { token, body });
    const status = async () => dataOf(await api(own, 'GET', '/servers/one', { token })).status;
    await own.connected(2);
    expect((await post('/reload')).body.message).toBe('Server one reloaded successfully.');
    await until('it was started again', async () => one.pids().length === 2 && (await status()) === 'connected');
    const off = await post('/toggle', { enabled: false });
    expect(off.body).toMatchObject({ message: 'Server disabled successfully.', data: { enabled: false } });
    await until('it is off', async () => (await status()) === 'disabled');
    expect((await post('/reload')).status).toBe(409);
    expect((await post('/toggle', { enabled: true })).body.message).toBe('Server enabled successfully.');
    await until('it is on again', async () => (await status()) === 'connected');
    expect(other.pids()).toHaveLength(1);
  });

  test('deleting a server that came from a bundle removes its folder, unless another one runs from it', async () => {
    const bundle = { name: 'b', version: '1', folder: 'b-1', missing: [], userConfig: {} };
    const config = { command: 'x', enabled: false, bundle };
    const own = await testHub({ mcpServers: { b: config, twin: config }, env });
    const token = await login(own);
    const folder = join(own.folder, 'data', 'bundles', 'b-1');
    mkdirSync(folder, { recursive: true });
    await api(own, 'DELETE', '/servers/b', { token });
    expect(existsSync(folder)).toBe(true);
    await api(own, 'DELETE', '/servers/twin', { token });
    expect(existsSync(folder)).toBe(false);
  });
});

describe('tools, prompts and resources', () => {
  const names = async () => (await rpc(hub.mcp('alpha'), 'tools/list', {})).result?.tools?.map(({ name }) => name);

  test('are switched by either of their names', async () => {
    const toggle = (tool: string, enabled: boolean) => call('POST', `/alpha/tools/${tool}/toggle`, admin, { enabled });
    const off = await toggle('one', false);
    expect([off.status, off.body.message]).toEqual([200, 'Tool one disabled successfully.']);
    expect(await names()).toEqual(['two']);
    expect(dataOf(await call('GET', '/alpha', admin)).tools.map(({ enabled }) => enabled)).toEqual([false, true]);
    expect(dataOf(await call('GET', '/alpha', bob)).tools.map(({ originalName }) => originalName)).toEqual(['two']);
    await toggle('alpha-one', true);
    expect(await names()).toEqual(['one', 'two']);
    await refused(() => toggle('three', false), 404);
    await refused(() => toggle('__proto__', false), 404);
  });

  test('are switched together in one change, or none of them is', async () => {
    const toggle = (items: unknown, enabled: unknown = false) =>
      call('POST', '/alpha/tools/toggle', admin, { items, enabled });
    await refused(() => toggle(['one', 'three']), 404);
    await refused(() => toggle(['one', '__proto__']), 404);
    for (const items of [[], [''], 'one', undefined]) await refused(() => toggle(items), 400);
    await refused(() => toggle(['one'], 'no'), 400);
    expect(await names()).toEqual(['one', 'two']);
    // Each by either of its names, and once.
    const off = await toggle(['alpha-one', 'one', 'two']);
    expect(off.body).toMatchObject({ data: { items: ['one', 'two'], enabled: false } });
    expect(await names()).toEqual([]);
    await toggle(['one', 'two'], true);
    expect(await names()).toEqual(['one', 'two']);
  });

  test('are described in other words, and in their own again', async () => {
    const path = '/alpha/tools/two/description';
    const put = await call('PUT', path, admin, { description: 'Better words' });
    expect(put.body).toMatchObject({ data: { item: 'two', description: 'Better words' } });
    const tools = async () => (await rpc(hub.mcp('alpha'), 'tools/list', {})).result?.tools ?? [];
    const own = dataOf(await call('GET', '/alpha', admin)).tools.find(({ originalName }) => originalName === 'two');
    expect(own).toMatchObject({ description: 'Better words', hasDescriptionOverride: true });
    expect((await tools()).find(({ name }) => name === 'two')?.description).toBe('Better words');
    const reset = await call('DELETE', path, admin);
    expect(reset.body).toMatchObject({ success: true, data: { item: 'two', description: own?.defaultDescription } });
    expect((await tools()).find(({ name }) => name === 'two')?.description).not.toBe('Better words');
    await refused(() => call('PUT', path, admin, { description: 'x'.repeat(5_000) }), 400);
  });

  test('prompts and resources too, whatever is in a URI', async () => {
    expect((await call('POST', '/alpha/prompts/ask/toggle', admin, { enabled: false })).status).toBe(200);
    expect((await rpc(hub.mcp('alpha'), 'prompts/list', {})).result?.prompts).toEqual([]);
    const uri = 'file:///a b?c=%20';
    const toggle = await call('POST', `/alpha/resources/${encodeURIComponent(uri)}/toggle`, admin, { enabled: false });
    expect(toggle.body).toMatchObject({ data: { item: uri, enabled: false } });
    expect((await rpc(hub.mcp('alpha'), 'resources/list', {})).result?.resources).toEqual([]);
  });
});

describe('importing', () => {
  const block = JSON.stringify({
    mcpServers: {
      'imported-1': { command: 'npx', args: ['-y', 'x'], env: { TOKEN: 'canary-import' }, disabled: true },
      alpha: { url: 'https://x.example/mcp' },
      broken: { url: 'ftp://x' },
      'imported-2': { url: 'https://x.example/mcp', headers: { Authorization: '••••' }, disabled: true },
    },
  });
  const post = (query: string, body: unknown, token = admin) => call('POST', `/import${query}`, token, body);
  const statuses = (answer: ApiAnswer) =>
    (answer.body.data as { servers: { name: string; status: string }[] }).servers.map(({ name, status }) => [
      name,
      status,
    ]);

  test('tells what would come of it, and changes nothing', async () => {
    const before = await storedSettings(hub);
    const answer = await post('?dryRun=true', { text: block });
    expect([answer.status, statuses(answer)]).toEqual([
      200,
      [
        ['imported-1', 'ready'],
        ['alpha', 'exists'],
        ['imported-2', 'invalid'],
      ],
    ]);
    expect(answer.body.data).toMatchObject({ problems: [{ path: expect.stringContaining('broken') as string }] });
    expect(answer.text).not.toContain('canary');
    expect(await storedSettings(hub)).toBe(before);
  });

  test('adds what can be added, and says of the rest why not', async () => {
    const answer = await post('', { text: block, names: ['imported-1', 'alpha'] });
    expect([answer.status, statuses(answer)]).toEqual([
      201,
      [
        ['imported-1', 'created'],
        ['alpha', 'exists'],
      ],
    ]);
    expect(await entryOf('imported-1')).toMatchObject({
      command: 'npx',
      env: { TOKEN: 'canary-import' },
      enabled: false,
      owner: 'admin',
    });
    const again = await post('', JSON.parse(block));
    expect([answer.body.message, again.status]).toEqual([expect.stringContaining('alpha: Cannot add'), 400]);
    expect(again.body.errors?.map(({ path }) => path)).toEqual(['imported-1', 'alpha', 'imported-2']);
    const taken = await post('', { text: block, names: ['imported-1', 'alpha'] });
    expect([taken.status, taken.body.success, taken.body.message]).toEqual([
      409,
      false,
      expect.stringContaining('names already: imported-1, alpha'),
    ]);
    const unknown = await post('', { text: block, names: ['nothing of it'] });
    expect([unknown.status, unknown.body.errors?.[0]?.path]).toEqual([400, 'names']);
    await refused(() => post('', { text: 'hello {' }), 400);
    await refused(() => post('?dryRun=maybe', { text: block }), 400);
  });

  test('switches off what belonged to a user unknown here', async () => {
    const config = { url: 'https://x.example/mcp', headers: { 'x-stolen': '${SECRET_OF_THE_HUB}' } };
    const answer = await post('', { mcpServers: { strange: { ...config, owner: 'stranger' } } });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.text).toContain("It was stranger's, who is no user here, and is yours and switched off now");
    expect(await entryOf('strange')).toEqual({ ...config, enabled: false, owner: 'admin' });
    await call('DELETE', '/strange', admin);
  });

  test('is for admins', async () => {
    for (const query of ['', '?dryRun=true']) await refused(() => post(query, { text: block }, ann), 403);
  });
});

test('who takes a name that has just become free reaches nothing of the server that had it', async () => {
  const vault = await hostileHttp({ name: 'vault', tools: ['open_it'] });
  const body = { name: 'vault', config: { ...vault.config, visibility: 'private' } };
  expect((await call('POST', '', admin, body)).status).toBe(201);
  await until('the vault is connected', async () => dataOf(await call('GET', '/vault', admin)).status === 'connected');
  expect((await call('DELETE', '/vault', admin)).status).toBe(200);
  const theirs = await call('POST', '', bob, { name: 'vault', config: { ...remote, enabled: true } });
  expect(theirs.status, theirs.text).toBe(201);
  const called = await api(hub, 'POST', '/tools/call/vault', { token: bob, body: { toolName: 'open_it' } });
  expect(called.status, called.text).toBe(503);
  expect(theirs.text).not.toContain('open_it');
  expect(dataOf(theirs)).toMatchObject({ tools: [] });
  expect(vault.journal().map(({ method }) => method)).not.toContain('tools/call');
  await call('DELETE', '/vault', bob);
});

test('servers of users neither get the environment of the hub nor reach its network', async () => {
  const victim = await hostileHttp({ tools: ['t'] });
  const headers = { 'x-stolen': '${SECRET_OF_THE_HUB}' };
  const own = await testHub({
    mcpServers: {
      theirs: { ...victim.config, headers, owner: 'eve' },
      ours: { ...victim.config, headers, owner: 'admin' },
    },
    env,
  });
  const token = await login(own);
  const status = async (name: string) => dataOf(await api(own, 'GET', `/servers/${name}`, { token }));
  await until('ours is connected', async () => (await status('ours')).status === 'connected');
  const theirs = await until('theirs failed', async () => {
    const found = await status('theirs');
    return found.status === 'disconnected' && found;
  });
  expect(theirs.error).toContain('not on the public internet');
  // Allowing the range opens the network, and not the environment.
  const seen = () => victim.journal().flatMap(({ headers }) => headers?.['x-stolen'] ?? []);
  expect(new Set(seen())).toEqual(new Set([env.SECRET_OF_THE_HUB]));
  const before = victim.journal().length;
  await api(own, 'PUT', '/system-config', { token, body: { network: { allowedCidrs: ['127.0.0.0/8'] } } });
  await api(own, 'POST', '/servers/ours/toggle', { token, body: { enabled: false } });
  await api(own, 'POST', '/servers/theirs/reload', { token });
  await until('theirs is connected', async () => (await status('theirs')).status === 'connected');
  const later = victim.journal().slice(before);
  expect(later.length).toBeGreaterThan(0);
  expect(later.filter(({ method }) => method === 'initialize').every(({ headers }) => !headers?.['x-stolen'])).toBe(
    true,
  );
  // Who becomes an admin is trusted from then on.
  await userToken(own, token, 'eve', { role: 'admin' });
  await until('theirs has it now', () =>
    victim
      .journal()
      .slice(before)
      .some(({ headers }) => headers?.['x-stolen'] === env.SECRET_OF_THE_HUB),
  );
});

test('variables that are not set are told to who manages the server, connected or not', async () => {
  const env = { TOKEN: '${NOT_SET_HERE}', SET: '${SET_HERE}' };
  const server = { ...hostileStdio({ name: 's' }).config, env, visibility: 'public' };
  const own = await testHub({ mcpServers: { s: server }, env: { SET_HERE: 'yes' } });
  await own.connected(1);
  const root = await login(own);
  const ben = await userToken(own, root, 'ben');
  const told = async (token: string, path: string) =>
    JSON.stringify((await api(own, 'GET', path, { token })).body.data);
  for (const path of ['/servers', '/servers?items=count', '/servers/s']) {
    expect(await told(root, path)).toContain('"unsetVariables":["NOT_SET_HERE"]');
    expect(await told(ben, path)).not.toContain('unsetVariables');
  }
  await api(own, 'PUT', '/servers/s', { token: root, body: { config: { ...server, env: {} } } });
  await until('it is started anew', async () => !(await told(root, '/servers/s')).includes('unsetVariables'));
});

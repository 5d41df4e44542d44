import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createOutside } from '../../src/core/access/outside.ts';
import { readEnv } from '../../src/env/env.ts';
import { api, keyToken, login } from '../kit/api.ts';
import { hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { raw, type RawAnswer, rpc, stream } from '../kit/raw.ts';
import { legacySession, modern, modernRequest, session } from '../kit/sessions.ts';
import { type SettingsDocument, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Who counts as being on this machine (CONTRACT §7): a hub that others can reach, behind a proxy as well, is open to
// no caller that was not let in.

const reading = { inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
const plain = await hostileHttp({ name: 'plain', tools: ['echo', 'poke'] });
const shown = await hostileHttp({
  name: 'shown',
  tools: ['echo', { name: 'look', ...reading }, { name: 'liar', ...reading, annotations: { readOnlyHint: 'true' } }],
});
const settings: SettingsDocument = {
  mcpServers: { plain: plain.config, shown: { ...shown.config, visibility: 'public' } },
  groups: [{ id: 'g', name: 'both', servers: ['plain', 'shown'] }],
};
const calls = () => plain.received('tools/call').length + shown.received('tools/call').length;
const methods = () => [...plain.journal(), ...shown.journal()].filter(({ method }) => method !== undefined).length;

async function started(options: SettingsDocument & { env?: Record<string, string> } = {}): Promise<TestHub> {
  const hub = await testHub({ ...settings, ...options });
  await hub.connected(2);
  return hub;
}

type Headers = Record<string, string | undefined>;

/** Every way to an MCP endpoint. */
async function overMcp(hub: TestHub, headers: Headers): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = [];
  for (const scope of ['', 'plain', 'both', '$smart', '$smart/both']) {
    const name = scope === 'plain' ? 'echo' : 'plain-echo';
    answers.push(
      await rpc(hub.mcp(scope), 'tools/call', { name, arguments: {} }, { headers }),
      await modern(hub.mcp(scope), 'tools/list', {}, { headers }),
      await raw(hub.mcp(scope), { method: 'DELETE', headers }),
      await raw(hub.mcp(scope), { method: 'GET', headers }),
      await raw(hub.sse(scope), { method: 'GET', headers }),
    );
  }
  answers.push(await raw(`${hub.url}/messages?sessionId=x`, { body: {}, headers }));
  return answers;
}

async function isClosed(hub: TestHub, headers: Headers): Promise<void> {
  const before = methods();
  for (const answer of await overMcp(hub, headers)) {
    expect(answer.status, answer.text).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer .*resource_metadata="http/);
    expect(answer.error, answer.text).toMatchObject({ code: expect.any(Number) as number });
    expect(answer.headers['mcp-session-id']).toBeUndefined();
  }
  expect(methods()).toBe(before);
}

/** What an anonymous caller gets of a server over the OpenAPI-style routes, at each address it has there. */
async function overHttp(hub: TestHub, server: string, headers: Headers): Promise<number[]> {
  const at = (method: string, path: string) =>
    api(hub, method, path, { headers, ...(method === 'POST' && { body: {} }) });
  const answers = [
    await at('GET', `/tools/${server}/echo`),
    await at('POST', `/tools/${server}/echo`),
    await at('GET', `/${server}/tools/${server}/echo`),
    await at('POST', `/both/tools/${server}/echo`),
    await at('GET', `/${server}/openapi.json`),
  ];
  for (const { status, body } of answers)
    if (status !== 200) expect(body).toMatchObject({ error: 'not_found', message: expect.any(String) as string });
  return answers.map(({ status }) => status);
}

async function documented(hub: TestHub, headers: Headers): Promise<string[][]> {
  const paths = ['/openapi.json', '/openapi.yaml', '/both/openapi.json', '/openapi.json?group=both'];
  const documents = await Promise.all(paths.map((path) => api(hub, 'GET', path, { headers })));
  return documents.map(({ body }) => (body['tags'] as { name: string }[]).map(({ name }) => name));
}

async function showsPublicOnly(hub: TestHub, headers: Headers): Promise<void> {
  const before = plain.received('tools/call').length;
  expect(await overHttp(hub, 'plain', headers)).toEqual([404, 404, 404, 404, 404]);
  expect(await overHttp(hub, 'shown', headers)).toEqual([200, 200, 200, 200, 200]);
  expect(await documented(hub, headers)).toEqual(Array.from({ length: 4 }, () => ['shown']));
  const [hidden, unknown] = await Promise.all(
    ['plain', 'nowhere'].map((name) => api(hub, 'GET', `/tools/${name}/echo`, { headers })),
  );
  expect(hidden?.text.replaceAll('plain', 'nowhere')).toBe(unknown?.text);
  expect(plain.received('tools/call')).toHaveLength(before);
}

const proxied = { host: 'hub.example.com', 'x-forwarded-for': '203.0.113.9' };

describe('behind a proxy on the same machine, as docs/operations.md has it', () => {
  let hub: TestHub;
  let key: string;
  beforeAll(async () => {
    hub = await started({ env: { ALLOWED_HOSTS: 'hub.example.com', INSTALL_BASE_URL: 'https://hub.example.com' } });
    key = await keyToken(hub, await login(hub), { accessType: 'all' });
  });

  test.each<[string, Headers]>([
    ['through the proxy', proxied],
    ['through a proxy that says nothing', { host: 'hub.example.com' }],
    ['from the machine itself', {}],
  ])('MCP asks for a credential %s, and no server hears of the attempt', async (_, headers) => {
    await isClosed(hub, headers);
  });

  test.each<[string, Headers]>([
    ['through the proxy', proxied],
    ['from the machine itself', {}],
  ])('OpenAPI-style routes and their documents show %s what is public in so many words', async (_, headers) => {
    await showsPublicOnly(hub, headers);
  });

  test('a credential opens what it opens', async () => {
    const headers = { ...proxied, authorization: `Bearer ${key}` };
    expect((await rpc(hub.mcp(), 'tools/call', { name: 'plain-echo' }, { headers })).result).toBeDefined();
    expect(await overHttp(hub, 'plain', headers)).toEqual([200, 200, 200, 200, 200]);
  });

  test('the dashboard and the login go on working, with the origin that the browser has', async () => {
    for (const host of ['hub.example.com', '127.0.0.1:3000', 'toolhub:3000']) {
      const headers = { ...proxied, host, origin: 'https://hub.example.com', 'sec-fetch-site': 'same-origin' };
      const body = { username: 'admin', password: 'correct horse' };
      const { status, body: answer } = await api(hub, 'POST', '/auth/login', { body, headers });
      expect(status, host).toBe(200);
      const token = String(answer['token']);
      const call = { body: { toolName: 'echo' }, headers };
      expect((await api(hub, 'POST', '/tools/call/plain', { token, ...call })).status).toBe(200);
      expect((await api(hub, 'POST', '/tools/call/plain', call)).status).toBe(401);
      expect((await raw(`${hub.url}/`, { method: 'GET', headers: { ...headers, accept: 'text/html' } })).status).toBe(
        200,
      );
    }
  });

  test('the start and the dashboard name what is open', async () => {
    expect(hub.hub.keyRequired).toBe(true);
    expect(hub.hub.exposure?.[0]).toBe('call the tools of shown (/api/tools/shown/…)');
    expect(hub.hub.exposure?.join()).not.toContain('plain');
    const { body } = await api(hub, 'GET', '/exposure', { token: await login(hub) });
    expect(body.data).toEqual({ loopback: false, http: { servers: ['shown'], tools: 3 }, mcp: null });
  });

  test('no log of what was asked is open either, nor numbers', async () => {
    for (const path of ['/api/logs/stream', '/api/logs', '/metrics', '/api/servers', '/api/activities'])
      expect((await raw(hub.url + path, { method: 'GET', headers: proxied })).status, path).toBe(401);
  });
});

describe('on a hub of this machine alone', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await started({ env: { TRUST_PROXY: 'true' } });
  });

  test('all stays open to programs here', async () => {
    expect((await rpc(hub.mcp(), 'tools/call', { name: 'plain-echo' })).result).toBeDefined();
    expect(await overHttp(hub, 'plain', {})).toEqual([200, 200, 200, 200, 200]);
    expect(await documented(hub, {})).toEqual(Array.from({ length: 4 }, () => ['plain', 'shown']));
    expect(hub.hub.exposure).toBeUndefined();
  });

  test.each<[string, string]>([
    ['x-forwarded-for', '203.0.113.9'],
    ['x-forwarded-for', '127.0.0.1'],
    ['X-Forwarded-For', ''],
    ['forwarded', 'for=127.0.0.1'],
    ['x-real-ip', '::1'],
    ['via', '1.1 proxy'],
  ])('a request with %s: %j is from outside, whatever TRUST_PROXY says', async (name, value) => {
    await isClosed(hub, { [name]: value });
    await showsPublicOnly(hub, { [name]: value });
  });

  test('a session that was opened here is of no use from outside', async () => {
    const own = await session(hub.mcp());
    const before = calls();
    const answer = await own.call('plain-echo', {}, { headers: { via: '1.1 proxy' } });
    expect(answer.status).toBe(401);
    expect(calls()).toBe(before);
    expect((await own.call('plain-echo')).result).toBeDefined();
  });
});

test('a group whose list names no server that is there cannot be told from none from outside without a credential', async () => {
  const groups = [
    { id: 'i1', name: 'bare', servers: [] },
    { id: 'i2', name: 'gone', servers: ['gone'] },
  ];
  const env = { ALLOWED_HOSTS: 'hub.example.com', INSTALL_BASE_URL: 'https://hub.example.com' };
  const hub = await started({ groups, env });
  const admin = await login(hub);
  const seen = async (name: string, headers: Headers) => {
    const answers = [
      ...['openapi.json', 'openapi.yaml', 'tools/shown/echo'].map((path) =>
        api(hub, 'GET', `/${name}/${path}`, { headers }),
      ),
      api(hub, 'GET', `/openapi.json?group=${name}`, { headers }),
      ...[name, `$smart/${name}`, `$code/${name}`].flatMap((scope) => [
        rpc(hub.mcp(scope), 'tools/list', {}, { headers }),
        rpc(hub.mcp(scope), 'tools/call', { name: 'shown-echo', arguments: {} }, { headers }),
      ]),
    ];
    return (await Promise.all(answers)).map(({ status, text }) => `${status} ${text.replaceAll(name, 'NAME')}`);
  };
  const none = await seen('nowhere', proxied);
  for (const name of ['bare', 'gone', 'i1', 'i2']) expect(await seen(name, proxied), name).toEqual(none);
  expect((await api(hub, 'GET', '/bare/openapi.json', { token: admin })).status).toBe(200);
});

test('settings that give the hub an address elsewhere close it at once, for sessions and streams too', async () => {
  const hub = await started();
  const own = await session(hub.mcp());
  const events = await own.listen();
  const sse = await stream(hub.sse());
  const token = await login(hub);
  const say = (baseUrl: string) => api(hub, 'PUT', '/system-config', { token, body: { install: { baseUrl } } });
  expect((await say('https://hub.example.com')).status).toBe(200);
  await until('its streams are ended', () => events.ended() && sse.ended());
  expect((await own.call('plain-echo')).status).toBe(401);
  await isClosed(hub, {});
  await showsPublicOnly(hub, {});
  // What every file of MCPHub says is no address elsewhere.
  expect((await say('http://localhost:3000')).status).toBe(200);
  expect((await rpc(hub.mcp(), 'tools/call', { name: 'plain-echo' })).result).toBeDefined();
  expect(await overHttp(hub, 'plain', {})).toEqual([200, 200, 200, 200, 200]);
});

test.each<[string, SettingsDocument['systemConfig']]>([
  ['gets an address elsewhere', { install: { baseUrl: 'https://hub.example.com' } }],
  ['asks for a credential everywhere', { routing: { enableBearerAuth: true, openApiAccess: 'authenticated' } }],
])('what anonymous callers began when the hub %s reaches no server and hears nothing', async (_, body) => {
  const gate = join(temporaryFolder(), 'gate');
  const late = await hostileHttp({ name: 'late', tools: ['echo'], gate });
  const hub = await started({ mcpServers: { plain: plain.config, late: late.config } });
  const token = await login(hub);
  const change = (to: unknown) => api(hub, 'PUT', '/system-config', { token, body: to });
  const [own, legacy] = await Promise.all([session(hub.mcp()), legacySession(hub.sse())]);
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } }, {});
  const streams = [await own.listen(), legacy.stream, await stream(hub.mcp(), { method: 'POST', ...listen })];
  writeFileSync(gate, '');
  expect((await api(hub, 'POST', '/servers/late/reload', { token })).status).toBe(200);
  const call = { name: 'late-echo', arguments: {} };
  const answers = [
    modern(hub.mcp(), 'tools/call', call),
    modern(hub.mcp('$smart'), 'tools/call', call),
    rpc(hub.mcp(), 'tools/call', call),
    rpc(hub.mcp('late'), 'tools/call', { name: 'echo', arguments: {} }),
    own.call('late-echo'),
    api(hub, 'POST', '/tools/late/echo', { body: {} }),
    api(hub, 'GET', '/late/tools/late/echo'),
  ];
  await legacy.post({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: call });
  // A key goes on, and so shows that the others had their turn.
  const key = await keyToken(hub, token, { accessType: 'all' });
  const mine = rpc(hub.mcp(), 'tools/call', call, { headers: { authorization: `Bearer ${key}` } });
  await hub.health();
  expect((await change(body)).status).toBe(200);
  rmSync(gate);
  expect((await mine).result).toBeDefined();
  for (const { status, text } of await Promise.all(answers))
    expect(text, `${status}`).toMatch(/access token|session ended|Unknown tool/);
  await until('the streams are ended', () => streams.every((one) => one.ended()));
  expect(late.received('tools/call')).toHaveLength(1);
  // What it may hear is that it was refused.
  expect(streams.flatMap(({ messages }) => messages).filter(({ id, result }) => id === 9 && result)).toEqual([]);
  // And back: programs here come in again as they did.
  const before = { install: { baseUrl: null }, routing: { enableBearerAuth: null, openApiAccess: null } };
  expect((await change(before)).status).toBe(200);
  expect((await rpc(hub.mcp(), 'tools/call', call)).result).toBeDefined();
  expect((await legacySession(hub.sse())).stream.ended()).toBe(false);
  expect(await overHttp({ ...hub }, 'late', {}).then((found) => found.slice(0, 2))).toEqual([200, 200]);
});

test('a request whose body is still on its way when the hub gets an address elsewhere is judged again', async () => {
  const hub = await started();
  const token = await login(hub);
  const { port } = new URL(hub.url);
  const { request } = await import('node:http');
  const before = plain.received('tools/call').length;
  const answered = new Promise<number>((resolve, reject) => {
    const asking = request(
      {
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/api/tools/plain/poke',
        headers: { 'content-type': 'application/json', 'content-length': 2 },
      },
      (answer) => resolve(answer.resume().statusCode ?? 0),
    );
    asking.on('error', reject).write('{');
    void api(hub, 'PUT', '/system-config', { token, body: { install: { baseUrl: 'https://hub.example.com' } } }).then(
      () => asking.end('}'),
      reject,
    );
  });
  expect(await answered).toBe(404);
  expect(plain.received('tools/call')).toHaveLength(before);
});

describe('what the settings say of it holds on an exposed hub', () => {
  const env = { INSTALL_BASE_URL: 'https://hub.example.com' };

  test('enableBearerAuth: false opens MCP as it does here, and OpenAPI-style routes no further', async () => {
    const hub = await started({ env, systemConfig: { routing: { enableBearerAuth: false } } });
    expect((await rpc(hub.mcp(), 'tools/call', { name: 'plain-echo' }, { headers: proxied })).result).toBeDefined();
    await showsPublicOnly(hub, proxied);
    expect(hub.hub.exposure?.slice(0, 2)).toEqual([
      'call the tools of shown (/api/tools/shown/…)',
      'use everything of plain, shown over MCP (/mcp, /sse)',
    ]);
  });

  test.each([
    ['authenticated', 401],
    ['off', 403],
  ])('openApiAccess: "%s" narrows it further', async (openApiAccess, status) => {
    const hub = await started({ env, systemConfig: { routing: { openApiAccess } } });
    const before = calls();
    for (const server of ['plain', 'shown'])
      expect((await api(hub, 'GET', `/tools/${server}/echo`, { headers: proxied })).status).toBe(status);
    expect((await api(hub, 'GET', '/openapi.json', { headers: proxied })).status).toBe(status);
    expect(calls()).toBe(before);
  });

  test('what SECURITY.md says closes all of it does, and what stays open names no server', async () => {
    const text = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8');
    const said = /To close all of it:\n\n```json\n(.*?)```/s.exec(text)?.[1] ?? '';
    const quokka = { command: 'x', enabled: false, visibility: 'public' };
    const hub = await started({
      ...(JSON.parse(said) as SettingsDocument),
      env,
      mcpServers: { ...settings.mcpServers, quokka },
      groups: [...(settings.groups ?? []), { id: 'q', name: 'quokkas', servers: ['quokka'] }],
    });
    const before = methods();
    await isClosed(hub, proxied);
    for (const path of [
      '/tools/shown/echo',
      '/shown/tools/shown/echo',
      '/both/tools/shown/echo',
      '/openapi.json',
      '/both/openapi.yaml',
      '/servers',
    ])
      expect((await api(hub, 'GET', path, { headers: proxied })).status, path).toBe(401);
    expect(methods()).toBe(before);
    expect(hub.hub.exposure).toEqual([]);
    for (const path of ['/health', '/api/docs', '/api/docs/openapi.json', '/', '/config', '/public-config']) {
      const answer = await raw(hub.url + path, { method: 'GET', headers: { ...proxied, accept: '*/*' } });
      expect(answer.status, path).toBe(200);
      expect(answer.text.includes('quokka'), path).toBe(false);
    }
  });
});

describe('who can reach a hub', () => {
  test.each<[env: Record<string, string>, exposed: boolean]>([
    [{}, false],
    [{ ALLOWED_HOSTS: 'hub.example.com' }, true],
    [{ ALLOWED_HOSTS: 'localhost:3000, HUB.example.com:8443' }, true],
    [{ ALLOWED_HOSTS: 'intranet' }, true],
    [{ ALLOWED_HOSTS: '192.0.2.7' }, true],
    [{ ALLOWED_HOSTS: '[2001:db8::7]:3000' }, true],
    [{ ALLOWED_HOSTS: 'localhost.example.com' }, true],
    [{ ALLOWED_HOSTS: 'localhost,LOCALHOST:3000,hub.localhost,127.0.0.1,127.9.9.9:80,[::1],[::1]:3000' }, false],
    [{ INSTALL_BASE_URL: 'http://hub:3000/below' }, true],
    [{ INSTALL_BASE_URL: 'http://127.0.0.1:3000' }, false],
    [{ INSTALL_BASE_URL: 'http://127.1' }, false],
    [{ HOST: 'localhost' }, false],
    [{ HOST: '127.0.0.2' }, false],
    [{ HOST: '::ffff:127.0.0.1' }, true],
    [{ HOST: '0.0.0.0', INSTALL_BASE_URL: 'http://localhost:3000', ALLOWED_HOSTS: 'localhost' }, true],
  ])('with %j: others than this machine is %s', (env, exposed) => {
    expect(createOutside(readEnv(env), () => undefined).exposed()).toBe(exposed);
  });

  /** Of this machine: on loopback, and where others reach it. */
  const addresses = [
    '127.0.0.1',
    '127.0.0.2',
    ...Object.values(networkInterfaces()).flatMap((all = []) =>
      all.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
    ),
  ];
  const token = `mcphub_${'d'.repeat(64)}`;
  const forwarding = {
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': 'localhost',
    'x-forwarded-proto': 'http',
    'x-forwarded-port': '3000',
    'x-forwarded-prefix': '/api',
    'x-real-ip': '127.0.0.1',
    forwarded: 'for=127.0.0.1;host=localhost;proto=http;by=127.0.0.1',
    'x-client-ip': '127.0.0.1',
    'true-client-ip': '::1',
    'x-original-url': '/health',
    'x-rewrite-url': '/health',
    'x-http-method-override': 'GET',
  };

  test.each<[what: string, document: SettingsDocument, env: Record<string, string>]>([
    ['without a key, and with a password that was made up', {}, { ADMIN_PASSWORD: '' }],
    [
      'with keys, and a proxy that is believed everything',
      { bearerKeys: [{ id: 'k', name: 'k', token, kind: 'system', accessType: 'all' }] },
      { TRUST_PROXY: 'true' },
    ],
  ])('on all addresses it is closed alike from each of them, %s', async (_, document, env) => {
    const own = await started({ ...document, env: { HOST: '0.0.0.0', ...env } });
    const { port } = new URL(own.url);
    for (const address of addresses) {
      const url = `http://${address}:${port}`;
      const hub = { ...own, url, mcp: (s = '') => `${url}/mcp/${s}`, sse: (s = '') => `${url}/sse/${s}` };
      for (const headers of [{}, forwarding]) {
        await isClosed(hub, headers);
        await showsPublicOnly(hub, headers);
      }
      for (const [method, path, body] of [
        ['GET', '/servers'],
        ['GET', '/exposure'],
        ['GET', '/mcp-settings/export'],
        ['POST', '/users', { username: 'eve', password: 'password of eve', role: 'admin' }],
        ['POST', '/auth/keys', { name: 'k', kind: 'system', accessType: 'all' }],
        ['PUT', '/system-config', { routing: { enableBearerAuth: false } }],
        ['POST', '/tools/call/plain', { toolName: 'echo' }],
      ] as const)
        expect((await api(hub, method, path, { headers: forwarding, body })).status, path).toBe(401);
      // Nor does what a proxy says of the host make up for the host.
      const headers = { ...forwarding, host: `evil.example:${port}` };
      for (const path of ['/mcp', '/api/openapi.json', '/health', '/'])
        expect((await raw(url + path, { method: 'GET', headers })).status, path).toBe(403);
    }
    if (document.bearerKeys) {
      const headers = { ...forwarding, authorization: `Bearer ${token}` };
      const { result } = await rpc(`http://127.0.0.1:${port}/mcp`, 'tools/call', { name: 'plain-echo' }, { headers });
      expect(result).toBeDefined();
    }
  });
});

describe('a web page runs no tool', () => {
  let hub: TestHub;
  let port: string;
  let lan: { url: string };
  let lanPort: string;
  beforeAll(async () => {
    hub = await started();
    ({ port } = new URL(hub.url));
    const own = await started({ env: { HOST: '0.0.0.0' } });
    ({ port: lanPort } = new URL(own.url));
    lan = { url: `http://127.0.0.1:${lanPort}` };
  });

  /** Refused as foreign, without a server having heard of it. */
  async function refused(on: { url: string }, method: string, path: string, headers: Headers): Promise<void> {
    const before = methods();
    const answer = await raw(on.url + path, { method, headers, ...(method === 'POST' && { body: {} }) });
    expect(answer.status, `${method} ${path} ${JSON.stringify(headers)}: ${answer.text}`).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(methods()).toBe(before);
  }

  test.each(['/api/tools/shown/echo', '/api/shown/tools/shown/echo', '/api/both/tools/shown/echo'])(
    'by a picture, a link or a script that gets %s',
    async (path) => {
      for (const on of [hub, lan]) {
        const own = on === hub ? port : lanPort;
        for (const headers of [
          { referer: 'http://evil.com/' },
          { referer: 'http://evil.com/x?y' },
          { referer: `http://127.0.0.1:${own}@evil.com/` },
          { referer: 'http://localhost:9999/' },
          { referer: `https://localhost:9999` },
          { referer: 'not an address' },
          { referer: '' },
          { 'sec-fetch-mode': 'no-cors' },
          { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' },
          { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin', referer: `http://127.0.0.1:${own}/` },
          { 'sec-fetch-mode': '' },
        ])
          await refused(on, 'GET', path, headers);
      }
    },
  );

  test('but a browser may read: a tool that its server calls read-only runs by GET', async () => {
    for (const headers of [{ 'sec-fetch-mode': 'navigate' }, { referer: 'http://evil.com/' }])
      expect((await api(hub, 'GET', '/tools/shown/look', { headers })).status).toBe(200);
    // True is what the annotation must be.
    await refused(hub, 'GET', '/api/tools/shown/liar', { 'sec-fetch-mode': 'navigate' });
    // Which are there is told only to those who may see them.
    expect(
      (await api(lan as TestHub, 'GET', '/tools/plain/echo', { headers: { 'sec-fetch-mode': 'cors' } })).status,
    ).toBe(404);
  });

  test('nor is a program refused, or the hub’s own page by POST', async () => {
    expect((await api(hub, 'GET', '/tools/shown/echo')).status).toBe(200);
    const own = `http://127.0.0.1:${port}`;
    expect((await api(hub, 'GET', '/tools/shown/echo', { headers: { referer: `${own}/tools` } })).status).toBe(200);
    const headers = { origin: own, referer: `${own}/`, 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' };
    expect((await api(hub, 'POST', '/tools/shown/echo', { headers, body: {} })).status).toBe(200);
  });

  test.each(['GET', 'POST'])('under a rebound name, by %s', async (method) => {
    for (const on of [hub, lan]) {
      const name = `evil.com:${on === hub ? port : lanPort}`;
      for (const path of [
        '/api/tools/shown/echo',
        '/api/openapi.json',
        '/mcp',
        '/mcp/$smart',
        '/sse',
        '/',
        '/health',
        '/metrics',
      ])
        for (const headers of [{ host: name }, { host: name, origin: `http://${name}` }])
          await refused(on, method, path, headers);
    }
  });

  test('from another port of this machine', async () => {
    const headers = { origin: 'http://localhost:9999', 'sec-fetch-site': 'same-site' };
    for (const path of ['/api/tools/shown/echo', '/api/openapi.json', '/api/auth/login', '/health', '/'])
      for (const method of ['GET', 'POST']) await refused(hub, method, path, headers);
    await refused(hub, 'GET', '/api/tools/shown/look', { 'sec-fetch-site': 'same-site' });
    // Inspectors run there, and a browser asks before it sends JSON.
    const asked = { headers };
    expect((await rpc(hub.mcp(), 'tools/list', {}, asked)).status).toBe(200);
    expect((await rpc(lan.url + '/mcp', 'tools/list', {}, asked)).status).toBe(403);
  });

  test('from no origin at all', async () => {
    for (const on of [hub, lan])
      for (const path of ['/api/tools/shown/echo', '/mcp', '/sse', '/'])
        for (const method of ['GET', 'POST']) await refused(on, method, path, { origin: 'null' });
  });
});

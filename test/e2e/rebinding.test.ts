import { connect } from 'node:net';
import { hostname } from 'node:os';
import { beforeAll, expect, test } from 'vitest';
import { hostileHttp } from '../kit/hostile.ts';
import { raw } from '../kit/raw.ts';
import { session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';
import { within } from '../kit/until.ts';

// A web page must not be able to talk to a hub that the visitor can reach (CONTRACT §7, `Host` and `Origin`).

const server = await hostileHttp({ name: 'alpha' });
let hub: TestHub;
let port: string;
beforeAll(async () => {
  hub = await testHub({ mcpServers: { alpha: server.config } });
  ({ port } = new URL(hub.url));
  await hub.connected(1);
});

const call = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'alpha-echo', arguments: { tag: 'from a page' } },
};
const routes: [string, string, unknown?][] = [
  ['POST', '/mcp', call],
  [
    'POST',
    '/mcp',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    },
  ],
  ['POST', '/mcp/alpha', { ...call, params: { name: 'echo' } }],
  ['POST', '/mcp/$smart', call],
  ['GET', '/mcp'],
  ['DELETE', '/mcp'],
  ['OPTIONS', '/mcp'],
  ['GET', '/sse'],
  ['GET', '/sse/alpha'],
  ['POST', '/messages?sessionId=x', call],
  ['GET', '/health'],
  ['GET', '/health/live'],
  ['GET', '/health/ready'],
  ['GET', '/metrics'],
  ['GET', '/'],
  ['GET', '/nowhere'],
  ['POST', '/api/auth/login', { username: 'admin', password: 'correct horse' }],
  ['GET', '/api/groups'],
  ['GET', '/api/tools/alpha/echo'],
  ['POST', '/api/tools/alpha/echo', {}],
  ['GET', '/oauth/callback?code=x&state=y'],
  ['GET', '/.well-known/oauth-protected-resource'],
];

const foreignHosts = [
  'evil.example',
  'evil.example:3000',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  'evil-localhost.example',
  '127.0.0.1@evil.example',
  'evil.example#127.0.0.1',
  '127.0.0.2.nip.io',
  'localhost.',
  'hub.evil.svc.example',
  '0x7f000001.evil.example',
  'xn--localhost-.example',
  'localhost:99999',
];

test.each(routes)('%s %s answers 403 to a foreign Host', async (method, path, body) => {
  const before = server.received('tools/call').length;
  for (const host of foreignHosts) {
    const answer = await raw(hub.url + path, { method, body, headers: { host } });
    expect(answer.status, host).toBe(403);
    expect(answer.headers['mcp-session-id']).toBeUndefined();
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  }
  expect(server.received('tools/call')).toHaveLength(before);
});

test.each(['token', 'register', 'revoke'])('the refusal has the form of OAuth at /oauth/%s', async (path) => {
  const answer = await raw(`${hub.url}/oauth/${path}`, { body: 'token=x', headers: { host: 'evil.example' } });
  expect([answer.status, JSON.parse(answer.text)]).toEqual([
    403,
    { error: 'access_denied', error_description: expect.stringContaining("Host 'evil.example'") as string },
  ]);
});

test.each(routes)('%s %s answers 403 to a foreign Origin', async (method, path, body) => {
  const before = server.received('tools/call').length;
  for (const origin of [
    'http://evil.example',
    'https://evil.example',
    'null',
    `http://127.0.0.1.evil.example:${port}`,
    `http://localhost.evil.example:${port}`,
    `http://evil.example/http://127.0.0.1:${port}`,
    `http://127.0.0.1:${port}.evil.example`,
    `http://127.0.0.1:${port}@evil.example`,
    'chrome-extension://abcdefghijklmnop',
    'file://',
    'not an origin',
  ]) {
    const answer = await raw(hub.url + path, { method, body, headers: { origin } });
    expect(answer.status, origin).toBe(403);
    expect(answer.headers['mcp-session-id']).toBeUndefined();
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  }
  expect(server.received('tools/call')).toHaveLength(before);
});

test('the names of this machine for itself are welcome, as Host and as Origin', async () => {
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `LocalHost:${port}`]) {
    expect((await raw(hub.mcp(), { body: call, headers: { host } })).status, host).toBe(200);
    const answer = await raw(hub.mcp(), { body: call, headers: { host, origin: `http://${host.toLowerCase()}` } });
    expect(answer.status, `same origin ${host}`).toBe(200);
  }
});

test.each(['/mcp', '/api/groups', '/health'])(
  '%s is refused to a request with two hosts, whichever is first',
  async (path) => {
    for (const hosts of [
      [`127.0.0.1:${port}`, 'evil.example'],
      ['evil.example', `127.0.0.1:${port}`],
      [`127.0.0.1:${port}`, `127.0.0.1:${port}`],
    ]) {
      const lines = hosts.map((host) => `Host: ${host}\r\n`).join('');
      expect(await firstLine(`GET ${path} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`)).toContain(' 400 ');
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
      const about = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      expect(await firstLine(`POST ${path} HTTP/1.1\r\n${lines}${about}\r\n${body}`)).toContain(' 400 ');
    }
  },
);

/** What a request that is sent as it is gets, up to the end of the first line. */
async function firstLine(text: string): Promise<string> {
  return (await heard(text, (so) => so.includes('\r\n'))).split('\r\n')[0] ?? '';
}

/** What a request that is sent as it is gets, as far as it is wanted. */
function heard(text: string, isEnough: (heard: string) => boolean): Promise<string> {
  return within(
    'an answer',
    new Promise((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
      let so = '';
      socket.setEncoding('utf8').on('error', reject);
      socket.on('data', (chunk: string) => {
        so += chunk;
        if (!isEnough(so)) return;
        socket.destroy();
        resolve(so);
      });
    }),
  );
}

test('a session does not excuse a foreign Origin', async () => {
  const own = await session(hub.mcp());
  for (const method of ['POST', 'GET', 'DELETE']) {
    const answer = await raw(hub.mcp(), {
      method,
      headers: { ...own.headers, origin: 'http://evil.example' },
      ...(method === 'POST' && { body: call }),
    });
    expect(answer.status, method).toBe(403);
  }
  expect((await own.request('ping')).result).toEqual({});
});

test('addresses and names that no stranger can have are let in, exposed or not; all others are refused on every route', async () => {
  const hubs = [await testHub({ mcpServers: {} }), await testHub({ mcpServers: {}, env: { HOST: '0.0.0.0' } })];
  for (const own of hubs) {
    const { port: at } = new URL(own.url);
    const ask = async (path: string, host: string) =>
      (await raw(`http://127.0.0.1:${at}${path}`, { method: 'GET', headers: { host } })).status;
    // What keeps a container alive asks under the address or the name that it has there.
    for (const host of [
      '10.1.2.3:3000',
      '[fd00::7]:3000',
      'toolhub:3000',
      'toolhub.default.svc.cluster.local',
      hostname(),
    ])
      expect(await ask('/health', host), host).toBe(200);
    for (const path of ['/health', '/api/docs', '/', '/config', '/metrics', '/nowhere'])
      for (const host of ['hub.example', 'evil.example:3000']) expect(await ask(path, host), path).toBe(403);
  }
  const { url: local } = hub;
  for (const host of [`[0:0:0:0:0:0:0:1]:${port}`, '[::ffff:127.0.0.1]', '[FD00::0:7]:3000', '[fe80::1%eth0]'])
    for (const path of ['/health', '/api/docs', '/oauth/authorize', '/mcp']) {
      const asked = await raw(local + path, { method: 'GET', headers: { host } });
      const usual = await raw(local + path, { method: 'GET', headers: { host: `127.0.0.1:${port}` } });
      expect([asked.status, asked.text === ''], `${host} ${path}`).toEqual([usual.status, false]);
    }
  for (const host of ['0X7F', '4294967296', 'xn--a'])
    for (const path of ['/health', '/api/docs', '/oauth/authorize', '/mcp']) {
      const asked = await raw(local + path, { method: 'GET', headers: { host } });
      expect([asked.status, asked.text], `${host} ${path}`).toEqual([403, expect.stringContaining('malformed')]);
    }
  const named = await testHub({ mcpServers: {}, env: { ALLOWED_HOSTS: 'hub.example' } });
  expect(
    (await raw(new URL('/health', named.url).href, { method: 'GET', headers: { host: 'hub.example' } })).status,
  ).toBe(200);
});

test('an address that no URL can be made of is answered with words', async () => {
  const lines = `Host: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`;
  const answer = await heard(`GET /a\\b HTTP/1.1\r\n${lines}`, (text) => text.endsWith('}'));
  expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\r\n\r\n\{"success":false,"message":"[^"]+"\}$/);
});

test('without a Host, as HTTP/1.0 allows, nothing is answered', async () => {
  for (const path of ['/health', '/', '/mcp', '/api/tools/alpha/echo'])
    expect(await firstLine(`GET ${path} HTTP/1.0\r\n\r\n`), path).toContain(' 403 ');
  for (const host of ['127.0.0.1', 'localhost'])
    expect(await firstLine(`GET /health HTTP/1.0\r\nHost: ${host}\r\n\r\n`)).toContain(' 200 ');
  for (const host of ['', 'localhost:', 'user@localhost', '127.0.0.1 evil.example', 'localhost,evil.example'])
    expect(await firstLine(`GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`), host).toMatch(/ (?:400|403) /);
});

test('a page of this machine is let in as programs are, and a browser gets no permission for it', async () => {
  const own = await testHub({ mcpServers: {} });
  for (const origin of ['http://localhost:6274', 'http://127.0.0.1:8080', 'http://[::1]:3001']) {
    const preflight = await raw(own.mcp(), {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    });
    const answer = await raw(own.mcp(), { body: call, headers: { origin } });
    expect([preflight.status, answer.status], origin).toEqual([204, 200]);
    for (const { headers } of [preflight, answer])
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-allow'))).toEqual([]);
  }
});

test('two credentials, or two hosts, are refused everywhere: which of them counts is read in several ways', async () => {
  const two = (name: string, ...values: string[]) => values.map((value) => `${name}: ${value}\r\n`).join('');
  const host = 'Host: 127.0.0.1\r\n';
  const length = 'Content-Type: application/json\r\nContent-Length: 2\r\n';
  for (const start of ['GET /api/auth/user', 'POST /mcp', 'GET /mcp', 'GET /health', 'GET /']) {
    const rest = start.startsWith('POST') ? `${length}\r\n{}` : '\r\n';
    for (const headers of [
      host + two('Authorization', 'Bearer a', 'Bearer b'),
      host + two('authorization', 'Bearer a') + two('Authorization', 'Bearer a'),
      two('Host', '127.0.0.1', '127.0.0.1'),
    ])
      expect(await firstLine(`${start} HTTP/1.1\r\n${headers}${rest}`), start + headers).toContain(' 400 ');
  }
});

test('a browser is told what a permitted origin may do, and nothing else is opened', async () => {
  const own = await testHub({
    mcpServers: {},
    systemConfig: { routing: { enableBearerAuth: false } },
    env: { ALLOWED_ORIGINS: 'https://app.example,http://localhost:5173', ALLOWED_HOSTS: 'hub.example' },
  });
  for (const origin of ['https://app.example', 'http://localhost:5173']) {
    const preflight = await raw(own.mcp(), {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,mcp-session-id,mcp-param-region,x-key',
      },
    });
    expect([200, 204], origin).toContain(preflight.status);
    expect(preflight.headers['access-control-allow-origin']).toBe(origin);
    // `Mcp-Param-*` of a tool's arguments, and a header of the operator's own for access keys, too.
    expect(String(preflight.headers['access-control-allow-headers']).split(/, ?/)).toEqual(
      expect.arrayContaining(['content-type', 'mcp-session-id', 'mcp-param-region', 'x-key']),
    );
    expect(String(preflight.headers.vary).toLowerCase()).toContain('access-control-request-headers');
    const answer = await raw(own.mcp(), { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers: { origin } });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
    expect(String(answer.headers['access-control-expose-headers']).toLowerCase().split(', ')).toEqual(
      expect.arrayContaining(['mcp-session-id', 'retry-after']),
    );
    expect(String(answer.headers.vary).toLowerCase()).toContain('origin');
  }
  for (const origin of [
    'https://app.example.evil.example',
    'http://app.example',
    'https://app.example:444',
    'https://evil.example',
  ]) {
    expect((await raw(own.mcp(), { body: call, headers: { origin } })).status, origin).toBe(403);
  }
  expect((await raw(own.mcp(), { body: call, headers: { host: 'hub.example' } })).status).not.toBe(403);
  expect((await raw(own.mcp(), { body: call, headers: { host: 'hub.example.evil.example' } })).status).toBe(403);
});

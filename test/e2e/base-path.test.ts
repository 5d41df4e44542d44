import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, keyToken, login } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { oauthFixture } from '../kit/oauth-server.ts';
import { person } from '../kit/person.ts';
import { raw, rpc } from '../kit/raw.ts';
import { legacySession, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { within } from '../kit/until.ts';

// Below BASE_PATH all that keeps callers out holds as it does at the root (CONTRACT §1, §2, §7), however the prefix is
// spelled, doubled or left out.

// A dot means any character to who makes a pattern of it.
const base = '/my.x/hub';
const reading = { inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
const tools = ['echo', { name: 'look', ...reading }];
const plain = await hostileHttp({ name: 'plain', tools });
const secret = await hostileHttp({ name: 'secret', tools });
let hub: TestHub;
/** Scheme, host and port. */
let root: string;
let admin: string;
beforeAll(async () => {
  hub = await testHub({
    env: { BASE_PATH: base },
    mcpServers: {
      plain: plain.config,
      secret: { ...secret.config, visibility: 'private' },
      mail: { type: 'streamable-http', url: (await oauthFixture()).url, oauth: { perUser: true } },
    },
    groups: [{ id: 'g', name: 'both', servers: ['plain', 'secret'] }],
  });
  root = new URL(hub.url).origin;
  admin = await login(hub);
  await hub.connected(2);
});

const calls = () => plain.received('tools/call').length + secret.received('tools/call').length;
const port = () => new URL(hub.url).port;

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** One request whose target is sent as it is written, which `URL` would not leave alone. */
function sent(
  target: string,
  { method = 'GET', headers = {}, body }: Sent = {},
): Promise<{ status: number; text: string }> {
  const content = body === undefined ? '' : JSON.stringify(body);
  const lines = Object.entries({
    host: `127.0.0.1:${port()}`,
    connection: 'close',
    ...(content !== '' && { 'content-type': 'application/json', 'content-length': String(content.length) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return within(
    `${method} ${target}`,
    new Promise((resolve, reject) => {
      const socket = connect(Number(port()), '127.0.0.1');
      let heard = '';
      socket.setEncoding('utf8').on('error', reject);
      socket.on('data', (chunk: string) => (heard += chunk));
      socket.on('close', () => resolve({ status: Number(heard.slice(9, 12)), text: heard }));
      socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${content}`);
    }),
  );
}

/**
 * Other ways to write the prefix: some lead below it all the same, none may lead past what is asked of those who do.
 */
const spellings = [
  base,
  '/%6dy.x/hub',
  '/my%2ex/hub',
  '/my.x/%68%75%62',
  '/my.x//hub',
  '//my.x/hub',
  '/./my.x/hub',
  '/my.x/./hub',
  '/x/../my.x/hub',
  '/my.x/hub/../hub',
  '/my.x/hub/mcp/../../hub',
  '/my.x/hub/api/docs/../..',
  '/my.x/x/%2e%2e/hub',
  '/my.x%2fhub',
  '/my.x%5chub',
  '/my.x\\hub',
  '/MY.X/HUB',
  '/my-x/hub',
  '/my.x/hub/',
  `${base}${base}`,
  '/my.x',
  '/hub',
  '',
];

/** What takes a login, whatever address leads there. */
const closed: [method: string, path: string, body?: unknown][] = [
  ['GET', '/api/servers'],
  ['GET', '/api/users'],
  ['GET', '/api/mcp-settings/export?secrets=include'],
  ['GET', '/api/logs/stream'],
  ['POST', '/api/users', { username: 'eve', password: 'password of eve', role: 'admin' }],
  ['PUT', '/api/system-config', { routing: { enableBearerAuth: false } }],
  ['POST', '/api/tools/call/plain', { toolName: 'echo' }],
  ['POST', '/api/tools/secret/echo', {}],
  ['GET', '/api/both/tools/secret/look'],
  ['GET', '/ann/mcp'],
  ['GET', '/api/docs/../servers'],
  ['GET', '/api/tools/plain/../../users'],
  ['GET', '/api/tools/plain/..%2f..%2fusers'],
  ['GET', '/api/openapi.json/../users'],
  ['GET', '/api/%2e%2e/api/users'],
];

/** What is open to programs on this machine. */
const open: [method: string, path: string, body?: unknown][] = [
  ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'plain-echo', arguments: {} } }],
  ['POST', '/mcp/plain', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } }],
  [
    'POST',
    '/mcp/$smart',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'plain-echo', arguments: {} } },
  ],
  ['GET', '/sse'],
  ['POST', '/messages?sessionId=x', { jsonrpc: '2.0', id: 1, method: 'ping' }],
  ['GET', '/api/tools/plain/echo'],
  ['POST', '/api/tools/plain/echo', {}],
  ['POST', '/api/both/tools/plain/echo', {}],
  ['GET', '/api/openapi.json'],
  ['POST', '/api/auth/login', { username: 'admin', password: 'correct horse' }],
  ['GET', '/'],
  ['GET', '/config'],
];

/** What comes from elsewhere, or from another web page. */
const foreign = (): Record<string, string>[] => [
  { host: `evil.example:${port()}` },
  { host: `evil.example:${port()}`, origin: `http://evil.example:${port()}` },
  { origin: `http://127.0.0.1.evil.example:${port()}` },
  { origin: 'null' },
];
const byBrowser: Record<string, string>[] = [
  { 'sec-fetch-mode': 'navigate' },
  { 'sec-fetch-site': 'cross-site' },
  { referer: 'http://evil.example/' },
];
const proxied = { via: '1.1 proxy' };

/** All of these at once are refused in one of these ways. */
async function refused(statuses: number[], requests: [target: string, asked: Sent][]): Promise<void> {
  const answers = await Promise.all(requests.map(([target, asked]) => sent(target, asked)));
  for (const [i, { status, text }] of answers.entries()) {
    expect(statuses, `${JSON.stringify(requests[i])}: ${text}`).toContain(status);
    expect(text.toLowerCase()).not.toContain('access-control-allow-origin');
  }
}

test.each([...spellings, 'absolute', 'of another'])(
  'below %j no caller gets past what is asked of them',
  async (spelling) => {
    const prefix = { absolute: root + base, 'of another': `http://evil.example${base}` }[spelling] ?? spelling;
    const before = calls();
    // Also 400 where a path is no address, 404 where it leads nowhere, 405 where it is another route's.
    const elsewhere = [400, 404, 405];
    await refused(
      [401, 403, ...elsewhere],
      closed.map(([method, path, body]) => [prefix + path, { method, body }]),
    );
    await refused(
      [401, ...elsewhere],
      open.slice(0, 8).map(([method, path, body]) => [prefix + path, { method, body, headers: proxied }]),
    );
    await refused(
      [400, 403],
      [...closed.slice(0, 3), ...open].flatMap(([method, path, body]) =>
        foreign().map((headers): [string, Sent] => [prefix + path, { method, body, headers }]),
      ),
    );
    await refused(
      [403, ...elsewhere],
      ['/api/tools/plain/echo', '/api/both/tools/plain/echo', '/api/plain/tools/plain/echo'].flatMap((path) =>
        byBrowser.map((headers): [string, Sent] => [prefix + path, { headers }]),
      ),
    );
    expect((await api(hub, 'GET', '/users', { token: admin })).text).not.toContain('eve');
    expect(calls()).toBe(before);
  },
);

test('below the prefix itself everything works, and nowhere else', async () => {
  const before = calls();
  const own = await session(hub.mcp());
  expect((await own.call('plain-echo')).result).toBeDefined();
  const legacy = await legacySession(hub.sse());
  expect(new URL(legacy.endpoint).pathname).toBe(`${base}/messages`);
  expect((await rpc(hub.mcp('plain'), 'tools/call', { name: 'echo', arguments: {} })).result).toBeDefined();
  expect((await api(hub, 'GET', '/tools/plain/echo')).status).toBe(200);
  const key = await keyToken(hub, admin, { accessType: 'all' });
  const headers = { authorization: `Bearer ${key}` };
  expect(
    (await rpc(hub.mcp(), 'tools/call', { name: 'secret-echo', arguments: {} }, { headers })).result,
  ).toBeDefined();
  expect(calls() - before).toBe(4);
  for (const spelling of ['', '/hub', '/my.x', '/my-x/hub', `${base}${base}`, '/MY.X/HUB'])
    for (const [method, path, body] of open) {
      const { status } = await sent(spelling + path, { method, headers: { ...headers, accept: '*/*' }, body });
      // What looks like the endpoint of a user (`/hub/mcp`) is not one.
      expect([401, 403, 404], `${method} ${spelling}${path}`).toContain(status);
    }
  expect(calls() - before).toBe(4);
});

describe('the pages of sign-ins', () => {
  const page = '/oauth/sign-in/mail';
  const body = 'username=admin&password=correct+horse';
  const type = { 'content-type': 'application/x-www-form-urlencoded' };

  test('are at the root alone, and keep other hosts and pages out there', async () => {
    for (const path of [page, '/oauth/callback?code=x&state=y', '/oauth/client-metadata.json'])
      for (const prefix of [base, '/%6dy.x/hub', '/my.x'])
        expect((await sent(prefix + path)).status, prefix + path).toBe(404);
    expect((await sent(page)).status).toBe(200);
    for (const path of [page, '/%6fauth/sign-in/mail', '/x/../oauth/sign-in/mail', `${base}/../..${page}`])
      for (const headers of [
        { host: `evil.example:${port()}` },
        { origin: 'http://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ]) {
        const answer = await raw(root + page, { body, headers: { ...type, ...headers } });
        expect([answer.status, answer.headers['set-cookie']], JSON.stringify(headers)).toEqual([403, undefined]);
        const { status, text } = await sent(path, {
          method: 'POST',
          headers: { ...type, ...headers },
        });
        expect([status, /set-cookie/i.test(text)], path).toEqual([403, false]);
      }
  });

  test('lead through a sign-in with a cookie for where they are', async () => {
    const who = person();
    const answer = await who.answerOf(root + page);
    expect(answer.href).toContain(`${root}/oauth/callback?`);
    expect(who.cookiesFor(root)).toMatch(/^toolhub-sign-in-1=/);
    expect((await who.open(answer.href)).status).toBe(200);
    expect(who.cookiesFor(root)).toBe('');
    // The answer is none in another browser.
    const other = await who.answerOf(root + page);
    expect((await person().open(other.href)).status).toBe(403);
  });
});

test.each(['/mcp', '/sse', '/api', '/servers', '/x/mcp', '/metrics/x', '/health/hub', '/health/x'])(
  'BASE_PATH=%s is a prefix like any other, though it is the name of a path of the hub',
  async (prefix) => {
    const other = await testHub({ env: { BASE_PATH: prefix }, mcpServers: { plain: plain.config } });
    await other.connected(1);
    const origin = new URL(other.url).origin;
    const token = await login(other);
    expect((await api(other, 'GET', '/servers', { token })).status).toBe(200);
    expect((await api(other, 'GET', '/servers')).status).toBe(401);
    for (const url of [other.mcp(), other.mcp('plain')]) {
      expect(new URL(url).pathname.startsWith(`${prefix}/mcp`)).toBe(true);
      expect(JSON.stringify((await rpc(url, 'tools/list')).result)).toContain('echo');
    }
    for (const path of ['', '/servers'])
      expect(await (await fetch(`${origin}${prefix}${path}`)).text()).toContain('<!doctype html>');
    for (const path of ['/health', '/health/live', '/health/ready'])
      expect((await (await fetch(origin + path)).json()) as object, path).toHaveProperty('status');
    const metrics = await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect(await metrics.text()).toContain('# TYPE');
  },
);

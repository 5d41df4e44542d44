import { beforeAll, describe, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { wire } from '../kit/fast-path.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { raw, rpc, stream } from '../kit/raw.ts';
import { session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What every answer tells a browser, whatever it answers.

const page = 'https://page.example';
let hub: TestHub;
let admin: string;
beforeAll(async () => {
  const server = await hostileHttp({ name: 'alpha' });
  hub = await testHub({ mcpServers: { alpha: server.config }, env: { ALLOWED_ORIGINS: page } });
  admin = await login(hub);
  await hub.connected(1);
});

type Operations = Record<string, unknown>;
const operations = async (): Promise<[method: string, path: string][]> => {
  const { paths } = JSON.parse((await api(hub, 'GET', '/docs/openapi.json')).text) as {
    paths: Record<string, Operations>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method): [string, string] => [
      method.toUpperCase(),
      path.replaceAll(/\{[^}]+\}/g, 'none'),
    ]),
  );
};

describe('X-Content-Type-Options', () => {
  test('is on every answer of the management API, with a credential and without', async () => {
    const all = await operations();
    const token = await login(hub);
    expect(all.length).toBeGreaterThan(60);
    const missing: string[] = [];
    for (const [method, path] of all) {
      // It never ends, and has a test below.
      if (path === '/logs/stream' || path === '/events') continue;
      for (const credential of [undefined, token]) {
        // What would change something ends for the wrong reason, and is answered all the same.
        const change = method !== 'GET' && {
          headers: { 'content-type': 'text/plain', 'content-length': '1' },
          body: 'x',
        };
        const answer = await api(hub, method, path, {
          ...(credential !== undefined && { token: credential }),
          ...change,
        });
        if (answer.headers['x-content-type-options'] !== 'nosniff') missing.push(`${answer.status} ${method} ${path}`);
      }
    }
    expect(missing).toEqual([]);
  });

  test('is on everything else', async () => {
    const { headers: streamed, close } = await stream(`${hub.url}/api/logs/stream`, {
      headers: { authorization: `Bearer ${admin}` },
    });
    close();
    const own = await session(hub.mcp());
    const legacy = await stream(hub.sse());
    legacy.close();
    const answers = [
      ...(await Promise.all(
        [
          '/health',
          '/health/live',
          '/health/ready',
          '/metrics',
          '/',
          '/login',
          '/nothing',
          '/api/docs',
          '/oauth/sign-in/alpha',
          '/oauth/callback?state=x',
          '/oauth/client-metadata.json',
          '/.well-known/oauth-protected-resource/mcp',
        ].map((path) => raw(`${hub.url}${path}`, { method: 'GET' })),
      )),
      // Read by the hub itself, and by node:http.
      await rpc(hub.mcp(), 'tools/list'),
      await rpc(hub.mcp(), 'tools/list', {}, { headers: { te: 'trailers' } }),
      await rpc(hub.mcp(), 'tools/call', { name: 'nothing' }),
      await raw(hub.mcp(), { body: '{' }),
      await raw(hub.mcp(), { headers: { 'content-type': 'text/plain' }, body: 'x' }),
      await raw(hub.mcp(), { headers: { authorization: 'Bearer nonsense' }, body: '{}' }),
      await raw(hub.mcp(), { headers: { host: 'evil.example' }, body: '{}' }),
      await raw(hub.mcp(), { method: 'GET' }),
      await raw(`${hub.url}/health`, { method: 'GET', headers: { origin: 'https://evil.example' } }),
      await raw(`${hub.url}/api/servers`, {
        method: 'OPTIONS',
        headers: { origin: page, 'access-control-request-method': 'GET' },
      }),
      await raw(`${hub.url}/health`, { method: 'GET', headers: { expect: 'wonders' } }),
      own.initialized,
    ];
    const all = [...answers.map(({ status, headers }) => ({ status, headers })), { status: 200, headers: streamed }];
    all.push({ status: legacy.status, headers: legacy.headers });
    expect(all.map(({ headers }) => headers['x-content-type-options'])).toEqual(all.map(() => 'nosniff'));
  });

  test.each([
    ['a request without a host', 'GET /health HTTP/1.1\r\n\r\n', 400],
    ['no HTTP', 'nonsense\r\n\r\n', 400],
    ['a head that is too long', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
  ])('is on the answer to %s', async (_, bytes, status) => {
    const line = await wire(Number(new URL(hub.url).port));
    await line.send(bytes);
    await until('the answer', () => line.heard.includes('\r\n\r\n'));
    expect(line.heard).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(line.heard).toMatch(/\r\nx-content-type-options: nosniff\r\n/i);
  });
});

test('pages share nothing with pages of other origins, and use no device', async () => {
  const pages = ['/', '/login', '/servers/alpha', '/api/docs', '/oauth/sign-in/alpha', '/oauth/callback?state=x'];
  for (const path of pages) {
    const { headers } = await raw(`${hub.url}${path}`, { method: 'GET' });
    expect(headers, path).toMatchObject({
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
      'x-content-type-options': 'nosniff',
    });
  }
});

test('an origin that the operator named reads the API and MCP endpoints as before', async () => {
  const answers = [
    await api(hub, 'GET', '/servers', { token: admin, headers: { origin: page } }),
    await rpc(hub.mcp(), 'ping', undefined, { headers: { origin: page } }),
  ];
  for (const { status, headers } of answers) {
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBe(page);
    expect(headers['cross-origin-resource-policy']).toBeUndefined();
  }
});

describe('Strict-Transport-Security', () => {
  const over = async (at: TestHub, headers: Record<string, string> = {}) => {
    const answers = [
      await raw(`${at.url}/health`, { method: 'GET', headers }),
      await raw(`${at.url}/nothing`, { method: 'GET', headers }),
      await rpc(at.mcp(), 'ping', undefined, { headers }),
      await rpc(at.mcp(), 'ping', undefined, { headers: { ...headers, te: 'trailers' } }),
    ];
    return new Set(answers.map((answer) => answer.headers['strict-transport-security']));
  };
  const said = new Set(['max-age=31536000']);
  const nothing = new Set([undefined]);

  test('comes with an answer over https, as a trusted proxy says', async () => {
    expect(await over(hub)).toEqual(nothing);
    expect(await over(hub, { 'x-forwarded-proto': 'http' })).toEqual(nothing);
    expect(await over(hub, { 'x-forwarded-proto': 'https' })).toEqual(said);
  });

  test('does not come where the proxy is not trusted', async () => {
    const suspicious = await testHub({ env: { TRUST_PROXY: 'false' } });
    expect(await over(suspicious, { 'x-forwarded-proto': 'https' })).toEqual(nothing);
  });

  test('comes where the address from outside is https', async () => {
    expect(await over(await testHub({ env: { INSTALL_BASE_URL: 'https://localhost:8443' } }))).toEqual(said);
  });
});

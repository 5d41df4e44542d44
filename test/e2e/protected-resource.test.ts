import { request } from 'node:http';
import { expect, test } from 'vitest';
import { rpc, raw } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// What a 401 of an MCP endpoint points to (RFC 9728; MCP, Authorization).

const closed = { mcpServers: {}, systemConfig: { routing: { enableBearerAuth: true } } };
const wellKnown = '/.well-known/oauth-protected-resource';

/** Follows the challenge of an endpoint to its metadata, as clients do. */
async function discover(hub: TestHub, url: string, headers: Record<string, string> = {}) {
  const refused = await rpc(url, 'tools/list', {}, { headers });
  expect(refused.status).toBe(401);
  const challenge = String(refused.headers['www-authenticate']);
  const metadata = /^Bearer .*resource_metadata="([^"]+)"$/.exec(challenge)?.[1] ?? '';
  // The test is at the hub's own address, whatever the hub is called outside.
  const { pathname } = new URL(metadata);
  const answer = await raw(`${new URL(hub.url).origin}${pathname}`, { method: 'GET', headers });
  expect([answer.status, answer.headers['content-type']], challenge).toEqual([200, 'application/json']);
  return { metadata, document: JSON.parse(answer.text) as Record<string, unknown> };
}

test.each(['', '/dev', '/%24smart/dev', '/a%20group'])(
  'leads to the metadata of exactly this endpoint: /mcp%s',
  async (path) => {
    const hub = await testHub(closed);
    for (const endpoint of [`${hub.url}/mcp${path}`, `${hub.url}/sse${path}`]) {
      const { metadata, document } = await discover(hub, `${endpoint}?pageSize=5`);
      expect(metadata).toBe(endpoint.replace(hub.url, `${hub.url}${wellKnown}`));
      expect(document).toEqual({
        resource: endpoint,
        resource_name: 'Tool Hub',
        authorization_servers: [hub.url],
        scopes_supported: ['mcp'],
        bearer_methods_supported: ['header'],
      });
    }
  },
);

test('is at the root under BASE_PATH too, which belongs to the resource', async () => {
  const hub = await testHub({ ...closed, env: { BASE_PATH: '/hub' } });
  const origin = new URL(hub.url).origin;
  const { metadata, document } = await discover(hub, hub.mcp('dev'));
  expect(metadata).toBe(`${origin}${wellKnown}/hub/mcp/dev`);
  expect(document['resource']).toBe(`${origin}/hub/mcp/dev`);
  expect((await raw(`${origin}/hub${wellKnown}/mcp`, { method: 'GET' })).status).toBe(404);
});

test('speaks of the address from outside: INSTALL_BASE_URL, whatever a request says', async () => {
  const install = 'https://tools.example.com/ai/';
  const hub = await testHub({ ...closed, env: { INSTALL_BASE_URL: install, BASE_PATH: '/hub' } });
  const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
  const { metadata, document } = await discover(hub, hub.mcp('dev'), headers);
  expect(metadata).toBe(`https://tools.example.com${wellKnown}/ai/hub/mcp/dev`);
  expect(document['resource']).toBe('https://tools.example.com/ai/hub/mcp/dev');
});

test.each([
  ['loopback', 'https://outside.example:8443'],
  ['true', 'https://outside.example:8443'],
  ['1', 'https://outside.example:8443'],
  ['false', undefined],
  ['10.0.0.0/8', undefined],
])('believes a proxy only when it is trusted: TRUST_PROXY=%s', async (trust, outside) => {
  const hub = await testHub({ ...closed, env: { TRUST_PROXY: trust, ALLOWED_HOSTS: 'outside.example' } });
  const headers = { 'x-forwarded-host': 'outside.example:8443', 'x-forwarded-proto': 'https' };
  const { metadata, document } = await discover(hub, hub.mcp(), headers);
  expect(metadata).toBe(`${outside ?? hub.url}${wellKnown}/mcp`);
  expect(document['resource']).toBe(`${outside ?? hub.url}/mcp`);
});

test('a host that a trusted proxy passes on, and that is not the hub’s, is refused on every route', async () => {
  const hub = await testHub({ ...closed, env: { TRUST_PROXY: 'loopback' } });
  for (const path of ['/mcp', '/health', '/api/auth/config', `${wellKnown}/mcp`, '/']) {
    const answer = await raw(hub.url + path, { method: 'GET', headers: { 'x-forwarded-host': 'evil.example' } });
    expect([answer.status, answer.text], path).toEqual([403, expect.stringContaining('ALLOWED_HOSTS')]);
  }
});

test.each(['evil.example/path', 'a b', '"', 'x"y', 'user@host', '', 'host:99999999', '<script>'])(
  'takes no nonsense for a host: %j',
  async (host) => {
    const hub = await testHub({ ...closed, env: { TRUST_PROXY: 'true' } });
    const { metadata } = await discover(hub, hub.mcp(), {
      'x-forwarded-host': host,
      'x-forwarded-proto': 'javascript',
    });
    expect(metadata).toBe(`${hub.url}${wellKnown}/mcp`);
  },
);

test('is open to all, says nothing of what exists, and is there for MCP endpoints only', async () => {
  const hub = await testHub({
    ...closed,
    groups: [{ name: 'real', servers: [], owner: 'admin', visibility: 'private' }],
  });
  const get = (path: string) => raw(`${hub.url}${wellKnown}${path}`, { method: 'GET' });
  const [real, unreal] = [await get('/mcp/real'), await get('/mcp/unreal')];
  expect(real.text.replace('/real', '/unreal')).toBe(unreal.text);
  expect(real.headers['cache-control']).toBe('no-store');
  expect(JSON.parse((await get('')).text)).toMatchObject({ resource: hub.url });
  for (const path of [
    '/api',
    '/api/logs',
    '/mcpx',
    '/health',
    '/x/y/mcp',
    '/api/mcp',
    '/servers/mcp',
    '/mcp/%ff',
    '//evil.example/mcp',
  ]) {
    const answer = await get(path);
    expect([answer.status, answer.text.includes('"resource"')], path).toEqual([404, false]);
  }
});

test('a path cannot break out of the challenge', async () => {
  const hub = await testHub(closed);
  const { hostname, port } = new URL(hub.url);
  const challenge = await new Promise<string>((resolve, reject) => {
    request({ hostname, port, method: 'POST', path: '/mcp/a",realm="x\\' }, (response) => {
      response.resume();
      resolve(String(response.headers['www-authenticate']));
    })
      .on('error', reject)
      .end('{}');
  });
  expect(challenge).toMatch(/^Bearer error_description="[^"]*", resource_metadata="[^"\\]*"$/);
});

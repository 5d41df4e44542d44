import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { type TestIssuer, testIssuer } from '../kit/issuer.ts';
import { raw, rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// Tokens of issuers that the settings trust (CONTRACT §8), at the endpoints of a hub. What is a good token is tested in
// src/auth/oidc.

let company: TestIssuer;
let hub: TestHub;
let admin: string;
let trustedIssuers: Record<string, unknown>[];

beforeAll(async () => {
  company = await testIssuer('RS256');
  trustedIssuers = [
    { issuer: company.url, audience: ['other', 'toolhub'], usernameClaim: 'email', groups: { eng: ['dev'] } },
  ];
  const alpha = await hostileHttp({ name: 'alpha', tools: ['read', 'write'] });
  const beta = await hostileHttp({ name: 'beta', tools: ['read'] });
  hub = await testHub({
    // A test edits the settings file.
    env: { DB_URL: 'off' },
    mcpServers: { alpha: { ...alpha.config, visibility: 'private' }, beta: { ...beta.config, visibility: 'public' } },
    groups: [
      { id: 'g-dev', name: 'dev', visibility: 'private', servers: [{ name: 'alpha', tools: ['read'] }] },
      { id: 'g-ops', name: 'ops', servers: ['alpha', 'beta'] },
    ],
    systemConfig: { routing: { enableBearerAuth: true }, auth: { trustedIssuers } },
  });
  admin = await login(hub);
  await hub.connected(2);
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function tools(token: string, scope = '') {
  const answer = await rpc(hub.mcp(scope), 'tools/list', {}, { headers: bearer(token) });
  return answer.status === 200 ? answer.message.result?.tools?.map(({ name }) => name).toSorted() : answer.status;
}

test('a holder without an account reaches the servers of the groups in the token, and nothing else', async () => {
  const token = await company.sign({ groups: ['eng'] });
  expect(await tools(token)).toEqual(['alpha-read']);
  expect(await tools(token, 'dev')).toEqual(['alpha-read']);
  expect(await tools(token, 'alpha')).toEqual(['read']);
  for (const scope of ['ops', 'beta']) expect(await tools(token, scope), scope).toEqual([]);
  const call = { name: 'alpha-write', arguments: {} };
  const refused = await rpc(hub.mcp(), 'tools/call', call, { headers: bearer(token) });
  expect(refused.message.error?.message).toMatch(/alpha-write/);
  expect(await tools(await company.sign({ groups: ['dev', 'g-dev'] }))).toEqual([]);
});

test('it opens nothing beyond MCP endpoints', async () => {
  const token = await company.sign({ groups: ['eng'], sub: 'admin' });
  for (const path of ['/servers', '/auth/user', '/users', '/settings', '/auth/keys', '/logs'])
    expect((await api(hub, 'GET', path, { token })).status, path).toBe(401);
  expect((await raw(`${hub.url}/metrics`, { method: 'GET', headers: bearer(token) })).status).toBe(401);
});

test('a bad one is refused as any bad credential is', async () => {
  const answer = await rpc(hub.mcp(), 'tools/list', {}, { headers: bearer(await company.sign({ aud: 'else' })) });
  expect(answer.status).toBe(401);
  expect(answer.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token".*resource_metadata=/);
});

test('an account with that issuer and subject acts as itself, but manages nothing', async () => {
  await userToken(hub, admin, 'ann', { servers: ['beta'] });
  const settings = JSON.parse(readFileSync(hub.settingsPath, 'utf8')) as { users: Record<string, unknown>[] };
  const users = settings.users.map((user) =>
    user['username'] === 'ann' ? { ...user, identities: [{ issuer: company.url, subject: 'ann-at-work' }] } : user,
  );
  hub.write({ ...settings, users });
  const token = await company.sign({ sub: 'ann-at-work', groups: ['eng'] });
  await expect.poll(() => tools(token), { timeout: 60_000 }).toEqual(['beta-read']);
  expect((await api(hub, 'GET', '/auth/user', { token })).status).toBe(401);
});

test('calls are recorded under its name and issuer, and not as those of a user', async () => {
  const token = await company.sign({ groups: ['eng'], email: 'admin' });
  await rpc(hub.mcp(), 'tools/call', { name: 'alpha-read', arguments: {} }, { headers: bearer(token) });
  const { text } = await api(hub, 'GET', '/activities?limit=5', { token: admin });
  expect(text).toContain(`admin (${company.url})`);
  expect(text).not.toContain('"username":"admin"');
});

test('what the settings take away counts at once', async () => {
  const token = await company.sign({ groups: ['eng'] });
  const put = (auth: unknown) => api(hub, 'PUT', '/system-config', { token: admin, body: { auth } });
  expect((await put({ trustedIssuers: [{ ...trustedIssuers[0], groups: {} }] })).status).toBe(200);
  expect(await tools(token)).toEqual([]);
  expect((await put({ trustedIssuers: [] })).status).toBe(200);
  expect(await tools(token)).toBe(401);
  for (const wrong of [
    { audience: 'x', issuer: 'http://login.example' },
    { issuer: company.url },
    { issuer: company.url, audience: 'x', jwksUri: 'file:///etc/passwd' },
    { issuer: company.url, audience: 'x', group: {} },
  ]) {
    const answer = await put({ trustedIssuers: [wrong] });
    expect([answer.status, answer.text], answer.text).toEqual([400, expect.stringContaining('trustedIssuers[0]')]);
  }
});

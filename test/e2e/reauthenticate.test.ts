import { beforeAll, describe, expect, test } from 'vitest';
import { authLimits } from '../../src/auth/limits.ts';
import { createPasswords } from '../../src/auth/passwords.ts';
import { httpLimits } from '../../src/http/limits.ts';
import { api, type ApiCall, keyToken, login } from '../kit/api.ts';
import { forgedToken } from '../kit/forged-token.ts';
import { storedSettings } from '../kit/hub-database.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// What takes a login of the last ten minutes (CONTRACT §7): exports with secrets, and changes to the accounts of
// admins.

const secret = 'the secret of these tests, long enough for HS256';
const password = 'correct horse';
let hub: TestHub;
let old: string;
let fresh: string;

async function hubOf(env: Record<string, string> = {}): Promise<TestHub> {
  const hash = await createPasswords().hash(password);
  const user = (username: string, role: string) => ({
    username,
    password: hash,
    role,
    createdAt: '2020-01-01T00:00:00Z',
  });
  return testHub({
    mcpServers: {
      s: { url: 'https://s.example/mcp', headers: { Authorization: 'Bearer secret-of-s' }, enabled: false },
    },
    groups: [{ id: 'dev', name: 'dev', servers: ['s'] }],
    users: [user('admin', 'admin'), user('second', 'admin'), user('ann', 'user')],
    env: { JWT_SECRET: secret, ...env },
  });
}

beforeAll(async () => {
  hub = await hubOf();
  old = forgedToken(secret, { ageMs: httpLimits.freshLoginMs });
  fresh = forgedToken(secret, { ageMs: httpLimits.freshLoginMs - 60_000 });
});

const call = (method: string, path: string, more: ApiCall) => api(hub, method, path, more);
const exported = '/mcp-settings/export?secrets=include';

const sensitive: [what: string, method: string, path: string, body?: object][] = [
  ['an export with secrets', 'GET', exported],
  ['an export of one server with secrets', 'GET', `${exported}&serverName=s`],
  ['making an admin', 'POST', '/users', { username: 'third', password: 'long enough', role: 'admin' }],
  [
    'making an admin, in the word of MCPHub',
    'POST',
    '/users',
    { username: 'third', password: 'long enough', isAdmin: true },
  ],
  ['making an admin of a user', 'PUT', '/users/ann', { role: 'admin' }],
  ['making a user of an admin', 'PUT', '/users/second', { isAdmin: false }],
  ['a new password of an admin', 'PUT', '/users/second', { password: 'another one' }],
  ['a new password of oneself', 'PUT', '/users/admin', { newPassword: 'another one' }],
  ['a new e-mail address of an admin', 'PUT', '/users/second', { email: 'x@example.com' }],
  ['deleting an admin', 'DELETE', '/users/second'],
  [
    'importing an admin',
    'POST',
    '/mcp-settings/import',
    { users: [{ username: 'x', password: `$2b$10$${'a'.repeat(53)}`, isAdmin: true }] },
  ],
];

test.each(sensitive)('%s asks for the password again, and nothing changes', async (_, method, path, body) => {
  const before = await storedSettings(hub);
  const answer = await call(method, path, { token: old, body });
  expect([answer.status, answer.body.success, answer.body['error']], answer.text).toEqual([
    403,
    false,
    'reauthenticate',
  ]);
  expect(answer.body.message).toMatch(/older than 10 minutes.*POST \/api\/auth\/reauthenticate/);
  expect(answer.text).not.toContain('secret-of-s');
  expect(await storedSettings(hub)).toBe(before);
});

test.each<[what: string, method: string, path: string, body?: object]>([
  ['an export without secrets', 'GET', '/mcp-settings/export'],
  ['making a user', 'POST', '/users', { username: 'bob', password: 'long enough' }],
  ['a new password of a user', 'PUT', '/users/bob', { password: 'another one' }],
  ['giving a user a group', 'PUT', '/users/bob', { groups: ['dev'] }],
  ['deleting a group that a user has', 'DELETE', '/groups/dev'],
  ['deleting a user', 'DELETE', '/users/bob'],
  [
    'looking at what an import would do',
    'POST',
    '/mcp-settings/import?dryRun=true',
    { groups: [{ name: 'g', servers: [] }] },
  ],
  ['an import without an admin', 'POST', '/mcp-settings/import', { groups: [{ name: 'g', servers: [] }] }],
])('%s does not', async (_, method, path, body) => {
  const answer = await call(method, path, { token: old, body });
  expect([200, 201], answer.text).toContain(answer.status);
});

describe('giving the password again', () => {
  const again = (token: string | undefined, body: unknown) => call('POST', '/auth/reauthenticate', { token, body });

  test('answers a token that may, and so may that of a login; the one before still may not', async () => {
    const { status, headers, body } = await again(old, { password });
    expect([status, body.success, headers['cache-control']]).toEqual([200, true, 'no-store']);
    for (const token of [body['token'] as string, fresh, await login(hub, 'admin', password)]) {
      const answer = await call('GET', exported, { token });
      expect([answer.status, answer.text.includes('secret-of-s')]).toEqual([200, true]);
    }
    expect((await call('GET', exported, { token: old })).status).toBe(403);
    expect((await call('GET', '/auth/user', { token: old })).status).toBe(200);
  });

  test('with a wrong one, or none, is refused', async () => {
    const wrong = await again(old, { password: 'wrong' });
    expect([wrong.status, wrong.body['token']]).toEqual([401, undefined]);
    expect(wrong.body.message).toBe('Cannot confirm that it is you: the password is wrong.');
    for (const body of [{}, { password: 7 }, { password, username: 'second' }, '']) {
      expect((await again(old, body)).status).toBe(400);
    }
    expect((await again(undefined, { password })).status).toBe(401);
    expect((await again('no.token', { password })).status).toBe(401);
  });

  test('is for oneself, and for no access key', async () => {
    const ann = forgedToken(secret, { username: 'ann', ageMs: httpLimits.freshLoginMs });
    const token = (await again(ann, { password })).body['token'] as string;
    expect((await call('GET', '/auth/user', { token })).body['user']).toMatchObject({ username: 'ann' });
    expect((await call('GET', exported, { token })).body).toMatchObject({ message: 'Only admins may do this.' });
    const key = await keyToken(hub, await login(hub, 'admin', password), { kind: 'user' });
    expect((await again(key, { password })).status).toBe(403);
    const refused = await call('GET', exported, { token: key });
    expect([refused.status, refused.body['error']]).toEqual([403, undefined]);
  });

  test('is limited as logins are', async () => {
    const own = await hubOf();
    const statuses = [];
    for (let i = 0; i <= authLimits.loginFailuresPerAddress; i++) {
      statuses.push(
        (await api(own, 'POST', '/auth/reauthenticate', { token: old, body: { password: `${i}` } })).status,
      );
    }
    expect(statuses).toEqual([...Array<number>(authLimits.loginFailuresPerAddress).fill(401), 429]);
    expect((await api(own, 'POST', '/auth/login', { body: { username: 'admin', password } })).status).toBe(429);
  });

  test('is possible on a hub that is read-only, whose secrets can be exported', async () => {
    const own = await hubOf({ READONLY: 'true' });
    expect((await api(own, 'GET', exported, { token: old })).body['error']).toBe('reauthenticate');
    const { body } = await api(own, 'POST', '/auth/reauthenticate', { token: old, body: { password } });
    expect((await api(own, 'GET', exported, { token: body['token'] as string })).status).toBe(200);
  });
});

test('a changed password of one’s own is as good as a login', async () => {
  const token = forgedToken(secret, { username: 'second', ageMs: httpLimits.freshLoginMs });
  const body = { currentPassword: password, newPassword: 'another horse' };
  const changed = await call('POST', '/auth/change-password', { token, body });
  expect((await call('GET', exported, { token: changed.body['token'] as string })).status).toBe(200);
});

test.each<[what: string, more: object]>([
  ['without an end', { exp: undefined }],
  ['without a beginning', { iat: undefined }],
  ['for longer than a day', { exp: Math.floor(Date.now() / 1000) + 25 * 3600 }],
  ['for ever', { exp: 9e15 }],
  ['that ends before it begins', { exp: 1 }],
])('a token signed with the secret of the hub, %s, opens nothing', async (_, more) => {
  expect((await call('GET', '/auth/user', { token: forgedToken(secret) })).status).toBe(200);
  expect((await call('GET', '/auth/user', { token: forgedToken(secret, { more }) })).status).toBe(401);
});

test('a token from the future opens nothing', async () => {
  const token = forgedToken(secret, { ageMs: -2 * authLimits.clockToleranceMs });
  expect((await call('GET', '/auth/user', { token })).status).toBe(401);
});

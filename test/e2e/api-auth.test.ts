import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { beforeAll, describe, expect, test } from 'vitest';
import { authLimits } from '../../src/auth/limits.ts';
import { coreLimits } from '../../src/core/limits.ts';
import { httpLimits } from '../../src/http/limits.ts';
import { api, keyToken, login, passwordOf, userToken } from '../kit/api.ts';
import { storedSettings } from '../kit/hub-database.ts';
import { raw } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Coming and going: POST /api/auth/login, /logout, /change-password, GET /api/auth/user (CONTRACT §2).

const restart = async (hub: TestHub, more: Record<string, string> = {}) => {
  await hub.close();
  return testHub({ folder: hub.folder, env: more });
};
const enter = (hub: TestHub, username: string, password: string, headers: Record<string, string> = {}) =>
  api(hub, 'POST', '/auth/login', { body: { username, password }, headers });
const opens = async (hub: TestHub, token: string) => (await api(hub, 'GET', '/auth/user', { token })).status;

describe('a login', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await testHub({ env: { TRUST_PROXY: 'true' } });
  });
  // Each test fails from an address of its own, so that they do not lock each other out.
  const from = (address: string) => ({ 'x-forwarded-for': address });

  test('answers a token and who that is, without "data", and is not to be stored by any cache', async () => {
    const { status, body, headers } = await enter(hub, 'admin', 'correct horse');
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      message: 'Login successful',
      token: expect.stringMatching(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/) as string,
      user: { username: 'admin', role: 'admin', isAdmin: true },
    });
    expect(headers['cache-control']).toBe('no-store');
    expect(await opens(hub, body['token'] as string)).toBe(200);
  });

  test('that is refused says the same whether the user exists, has no password, or does not exist', async () => {
    const admin = await login(hub);
    await userToken(hub, admin, 'real');
    const answers = await Promise.all(
      [
        ['real', 'wrong password'],
        ['nobody', 'wrong password'],
        ['REAL', passwordOf('real')],
        ['real ', passwordOf('real')],
        ['__proto__', 'wrong password'],
        ['real', ''],
      ].map(([username = '', password = '']) => enter(hub, username, password, from('198.51.100.1'))),
    );
    for (const { status, text, headers } of answers) {
      expect(status).toBe(401);
      expect(JSON.parse(text)).toEqual({ success: false, message: 'Wrong username or password.' });
      expect(headers['www-authenticate']).toBe('Bearer');
      expect(Object.keys(headers).sort()).toEqual(Object.keys(answers[0]?.headers ?? {}).sort());
    }
  });

  test.each([
    ['no body', '', 400, undefined],
    ['broken JSON', '{"username":', 400, undefined],
    ['a list', [], 400, ['']],
    ['null', 'null', 400, ['']],
    ['nothing in it', {}, 400, ['username', 'password']],
    ['no name', { username: '', password: 'x' }, 400, ['username']],
    ['a query in place of a text', { username: { $ne: '' }, password: { $ne: '' } }, 400, ['username', 'password']],
    ['a number', { username: 'admin', password: 1 }, 400, ['password']],
    ['a password longer than any may be', { username: 'admin', password: 'x'.repeat(1_025) }, 400, ['password']],
    ['a name without end', { username: 'x'.repeat(10_000), password: 'x' }, 400, ['username']],
    ['more than anybody may send', { username: 'x', password: 'x'.repeat(httpLimits.smallBodyBytes) }, 413, undefined],
  ])('with %s is refused as what it is', async (_, body, status, paths) => {
    const answer = await api(hub, 'POST', '/auth/login', { body, headers: { 'content-type': 'application/json' } });
    expect([answer.status, answer.body.success, typeof answer.body.message]).toEqual([status, false, 'string']);
    expect(answer.body.errors?.map(({ path }) => path)).toEqual(paths);
  });

  test('may be sent in pieces, whose length was not announced, as long as they are not too many', async () => {
    const pieces = (text: string) =>
      fetch(`${hub.url}/api/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new Blob([text]).stream(),
        duplex: 'half',
      });
    const right = JSON.stringify({ username: 'admin', password: 'correct horse' });
    expect((await pieces(right)).status).toBe(200);
    expect((await pieces(' '.repeat(httpLimits.smallBodyBytes) + right)).status).toBe(413);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'as a form of a foreign page could send it (%s) is refused',
    async (type) => {
      const body = JSON.stringify({ username: 'admin', password: 'correct horse' });
      const answer = await api(hub, 'POST', '/auth/login', { body, headers: { 'content-type': type } });
      expect([answer.status, answer.body['token']]).toEqual([415, undefined]);
    },
  );

  test('succeeds whatever ended token the client still sends', async () => {
    for (const headers of [{ authorization: 'Bearer eyJ.a.b' }, { 'x-auth-token': 'gone' }]) {
      expect((await enter(hub, 'admin', 'correct horse', headers)).status).toBe(200);
    }
  });

  test('is refused after too many failures, also with the right password, and says when to come back', async () => {
    const address = '203.0.113.7';
    for (let i = 0; i < authLimits.loginFailuresPerAddress; i++) {
      expect((await enter(hub, `nobody${i}`, 'wrong', from(address))).status).toBe(401);
    }
    for (const [username, password] of [
      ['admin', 'correct horse'],
      ['nobody', 'wrong'],
    ] as const) {
      const { status, headers, body } = await enter(hub, username, password, from(address));
      expect([status, body.message]).toEqual([429, 'Too many failed logins. Try again in 15 minutes.']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(authLimits.loginWindowMs / 1000 - 60);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(authLimits.loginWindowMs / 1000);
    }
    expect((await enter(hub, 'admin', 'correct horse', from('203.0.113.8'))).status).toBe(200);
  });

  test('fails so often from one network, however its address and the name of the account are written', async () => {
    const names = ['admin', 'ADMIN', 'admin ', '\uff41dmin', 'a\u0301dmin', '\u00e1dmin', 'admin\u0000', 'nobody'];
    const addresses = ['2001:db8:7:8::1', '2001:DB8:0007:8:ffff::2', '[2001:db8:7:8::3]:4711', '2001:db8:7:8:1:2:3:4'];
    const attempts = addresses.flatMap((address) => names.map((name) => [name, address] as const));
    for (const [name, address] of attempts.slice(0, authLimits.loginFailuresPerAddress))
      expect((await enter(hub, name, 'wrong', from(address))).status, `${name} ${address}`).toBe(401);
    for (const [name, address] of attempts)
      expect((await enter(hub, name, 'correct horse', from(address))).status, `${name} ${address}`).toBe(429);
    expect((await enter(hub, 'admin', 'correct horse', from('2001:db8:7:9::1'))).status).toBe(200);
  });

  test('by the owner succeeds after a hundred failures from ever new addresses, and the address of the attacker stays shut', async () => {
    const hub = await testHub({ env: { TRUST_PROXY: 'loopback' } });
    await login(hub);
    for (let i = 0; i < authLimits.loginFailuresPerAccount + 2 * authLimits.loginSlowBurst; i++) {
      const { status } = await enter(hub, 'admin', 'wrong', from(`198.51.${i >> 8}.${i & 255}`));
      expect([401, 429]).toContain(status);
    }
    const { status, headers } = await enter(hub, 'admin', 'wrong', from('203.0.113.50'));
    expect([status, Number(headers['retry-after']) <= authLimits.loginSlowMs / 1000]).toEqual([429, true]);
    // As before the attack.
    expect(await login(hub)).toMatch(/^eyJ/);
  });

  test('that succeeds is not counted', async () => {
    for (let i = 0; i < authLimits.loginFailuresPerAddress + 5; i++) {
      expect((await enter(hub, 'admin', 'correct horse', from('203.0.113.9'))).status).toBe(200);
    }
  });
});

test.each([
  ['not said', undefined, '10.0.0.1'],
  ['nobody', 'false', '10.0.0.1'],
  ['one proxy', '1', '10.0.0.1, 192.0.2.1'],
  ['the proxy by address', 'loopback', '10.0.0.1, 192.0.2.1'],
])('an invented address does not get around the limit when %s is trusted', async (_, trust, last) => {
  const hub = await testHub({ env: trust === undefined ? {} : { TRUST_PROXY: trust } });
  const attempt = (i: number) => ({ 'x-forwarded-for': trust === 'false' ? `192.0.2.${i}` : `192.0.2.${i}, ${last}` });
  for (let i = 0; i < authLimits.loginFailuresPerAddress; i++) {
    expect((await enter(hub, 'admin', 'wrong', attempt(i))).status).toBe(401);
  }
  expect((await enter(hub, 'admin', 'correct horse', attempt(99))).status).toBe(429);
});

describe('an access token', () => {
  let hub: TestHub;
  let admin: string;
  beforeAll(async () => {
    hub = await testHub();
    admin = await login(hub);
  });

  test('is taken from Authorization and x-auth-token, never from the address', async () => {
    for (const headers of [
      { authorization: `Bearer ${admin}` },
      { authorization: `bearer   ${admin} ` },
      { authorization: admin },
      { 'x-auth-token': admin },
      { authorization: '', 'x-auth-token': admin },
    ]) {
      expect((await api(hub, 'GET', '/auth/user', { headers })).status, JSON.stringify(headers)).toBe(200);
    }
    expect((await api(hub, 'GET', `/auth/user?token=${admin}`)).status).toBe(401);
    expect((await api(hub, 'GET', '/auth/user', { headers: { cookie: `token=${admin}` } })).status).toBe(401);
  });

  test.each(['', 'Bearer', 'Bearer ', 'Bearer null', 'Bearer undefined', 'Bearer eyJ.eyJ.', 'Basic YWRtaW46YWRtaW4='])(
    'cannot be replaced by %j',
    async (authorization) => {
      const { status, body, headers } = await api(hub, 'GET', '/auth/user', { headers: { authorization } });
      expect([status, body.success, headers['www-authenticate']]).toEqual([401, false, 'Bearer']);
    },
  );

  test('with another signature, algorithm or payload is refused', async () => {
    const [head = '', payload = '', signature = ''] = admin.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const longer = Buffer.from(JSON.stringify({ ...claims, exp: 9e9 })).toString('base64url');
    for (const token of [
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${head}.${longer}.${signature}`,
      `${head}.${payload}.${'A'.repeat(43)}`,
    ]) {
      expect(await opens(hub, token)).toBe(401);
    }
  });

  test('tells its user who they are; an access key has no account', async () => {
    const user = await userToken(hub, admin, 'who', { servers: ['a'], groups: ['g'] });
    const { status, body } = await api(hub, 'GET', '/auth/user', { token: user });
    const shown = {
      username: 'who',
      role: 'user',
      isAdmin: false,
      servers: ['a'],
      groups: ['g'],
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    };
    expect([status, body]).toEqual([200, { success: true, user: shown, data: shown }]);
    const keys = [await keyToken(hub, user), await keyToken(hub, admin, { kind: 'system' })];
    for (const token of keys) {
      for (const [method, path] of [
        ['GET', '/auth/user'],
        ['POST', '/auth/logout'],
        ['POST', '/auth/change-password'],
      ] as const) {
        const body = { currentPassword: passwordOf('who'), newPassword: 'taken over' };
        expect((await api(hub, method, path, { token, body: method === 'GET' ? undefined : body })).status).toBe(403);
      }
    }
    expect((await enter(hub, 'who', passwordOf('who'))).status).toBe(200);
  });
});

describe('a logout', () => {
  test('ends this token and no other, also after a restart', async () => {
    const first = await testHub();
    const [gone, kept] = [await login(first), await login(first)];
    const answer = await api(first, 'POST', '/auth/logout', { token: gone });
    expect([answer.status, answer.body]).toEqual([200, { success: true, message: 'Logged out' }]);
    expect([await opens(first, gone), await opens(first, kept)]).toEqual([401, 200]);
    expect((await api(first, 'POST', '/auth/logout', { token: gone })).status).toBe(401);
    expect((await api(first, 'POST', '/auth/logout')).status).toBe(401);
    expect(statSync(join(first.folder, 'data', 'revocations.json')).mode & 0o077).toBe(0);
    const second = await restart(first);
    expect([await opens(second, gone), await opens(second, kept)]).toEqual([401, 200]);
  });

  test('does not keep the hub from starting when what was kept of it is damaged', async () => {
    // It is this file with every kind of database, and opening one takes longest.
    const env = { DB_URL: 'off' };
    const first = await testHub({ env });
    const token = await login(first);
    for (const damage of ['', 'garbage', 'null', '[]', '{"version":2}', '{"version":1,"revocations":[{"ids":7},3]}']) {
      writeFileSync(join(first.folder, 'data', 'revocations.json'), damage);
      const again = await restart(first, env);
      expect(await opens(again, token), damage).toBe(200);
      await again.close();
    }
  });
});

describe('a change of password', () => {
  const change = (hub: TestHub, token: string | undefined, currentPassword: unknown, newPassword: unknown) =>
    api(hub, 'POST', '/auth/change-password', { token, body: { currentPassword, newPassword } });

  test('ends every other token of the user and answers a new one, also after a restart', async () => {
    const first = await testHub();
    const admin = await login(first);
    const [one, two] = [await userToken(first, admin, 'ann'), await login(first, 'ann', passwordOf('ann'))];
    const { status, body } = await change(first, one, passwordOf('ann'), 'another one');
    expect([status, body]).toEqual([
      200,
      { success: true, message: 'Password updated successfully', token: expect.any(String) as string },
    ]);
    const token = body['token'] as string;
    const states = async (hub: TestHub) => [
      await opens(hub, one),
      await opens(hub, two),
      await opens(hub, token),
      await opens(hub, admin),
    ];
    expect(await states(first)).toEqual([401, 401, 200, 200]);
    expect((await enter(first, 'ann', passwordOf('ann'))).status).toBe(401);
    const second = await restart(first);
    expect(await states(second)).toEqual([401, 401, 200, 200]);
    expect((await enter(second, 'ann', 'another one')).status).toBe(200);
  });

  test('is refused without a credential, without the old password, and to a password too short', async () => {
    const hub = await testHub();
    const admin = await login(hub);
    const before = await storedSettings(hub);
    const wrong = await change(hub, admin, 'wrong', 'another one');
    expect([wrong.status, wrong.body.message]).toEqual([
      401,
      'Cannot change the password: the current password is wrong.',
    ]);
    expect((await change(hub, undefined, 'correct horse', 'another one')).status).toBe(401);
    for (const [current, next, path] of [
      ['correct horse', '12345', 'newPassword'],
      ['correct horse', 'x'.repeat(coreLimits.passwordChars + 1), 'newPassword'],
      ['correct horse', undefined, 'newPassword'],
      [undefined, 'another one', 'currentPassword'],
      [['correct horse'], 'another one', 'currentPassword'],
    ] as const) {
      const { status, body } = await change(hub, admin, current, next);
      expect([status, body.errors?.[0]?.path]).toEqual([400, path]);
    }
    expect(await storedSettings(hub)).toBe(before);
    expect(await opens(hub, admin)).toBe(200);
  });

  test('cannot be used to guess the password without limit', async () => {
    const hub = await testHub();
    const admin = await login(hub);
    const statuses = [];
    for (let i = 0; i <= authLimits.loginFailuresPerAddress; i++) {
      statuses.push((await change(hub, admin, `guess ${i}`, 'another one')).status);
    }
    expect(statuses).toEqual([...Array<number>(authLimits.loginFailuresPerAddress).fill(401), 429]);
  });

  test('at the same time as another lets one of them win and tells the other', async () => {
    const hub = await testHub();
    const admin = await login(hub);
    const next = ['the first one', 'the second one', 'the third one'];
    const answers = await Promise.all(next.map((password) => change(hub, admin, 'correct horse', password)));
    const won = answers.findIndex(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const [i, { status }] of answers.entries()) if (i !== won) expect([401, 409]).toContain(status);
    for (const [i, password] of next.entries()) {
      expect((await enter(hub, 'admin', password)).status).toBe(i === won ? 200 : 401);
    }
  });
});

test('a bcrypt hash of an imported file is upgraded at the first login, and no login at that moment suffers', async () => {
  const users = [{ username: 'old', password: await bcrypt('imported one', 10), isAdmin: true }];
  const hub = await testHub({ users, custom: 'kept' });
  const wrong = await enter(hub, 'old', 'imported two');
  expect([wrong.status, (await storedSettings(hub)).includes('argon2id')]).toEqual([401, false]);
  const answers = await Promise.all(Array.from({ length: 12 }, () => enter(hub, 'old', 'imported one')));
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(12).fill(200));
  await until('the hash is upgraded', async () => (await storedSettings(hub)).includes('$argon2id$'));
  expect(await storedSettings(hub)).not.toContain('$2b$');
  expect(JSON.parse(await storedSettings(hub))).toMatchObject({
    custom: 'kept',
    users: [{ username: 'old', isAdmin: true }],
  });
  for (const { body } of answers) expect(await opens(hub, body['token'] as string)).toBe(200);
  expect((await enter(hub, 'old', 'imported one')).status).toBe(200);
});

test('logins under way with the old password get no token that outlives it', async () => {
  const users = [
    { username: 'admin', password: await bcrypt('correct horse', 4), isAdmin: true },
    { username: 'old', password: await bcrypt('imported one', 4), isAdmin: false },
  ];
  const hub = await testHub({ users });
  const admin = await login(hub);
  const entering = Array.from({ length: 12 }, () => enter(hub, 'old', 'imported one'));
  const body = { password: 'another one' };
  expect((await api(hub, 'PUT', '/users/old', { token: admin, body })).status).toBe(200);
  for (const { status, body } of await Promise.all(entering)) {
    expect([200, 401]).toContain(status);
    if (status === 200) expect(await opens(hub, body['token'] as string)).toBe(401);
  }
  expect(await opens(hub, await login(hub, 'old', 'another one'))).toBe(200);
});

test('READONLY lets users in and out and changes neither passwords nor keys nor users', async () => {
  const first = await testHub();
  const key = await api(first, 'POST', '/auth/keys', { token: await login(first), body: { name: 'k' } });
  const { id } = key.body.data as { id: string };
  const hub = await restart(first, { READONLY: 'true' });
  const token = await login(hub);
  const before = await storedSettings(hub);
  for (const [method, path, body] of [
    ['POST', '/auth/change-password', { currentPassword: 'correct horse', newPassword: 'another one' }],
    ['POST', '/auth/keys', { name: 'x' }],
    ['PUT', `/auth/keys/${id}`, { enabled: false }],
    ['DELETE', `/auth/keys/${id}`],
    ['POST', '/users', { username: 'x', password: '123456' }],
    ['PUT', '/users/admin', { servers: ['x'] }],
    ['DELETE', '/users/admin'],
  ] as const) {
    const answer = await api(hub, method, path, { token, body });
    expect([method, path, answer.status]).toEqual([method, path, 403]);
    expect(answer.body.message).toContain('READONLY');
  }
  // Clients of MCP sign in as before, and what they register is kept nowhere.
  const body = { client_name: 'app', redirect_uris: ['http://127.0.0.1:1/cb'] };
  expect((await raw(`${hub.url}/oauth/register`, { method: 'POST', body })).status).toBe(201);
  expect(await storedSettings(hub)).toBe(before);
  for (const path of ['/auth/user', '/auth/keys', '/users', '/users-stats']) {
    expect((await api(hub, 'GET', path, { token })).status, path).toBe(200);
  }
  expect((await api(hub, 'POST', '/auth/logout', { token })).status).toBe(200);
  expect(await opens(hub, token)).toBe(401);
});

test.each(['/hub', '/api', '/api/tools', '/tools/x'])(
  'what is open and what is closed is the same below BASE_PATH=%s',
  async (base) => {
    const hub = await testHub({ env: { BASE_PATH: base } });
    const token = await login(hub);
    expect(await opens(hub, token)).toBe(200);
    const closed = [
      '/auth/user',
      '/users',
      '/users-stats',
      '/auth/keys',
      '/nowhere',
      '',
      '/auth/login',
      '//auth/login',
      '/api/auth/login',
      '/auth/%6cogin/',
      '/users/..%2f..%2fopenapi.json',
    ];
    for (const path of closed) expect((await api(hub, 'GET', path)).status, path).toBe(401);
    expect((await api(hub, 'POST', '/tools/call/x', { body: {} })).status).toBe(401);
    expect((await api(hub, 'GET', '/nowhere', { token })).status).toBe(404);
  },
);

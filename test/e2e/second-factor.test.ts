import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { authLimits } from '../../src/auth/limits.ts';
import { createPasswords } from '../../src/auth/passwords.ts';
import { httpLimits } from '../../src/http/limits.ts';
import { api, type ApiCall, cookieLogin, cookiesOf, keyToken, login, passwordOf, userToken } from '../kit/api.ts';
import { authorize, fieldsOf, handClient, submit } from '../kit/authorizing.ts';
import { sharedPostgres } from '../kit/databases.ts';
import { forgedToken } from '../kit/forged-token.ts';
import { setLimits } from '../kit/limits.ts';
import { raw } from '../kit/raw.ts';
import { authenticator, setUpTotp } from '../kit/second-factor.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// What users show at a login besides the password (CONTRACT §8), alone and as replicas.

const jwtSecret = 'the secret of these tests, long enough for HS256';
let database: string;
beforeAll(async () => {
  database = await (await sharedPostgres()).createDatabase();
});

const places: [where: string, env: () => Record<string, string>][] = [
  ['in a file', () => ({})],
  ['in PostgreSQL', () => ({ DB_URL: database })],
];

/** An account that old tokens can be of. */
async function oldAdmin() {
  const password = await createPasswords().hash('correct horse');
  return { username: 'admin', password, role: 'admin', createdAt: '2020-01-01T00:00:00Z' };
}

/** A hub with `ann`, who has set up an app. */
async function withAnn(at: TestHub, name = 'ann') {
  const admin = await login(at);
  const token = await userToken(at, admin, name);
  return { admin, name, before: token, ...(await setUpTotp(at, { token })) };
}

const tryLogin = (at: Pick<TestHub, 'url'>, body: object, more: ApiCall = {}) =>
  api(at, 'POST', '/auth/login', { ...more, body });

describe.each(places)('a second factor kept %s', (where, env) => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await testHub({
      users: [await oldAdmin()],
      env: { JWT_SECRET: jwtSecret, LOG_LEVEL: 'info', TRUST_PROXY: 'true', ...env() },
    });
  });
  const named = (name: string) => `${name}-${where.replaceAll(' ', '-')}`;

  test('is asked for after the password, and each of its codes opens once', async () => {
    const { name, app, recoveryCodes } = await withAnn(hub, named('ann'));
    const credentials = { username: name, password: passwordOf(name) };
    const asked = await tryLogin(hub, credentials);
    expect([asked.status, asked.body['error'], asked.body['methods'], asked.body['token']]).toEqual([
      401,
      'second_factor_required',
      ['totp', 'recovery'],
      undefined,
    ]);
    expect(asked.headers['set-cookie']).toBeUndefined();
    const code = app.code();
    const loggedIn = await tryLogin(hub, { ...credentials, code });
    expect([loggedIn.status, typeof loggedIn.body['token']], loggedIn.text).toEqual([200, 'string']);
    const again = await tryLogin(hub, { ...credentials, code });
    expect([again.status, again.body['error']]).toEqual([401, 'second_factor_required']);
    // By the challenge, without the password; as a session of a browser.
    const { challenge } = asked.body;
    const [recovery, other] = recoveryCodes;
    const session = await tryLogin(hub, { challenge, code: recovery, cookie: true });
    expect([session.status, session.body['recoveryCodesLeft']], session.text).toEqual([200, 9]);
    expect((await api(hub, 'GET', '/auth/user', { headers: cookiesOf(session).headers })).status).toBe(200);
    // Neither the code nor the challenge counts again.
    expect((await tryLogin(hub, { ...credentials, code: recovery })).status).toBe(401);
    expect((await tryLogin(hub, { challenge, code: other })).status).toBe(401);
    expect((await tryLogin(hub, { ...credentials, code: other })).status).toBe(200);
  });

  test('is not betrayed by a wrong password, whatever comes with it', async () => {
    const { name } = await withAnn(hub, named('bea'));
    const none = await tryLogin(hub, { username: 'no-such-user', password: 'wrong' });
    for (const more of [{}, { code: '000000' }]) {
      const wrong = await tryLogin(hub, { username: name, password: 'wrong', ...more });
      expect([wrong.status, wrong.text]).toEqual([401, none.text]);
    }
  });

  test('ends what was let in without it', async () => {
    const name = named('cleo');
    const admin = await login(hub);
    const token = await userToken(hub, admin, name);
    const [own, other] = [
      await cookieLogin(hub, name, passwordOf(name)),
      await cookieLogin(hub, name, passwordOf(name)),
    ];
    const { confirmed } = await setUpTotp(hub, { headers: own.headers });
    const whoIs = async (call: ApiCall) => (await api(hub, 'GET', '/auth/user', call)).status;
    expect(confirmed.body['token']).toBeUndefined();
    const { headers } = cookiesOf(confirmed);
    expect(await Promise.all([{ token }, own, other, { headers }].map(whoIs))).toEqual([401, 401, 401, 200]);
    const { data } = (await api(hub, 'GET', '/auth/second-factor', { headers })).body;
    expect(data).toEqual({ totp: { since: expect.any(String) }, passkeys: [], recoveryCodesLeft: 10, required: false });
  });

  test('is reset by an admin, who gave the password just now; then all logins of the user end', async () => {
    const { name, admin, token, app } = await withAnn(hub, named('dora'));
    const path = `/users/${name}/second-factor`;
    const old = forgedToken(jwtSecret, { ageMs: httpLimits.freshLoginMs });
    expect((await api(hub, 'DELETE', path, { token: old })).body['error']).toBe('reauthenticate');
    expect((await api(hub, 'DELETE', path, { token })).status).toBe(403);
    const list = async () => (await api(hub, 'GET', `/users/${name}`, { token: admin })).body.data;
    expect(await list()).toMatchObject({ secondFactor: true });
    expect((await api(hub, 'DELETE', path, { token: admin })).status).toBe(200);
    expect(await list()).not.toHaveProperty('secondFactor');
    expect((await api(hub, 'DELETE', path, { token: admin })).status).toBe(404);
    expect((await api(hub, 'DELETE', '/users/nobody/second-factor', { token: admin })).status).toBe(404);
    expect((await api(hub, 'GET', '/auth/user', { token })).status).toBe(401);
    await login(hub, name, passwordOf(name));
    const log = await api(hub, 'GET', '/logs?limit=1000', { token: admin });
    expect(log.text).toContain('second factor reset');
    expect(log.text).not.toContain(app.secret);
  });

  test('is of one account: another one of that name has none', async () => {
    const { name, admin } = await withAnn(hub, named('eva'));
    expect((await api(hub, 'DELETE', `/users/${name}`, { token: admin })).status).toBe(200);
    await userToken(hub, admin, name);
  });

  test('is asked for wherever a password is', async () => {
    const { name, token, recoveryCodes } = await withAnn(hub, named('fay'));
    const password = passwordOf(name);
    const asked = await api(hub, 'POST', '/auth/reauthenticate', { token, body: { password } });
    expect([asked.status, asked.body['error']]).toEqual([401, 'second_factor_required']);
    const body = { challenge: asked.body['challenge'], code: recoveryCodes.pop() };
    expect((await api(hub, 'POST', '/auth/reauthenticate', { token, body })).status).toBe(200);
    const change = { currentPassword: password, newPassword: 'another horse' };
    const refused = await api(hub, 'POST', '/auth/change-password', { token, body: change });
    expect([refused.status, refused.body['error']]).toEqual([401, 'second_factor_required']);
    const changed = await api(hub, 'POST', '/auth/change-password', {
      token,
      body: { ...change, code: recoveryCodes.pop() },
    });
    expect(changed.status, changed.text).toBe(200);
    // The challenge was for the password before.
    expect((await tryLogin(hub, { challenge: asked.body['challenge'], code: recoveryCodes.pop() })).status).toBe(401);
  });

  test('of another user is no use: neither the codes nor the challenge', async () => {
    const [ann, bob] = [await withAnn(hub, named('gina')), await withAnn(hub, named('hugo'))];
    const ofBob = await tryLogin(hub, { username: bob.name, password: passwordOf(bob.name) });
    const { challenge } = ofBob.body;
    const credentials = { username: ann.name, password: passwordOf(ann.name) };
    expect((await tryLogin(hub, { ...credentials, code: bob.recoveryCodes[0] })).status).toBe(401);
    expect((await tryLogin(hub, { challenge, code: ann.recoveryCodes[0] })).status).toBe(401);
    expect((await tryLogin(hub, { challenge, username: ann.name, code: ann.recoveryCodes[0] })).status).toBe(401);
    const body = { challenge, code: bob.recoveryCodes[0] };
    expect((await api(hub, 'POST', '/auth/reauthenticate', { token: ann.token, body })).status).toBe(401);
    for (const text of ['', 'x', ann.token, `${String(challenge)}x`, 'x'.repeat(5_000)])
      expect([400, 401]).toContain((await tryLogin(hub, { challenge: text, code: '000000' })).status);
  });

  test('cannot be guessed: wrong codes count as wrong passwords do', async () => {
    const { name } = await withAnn(hub, named('ina'));
    const credentials = { username: name, password: passwordOf(name) };
    const headers = { 'x-forwarded-for': `192.0.2.${places.findIndex(([one]) => one === where) + 1}` };
    const statuses: number[] = [];
    for (let i = 0; i < authLimits.factorWrongCodes + 1; i++)
      statuses.push((await tryLogin(hub, { ...credentials, code: '000000' }, { headers })).status);
    expect(statuses).toEqual([...Array<number>(authLimits.factorWrongCodes).fill(401), 429]);
    // From everywhere, for one who knows the password; and for others it is a wrong password as before.
    const elsewhere = { headers: { 'x-forwarded-for': '198.51.100.7' } };
    const other = await tryLogin(hub, { ...credentials, code: '111111' }, elsewhere);
    expect(other.status).toBe(429);
    expect(Number(other.headers['retry-after'])).toBeLessThanOrEqual(30);
    expect(Number(other.headers['retry-after'])).toBeGreaterThan(0);
    expect((await tryLogin(hub, { ...credentials, password: 'x', code: '111111' }, elsewhere)).status).toBe(401);
    // Logins that were only asked for the code do not count, wrong ones do.
    for (let i = 0; i < authLimits.loginFailuresPerAddress; i++)
      expect((await tryLogin(hub, credentials, elsewhere)).status).toBe(401);
    const more: number[] = [];
    for (let i = 0; i < authLimits.loginFailuresPerAddress; i++)
      more.push((await tryLogin(hub, { ...credentials, password: 'x' }, { headers })).status);
    const spent = statuses.length;
    expect(more).toEqual([...Array<number>(more.length - spent).fill(401), ...Array<number>(spent).fill(429)]);
  });

  test('is in no answer, export or log, and its codes are kept nowhere', async () => {
    const { admin, name, app, recoveryCodes } = await withAnn(hub, named('jo'));
    for (const path of [
      '/mcp-settings/export?secrets=include',
      '/users',
      `/users/${name}`,
      '/logs?limit=1000',
      '/settings',
    ]) {
      const { text } = await api(hub, 'GET', path, { token: admin });
      for (const secret of [app.secret, ...recoveryCodes]) expect(text, path).not.toContain(secret);
    }
    const data = join(hub.folder, 'data');
    for (const file of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
      if (!statSync(join(data, file)).isFile()) continue;
      const text = readFileSync(join(data, file), 'latin1');
      for (const secret of [app.secret, ...recoveryCodes]) expect(text, file).not.toContain(secret);
    }
  });
});

describe('setting it up', () => {
  let hub: TestHub;
  let admin: string;
  beforeAll(async () => {
    hub = await testHub({ users: [await oldAdmin()], env: { JWT_SECRET: jwtSecret } });
    admin = await login(hub);
  });
  const changes: [method: string, path: string, body?: object][] = [
    ['POST', '/auth/second-factor/totp'],
    ['POST', '/auth/second-factor/totp/confirm', { code: '000000' }],
    ['DELETE', '/auth/second-factor/totp'],
    ['POST', '/auth/second-factor/recovery-codes'],
  ];

  test('and every change of it takes a password of the last minutes: a stolen session is not enough', async () => {
    const old = forgedToken(jwtSecret, { ageMs: httpLimits.freshLoginMs });
    for (const [method, path, body] of changes) {
      const refused = await api(hub, method, path, { token: old, body });
      expect([refused.status, refused.body['error']], path).toEqual([403, 'reauthenticate']);
    }
  });

  test('is for users in person: no access key, and no caller without a login', async () => {
    const key = await keyToken(hub, admin, { kind: 'user' });
    for (const [method, path, body] of [...changes, ['GET', '/auth/second-factor'] as const]) {
      expect((await api(hub, method, path, { token: key, body })).status, path).toBe(403);
      expect((await api(hub, method, path, { body })).status, path).toBe(401);
    }
  });

  test('with a wrong code says so, and with none begun too; malformed ones are refused', async () => {
    const token = await userToken(hub, admin, 'ann');
    const confirm = (body: unknown) => api(hub, 'POST', '/auth/second-factor/totp/confirm', { token, body });
    expect((await confirm({ code: '000000' })).status).toBe(409);
    const begun = await api(hub, 'POST', '/auth/second-factor/totp', { token });
    expect(begun.body.data).toEqual({
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      uri: expect.stringMatching(/^otpauth:\/\/totp\/Tool%20Hub:ann%40127\.0\.0\.1/),
    });
    for (const body of [{}, { code: '' }, { code: 7 }, { code: 'x'.repeat(100) }, 'x', { code: '000000' }])
      expect((await confirm(body)).status, JSON.stringify(body)).toBe(400);
    await login(hub, 'ann', passwordOf('ann'));
  });

  test('a login from before, which showed none, cannot change it', async () => {
    const { name, token } = await withAnn(hub, 'bea');
    // As the one of now, but for what it says of the second factor.
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object;
    const alone = forgedToken(jwtSecret, { username: name, more: { ...claims, amr: undefined } });
    const refused = await api(hub, 'DELETE', '/auth/second-factor/totp', { token: alone });
    expect([refused.status, refused.body['error']], refused.text).toEqual([403, 'reauthenticate']);
    expect((await api(hub, 'DELETE', '/auth/second-factor/totp', { token })).status).toBe(200);
    await login(hub, name, passwordOf(name));
  });
});

describe('where the settings demand it', () => {
  let hub: TestHub;
  let admin: string;
  const demand = (requireSecondFactor: unknown) =>
    api(hub, 'PUT', '/system-config', { token: admin, body: { auth: { requireSecondFactor } } });
  beforeAll(async () => {
    hub = await testHub({
      mcpServers: { s: { url: 'https://s.example/mcp', enabled: false } },
      users: [await oldAdmin()],
      env: { JWT_SECRET: jwtSecret },
    });
    const set = await setUpTotp(hub, { token: await login(hub) });
    admin = set.token;
  });

  test('the setting says who, and nothing else is taken', async () => {
    for (const wrong of [true, 'all', '', 1, ['admins']]) {
      const refused = await demand(wrong);
      expect([refused.status, refused.text], String(wrong)).toEqual([
        400,
        expect.stringContaining('expected \\"no\\", \\"admins\\" or \\"everyone\\"'),
      ]);
    }
    expect((await demand('admins')).status).toBe(200);
  });

  test('a user without one can set it up, and nothing else', async () => {
    const before = await userToken(hub, admin, 'ann');
    expect((await api(hub, 'GET', '/servers', { token: before })).status).toBe(200);
    expect((await demand('everyone')).status).toBe(200);
    const cookie = await cookieLogin(hub, 'ann', passwordOf('ann'));
    for (const who of [{ token: before }, { token: await login(hub, 'ann', passwordOf('ann')) }, cookie]) {
      for (const [method, path] of [
        ['GET', '/servers'],
        ['GET', '/auth/keys'],
        ['GET', '/auth/sessions'],
        ['GET', '/nothing'],
        ['POST', '/auth/keys'],
        ['GET', '/events'],
      ] as const) {
        const refused = await api(hub, method, path, { ...who, ...(method === 'POST' && { body: {} }) });
        expect([refused.status, refused.body['error']], `${path} ${refused.text}`).toEqual([
          403,
          'second_factor_setup_required',
        ]);
      }
      const me = await api(hub, 'GET', '/auth/user', who);
      expect(me.body.data).toMatchObject({ username: 'ann', mustSetUpSecondFactor: true });
      expect((await api(hub, 'GET', '/auth/second-factor', who)).body.data).toMatchObject({ required: true });
    }
    const headers = { authorization: `Bearer ${before}`, accept: 'application/json, text/event-stream' };
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await raw(`${hub.url}/mcp`, { body: ping, headers })).status).toBe(401);
    expect((await raw(`${hub.url}/metrics`, { method: 'GET', headers })).status).toBe(401);
    for (const [method, path] of [
      ['GET', '/openapi.json'],
      ['GET', '/tools/s/t'],
      ['POST', '/tools/s/t'],
      ['POST', '/tools/call/s'],
    ] as const) {
      const body = method === 'POST' ? { body: {} } : {};
      const refused = await api(hub, method, path, { ...body, token: before });
      expect([refused.status, refused.body['error']], path).toEqual([403, 'second_factor_setup_required']);
      expect((await api(hub, method, path, { ...body, token: `${before}x` })).status, path).toBe(401);
    }
    const tool = { body: {}, headers: cookie.headers };
    expect((await api(hub, 'POST', '/tools/call/s', tool)).body['error']).toBe('second_factor_setup_required');
    const { token } = await setUpTotp(hub, { token: await login(hub, 'ann', passwordOf('ann')) });
    expect((await api(hub, 'GET', '/servers', { token })).status).toBe(200);
    expect(
      (await raw(`${hub.url}/mcp`, { body: ping, headers: { ...headers, authorization: `Bearer ${token}` } })).status,
    ).toBe(200);
    // It stays as long as it is demanded; another app can take its place.
    expect((await api(hub, 'DELETE', '/auth/second-factor/totp', { token })).status).toBe(409);
    await setUpTotp(hub, { token });
  });

  test('access keys, and clients that were let in, go on', async () => {
    await demand('no');
    const token = await userToken(hub, admin, 'bob');
    const key = await keyToken(hub, token, { kind: 'user' });
    const client = await handClient(hub.url);
    const back = await authorize(client.address({ resource: `${hub.url}/mcp` }), { username: 'bob' });
    const app = (await client.redeem(back)).body.access_token;
    await demand('everyone');
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    for (const [credential, status] of [
      [key, 200],
      [app, 200],
      [token, 401],
    ] as const) {
      const headers = { authorization: `Bearer ${credential}`, accept: 'application/json, text/event-stream' };
      expect((await raw(`${hub.url}/mcp`, { body: ping, headers })).status).toBe(status);
    }
  });

  test('the demand takes a fresh login to change, and ends at once', async () => {
    const { freshLoginMs } = httpLimits;
    // Tokens of after an end may be ahead of the clock.
    setLimits(httpLimits, { freshLoginMs: -2 * authLimits.clockToleranceMs });
    expect((await demand('no')).body['error']).toBe('reauthenticate');
    setLimits(httpLimits, { freshLoginMs });
    const token = await login(hub, 'bob', passwordOf('bob'));
    expect((await api(hub, 'GET', '/servers', { token })).status).toBe(403);
    await demand('no');
    expect((await api(hub, 'GET', '/servers', { token })).status).toBe(200);
  });
});

describe('the page of the authorization server', () => {
  test('asks for the code after the password, in a form without script', async () => {
    const hub = await testHub();
    const { recoveryCodes, app } = await withAnn(hub);
    const client = await handClient(hub.url);
    const url = client.address();
    const opened = await fetch(url);
    const credentials = { username: 'ann', password: passwordOf('ann') };
    const first = await submit(url, { ...fieldsOf(await opened.text()), ...credentials });
    const page = await first.text();
    expect(first.status).toBe(401);
    expect(page).toContain('autocomplete="one-time-code"');
    expect(page).not.toContain('name="password"');
    expect(page).not.toContain(passwordOf('ann'));
    const fields = fieldsOf(page);
    expect(Object.keys(fields).toSorted()).toEqual(['challenge', 'request']);
    const wrong = await submit(url, { ...fields, code: '000000' });
    const again = await wrong.text();
    expect([wrong.status, again]).toEqual([401, expect.stringContaining('The code is wrong')]);
    const consent = await submit(url, { ...fieldsOf(again), code: app.code() });
    const text = await consent.text();
    expect([consent.status, text]).toEqual([200, expect.stringContaining('What it may reach')]);
    const decided = await submit(url, { ...fieldsOf(text), decision: 'allow', reach: 'all' });
    const back = new URL(decided.headers.get('location') ?? '');
    expect((await client.redeem(back)).status).toBe(200);
    // The form that has been answered opens nothing more, and an unknown one never did.
    expect((await submit(url, { ...fieldsOf(again), code: recoveryCodes[0] ?? '' })).status).toBe(401);
    for (const challenge of ['', 'x', 'x'.repeat(9_000)])
      expect((await submit(url, { ...fields, challenge, code: recoveryCodes[1] ?? '' })).status).toBe(401);
  });

  test('lets in no user who has to set one up first', async () => {
    const hub = await testHub({ systemConfig: { auth: { requireSecondFactor: 'everyone' } } });
    const client = await handClient(hub.url);
    const url = client.address();
    const opened = await fetch(url);
    const answer = await submit(url, {
      ...fieldsOf(await opened.text()),
      username: 'admin',
      password: 'correct horse',
    });
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('demands a second factor')]);
  });
});

describe('two hubs of one database', () => {
  test('take a code once, and go on with a login that the other one began', async () => {
    const own = await (await sharedPostgres()).createDatabase();
    const env = { DB_URL: own, JWT_SECRET: jwtSecret };
    const [one, two] = [await testHub({ env }), await testHub({ env })];
    const { recoveryCodes, app } = await withAnn(one);
    const credentials = { username: 'ann', password: passwordOf('ann') };
    const code = app.code();
    const both = await Promise.all([one, two, one, two].map((at) => tryLogin(at, { ...credentials, code })));
    expect(both.map(({ status }) => `${status}`).toSorted()).toEqual(['200', '401', '401', '401']);
    const { challenge } = (await tryLogin(one, credentials)).body;
    const answers = await Promise.all([two, one].map((at, i) => tryLogin(at, { challenge, code: recoveryCodes[i] })));
    expect(answers.map(({ status }) => `${status}`).toSorted()).toEqual(['200', '401']);
    // The hub that did not see the app set up knows of it, and takes wrong codes into the same account.
    const wrong: number[] = [];
    for (let i = 0; i < authLimits.factorWrongCodes; i++)
      wrong.push((await tryLogin(i % 2 === 0 ? one : two, { ...credentials, code: '000000' })).status);
    wrong.push((await tryLogin(two, { ...credentials, code: authenticator(app.secret).code() })).status);
    expect(wrong.at(-1)).toBe(429);
  });
});

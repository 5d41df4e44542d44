import { beforeAll, describe, expect, test } from 'vitest';
import { authLimits } from '../../src/auth/limits.ts';
import { httpLimits } from '../../src/http/limits.ts';
import { api, cookieLogin, cookiesOf, keyToken, login, passwordOf, userToken } from '../kit/api.ts';
import { setLimits } from '../kit/limits.ts';
import { raw, stream } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Logins in browsers: the cookies of the dashboard (CONTRACT §8).

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  hub = await testHub({ env: { TRUST_PROXY: 'true', ALLOWED_ORIGINS: 'https://friend.example' } });
  admin = await login(hub);
});

const whoIs = async (headers: Record<string, string>, at: Pick<TestHub, 'url'> = hub) =>
  (await api(at, 'GET', '/auth/user', { headers })).status;
const change = (headers: Record<string, string | undefined>, at: Pick<TestHub, 'url'> = hub) =>
  api(at, 'POST', '/auth/password-check', { headers, body: { password: 'x' } });

describe('a login with a cookie', () => {
  test('answers no token; the session is for the hub alone, and pages can read what changes need', async () => {
    const body = { username: 'admin', password: 'correct horse', cookie: true };
    const answer = await api(hub, 'POST', '/auth/login', { body });
    expect(answer.body).toEqual({
      success: true,
      message: 'Login successful',
      user: { username: 'admin', role: 'admin', isAdmin: true },
    });
    const { set, session, csrf, headers } = cookiesOf(answer);
    expect(set).toEqual([
      `toolhub_session=${session}; Max-Age=86400; Path=/; HttpOnly; SameSite=Lax`,
      `toolhub_csrf=${csrf}; Max-Age=86400; Path=/; SameSite=Lax`,
    ]);
    expect(await whoIs(headers)).toBe(200);
  });

  test('is Secure over https, and below BASE_PATH where the hub is', async () => {
    const https = await cookieLogin(hub, 'admin', 'correct horse', { 'x-forwarded-proto': 'https' });
    expect(https.set.map((cookie) => cookie.includes('; Secure'))).toEqual([true, true]);
    const below = await testHub({ env: { BASE_PATH: '/hub' } });
    const { set } = await cookieLogin(below);
    expect(set.map((cookie) => /; Path=([^;]*)/.exec(cookie)?.[1])).toEqual(['/hub', '/hub']);
  });

  test('that fails sets no cookie', async () => {
    for (const body of [
      { username: 'admin', password: 'wrong', cookie: true },
      { username: 'admin', password: 'correct horse', cookie: 'yes' },
    ])
      expect((await api(hub, 'POST', '/auth/login', { body })).headers['set-cookie']).toBeUndefined();
  });
});

describe('a change with the cookie', () => {
  test('needs the CSRF token of its own session', async () => {
    const { session, csrf } = await cookieLogin(hub);
    const other = await cookieLogin(hub);
    const cookie = `toolhub_session=${session}`;
    expect((await change({ cookie, 'x-csrf-token': csrf })).status).toBe(200);
    for (const sent of [undefined, '', 'x', other.csrf, session, csrf.slice(1), `${csrf}x`, csrf.toUpperCase()]) {
      const refused = await change({ cookie: `${cookie}; toolhub_csrf=${sent}`, 'x-csrf-token': sent });
      expect([refused.status, refused.body.message], sent).toEqual([403, expect.stringContaining('x-csrf-token')]);
    }
  });

  test('needs none to log in: the session before is replaced', async () => {
    const { session } = await cookieLogin(hub);
    const again = await cookieLogin(hub, 'admin', 'correct horse', { cookie: `toolhub_session=${session}` });
    expect(await whoIs(again.headers)).toBe(200);
  });

  test('needs none where a token was sent, which counts alone', async () => {
    const { headers } = await cookieLogin(hub);
    expect((await change({ cookie: headers.cookie, authorization: `Bearer ${admin}` })).status).toBe(200);
    expect(await whoIs({ ...headers, authorization: 'Bearer eyJ.a.b' })).toBe(401);
  });
});

describe('the cookie counts', () => {
  test('for no page of another origin, also one that the operator allows', async () => {
    const { headers } = await cookieLogin(hub);
    const own = new URL(hub.url).origin;
    expect(await whoIs({ ...headers, 'sec-fetch-site': 'same-origin', origin: own })).toBe(200);
    expect(await whoIs({ ...headers, 'sec-fetch-site': 'none' })).toBe(200);
    for (const foreign of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://friend.example' },
    ])
      expect(await whoIs({ ...headers, ...foreign }), JSON.stringify(foreign)).toBe(401);
    for (const foreign of [{ origin: 'https://evil.example' }, { host: 'evil.example' }])
      expect(await whoIs({ ...headers, ...foreign }), JSON.stringify(foreign)).toBe(403);
  });

  test('at no MCP endpoint, for no tool by its address, and not for metrics', async () => {
    const guarded = await testHub({ systemConfig: { routing: { enableBearerAuth: true } } });
    const { headers } = await cookieLogin(guarded);
    const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const asked = { ...headers, accept: 'application/json, text/event-stream' };
    for (const path of ['/mcp', '/mcp/$smart', '/sse'])
      expect((await raw(`${guarded.url}${path}`, { body, headers: asked })).status, path).toBe(401);
    expect((await raw(`${guarded.url}/metrics`, { method: 'GET', headers })).status).toBe(401);
    const settings = { routing: { openApiAccess: 'authenticated' } };
    expect((await api(guarded, 'PUT', '/system-config', { headers, body: settings })).status).toBe(200);
    for (const path of ['/tools/x/y', '/group/tools/x/y', '/openapi.json'])
      expect((await api(guarded, 'GET', path, { headers })).status, path).toBe(401);
  });

  test('as nothing when it is not one of ours', async () => {
    const { session } = await cookieLogin(hub);
    for (const value of ['', 'x', admin, `${session}x`, session.slice(1), 'A'.repeat(43), 'x'.repeat(8_000)])
      expect(await whoIs({ cookie: `toolhub_session=${value}` }), value).toBe(401);
    // The routes that need no credential answer as they do without one.
    expect((await api(hub, 'GET', '/docs/openapi.json', { headers: { cookie: 'toolhub_session=x' } })).status).toBe(
      200,
    );
    expect((await api(hub, 'GET', '/auth/user', { token: session })).status).toBe(401);
  });
});

describe('a session ends', () => {
  test('by logout, which takes the cookies back and leaves other sessions alone', async () => {
    const [own, other] = [await cookieLogin(hub), await cookieLogin(hub)];
    const out = await api(hub, 'POST', '/auth/logout', { headers: own.headers });
    expect(out.status).toBe(200);
    expect(cookiesOf(out).set).toEqual([
      expect.stringMatching(/^toolhub_session=; Max-Age=0; Path=\//),
      expect.stringMatching(/^toolhub_csrf=; Max-Age=0; Path=\//),
    ]);
    expect(await whoIs(own.headers)).toBe(401);
    expect(await whoIs(other.headers)).toBe(200);
  });

  test('with a new password; the one that changed it goes on with new cookies', async () => {
    await userToken(hub, admin, 'ann');
    const [own, other] = [
      await cookieLogin(hub, 'ann', passwordOf('ann')),
      await cookieLogin(hub, 'ann', passwordOf('ann')),
    ];
    const body = { currentPassword: passwordOf('ann'), newPassword: 'words of her own' };
    const changed = await api(hub, 'POST', '/auth/change-password', { headers: own.headers, body });
    expect(changed.body).toEqual({ success: true, message: 'Password updated successfully' });
    expect([await whoIs(own.headers), await whoIs(other.headers)]).toEqual([401, 401]);
    const { headers } = cookiesOf(changed);
    expect(await whoIs(headers)).toBe(200);
    await api(hub, 'PUT', '/users/ann', { token: admin, body: { password: 'words of an admin' } });
    expect(await whoIs(headers)).toBe(401);
  });

  test('with its user, also when there is another one of that name', async () => {
    await userToken(hub, admin, 'bob');
    const { headers } = await cookieLogin(hub, 'bob', passwordOf('bob'));
    await api(hub, 'DELETE', '/users/bob', { token: admin });
    expect(await whoIs(headers)).toBe(401);
    await userToken(hub, admin, 'bob');
    expect(await whoIs(headers)).toBe(401);
  });

  test('when it is not used, and its streams are no use of it', async () => {
    const { headers } = await cookieLogin(hub);
    const events = await stream(`${hub.url}/api/events`, { headers });
    expect(events.status).toBe(200);
    setLimits(authLimits, { sessionIdleMs: -1 });
    await until('the stream has ended', () => events.ended());
    expect(await whoIs(headers)).toBe(401);
  });

  test('by its age, however much it is used', async () => {
    const { headers } = await cookieLogin(hub);
    expect(await whoIs(headers)).toBe(200);
    setLimits(authLimits, { clockToleranceMs: -authLimits.accessTokenMs });
    expect(await whoIs(headers)).toBe(401);
  });

  test('not with the hub, and at most so many are kept of a user', async () => {
    const first = await testHub();
    const { headers } = await cookieLogin(first);
    await first.close();
    const again = await testHub({ folder: first.folder });
    expect(await whoIs(headers, again)).toBe(200);
    setLimits(authLimits, { sessionsPerUser: 2 });
    for (let more = 0; more < 2; more++) await cookieLogin(again);
    expect(await whoIs(headers, again)).toBe(401);
  });
});

describe('the list of own sessions', () => {
  const list = async (headers: Record<string, string>) => {
    const { status, body } = await api(hub, 'GET', '/auth/sessions', { headers });
    expect(status).toBe(200);
    return body.data as { id: string; current: boolean }[];
  };

  test('says how, since when and from where, and nothing that opens one', async () => {
    await userToken(hub, admin, 'cleo');
    const from = { 'user-agent': 'Browser/1', 'x-forwarded-for': '203.0.113.7' };
    const { headers, session, csrf } = await cookieLogin(hub, 'cleo', passwordOf('cleo'), from);
    await cookieLogin(hub, 'cleo', passwordOf('cleo'), { 'user-agent': 'x'.repeat(5_000) });
    const listed = await api(hub, 'GET', '/auth/sessions', { headers });
    expect(listed.body.data).toEqual([
      {
        id: expect.any(String) as string,
        via: 'password',
        createdAt: expect.stringMatching(/^20/) as string,
        lastSeenAt: expect.stringMatching(/^20/) as string,
        address: '203.0.113.7',
        userAgent: 'Browser/1',
        current: true,
      },
      expect.objectContaining({ current: false, userAgent: 'x'.repeat(authLimits.userAgentChars) }),
    ]);
    for (const secret of [session, csrf]) expect(listed.text).not.toContain(secret);
  });

  test('ends one, or all others; never one of another user', async () => {
    await userToken(hub, admin, 'dan');
    const enter = () => cookieLogin(hub, 'dan', passwordOf('dan'));
    const [own, second, third] = [await enter(), await enter(), await enter()];
    const idOf = async (headers: Record<string, string>) => (await list(headers)).find(({ current }) => current)?.id;
    const end = (path: string, by: object) => api(hub, 'DELETE', `/auth/sessions${path}`, by);
    const id = await idOf(second.headers);
    expect((await end(`/${id}`, { token: admin })).status).toBe(404);
    expect((await end(`/${id}`, { headers: { cookie: own.headers.cookie } })).status).toBe(403);
    expect(await whoIs(second.headers)).toBe(200);
    expect((await end(`/${id}`, { headers: own.headers })).status).toBe(200);
    expect((await end(`/${id}`, { headers: own.headers })).status).toBe(404);
    expect([await whoIs(second.headers), await whoIs(third.headers)]).toEqual([401, 200]);
    expect((await end('', { headers: own.headers })).body.data).toEqual({ ended: 1 });
    expect([await whoIs(own.headers), await whoIs(third.headers)]).toEqual([200, 401]);
    expect(await list(own.headers)).toHaveLength(1);
  });

  test('is for no access key, and for no caller without a login', async () => {
    const token = await keyToken(hub, admin, { accessType: 'all' });
    for (const method of ['GET', 'DELETE']) {
      expect((await api(hub, method, '/auth/sessions', { token })).status).toBe(403);
      expect((await api(hub, method, '/auth/sessions')).status).toBe(401);
    }
  });
});

test('an admin ends all sessions of a user, whose tokens and keys go on; no user does it to another', async () => {
  const token = await userToken(hub, admin, 'fay');
  await userToken(hub, admin, 'gus');
  const enter = (name: string) => cookieLogin(hub, name, passwordOf(name));
  const [first, second, other] = [await enter('fay'), await enter('fay'), await enter('gus')];
  const events = await stream(`${hub.url}/api/events`, { headers: first.headers });
  const end = (by: object, name = 'fay') => api(hub, 'DELETE', `/users/${name}/sessions`, by);
  expect((await end({ headers: other.headers })).status).toBe(403);
  expect((await end({ headers: first.headers })).status).toBe(403);
  expect((await end({ token: await keyToken(hub, admin, { accessType: 'all' }) })).status).toBe(403);
  expect((await end({})).status).toBe(401);
  expect((await end({ token: admin }, 'no-such-user')).status).toBe(404);
  expect(await whoIs(first.headers)).toBe(200);
  expect((await end({ token: admin })).body.data).toEqual({ ended: 2 });
  await until('the stream has ended', () => events.ended());
  expect([await whoIs(first.headers), await whoIs(second.headers)]).toEqual([401, 401]);
  expect(await whoIs(other.headers)).toBe(200);
  expect((await api(hub, 'GET', '/auth/user', { token })).status).toBe(200);
});

test('a password given again makes the login fresh, under new cookies', async () => {
  setLimits(httpLimits, { freshLoginMs: 0 });
  const { headers, session } = await cookieLogin(hub);
  const exported = (by: Record<string, string>) =>
    api(hub, 'GET', '/mcp-settings/export?secrets=include', { headers: by });
  expect((await exported(headers)).body['error']).toBe('reauthenticate');
  for (const body of [{ routing: { bearerAuthKey: 'a key that lasts' } }, { auth: { breakGlass: 'admin' } }])
    expect((await api(hub, 'PUT', '/system-config', { headers, body })).body['error']).toBe('reauthenticate');
  const body = { password: 'correct horse' };
  const given = await api(hub, 'POST', '/auth/reauthenticate', { headers, body });
  expect(given.body).toEqual({ success: true, message: 'Welcome back' });
  const renewed = cookiesOf(given);
  expect(renewed.session).not.toBe(session);
  setLimits(httpLimits, { freshLoginMs: 60_000 });
  expect((await exported(renewed.headers)).status).toBe(200);
  expect(await whoIs(headers)).toBe(401);
});

import { readFileSync } from 'node:fs';
import { SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, type ApiAnswer, cookieLogin, keyToken, login, userToken } from '../kit/api.ts';
import { fieldsOf, handClient, submit } from '../kit/authorizing.ts';
import { type TestIssuer, testIssuer } from '../kit/issuer.ts';
import { documentOf, type RestApi, restApi } from '../kit/openapi.ts';
import { raw, rpc, stream } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// A proxy says who sends a request, with a token that its issuer has signed (CONTRACT §8, `auth.forwardAuth`). `hub`
// has a header for it, `plain` has it in `Authorization` as MCPHub does; `far` trusts no proxy.

let gate: TestIssuer;
let other: TestIssuer;
let hub: TestHub;
let plain: TestHub;
let far: TestHub;
/** Asks for no credential at MCP endpoints. */
let open: TestHub;
let rest: RestApi;
let admin: string;

const header = 'cf-access-jwt-assertion';
const passthroughHeaders = ['Cf-Access-Jwt-Assertion', 'X-Tenant', 'Authorization'];

function settingsOf(more: Record<string, unknown> = {}) {
  const jwks = { uri: `${gate.url}/keys`, issuer: gate.url, audience: ['hub', 'hub-2'], algorithms: ['RS256'] };
  return { auth: { forwardAuth: { enabled: true, mode: 'jwks', jwks, ...more } } };
}

beforeAll(async () => {
  [gate, other] = await Promise.all([testIssuer('RS256'), testIssuer('RS256')]);
  rest = await restApi();
  const orders = {
    openapi: { schema: documentOf(rest.origin, { '/get': { get: { operationId: 'get' } } }), passthroughHeaders },
    visibility: 'public',
  };
  const started = (env: Record<string, string>, more: Record<string, unknown>) =>
    testHub({
      env: { LOG_LEVEL: 'debug', ...env },
      mcpServers: { orders },
      systemConfig: { ...settingsOf(more), routing: { enableBearerAuth: true } },
    });
  hub = await started({ TRUST_PROXY: 'loopback' }, { header: 'Cf-Access-Jwt-Assertion' });
  plain = await started({}, {});
  far = await started({ TRUST_PROXY: '10.0.0.0/8' }, { header });
  open = await testHub({
    env: { TRUST_PROXY: 'loopback' },
    mcpServers: {},
    systemConfig: { ...settingsOf({ header }), routing: { enableBearerAuth: false } },
  });
  admin = await login(hub);
  await Promise.all([hub.connected(1), far.connected(1)]);
});

const signed = (claims: Record<string, unknown> = {}) => gate.sign({ aud: 'hub', ...claims });
const by = (token: string, more: Record<string, string> = {}) => ({ [header]: token, ...more });
const whoIs = (headers: Record<string, string>, at = hub) => api(at, 'GET', '/auth/user', { headers });
const nameIn = ({ status, body }: ApiAnswer) =>
  status === 200 ? (body['user'] as { username: string }).username : status;
const tools = async (headers: Record<string, string>, at = hub) =>
  (await rpc(at.mcp(), 'tools/list', {}, { headers })).status;

describe('a person whom the proxy names', () => {
  test('has an account with no rights from the first request on, the same each time, at the API and at MCP endpoints', async () => {
    const token = await signed({ sub: 'p1', preferred_username: 'pia' });
    expect((await whoIs(by(token))).body['user']).toMatchObject({ username: 'pia', role: 'user', groups: [] });
    const again = await signed({ sub: 'p1', preferred_username: 'renamed', roles: ['admin'] });
    expect(nameIn(await whoIs(by(again)))).toBe('pia');
    expect((await api(hub, 'GET', '/users', { headers: by(again) })).status).toBe(403);
    expect(await tools(by(again))).toBe(200);
    const many = await signed({ sub: 'p2', preferred_username: 'many' });
    const names = await Promise.all(Array.from({ length: 8 }, async () => nameIn(await whoIs(by(many)))));
    expect(new Set(names)).toEqual(new Set(['many']));
  });

  test('is as in MCPHub where the token comes in `Authorization`, beside tokens of the hub', async () => {
    const token = await signed({ sub: 'p1', email: 'pia@corp.example' });
    expect(nameIn(await whoIs({ authorization: `Bearer ${token}` }, plain))).toBe('pia@corp.example');
    expect(await tools({ authorization: `Bearer ${token}` }, plain)).toBe(200);
    expect(nameIn(await whoIs({ authorization: `Bearer ${await login(plain)}` }, plain))).toBe('admin');
  });

  test('takes over no account: not by a name with rights, nor by an address of an account with a password', async () => {
    await api(hub, 'POST', '/users', {
      token: admin,
      body: { username: 'boss', password: 'words of a boss', email: 'boss@corp.example', role: 'admin' },
    });
    for (const [sub, name] of [
      ['t1', 'admin'],
      ['t2', 'boss'],
      ['t3', 'Admin'],
    ] as const) {
      const claims = { sub, preferred_username: name, email: 'boss@corp.example', email_verified: true };
      const { body } = await whoIs(by(await signed(claims)));
      expect(body['user'], name).toMatchObject({ username: expect.stringMatching(/-\d$/) as string, role: 'user' });
    }
  });

  test('has the account that waits for the verified address, and its rights', async () => {
    const body = { username: 'ina', email: 'ina@corp.example', role: 'admin' };
    expect((await api(hub, 'POST', '/auth/login', { body: { username: 'ina', password: '' } })).status).toBe(401);
    const made = await testHub({
      env: { TRUST_PROXY: 'loopback' },
      users: [{ ...body }, { username: 'root', password: '', isAdmin: true, email: 'x@y.z' }],
      systemConfig: settingsOf({ header, autoCreate: false }),
    });
    const say = async (claims: Record<string, unknown>) => nameIn(await whoIs(by(await signed(claims)), made));
    expect(await say({ sub: 'i1', email: 'ina@corp.example' })).toBe(401);
    expect(await say({ sub: 'i1', email: 'ina@corp.example', email_verified: 'true' })).toBe(401);
    expect(await say({ sub: 'i1', preferred_username: 'ina' })).toBe(401);
    expect(await say({ sub: 'i1', email: 'ina@corp.example', email_verified: true })).toBe('ina');
    expect(await say({ sub: 'i2', email: 'ina@corp.example', email_verified: true })).toBe(401);
    expect(await say({ sub: 'i1' })).toBe('ina');
  });

  test('is invited by the API, also where no provider is', async () => {
    const invitation = { username: 'jon', email: 'jon@corp.example' };
    expect((await api(hub, 'POST', '/users', { token: admin, body: invitation })).status).toBe(201);
    const claims = { sub: 'j1', email: 'jon@corp.example', email_verified: true };
    expect(nameIn(await whoIs(by(await signed(claims))))).toBe('jon');
  });
});

describe('a token', () => {
  test.each<[string, () => Promise<string>]>([
    ['that is over', () => signed({ exp: Math.floor(Date.now() / 1000) - 120 })],
    ['without an end', () => signed({ exp: undefined })],
    ['that is not good yet', () => signed({ nbf: Math.floor(Date.now() / 1000) + 600 })],
    ['that was issued tomorrow', () => signed({ iat: Math.floor(Date.now() / 1000) + 86_400 })],
    ['for another service', () => signed({ aud: 'toolhub' })],
    ['for no service', () => signed({ aud: undefined })],
    ['of another issuer', () => other.sign({ aud: 'hub' })],
    ['that another issuer has signed', () => other.sign({ aud: 'hub', iss: gate.url })],
    ['without a person', () => signed({ sub: '' })],
    ['that is bound to a key', () => signed({ cnf: { jkt: 'x' } })],
    ['that is of another kind', () => gate.sign({ aud: 'hub' }, { typ: 'logout+jwt' })],
    ['with a key that no one has', () => gate.sign({ aud: 'hub' }, { kid: 'invented' })],
    ['that is not signed', async () => `${btoa('{"alg":"none"}')}.${(await signed()).split('.')[1]}.`],
    [
      'that is signed with a shared secret',
      () =>
        new SignJWT({ iss: gate.url, sub: 'x', aud: 'hub' })
          .setProtectedHeader({ alg: 'HS256' })
          .setExpirationTime('1h')
          .sign(new TextEncoder().encode(JSON.stringify(gate.shown[0]))),
    ],
    ['that was changed', async () => (await signed()).replace(/\.(.)/, (_, first) => `.${first === 'e' ? 'f' : 'e'}`)],
    ['that is two', async () => `${await signed()}, ${await signed()}`],
    ['that is none', async () => 'pia'],
    ['that is too long', () => signed({ pad: 'x'.repeat(9_000) })],
  ])('%s is refused, whatever else the request would be allowed', async (_, make) => {
    const token = await make();
    const answer = await whoIs(by(token));
    expect([answer.status, answer.body.message]).toEqual([401, expect.stringContaining('proxy')]);
    expect(await tools(by(token))).toBe(401);
    // What is open without a credential, and what a cookie would open.
    expect(await tools(by(token), open)).toBe(401);
    const { headers } = await cookieLogin(hub);
    expect((await whoIs({ ...headers, ...by(token) })).status).toBe(401);
  });

  test('counts from a trusted proxy alone; from elsewhere it is as if it were not there', async () => {
    const token = await signed({ sub: 'far' });
    const answer = await whoIs(by(token), far);
    expect([answer.status, answer.body.message]).toEqual([401, expect.stringContaining('Log in first')]);
    expect(await tools(by(token), far)).toBe(401);
    expect((await whoIs({ authorization: `Bearer ${token}` }, far)).status).toBe(401);
    // Who says so does not come from the client.
    expect((await whoIs(by(token, { 'x-forwarded-for': '10.0.0.1' }), far)).status).toBe(401);
    const { headers } = await cookieLogin(far);
    expect(nameIn(await whoIs({ ...headers, ...by(token) }, far))).toBe('admin');
    expect((await api(far, 'GET', '/users', { token: await login(far) })).text).not.toContain('far');
  });

  test('is less than a credential that the client sent itself, which counts alone', async () => {
    const token = await signed({ sub: 'p1' });
    const key = await keyToken(hub, admin, { accessType: 'all' });
    expect(await tools(by('no token', { authorization: `Bearer ${key}` }))).toBe(200);
    expect(nameIn(await whoIs(by(token, { authorization: `Bearer ${admin}` })))).toBe('admin');
    expect((await whoIs(by(token, { authorization: 'Bearer eyJ.a.b' }))).status).toBe(401);
    expect(await tools(by(token, { authorization: 'Bearer mcphub_no' }))).toBe(401);
  });

  test('is more than the cookie of another user, and of its own user the session counts', async () => {
    const { headers } = await cookieLogin(hub);
    const token = await signed({ sub: 'p1' });
    expect(nameIn(await whoIs({ ...headers, ...by(token) }))).toBe('pia');
    expect((await api(hub, 'GET', '/users', { headers: { ...headers, ...by(token) } })).status).toBe(403);
  });

  test('is verified with no request to the issuer once its keys are known', async () => {
    const token = await signed({ sub: 'warm' });
    await whoIs(by(token));
    const asked = gate.asked.length;
    gate.isDown = true;
    for (let i = 0; i < 5; i++) expect(await tools(by(await signed({ sub: 'warm', i })))).toBe(200);
    gate.isDown = false;
    expect(gate.asked.length).toBe(asked);
  });
});

describe('a browser sends the token with every request, as it does a cookie', () => {
  const change = (headers: Record<string, string>, at = hub) =>
    api(at, 'POST', '/auth/password-check', { headers, body: { password: 'x' } });

  test('so a change needs a header that no form and no link can send', async () => {
    const token = await signed({ sub: 'p1' });
    const refused = await change(by(token));
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('x-csrf-token')]);
    expect((await change(by(token, { 'x-csrf-token': '' }))).status).toBe(403);
    expect((await change(by(token, { 'x-csrf-token': '1' }))).status).toBe(200);
    expect((await change({ authorization: `Bearer ${token}` }, plain)).status).toBe(403);
    expect((await change({ authorization: `Bearer ${token}`, 'x-csrf-token': '1' }, plain)).status).toBe(200);
    // A GET runs a tool there.
    expect((await api(hub, 'GET', '/tools/orders/get', { headers: by(token) })).status).toBe(403);
    expect((await api(hub, 'GET', '/tools/orders/get', { headers: by(token, { 'x-csrf-token': '1' }) })).status).toBe(
      200,
    );
  });

  test('and what a page of another site caused is nothing', async () => {
    const token = await signed({ sub: 'p1' });
    const proof = { 'x-csrf-token': '1' };
    for (const foreign of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
      expect((await change(by(token, { ...proof, ...foreign }))).status).toBe(401);
      expect((await whoIs(by(token, foreign))).status).toBe(401);
      expect((await whoIs({ authorization: `Bearer ${token}`, ...foreign }, plain)).status).toBe(401);
    }
    expect((await change(by(token, { ...proof, origin: 'https://evil.example' }))).status).toBe(403);
    expect((await change(by(token, { ...proof, origin: hub.url, 'sec-fetch-site': 'same-origin' }))).status).toBe(200);
    for (const page of [{ 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'cross-site' }, { origin: hub.url }])
      expect(await tools(by(token, page)), JSON.stringify(page)).toBe(401);
  });
});

test('a client that asks to be let in is answered with the consent of that person, by a visit alone', async () => {
  const token = await signed({ sub: 'p1' });
  const client = await handClient(hub.url);
  const pageFor = async (headers: Record<string, string>, at = client) =>
    (await fetch(at.address(), { headers })).text();
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' };
  const consent = await pageFor(by(token, link));
  expect(consent).toContain('<strong>pia</strong>');
  const pages = [
    await pageFor({}),
    await pageFor(by(token, { ...link, 'sec-fetch-dest': 'iframe' })),
    await pageFor(by(await signed({ sub: 'p1', exp: 1 }))),
    await pageFor({ authorization: `Bearer ${admin}` }),
    await pageFor(by(token), await handClient(far.url)),
  ];
  for (const page of pages) expect([page.includes('name="password"'), page.includes('pia')]).toEqual([true, false]);
  const fields = new URLSearchParams({ ...fieldsOf(consent), decision: 'allow', reach: 'all' });
  const back = new URL((await submit(client.address(), fields)).headers.get('location') ?? '');
  const { body } = await client.redeem(back);
  expect(await tools({ authorization: `Bearer ${body.access_token}` })).toBe(200);
});

test('a login is fresh only where the token says when it was, and not in the future', async () => {
  const made = await testHub({
    env: { TRUST_PROXY: 'loopback' },
    users: [{ username: 'root', isAdmin: true, email: 'x@y.z', identities: [{ issuer: gate.url, subject: 'root' }] }],
    systemConfig: settingsOf({ header }),
  });
  const seconds = Math.floor(Date.now() / 1000);
  const exported = async (claims: Record<string, unknown>) =>
    (
      await api(made, 'GET', '/mcp-settings/export?secrets=include', {
        headers: by(await signed({ sub: 'root', ...claims })),
      })
    ).status;
  expect(await exported({ jti: '1' })).toBe(403);
  expect(await exported({ auth_time: seconds - 3_600 })).toBe(403);
  expect(await exported({ auth_time: 'now' })).toBe(403);
  expect(await exported({ auth_time: seconds - 1 })).toBe(200);
});

test('a token of the proxy reaches no server, and no log', async () => {
  const token = await signed({ sub: 'p1' });
  const bad = await signed({ sub: 'p1', aud: 'another', secret: 'x' });
  const before = rest.received.length;
  const call = { name: 'orders-get', arguments: {} };
  const key = await keyToken(hub, admin, { accessType: 'all' });
  for (const headers of [
    by(token, { 'x-tenant': 'a' }),
    by(bad, { authorization: `Bearer ${key}`, 'x-tenant': token }),
    by(`${token}, ${bad}`, { authorization: `Bearer ${key}`, 'x-tenant': bad }),
  ])
    await rpc(hub.mcp(), 'tools/call', call, { headers });
  await rpc(far.mcp(), 'tools/call', call, {
    headers: by(token, {
      'x-tenant': token,
      authorization: `Bearer ${await keyToken(far, await login(far), { accessType: 'all' })}`,
    }),
  });
  expect(rest.received.length).toBe(before + 4);
  const sent = JSON.stringify(rest.received.slice(before).map(({ headers }) => headers));
  const { text: log } = await api(hub, 'GET', '/logs?limit=10000', { token: admin });
  for (const secret of [token, bad]) {
    const [, , signature = ''] = secret.split('.');
    expect(sent).not.toContain(signature);
    expect(log).not.toContain(signature);
  }
  expect(log).toContain('token of a proxy refused');
  expect(log).toContain('created by a login at a provider');
});

describe('what is taken away ends at once:', () => {
  const put = (at: TestHub, token: string, body: Record<string, unknown>) =>
    api(at, 'PUT', '/system-config', { token, body });

  test('an account, which the same token does not bring back', async () => {
    const token = await signed({ sub: 'gone', preferred_username: 'gone' });
    expect(nameIn(await whoIs(by(token)))).toBe('gone');
    const events = await stream(`${hub.url}/api/events`, { headers: by(token) });
    const mcp = await stream(hub.sse(), { headers: by(token) });
    expect([events.status, mcp.status]).toEqual([200, 200]);
    expect((await api(hub, 'DELETE', '/users/gone', { token: admin })).status).toBe(200);
    expect((await whoIs(by(token))).status).toBe(401);
    expect(await tools(by(token))).toBe(401);
    await until('the streams have ended', () => events.ended() && mcp.ended());
    expect((await api(hub, 'GET', '/users', { token: admin })).text).not.toContain('"gone"');
    expect(nameIn(await whoIs(by(await signed({ sub: 'gone', preferred_username: 'gone', again: 1 }))))).toBe('gone');
  });

  test('the audience, the issuer, and the whole of it', async () => {
    const token = await signed({ sub: 'p1' });
    const { authorization } = { authorization: await login(plain) };
    const own = { authorization: `Bearer ${token}` };
    expect((await whoIs(own, plain)).status).toBe(200);
    const change = (more: Record<string, unknown>) => put(plain, authorization, { auth: { forwardAuth: more } });
    expect((await change({ jwks: { audience: ['hub-2'] } })).status).toBe(200);
    expect((await whoIs(own, plain)).status).toBe(401);
    expect((await change({ jwks: { audience: ['hub'] } })).status).toBe(200);
    expect((await whoIs(own, plain)).status).toBe(200);
    expect((await change({ enabled: false })).status).toBe(200);
    expect((await whoIs(own, plain)).status).toBe(401);
    expect((await change({ enabled: true })).status).toBe(200);
  });
});

describe('the settings', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['another mode', { mode: 'header' }, 'mode'],
    ['keys that come without encryption', { jwks: { uri: 'http://id.example/keys' } }, 'jwks.uri'],
    ['no keys', { jwks: { uri: null } }, 'jwks.uri'],
    ['no issuer', { jwks: { issuer: '' } }, 'jwks.issuer'],
    ['no audience', { jwks: { audience: [] } }, 'jwks.audience'],
    ['an empty audience', { jwks: { audience: [''] } }, 'jwks.audience'],
    ['a shared secret', { jwks: { algorithms: ['RS256', 'HS256'] } }, 'jwks.algorithms'],
    ['no signature', { jwks: { algorithms: ['none'] } }, 'jwks.algorithms'],
    ['no name of a header', { header: 'a b' }, 'header'],
    ['a header that is taken', { header: 'Cookie' }, 'header'],
    ['a member that is mistyped', { autocreate: false }, 'autocreate'],
  ])('with %s are refused, and the place is named', async (_, change, path) => {
    const answer = await api(plain, 'PUT', '/system-config', {
      token: await login(plain),
      body: { auth: { forwardAuth: change } },
    });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(path)]);
  });

  test('are an admin’s with a fresh login, and the pages know that there is a proxy', async () => {
    const token = await userToken(hub, admin, 'meddler');
    const body = { auth: { forwardAuth: { autoCreate: false } } };
    expect((await api(hub, 'PUT', '/system-config', { token, body })).status).toBe(403);
    const config = JSON.parse((await raw(`${hub.url}/public-config`, { method: 'GET' })).text) as { data: unknown };
    expect(config.data).toMatchObject({ forwardAuth: true });
    expect(readFileSync(hub.settingsPath, 'utf8')).toContain('forwardAuth');
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, cookieLogin, login, userToken } from '../kit/api.ts';
import { authorize, fieldsOf, handClient, submit } from '../kit/authorizing.ts';
import { browser, clientId, clientSecret, type Company, company } from '../kit/company.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { authLimits } from '../../src/auth/limits.ts';
import { httpLimits } from '../../src/http/limits.ts';
import { setLimits } from '../kit/limits.ts';
import { type TestIssuer, testIssuer } from '../kit/issuer.ts';
import { raw, rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// People log in at their company's provider (CONTRACT §8): a real one (`oidc-provider`), and one that answers what no
// honest one does.

let corp: Company;
let rogue: TestIssuer;
let other: TestIssuer;
let hub: TestHub;
let admin: string;
/** What the rogue provider answers a code with. */
let idToken: (nonce: string) => Promise<string>;

beforeAll(async () => {
  [corp, rogue, other] = await Promise.all([company(), testIssuer('RS256'), testIssuer('RS256')]);
  const alpha = await hostileHttp({ name: 'alpha', tools: ['read'] });
  const oidc = [
    {
      id: 'corp',
      name: 'Corp',
      issuer: corp.issuer,
      clientId,
      clientSecret,
      scopes: ['profile', 'email', 'groups'],
      groups: { eng: ['dev'], all: ['staff'] },
      adminGroups: ['hub-admins'],
    },
    { id: 'rogue', issuer: rogue.url, clientId: 'toolhub', clientSecret: 'rogue secret', signUp: 'auto' },
    { id: 'other', issuer: other.url, clientId: 'toolhub', clientSecret: 'other secret', signUp: 'auto' },
  ];
  hub = await testHub({
    mcpServers: { alpha: alpha.config },
    groups: ['dev', 'staff', 'own'].map((name) => ({ id: `g-${name}`, name, servers: ['alpha'] })),
    systemConfig: { routing: { enableBearerAuth: true }, auth: { oidc } },
    env: { LOG_LEVEL: 'info' },
  });
  await corp.open(hub.url, 'corp');
  for (const provider of [rogue, other])
    provider.answers['/token'] = async () => ({
      access_token: 'a token',
      token_type: 'Bearer',
      id_token: await idToken(nonce),
    });
  admin = await login(hub);
});

let nonce = '';
const startOf = (id: string, query = '') => `${hub.url}/api/auth/oidc/${id}/start${query}`;

/** Logs in at corp; the user that the hub then has in this browser, or the status of its page. */
async function logIn(person: string, at = browser()) {
  corp.person = person;
  const { answer } = await at.go(startOf('corp'), (url) => url === `${hub.url}/`);
  return answer.status === 302 ? userIn(at) : answer.status;
}

async function userIn(at: ReturnType<typeof browser>): Promise<Record<string, unknown> | number> {
  const answer = await at.once(`${hub.url}/api/auth/user`);
  return answer.status === 200 ? ((await answer.json()) as { user: Record<string, unknown> }).user : answer.status;
}

async function logged(): Promise<string[]> {
  const { body } = await api(hub, 'GET', '/logs?limit=10000', { token: admin });
  return (body.data as { message: string }[]).map(({ message }) => message);
}

/** Comes back from the rogue provider with these parameters. */
async function comeBack(
  id: string,
  more: (state: string) => Record<string, string> = () => ({}),
  at = browser(),
  start = '',
  edit: (query: URLSearchParams) => void = () => undefined,
) {
  const sent = new URL((await at.once(startOf(id, start))).headers.get('location') ?? '');
  nonce = sent.searchParams.get('nonce') ?? '';
  const state = sent.searchParams.get('state') ?? '';
  const query = new URLSearchParams({ code: 'a code', state, ...more(state) });
  edit(query);
  const answer = await at.once(`${hub.url}/api/auth/oidc/${id}/callback?${query.toString()}`);
  const retryAfter = answer.headers.get('retry-after');
  return { status: answer.status, retryAfter, at, query, text: await answer.text() };
}

describe('at a real provider', () => {
  test('an invited user is bound once, by a verified address, and by issuer and subject from then on', async () => {
    const made = await api(hub, 'POST', '/users', {
      token: admin,
      body: { username: 'ann', email: 'Ann@Corp.example' },
    });
    expect(made.status, made.text).toBe(201);
    expect((await api(hub, 'POST', '/auth/login', { body: { username: 'ann', password: '' } })).status).toBe(401);
    Object.assign(corp.people, {
      s1: { email: 'ann@corp.example', email_verified: false, preferred_username: 'ann' },
      s2: { email: 'ann@corp.example', email_verified: true, groups: ['eng', 'all', 'unknown'] },
      s3: { email: 'ann@corp.example', email_verified: true, preferred_username: 'ann' },
    });
    expect(await logIn('s1')).toBe(403);
    expect(await logIn('s2')).toMatchObject({ username: 'ann', role: 'user', groups: ['g-dev', 'g-staff'] });
    expect(await logIn('s3')).toBe(403);
    corp.people['s2'] = { email: 'new@corp.example', email_verified: true };
    expect(await logIn('s2')).toMatchObject({ username: 'ann' });
    corp.people['s4'] = { email: 'admin@corp.example', email_verified: true, preferred_username: 'admin' };
    expect(await logIn('s4')).toBe(403);
  });

  test('groups and the role of an admin are read at each login; groups that an admin gave stay', async () => {
    await api(hub, 'POST', '/users', { token: admin, body: { username: 'eve', email: 'eve@corp.example' } });
    corp.people['e1'] = { email: 'eve@corp.example', email_verified: true, groups: ['eng', 'hub-admins'] };
    expect(await logIn('e1')).toMatchObject({ role: 'admin', groups: ['g-dev'] });
    await api(hub, 'PUT', '/users/eve', { token: admin, body: { groups: ['dev', 'own'] } });
    corp.people['e1'] = { groups: ['all'] };
    expect(await logIn('e1')).toMatchObject({ role: 'user', groups: ['g-own', 'g-staff'] });
  });

  describe('while the person uses the hub', () => {
    const groupsOf = async (at: ReturnType<typeof browser>) => {
      const user = await userIn(at);
      return typeof user === 'number' ? user : (user['groups'] as string[]).join();
    };

    test('groups and the role are read again', async () => {
      setLimits(authLimits, { providerRefreshMs: 0 });
      corp.people['s2'] = { groups: ['eng'] };
      const at = browser();
      expect(await logIn('s2', at)).toMatchObject({ groups: ['g-dev'] });
      for (const groups of [['all'], [], ['eng', 'all']]) {
        corp.people['s2'] = { groups };
        const wanted = groups.map((name) => ({ eng: 'g-dev', all: 'g-staff' })[name]).join();
        await until(`the groups are ${wanted}`, async () => (await groupsOf(at)) === wanted);
      }
      corp.people['s2'] = { groups: ['hub-admins'] };
      await until(
        'the role is read too',
        async () => ((await userIn(at)) as Record<string, unknown>)['role'] === 'admin',
      );
      corp.people['s2'] = {};
      await until('and taken', async () => ((await userIn(at)) as Record<string, unknown>)['role'] === 'user');
    });

    test('the session ends when the provider says that the login there is over, and not while it is away', async () => {
      setLimits(authLimits, { providerRefreshMs: 0 });
      corp.people['s2'] = { groups: ['eng'] };
      const [at, other] = [browser(), browser()];
      await logIn('s2', at);
      await logIn('s2', other);
      corp.tokenStatus = 503;
      const asked = corp.tokenRequests;
      await until(
        'it was asked in vain',
        async () => (await groupsOf(at)) === 'g-dev' && corp.tokenRequests > asked + 1,
      );
      expect(await groupsOf(at)).toBe('g-dev');
      corp.tokenStatus = undefined;
      await until('it is asked again', async () => (await groupsOf(at)) === 'g-dev' && corp.tokenRequests > asked + 3);
      corp.tokenStatus = 400;
      await until('the session has ended', async () => (await userIn(at)) === 401);
      corp.tokenStatus = undefined;
      expect(await groupsOf(other)).toBe('g-dev');
    });

    test('the refresh token is kept sealed, and shown nowhere', async () => {
      setLimits(authLimits, { providerRefreshMs: 0 });
      const at = browser();
      await logIn('s2', at);
      const asked = corp.refreshTokens.length;
      await until('it was used', async () => (await groupsOf(at)) !== '' && corp.refreshTokens.length > asked);
      const sessions = await (await at.once(`${hub.url}/api/auth/sessions`)).text();
      const kept = readFileSync(join(hub.folder, 'data', 'sessions.json'), 'utf8');
      expect(kept).toContain('refresh');
      for (const token of corp.refreshTokens) {
        expect(sessions).not.toContain(token);
        expect(kept).not.toContain(token);
      }
    });
  });

  test('a login counts as fresh only where the provider says when it was', async () => {
    corp.people['e1'] = { groups: ['hub-admins'] };
    const at = browser();
    const exported = async () => (await at.once(`${hub.url}/api/mcp-settings/export?secrets=include`)).status;
    expect(await logIn('e1', at)).toMatchObject({ role: 'admin' });
    expect(await exported()).toBe(403);
    await at.go(startOf('corp', '?fresh=1'), (url) => url === `${hub.url}/`);
    expect(await exported()).toBe(200);
  });

  test('the session is a cookie that scripts cannot read, and leads to where the login began', async () => {
    const at = browser();
    corp.person = 's2';
    const isHub = (url: string) => url.startsWith(`${hub.url}/servers`);
    const { url, answer } = await at.go(startOf('corp', '?return=/servers?q=1'), isHub);
    expect(url).toBe(`${hub.url}/servers?q=1`);
    const session = answer.headers.getSetCookie().find((line) => line.startsWith('toolhub_session='));
    expect(session).toMatch(/HttpOnly/i);
    expect(session).toMatch(/SameSite=Lax/i);
    expect(at.cookie(hub.url, 'toolhub_csrf')).toBeDefined();
    for (const evil of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/%09/evil.example',
      '/..//evil.example',
    ]) {
      const sent = await browser().go(startOf('corp', `?return=${encodeURIComponent(evil)}`), (to) => {
        const { origin, pathname } = new URL(to);
        return !pathname.startsWith('/api/') && origin !== corp.issuer;
      });
      expect(new URL(sent.url).origin, evil).toBe(hub.url);
    }
  });

  test('from the login page of the authorization server it goes on to the consent, and a copied address does not', async () => {
    const client = await handClient(hub.url);
    const page = await (await fetch(client.address())).text();
    const link = /href="([^"]*\/oidc\/corp\/start[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const at = browser();
    corp.person = 's2';
    const { url } = await at.go(new URL(link, hub.url).href, (to) => to.startsWith(`${hub.url}/oauth/authorize`));
    expect((await fetch(url)).status).toBe(400);
    const consent = await at.once(url);
    const text = await consent.text();
    expect([consent.status, text]).toEqual([200, expect.stringContaining('<strong>ann</strong>')]);
    expect(await userIn(at)).toBe(401);
    const fields = new URLSearchParams({ ...fieldsOf(text), decision: 'allow', reach: 'all' });
    const back = new URL((await submit(url, fields)).headers.get('location') ?? '');
    const { body } = await client.redeem(back);
    expect(
      (await rpc(hub.mcp(), 'tools/list', {}, { headers: { authorization: `Bearer ${body.access_token}` } })).status,
    ).toBe(200);
  });

  test('back-channel logout ends the session of the person, once for each token', async () => {
    const send = (token: string) =>
      fetch(`${hub.url}/api/auth/oidc/corp/backchannel-logout`, {
        method: 'POST',
        body: new URLSearchParams({ logout_token: token }),
      });
    const [ann, eve] = [browser(), browser()];
    await logIn('s2', ann);
    await logIn('e1', eve);
    for (const wrong of [
      { sub: 's2', aud: 'another' },
      { sub: 's2', nonce: 'n' },
      { sub: 's2', events: {} },
      { sub: 's2', iss: rogue.url },
      { sub: 's2', iat: 1 },
      {},
    ])
      expect((await send(await corp.logoutToken(wrong))).status, JSON.stringify(wrong)).toBe(400);
    expect((await send(await rogue.sign({ sub: 's2', aud: clientId }))).status).toBe(400);
    expect(await userIn(ann)).toMatchObject({ username: 'ann' });
    const token = await corp.logoutToken({ sub: 's2' });
    expect((await send(token)).status).toBe(200);
    expect(await userIn(ann)).toBe(401);
    expect(await userIn(eve)).toMatchObject({ username: 'eve' });
    expect((await send(token)).status).toBe(400);
  });
});

describe('what a provider answers', () => {
  const usual = (claims: Record<string, unknown> = {}) => {
    idToken = (nonce) => rogue.sign({ sub: 'r1', preferred_username: 'admin', nonce, ...claims });
  };

  test('makes an account of its own for a user who claims to be admin', async () => {
    usual({ email: 'admin@corp.example', email_verified: true, groups: ['hub-admins', 'dev'] });
    const { status, at } = await comeBack('rogue');
    expect(status).toBe(302);
    expect(await userIn(at)).toMatchObject({ username: 'admin-2', role: 'user', groups: [] });
  });

  test('with the same subject at another provider is another account', async () => {
    idToken = (nonce) => other.sign({ sub: 'r1', preferred_username: 'admin', nonce });
    expect(await userIn((await comeBack('other')).at)).toMatchObject({ username: 'admin-3' });
  });

  test.each<[string, () => void, ((state: string) => Record<string, string>)?]>([
    ['has another nonce', () => usual({ nonce: 'another' })],
    ['is for another client', () => usual({ aud: 'another' })],
    ['is of another issuer', () => usual({ iss: 'https://evil.example' })],
    ['is over', () => usual({ exp: Math.floor(Date.now() / 1000) - 120 })],
    ['was issued tomorrow', () => usual({ iat: Math.floor(Date.now() / 1000) + 86_400 })],
    ['has no subject', () => usual({ sub: '' })],
    ['is signed by another', () => void (idToken = (nonce) => other.sign({ iss: rogue.url, sub: 'r1', nonce }))],
    [
      'is not signed',
      () =>
        void (idToken = async (nonce) => {
          const [, payload] = (await rogue.sign({ sub: 'r1', nonce })).split('.');
          return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload ?? ''}.`;
        }),
    ],
    ['comes from another issuer', usual, () => ({ iss: 'https://evil.example' })],
    ['has another state', usual, (state) => ({ state: `${state}x` })],
    ['is an error', usual, () => ({ error: 'access_denied' })],
  ])('logs in no one if it %s', async (_, prepare, more) => {
    prepare();
    const { status, at } = await comeBack('rogue', more);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).not.toBe(500);
    expect(at.cookie(hub.url, 'toolhub_session')).toBeUndefined();
  });

  test.each<[string, (query: URLSearchParams) => void, number]>([
    ['without a code', (query) => query.delete('code'), 400],
    ['with an empty code', (query) => query.set('code', ''), 400],
    ['with two codes', (query) => query.append('code', 'another'), 400],
    ['of another issuer', (query) => query.set('iss', 'https://evil.example'), 400],
    ['with two states', (query) => query.append('state', 'another'), 400],
    ['of another flow', (query) => query.set('id_token', 'x.y.z'), 400],
    ['with a signed answer', (query) => query.set('response', 'x.y.z'), 400],
    ['that is a refusal', (query) => query.set('error', 'access_denied'), 403],
  ])(
    'an address %s is refused as the mistake of the browser, and the provider is not asked',
    async (_, edit, expected) => {
      usual();
      const before = rogue.asked.filter((path) => path === '/token').length;
      const answer = await comeBack('rogue', undefined, browser(), '', (query) => edit(query));
      expect(answer.status, answer.text).toBe(expected);
      expect(answer.text).toMatch(/begin the login again/i);
      expect(answer.at.cookie(hub.url, 'toolhub_session')).toBeUndefined();
      expect(rogue.asked.filter((path) => path === '/token')).toHaveLength(before);
    },
  );

  test('a code that the provider does not know is 400; a provider that is away is 503, with a time to try again', async () => {
    const garbage = await comeBack('corp', () => ({ code: 'x'.repeat(200), iss: corp.issuer }));
    expect([garbage.status, garbage.text]).toEqual([400, expect.stringMatching(/begin the login again/i)]);
    corp.tokenStatus = 503;
    const away = await comeBack('corp', () => ({ iss: corp.issuer }));
    corp.tokenStatus = undefined;
    rogue.isDown = true;
    const down = await comeBack('rogue');
    rogue.isDown = false;
    for (const { status, retryAfter, text } of [away, down])
      expect([status, Number(retryAfter) > 0, text]).toEqual([503, true, expect.stringContaining('cannot be reached')]);
  });

  test('logs in no one who had to log in again and did not', async () => {
    const seconds = Math.floor(Date.now() / 1000);
    for (const [auth_time, expected] of [
      [undefined, 502],
      [seconds - 3_600, 502],
      [seconds, 302],
    ] as const) {
      usual({ auth_time });
      expect((await comeBack('rogue', undefined, browser(), '?fresh=1')).status).toBe(expected);
    }
  });

  test('is not asked for more often than an address may fail; the log has some of it, and people elsewhere get in', async () => {
    const from = (address: string) => {
      const at = browser();
      const once: typeof at.once = (url, init) => at.once(url, { ...init, headers: { 'x-forwarded-for': address } });
      return { ...at, once };
    };
    const most = authLimits.providerLoginFailures;
    const statusesOf = async (count: number) => {
      const statuses: number[] = [];
      for (let i = 0; i < count; i++) statuses.push((await comeBack('rogue', undefined, from('203.0.113.7'))).status);
      return statuses;
    };
    const asked = () => rogue.asked.filter((path) => path === '/token').length;
    const before = asked();
    usual();
    expect(await statusesOf(2)).toEqual([302, 302]);
    usual({ nonce: 'another' });
    expect(await statusesOf(most + 2)).toEqual([...Array<number>(most).fill(502), 429, 429]);
    expect(asked() - before).toBe(2 + most);
    usual();
    expect((await comeBack('rogue', undefined, from('203.0.113.8'))).status).toBe(302);
    const lines = (await logged()).filter((line) => /^login at a provider failed .*provider=rogue/.test(line));
    expect(lines).toHaveLength(authLimits.accountToldOfKind);
  });

  test('counts in the browser where the login began, once, and for that provider', async () => {
    usual();
    const { query, at, status } = await comeBack('rogue');
    expect(status).toBe(302);
    const again = (id: string, as: ReturnType<typeof browser>) =>
      as.once(`${hub.url}/api/auth/oidc/${id}/callback?${query.toString()}`);
    expect((await again('rogue', at)).status).toBe(400);
    expect((await again('rogue', browser())).status).toBe(400);
    const third = browser();
    const sent = new URL((await third.once(startOf('rogue'))).headers.get('location') ?? '');
    query.set('state', sent.searchParams.get('state') ?? '');
    expect((await again('other', third)).status).toBe(400);
    expect((await raw(startOf('nowhere'), { method: 'GET' })).status).toBe(404);
  });
});

describe('a login that is begun', () => {
  test('again and again leaves few cookies in the browser, and those that were begun last go on', async () => {
    const at = browser();
    const cookies = () =>
      Array.from({ length: 9 }, (_, i) => at.cookie(hub.url, `toolhub-sign-in-${i}`)).filter(Boolean);
    idToken = (nonce) => rogue.sign({ sub: 'r1', nonce });
    const client = await handClient(hub.url);
    const page = await (await fetch(client.address({ state: 'x'.repeat(1_000) }))).text();
    const link = /href="([^"]*\/oidc\/rogue\/start[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(link.length).toBeGreaterThan(1_500);
    for (let i = 0; i < 8; i++) await at.once(new URL(link, hub.url).href);
    expect(cookies().length).toBeGreaterThan(0);
    expect(cookies().join().length).toBeLessThan(httpLimits.signInCookieChars);
    for (let i = 0; i < 8; i++) await at.once(startOf('rogue'));
    expect(cookies()).toHaveLength(httpLimits.signInCookies);
    const other = new URL((await at.once(startOf('other'))).headers.get('location') ?? '').searchParams.get('state');
    expect((await comeBack('rogue', undefined, at)).status).toBe(302);
    const answer = await at.once(`${hub.url}/api/auth/oidc/other/callback?code=c&state=${other ?? ''}`);
    // It was begun in this browser: what is wrong is the answer of the provider.
    expect(answer.status).toBe(502);
  });

  test('by a link on another site begins; what that site loads by itself begins none', async () => {
    const start = (headers: Record<string, string>) => raw(startOf('rogue'), { method: 'GET', headers });
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await start(link)).status).toBe(302);
    for (const dest of ['image', 'iframe', 'script', 'empty', 'object']) {
      const answer = await start({ 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': dest });
      expect([answer.status, answer.headers['set-cookie']], dest).toEqual([403, undefined]);
    }
  });
});

test('the log says of which accounts a login made, bound or changed something', async () => {
  corp.people['log1'] = { email: 'log@corp.example', email_verified: true, groups: ['eng', 'hub-admins'] };
  await api(hub, 'POST', '/users', { token: admin, body: { username: 'log', email: 'log@corp.example' } });
  expect(await logIn('log1')).toMatchObject({ role: 'admin' });
  corp.people['log1'] = { groups: ['eng'] };
  expect(await logIn('log1')).toMatchObject({ role: 'user' });
  idToken = (nonce) => rogue.sign({ sub: 'made', preferred_username: 'made', nonce });
  await comeBack('rogue');
  const lines = (await logged())
    .filter((line) => /user=(log|made)\b.*provider=/.test(line))
    .map((line) => line.replace(/ user=.*/, ''));
  const by = 'by a login at a provider';
  expect(lines.toSorted()).toEqual(
    [
      `bound ${by}`,
      `groups changed ${by}`,
      `made an admin ${by}`,
      `no longer an admin ${by}`,
      `created ${by}`,
      'login',
      'login',
      'login',
    ].toSorted(),
  );
});

describe('the settings', () => {
  const auth = async () => {
    const { text } = await api(hub, 'GET', '/settings', { token: admin });
    return (JSON.parse(text) as { data: { systemConfig: { auth: { oidc: Record<string, unknown>[] } } } }).data
      .systemConfig.auth;
  };
  const put = (body: Record<string, unknown>) =>
    api(hub, 'PUT', '/system-config', { token: admin, body: { auth: body } });

  test('hide the secrets of clients, and keep those that come back hidden', async () => {
    const { oidc } = await auth();
    expect(oidc.map((provider) => provider['clientSecret'])).toEqual(['••••', '••••', '••••']);
    const exported = await api(hub, 'GET', '/settings/export', { token: admin });
    expect(exported.text).not.toContain('secret between');
    const [corpBack, ...rest] = oidc;
    expect((await put({ oidc: [...rest, { ...corpBack, name: 'Corp again' }] })).status).toBe(200);
    expect(await logIn('s2')).toMatchObject({ username: 'ann' });
    expect((await put({ oidc: [...rest, { ...corpBack, id: 'else' }] })).status).toBe(400);
    const moved = await put({ oidc: [...rest, { ...corpBack, issuer: 'https://evil.example' }] });
    expect([moved.status, moved.text]).toEqual([400, expect.stringContaining('another issuer')]);
  });

  test('end the sessions of a provider, and the streams, when it is taken out, and when its issuer changes', async () => {
    const { oidc } = await auth();
    const own = oidc.find(({ id }) => id === 'corp');
    const rest = oidc.filter(({ id }) => id !== 'corp');
    const withPassword = await cookieLogin(hub);
    for (const after of [rest, [...rest, { ...own, issuer: rogue.url, clientSecret: 'another' }]]) {
      const at = browser();
      expect(await logIn('s2', at)).toMatchObject({ username: 'ann' });
      const stream = await at.once(`${hub.url}/api/events`);
      expect(stream.status).toBe(200);
      expect((await put({ oidc: after })).status).toBe(200);
      expect(await userIn(at)).toBe(401);
      // It ends; otherwise this waits until the test is over.
      await stream.text();
      expect((await put({ oidc: [...rest, { ...own, clientSecret }] })).status).toBe(200);
      await until('the session does not come back', async () => (await userIn(at)) === 401);
    }
    expect((await api(hub, 'GET', '/auth/user', { headers: withPassword.headers })).status).toBe(200);
    expect(await logIn('s2')).toMatchObject({ username: 'ann' });
  });

  test('say where people can log in, and can hide passwords but for one admin', async () => {
    await userToken(hub, admin, 'bob');
    const password = (username: string, password: string) =>
      api(hub, 'POST', '/auth/login', { body: { username, password } });
    expect((await put({ passwordLogin: false })).status).toBe(400);
    for (const breakGlass of ['ghost', 'bob']) {
      const { status, body } = await put({ passwordLogin: false, breakGlass });
      expect([status, body.errors?.[0]?.path]).toEqual([400, 'auth.breakGlass']);
    }
    expect((await put({ passwordLogin: false, breakGlass: 'admin' })).status).toBe(200);
    expect((await password('bob', 'password of bob')).status).toBe(401);
    expect((await password('admin', 'correct horse')).status).toBe(200);
    const config = JSON.parse((await raw(`${hub.url}/public-config`, { method: 'GET' })).text) as { data: unknown };
    expect(config.data).toMatchObject({
      passwordLogin: false,
      oidc: [{ id: 'rogue' }, { id: 'other' }, { id: 'corp' }],
    });
    const client = await handClient(hub.url);
    const page = await (await fetch(client.address())).text();
    const folded = /<details>\s*<summary>Log in with a password[^<]*<\/summary>\s*<form/;
    expect(page).toMatch(folded);
    // The one admin gets in there, and others do not.
    expect((await client.redeem(await authorize(client.address()))).status).toBe(200);
    const [, request = ''] = /name="request" value="([^"]+)"/.exec(page) ?? [];
    const others = { request, username: 'bob', password: 'password of bob' };
    expect((await submit(client.address(), others)).status).toBe(401);
    const signIn = await (await fetch(`${hub.url}/oauth/sign-in/alpha`)).text();
    expect(signIn).toMatch(folded);
    expect(signIn).toContain('/api/auth/oidc/corp/start?return=%2Fservers%2Falpha');
    expect((await put({ passwordLogin: null })).status).toBe(200);
    expect((await password('bob', 'password of bob')).status).toBe(200);
  });
});

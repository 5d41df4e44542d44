import { expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { oauthFixture, type OAuthFixture } from '../kit/oauth-server.ts';
import { type Person, person } from '../kit/person.ts';
import { raw } from '../kit/raw.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';

// No user gets another's account at a server, and none is led into another's (login CSRF): a sign-in ends
// for the user who began it, in the browser it began in, or not at all.

interface World {
  readonly fixture: OAuthFixture;
  readonly hub: TestHub;
  readonly admin: string;
  readonly ann: string;
  readonly bob: string;
}

async function world(): Promise<World> {
  const fixture = await oauthFixture();
  const server = { type: 'streamable-http', url: fixture.url, oauth: { perUser: true }, visibility: 'public' };
  const hub = await testHub({ mcpServers: { mail: server, other: server } });
  const admin = await login(hub);
  return { fixture, hub, admin, ann: await userToken(hub, admin, 'ann'), bob: await userToken(hub, admin, 'bob') };
}

const page = (hub: TestHub, server = 'mail') => `${hub.url}/oauth/sign-in/${server}`;

async function isSignedIn(hub: TestHub, token: string, server = 'mail'): Promise<boolean> {
  const { body } = await api(hub, 'GET', `/servers/${server}`, { token });
  return (body.data as { oauth: { signedIn: boolean } }).oauth.signedIn;
}

/** Begins a sign-in by the API, as the dashboard does, in this person's browser. */
async function begin(hub: TestHub, token: string, who: Person): Promise<string> {
  const answer = await api(hub, 'POST', '/servers/mail/oauth/authorize', { token });
  expect(answer.status, answer.text).toBe(200);
  who.keep(hub.url, answer.headers['set-cookie'] ?? []);
  return (answer.body.data as { authorizationUrl: string }).authorizationUrl;
}

test('an address that one user got, opened by another, gives no user another’s account', async () => {
  const { fixture, hub, ann, bob } = await world();
  // Ann begins and sends Bob the address of the authorization server: his account would be hers.
  const [annsBrowser, bobsBrowser] = [person('ann'), person('bob')];
  const seen = await bobsBrowser.open(await begin(hub, ann, annsBrowser));
  expect(seen.status).toBe(403);
  expect(seen.text).toContain('another browser');
  expect(fixture.exchanges).toHaveLength(0);
  expect([await isSignedIn(hub, ann), await isSignedIn(hub, bob)]).toEqual([false, false]);
});

test('an answer that one user got, opened by another, gives no user another’s account', async () => {
  const { fixture, hub, ann, bob } = await world();
  // Ann signs in as herself, keeps the answer back and has Bob open it: he would use her account.
  const answer = await person('ann').answerOf(page(hub));
  const bobsBrowser = person('bob');
  await bobsBrowser.answerOf(page(hub));
  expect((await bobsBrowser.open(answer.href)).status).toBe(403);
  expect(fixture.exchanges).toHaveLength(0);
  expect([await isSignedIn(hub, ann), await isSignedIn(hub, bob)]).toEqual([false, false]);
});

test('an answer with the state of another sign-in is none, also of the same user and browser', async () => {
  const { fixture, hub, ann } = await world();
  const who = person('ann');
  const [first, second, other] = [
    await who.answerOf(page(hub)),
    await who.answerOf(page(hub)),
    await who.answerOf(page(hub, 'other')),
  ];
  const mixed = (state: URL, code: URL) => {
    const url = new URL(state);
    url.searchParams.set('code', code.searchParams.get('code') ?? '');
    return url.href;
  };
  // PKCE: a code is worth nothing without the secret of the sign-in it was given for.
  expect((await who.open(mixed(first, second))).status).toBe(502);
  expect((await who.open(mixed(other, second))).status).toBe(502);
  expect(await isSignedIn(hub, ann)).toBe(false);
  expect(await isSignedIn(hub, ann, 'other')).toBe(false);
  expect(fixture.calls).toEqual([]);
});

test('a state works once, and its cookie for nothing else', async () => {
  const { hub, ann } = await world();
  const who = person('ann');
  const answer = await who.answerOf(page(hub));
  const cookie = who.cookiesFor(hub.url);
  expect(cookie).toMatch(/^toolhub-sign-in-1=[\w-]+\.[0-9a-f]{16}\.[\w-]{43}$/);
  expect((await who.open(answer.href)).status).toBe(200);
  expect(who.cookiesFor(hub.url)).toBe('');
  expect(await isSignedIn(hub, ann)).toBe(true);
  const again = await raw(answer.href, { method: 'GET', headers: { cookie } });
  expect(again.status).toBe(400);
  const next = await who.answerOf(page(hub));
  const name = who.cookiesFor(hub.url).split('=')[0];
  const stale = await raw(next.href, { method: 'GET', headers: { cookie: `${name}=${cookie.split('=')[1]}` } });
  expect(stale.status).toBe(403);
});

test('the cookie can be read by no script, and goes along with no request of another page', async () => {
  const { hub, ann } = await world();
  const { headers } = await api(hub, 'POST', '/servers/mail/oauth/authorize', { token: ann });
  expect(headers['set-cookie']?.[0]).toMatch(/; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
});

test('another page cannot begin a sign-in in a user’s browser', async () => {
  const { fixture, hub } = await world();
  const body = 'username=ann&password=password+of+ann';
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const from of [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none' },
  ]) {
    const answer = await raw(page(hub), { body, headers: { ...type, ...from } });
    expect(answer.status, JSON.stringify(from)).toBe(403);
    expect(answer.headers['set-cookie']).toBeUndefined();
  }
  const own = await raw(page(hub), {
    body,
    headers: { ...type, origin: hub.url, 'sec-fetch-site': 'same-origin' },
  });
  expect(own.status, own.text).toBe(303);
  expect(own.headers.location).toContain(fixture.issuer);
  expect(own.headers['cache-control']).toBe('no-store');
});

test('the page tells strangers nothing, and has no script, frame or way in for markup', async () => {
  const { hub } = await world();
  const known = await raw(page(hub), { method: 'GET' });
  const unknown = await raw(page(hub, 'nothing'), { method: 'GET' });
  expect(known.status).toBe(200);
  expect(unknown.text.replaceAll('nothing', 'mail')).toBe(known.text);
  const policy = String(known.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  // With `no-referrer` browsers would send the form with `Origin: null`.
  expect(known.headers['referrer-policy']).toBe('same-origin');
  const hostile = await raw(page(hub, encodeURIComponent('<script>alert(1)</script>')), { method: 'GET' });
  expect(hostile.text).not.toContain('<script>');
});

test('a wrong password begins nothing, and failures are limited as at the login', async () => {
  const { fixture, hub } = await world();
  const guess = (password: string) =>
    raw(page(hub), {
      body: new URLSearchParams({ username: 'ann', password }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const statuses: number[] = [];
  for (let i = 0; i < 25 && statuses.at(-1) !== 429; i++) statuses.push((await guess(`wrong ${i}`)).status);
  expect(statuses[0]).toBe(401);
  expect(statuses.at(-1)).toBe(429);
  expect((await guess('password of ann')).status).toBe(429);
  expect(
    (await api(hub, 'POST', '/auth/login', { body: { username: 'ann', password: 'password of ann' } })).status,
  ).toBe(429);
  expect((await guess('x'.repeat(20_000))).status).toBe(413);
  expect(fixture.authorizations).toHaveLength(0);
});

test('who may not sign in cannot begin, a key or a user; who is deleted meanwhile cannot finish', async () => {
  const { fixture, hub, admin, ann } = await world();
  expect((await api(hub, 'POST', '/servers/mail/oauth/authorize', {})).status).toBe(401);
  const key = await api(hub, 'POST', '/auth/keys', { token: ann, body: { name: 'k', kind: 'user' } });
  const { token } = key.body.data as { token: string };
  expect((await api(hub, 'POST', '/servers/mail/oauth/authorize', { token })).status).toBe(403);
  await api(hub, 'PUT', '/servers/other', { token: admin, body: { config: { visibility: 'private' } } });
  expect((await person('ann').open(page(hub, 'other'))).status).toBe(404);
  expect((await person('ann').open(page(hub, 'nothing'))).status).toBe(404);

  const who = person('ann');
  const answer = await who.answerOf(page(hub));
  const again = await who.answerOf(page(hub));
  await api(hub, 'DELETE', '/users/ann', { token: admin });
  expect((await who.open(answer.href)).status).toBe(403);
  // Nor does the next one of that name get what the first began.
  const next = await userToken(hub, admin, 'ann');
  expect((await who.open(again.href)).status).toBe(403);
  expect(await isSignedIn(hub, next)).toBe(false);
  expect(fixture.exchanges).toHaveLength(0);
});

test('an answer to what was asked before the server was set up again is none', async () => {
  const { fixture, hub, admin } = await world();
  const who = person('ann');
  const answer = await who.answerOf(page(hub));
  const elsewhere = await oauthFixture();
  await api(hub, 'PUT', '/servers/mail', { token: admin, body: { config: { url: elsewhere.url } } });
  expect((await who.open(answer.href)).status).toBe(409);
  expect([...fixture.exchanges, ...elsewhere.exchanges]).toHaveLength(0);
});

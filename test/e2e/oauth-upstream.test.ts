import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { api, login, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { storedSettings } from '../kit/hub-database.ts';
import { tlsInFrontOf } from '../kit/https.ts';
import { oauthFixture, type OAuthFixture } from '../kit/oauth-server.ts';
import { person } from '../kit/person.ts';
import { raw, rpc } from '../kit/raw.ts';
import { testHub, type HubOptions, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// The hub signs in to servers that want it (MCP, Authorization): a real authorization server, a real guarded server,
// and a browser that follows redirects.

interface Answer {
  status: string;
  error: string | null;
  oauth?: { authorizationUrl: string };
}

async function serverAnswer(hub: TestHub, token: string, name = 'mail'): Promise<Answer> {
  const { body } = await api(hub, 'GET', '/servers', { token });
  const found = (body.data as (Answer & { name: string })[]).find((server) => server.name === name);
  expect(found).toBeDefined();
  return found!;
}

/** Waits until the server has that status, and tells what the list says of it. */
function status(hub: TestHub, token: string, wanted: string): Promise<Answer> {
  return until(`mail is ${wanted}`, async () => {
    const answer = await serverAnswer(hub, token);
    if (answer.status !== wanted) throw new Error(JSON.stringify(answer));
    return answer;
  });
}

async function shownUrl(hub: TestHub, token: string): Promise<string> {
  const { oauth } = await status(hub, token, 'oauth_required');
  return oauth?.authorizationUrl ?? '';
}

/** Opens an address as a user does who is signed in over there already. */
const browse = (url: string, who = person()) => who.open(url);

async function guardedHub(fixture: OAuthFixture, options: HubOptions = {}, more: object = {}) {
  const hub = await testHub({
    mcpServers: { mail: { type: 'streamable-http', url: fixture.url, ...more } },
    ...options,
  });
  return { hub, admin: await login(hub) };
}

async function signedIn(fixture: OAuthFixture, options: HubOptions = {}, more: object = {}) {
  const made = await guardedHub(fixture, options, more);
  const page = await browse(await shownUrl(made.hub, made.admin));
  expect(page.status, page.text).toBe(200);
  await status(made.hub, made.admin, 'connected');
  return made;
}

const call = (hub: TestHub, text: string) => rpc(hub.mcp('mail'), 'tools/call', { name: 'echo', arguments: { text } });
const said = (answer: Awaited<ReturnType<typeof call>>) => answer.result?.content?.[0]?.text;

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

test('a server that wants authorization is signed in to and used, with PKCE, resource and scope', async () => {
  const fixture = await oauthFixture();
  const { hub, admin } = await guardedHub(fixture);
  const url = await shownUrl(hub, admin);
  expect(url).toBe(`${hub.url}/oauth/sign-in/mail`);
  const page = await browse(url);
  expect(page.status, page.text).toBe(200);
  const asked = fixture.authorizations[0] ?? new URLSearchParams();
  expect(asked.get('code_challenge_method')).toBe('S256');
  expect(asked.get('resource')).toBe(fixture.url);
  expect(asked.get('scope')).toBe('mail:read');
  expect(asked.get('redirect_uri')).toBe(`${hub.url}/oauth/callback`);
  expect(fixture.registered).toMatchObject([{ client_name: 'Tool Hub', application_type: 'native' }]);

  expect(page.text).toContain('You can close this window');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(page.headers.get('cache-control')).toBe('no-store');

  expect((await status(hub, admin, 'connected')).oauth).toBeUndefined();
  expect(said(await call(hub, 'hello'))).toBe('hello');
  expect(fixture.exchanges[0]?.get('resource')).toBe(fixture.url);
  expect(fixture.registered).toHaveLength(1);
});

test.each<[what: string, methods: readonly string[] | null, vouched: object, why: string | undefined]>([
  [
    'does not say so',
    null,
    {},
    'code_challenge_methods_supported). If you know that it does, set oauth.codeChallengeMethod',
  ],
  ['does not say so, which an admin vouches for', null, { oauth: { codeChallengeMethod: 'S256' } }, undefined],
  ['has another method alone', ['plain'], {}, 'does not do PKCE with S256'],
  ['has none, whatever an admin says', [], { oauth: { codeChallengeMethod: 'S256' } }, 'does not do PKCE with S256'],
  ['has two', ['plain', 'S256'], {}, undefined],
])(
  'an authorization server whose PKCE is unknown is not signed in to: one that %s',
  async (_, methods, vouched, why) => {
    const fixture = await oauthFixture({ challengeMethods: methods });
    const { hub, admin } = await guardedHub(fixture, {}, vouched);
    if (why === undefined) {
      const page = await browse(await shownUrl(hub, admin));
      expect(page.status, page.text).toBe(200);
      await status(hub, admin, 'connected');
      expect(fixture.authorizations[0]?.get('code_challenge_method')).toBe('S256');
      return;
    }
    await until('it was refused', async () => ((await serverAnswer(hub, admin)).error ?? '').includes(why));
    const begun = await api(hub, 'POST', '/servers/mail/oauth/authorize', { token: admin });
    expect([begun.status, begun.text]).toEqual([502, expect.stringContaining('PKCE')]);
    expect(fixture.authorizations).toHaveLength(0);
    expect(fixture.registered).toHaveLength(0);
  },
);

test('only those who manage a server are shown where to sign in, and may begin or end it', async () => {
  const fixture = await oauthFixture();
  const { hub, admin } = await guardedHub(fixture);
  await shownUrl(hub, admin);
  const ann = await userToken(hub, admin, 'ann', { servers: ['mail'] });
  const bob = await userToken(hub, admin, 'bob');
  const seen = await serverAnswer(hub, ann);
  expect(seen.status).toBe('oauth_required');
  expect(seen.oauth).toBeUndefined();
  await api(hub, 'PUT', '/servers/mail', { token: admin, body: { config: { visibility: 'private' } } });
  for (const action of ['authorize', 'disconnect']) {
    const path = `/servers/mail/oauth/${action}`;
    expect((await api(hub, 'POST', path, {})).status, action).toBe(401);
    expect((await api(hub, 'POST', path, { token: ann })).status, action).toBe(403);
    expect((await api(hub, 'POST', path, { token: bob })).status, action).toBe(404);
    expect((await api(hub, 'POST', `/servers/nothing/oauth/${action}`, { token: admin })).status, action).toBe(404);
  }
  expect(
    (await api(hub, 'POST', '/servers/mail/oauth/disconnect', { token: admin, body: { scope: 'x' } })).status,
  ).toBe(400);
});

test('an answer counts once, and only for what was asked', async () => {
  const fixture = await oauthFixture();
  const { hub, admin } = await guardedHub(fixture);
  const url = await shownUrl(hub, admin);
  const who = person();
  const first = await who.answerOf(url);
  const twice = new URL(first);
  twice.searchParams.append('code', 'other');
  for (const [query, what] of [
    ['', 'no state'],
    ['?code=x', 'no state'],
    ['?state=unknown&code=x', 'unknown state'],
    ['?state=<script>alert(1)</script>&code=x', 'hostile state'],
    [`?${'x'.repeat(16_001)}`, 'far too long'],
  ]) {
    const page = await browse(`${hub.url}/oauth/callback${query}`, who);
    expect(page.status, what).toBe(400);
    expect(page.text, what).not.toContain('<script>');
  }
  expect((await browse(twice.href, who)).status, 'two codes').toBe(400);
  // That used the state up: it is as good as none now.
  expect((await browse(first.href, who)).text).toContain('expired, or was used already');
  expect(fixture.exchanges).toHaveLength(0);

  const second = await who.answerOf(url);
  expect((await browse(second.href, who)).status).toBe(200);
  expect((await browse(second.href, who)).status, 'replayed').toBe(400);
  expect(fixture.exchanges).toHaveLength(1);
});

test('who loses the server can no longer finish the sign-in they began', async () => {
  const fixture = await oauthFixture();
  const hub = await testHub({ mcpServers: {}, systemConfig: { network: { allowedCidrs: ['127.0.0.1/32'] } } });
  const admin = await login(hub);
  const ann = await userToken(hub, admin, 'ann');
  const config = { type: 'streamable-http', url: fixture.url };
  expect((await api(hub, 'POST', '/servers', { token: ann, body: { name: 'mail', config } })).status).toBe(201);
  await shownUrl(hub, ann);
  const who = person('ann');
  const answer = await who.answerOf(`${hub.url}/oauth/sign-in/mail`);
  await api(hub, 'PUT', '/servers/mail', { token: admin, body: { config: { owner: 'admin' } } });
  const page = await browse(answer.href, who);
  expect(page.status, page.text).toBe(403);
  expect(fixture.exchanges).toHaveLength(0);
});

test.each([
  ['an answer from another issuer', { iss: 'https://evil.example' }, 502],
  ['an answer without its issuer', { iss: null }, 502],
  ['a refusal from another issuer', { iss: 'https://evil.example', deny: 'access_denied' }, 502],
  ['a refusal by the person', { deny: 'access_denied' }, 400],
  ['a refusal that is markup', { deny: '<b>x</b>' }, 400],
  ['a token endpoint that answers a page', { token: { status: 200, type: 'text/html', body: 'canary <html>' } }, 502],
  [
    'a token endpoint that fails in words',
    { token: { status: 500, type: 'text/plain', body: 'canary-refresh-words' } },
    502,
  ],
  [
    'a token of another kind',
    {
      token: { status: 200, type: 'application/json', body: '{"access_token":"canary-access-mac","token_type":"mac"}' },
    },
    502,
  ],
])('%s ends the sign-in without a word of it, and it can be begun again', async (_what, switches, expected) => {
  const fixture = await oauthFixture(switches);
  const { hub, admin } = await guardedHub(fixture);
  const page = await browse(await shownUrl(hub, admin));
  expect(page.status, page.text).toBe(expected);
  expect(page.text).not.toMatch(/canary|<b>|evil/);
  expect(fixture.calls).toHaveLength(0);
  if ('iss' in switches) {
    expect(fixture.exchanges).toHaveLength(0);
    expect(page.text).not.toContain('access_denied');
  }
  for (const name of Object.keys(fixture.switches)) delete fixture.switches[name as keyof typeof fixture.switches];
  await until('it can be begun again', async () => (await browse(await shownUrl(hub, admin))).status === 200);
  await status(hub, admin, 'connected');
});

test.each([
  ['metadata about another issuer', { issuer: 'https://evil.example' }],
  ['metadata about another resource', { resource: 'https://evil.example/mcp' }],
  ['no metadata at all', { silent: true }],
  ['no way to register', { noRegistration: true }],
  ['metadata without end', { padding: 1024 * 1024 }],
])('a server with %s says why no user can sign in to it, and none is asked to', async (_what, switches) => {
  const fixture = await oauthFixture(switches);
  const { hub, admin } = await guardedHub(fixture);
  const { error, oauth } = await status(hub, admin, 'disconnected');
  expect(oauth).toBeUndefined();
  expect(error).toMatch(/Cannot sign in to server "mail"|offers no sign-in \(OAuth\)/);
  expect(fixture.authorizations).toHaveLength(0);
});

test('metadata on another origin are not even asked for: the server’s own count', async () => {
  const elsewhere = await oauthFixture();
  const fixture = await oauthFixture();
  fixture.switches.metadataUrl = `${elsewhere.issuer}/metadata`;
  const { hub, admin } = await guardedHub(fixture);
  await shownUrl(hub, admin);
  expect(elsewhere.asked).toEqual([]);
});

test('a server that may be reached cannot send the hub to addresses that may not', async () => {
  const fixture = await oauthFixture();
  const inside = await oauthFixture();
  const hub = await testHub({ mcpServers: {}, systemConfig: { network: { allowedCidrs: ['127.0.0.1/32'] } } });
  const admin = await login(hub);
  const ann = await userToken(hub, admin, 'ann');
  fixture.switches.redirectMetadata = `${inside.issuer.replace('127.0.0.1', '127.0.0.2')}/metadata`;
  const config = { type: 'streamable-http', url: fixture.url };
  await api(hub, 'POST', '/servers', { token: ann, body: { name: 'mail', config } });
  expect((await status(hub, ann, 'disconnected')).error).toMatch(/Cannot sign in/);
  expect(inside.asked).toEqual([]);
  // The same with an authorization server it names.
  const named = {
    ...config,
    oauth: { dynamicRegistration: { issuer: inside.issuer.replace('127.0.0.1', '127.0.0.3') } },
  };
  delete fixture.switches.redirectMetadata;
  await api(hub, 'PUT', '/servers/mail', { token: ann, body: { config: named } });
  await until('it is refused', async () =>
    /not on the public internet/.test((await serverAnswer(hub, ann)).error ?? ''),
  );
  expect(inside.asked).toEqual([]);
});

describe('a token that ends', () => {
  test('is renewed once for twenty calls at the same time, and all are answered', async () => {
    const fixture = await oauthFixture();
    const { hub } = await signedIn(fixture);
    let release = (): void => undefined;
    fixture.switches.hold = new Promise((resolve) => (release = resolve));
    fixture.expireAll();
    const calls = Array.from({ length: 20 }, (_, i) => call(hub, `call ${i}`));
    await until('all were refused', () => fixture.refusals.filter((token) => token !== undefined).length === 20);
    release();
    const answers = await Promise.all(calls);
    expect(answers.map(said)).toEqual(Array.from({ length: 20 }, (_, i) => `call ${i}`));
    expect(fixture.exchanges.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(1);
    // The next renewal is made with the token that came with the last one (rotation).
    fixture.expireAll();
    expect(said(await call(hub, 'again'))).toBe('again');
    const renewals = fixture.exchanges.filter((form) => form.get('grant_type') === 'refresh_token');
    expect(new Set(renewals.map((form) => form.get('refresh_token'))).size).toBe(2);
  });

  test('is renewed before any call is refused', async () => {
    const fixture = await oauthFixture({ expiresIn: 2 });
    const { hub } = await signedIn(fixture);
    const before = fixture.refusals.length;
    fixture.switches.expiresIn = 3600;
    await until('a new token came', async () => {
      expect(said(await call(hub, 'x'))).toBe('x');
      return fixture.exchanges.length === 2;
    });
    expect(said(await call(hub, 'y'))).toBe('y');
    expect(fixture.refusals).toHaveLength(before);
  });

  test('and cannot be renewed makes the server wait for a person, quietly', async () => {
    const fixture = await oauthFixture({ refuseRefresh: true });
    const { hub, admin } = await signedIn(fixture, {}, { enableKeepAlive: false });
    fixture.expireAll();
    const answer = await call(hub, 'x');
    expect(answer.error?.message).toMatch(/needs a user to sign in/);
    const url = await shownUrl(hub, admin);
    const refusals = fixture.refusals.length;
    const again = await Promise.all([call(hub, 'y'), call(hub, 'z')]);
    expect(again.map((one) => one.error?.message)).toEqual([
      expect.stringMatching(/needs a user to sign in/),
      expect.stringMatching(/needs a user to sign in/),
    ]);
    expect(fixture.refusals).toHaveLength(refusals);
    expect((await browse(url)).status).toBe(200);
    await status(hub, admin, 'connected');
    // The registration was good for both.
    expect(fixture.registered).toHaveLength(1);
  });

  test('and cannot be renewed for the moment does not end the sign-in', async () => {
    const fixture = await oauthFixture();
    const { hub, admin } = await signedIn(fixture);
    fixture.switches.token = { status: 503, type: 'text/plain', body: 'later' };
    fixture.expireAll();
    expect((await call(hub, 'x')).error?.message).toMatch(
      /^Cannot renew the sign-in to server "[^"]+" now\. Try again in a moment\.$/,
    );
    delete fixture.switches.token;
    await until('it works again', async () => said(await call(hub, 'y')) === 'y');
    expect((await serverAnswer(hub, admin)).status).toBe('connected');
    expect(fixture.authorizations).toHaveLength(1);
  });
});

test('a call that needs more rights says so, and the next sign-in asks for both', async () => {
  const fixture = await oauthFixture({ callScope: 'mail:send' });
  const { hub, admin } = await signedIn(fixture);
  expect((await call(hub, 'x')).error?.message).toMatch(/wants more rights/);
  const { status: now, oauth } = await serverAnswer(hub, admin);
  expect(now).toBe('connected');
  const url = oauth?.authorizationUrl ?? '';
  expect((await browse(url)).status).toBe(200);
  expect(fixture.authorizations.at(-1)?.get('scope')).toBe('mail:read mail:send');
  expect(said(await call(hub, 'y'))).toBe('y');
});

test('a restart keeps the sign-in; another address of the server does not', async () => {
  const fixture = await oauthFixture();
  const { hub } = await signedIn(fixture);
  await hub.close();
  const refusals = fixture.refusals.length;
  const next = await testHub({ folder: hub.folder });
  const admin = await login(next);
  await status(next, admin, 'connected');
  expect(said(await call(next, 'still'))).toBe('still');
  expect(fixture.refusals).toHaveLength(refusals);
  expect(fixture.authorizations).toHaveLength(1);

  const other = await oauthFixture();
  await api(next, 'PUT', '/servers/mail', { token: admin, body: { config: { url: other.url } } });
  await shownUrl(next, admin);
  expect(other.refusals.every((token) => token === undefined)).toBe(true);
  // And coming back does not bring it back.
  await api(next, 'PUT', '/servers/mail', { token: admin, body: { config: { url: fixture.url } } });
  await until('it asks again', async () => fixture.refusals.length > refusals && (await shownUrl(next, admin)) !== '');
});

test('a renamed server keeps its sign-in, also one that is just being renewed; one that is elsewhere then does not', async () => {
  const fixture = await oauthFixture();
  const { hub, admin } = await signedIn(fixture);
  const renamed = async (from: string, body: { newName: string; config?: object }) => {
    const answer = await api(hub, 'PUT', `/servers/${from}`, { token: admin, body });
    expect(answer.status, answer.text).toBe(200);
  };
  const works = (server: string) =>
    until(`${server} works`, async () => {
      const answer = await rpc(hub.mcp(server), 'tools/call', { name: 'echo', arguments: { text: server } });
      return said(answer) === server;
    });
  await renamed('mail', { newName: 'post' });
  await works('post');
  let release = (): void => undefined;
  fixture.switches.hold = new Promise((resolve) => (release = resolve));
  const before = fixture.exchanges.length;
  fixture.expireAll();
  const waiting = rpc(hub.mcp('post'), 'tools/call', { name: 'echo', arguments: { text: 'x' } });
  await until('it is being renewed', () => fixture.exchanges.length > before);
  const renaming = renamed('post', { newName: 'letters' });
  // So long that the hub has acted on the new name.
  await until('letters is there', async () => (await serverAnswer(hub, admin, 'letters')).status === 'oauth_required');
  release();
  await Promise.all([renaming, waiting]);
  await works('letters');
  expect(fixture.exchanges.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(1);
  expect(fixture.authorizations).toHaveLength(1);
  await hub.close();
  const next = await testHub({ folder: hub.folder });
  await until('a restart keeps it', async () => (await next.health()).servers.connected === 1);
  const token = await login(next);
  const elsewhere = { url: fixture.url.replace('/mcp', '/other'), type: 'streamable-http' };
  await api(next, 'PUT', '/servers/letters', { token, body: { newName: 'mail', config: elsewhere } });
  await status(next, token, 'disconnected');
  await api(next, 'PUT', '/servers/mail', { token, body: { config: { ...elsewhere, url: fixture.url } } });
  await status(next, token, 'oauth_required');
});

test('who makes a server where one was deleted a moment ago has none of its sign-ins', async () => {
  const fixture = await oauthFixture();
  const { hub, admin } = await signedIn(fixture);
  expect((await api(hub, 'DELETE', '/servers/mail', { token: admin })).status).toBe(200);
  const config = { url: fixture.url, type: 'streamable-http' };
  const made = await api(hub, 'POST', '/servers', { token: admin, body: { name: 'mail', config } });
  expect(made.status, made.text).toBe(201);
  await status(hub, admin, 'oauth_required');
});

test('signing out forgets the tokens here and there; all of it the registration too', async () => {
  const fixture = await oauthFixture();
  const { hub, admin } = await signedIn(fixture);
  const out = await api(hub, 'POST', '/servers/mail/oauth/disconnect', { token: admin });
  expect(out.status, out.text).toBe(200);
  expect(fixture.revoked).toHaveLength(2);
  expect((await browse(await shownUrl(hub, admin))).status).toBe(200);
  expect(fixture.registered).toHaveLength(1);
  await status(hub, admin, 'connected');
  await api(hub, 'POST', '/servers/mail/oauth/disconnect', { token: admin, body: { scope: 'all' } });
  expect((await browse(await shownUrl(hub, admin))).status).toBe(200);
  expect(fixture.registered).toHaveLength(2);
  expect(fixture.revoked).toHaveLength(4);
});

test('the client of the settings is used where there is one, and its tokens are a start', async () => {
  const fixture = await oauthFixture({ noRegistration: true });
  fixture.addClient('by-hand', 'canary-client-secret-1234567890');
  const tokens = fixture.issue();
  fixture.expireAll();
  const oauth = {
    clientId: 'by-hand',
    clientSecret: 'canary-client-secret-1234567890',
    refreshToken: tokens.refresh,
    accessToken: tokens.access,
  };
  const { hub, admin } = await guardedHub(fixture, {}, { oauth });
  await status(hub, admin, 'connected');
  expect(said(await call(hub, 'imported'))).toBe('imported');
  expect(fixture.exchanges).toHaveLength(1);
  await hub.close();
  // What they became counts from then on: the ones of the settings are used up.
  const next = await testHub({ folder: hub.folder });
  await status(next, await login(next), 'connected');
  expect(fixture.exchanges).toHaveLength(1);
  const again = await login(next);
  await api(next, 'POST', '/servers/mail/oauth/disconnect', { token: again });
  await shownUrl(next, again);
  expect(await storedSettings(next)).not.toContain(tokens.refresh);
});

test('tokens of the settings that are no good are tried once; who signs in instead is not forgotten for them', async () => {
  const fixture = await oauthFixture();
  fixture.addClient('by-hand', 'canary-client-secret-1234567890');
  const own = { clientId: 'by-hand', clientSecret: 'canary-client-secret-1234567890' };
  const oauth = { ...own, refreshToken: 'canary-refresh-stale', accessToken: 'canary-access-stale' };
  const { hub, admin } = await guardedHub(fixture, {}, { oauth });
  await shownUrl(hub, admin);
  await hub.close();
  const second = await testHub({ folder: hub.folder });
  const token = await login(second);
  const url = await shownUrl(second, token);
  const stale = () => fixture.exchanges.filter((form) => form.get('refresh_token') === 'canary-refresh-stale').length;
  expect(stale()).toBe(1);
  expect((await browse(url)).status).toBe(200);
  await status(second, token, 'connected');
  await second.close();
  const third = await testHub({ folder: hub.folder });
  await status(third, await login(third), 'connected');
  expect(stale()).toBe(1);
  expect(fixture.refusals.filter((sent) => sent === 'canary-access-stale')).toHaveLength(1);
});

test('with a public address the hub is known by its own document', async () => {
  const fixture = await oauthFixture({ clientDocuments: true, noRegistration: true });
  const env = { INSTALL_BASE_URL: 'https://hub.example.com' };
  const { hub, admin } = await guardedHub(fixture, { env });
  expect(await shownUrl(hub, admin)).toBe('https://hub.example.com/oauth/sign-in/mail');
  // A proxy with that address would hand on what comes to the hub.
  const begun = await raw(`${hub.url}/oauth/sign-in/mail`, {
    body: 'username=admin&password=correct+horse',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(begun.status, begun.text).toBe(303);
  const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? '';
  expect(String(begun.headers['set-cookie'])).toMatch(/^__Host-.*Secure/);
  const url = new URL(String(begun.headers['location']));
  expect(url.searchParams.get('client_id')).toBe('https://hub.example.com/oauth/client-metadata.json');
  const document = await raw(`${hub.url}/oauth/client-metadata.json`, { method: 'GET' });
  expect(document.status).toBe(200);
  expect(JSON.parse(document.text)).toMatchObject({
    client_id: 'https://hub.example.com/oauth/client-metadata.json',
    redirect_uris: ['https://hub.example.com/oauth/callback'],
  });
  // The browser would come back by that address.
  const back = await fetch(url, { redirect: 'manual' });
  const { search } = new URL(back.headers.get('location') ?? '');
  const page = await fetch(`${hub.url}/oauth/callback${search}`, { headers: { cookie } });
  expect(page.status).toBe(200);
  await status(hub, admin, 'connected');
});

test('an authorization server fetches that document over https, and the browser comes back the same way', async () => {
  const fixture = await oauthFixture({ clientDocuments: true, noRegistration: true });
  const publicUrl = 'https://hub.example.com';
  const { hub, admin } = await guardedHub(fixture, { env: { INSTALL_BASE_URL: publicUrl } });
  const visit = await tlsInFrontOf(hub, publicUrl);
  const fetched: string[] = [];
  fixture.switches.documentOf = async (id) => {
    fetched.push(id);
    const { status, type, text } = await visit(id);
    expect([status, type]).toEqual([200, 'application/json']);
    return JSON.parse(text) as unknown;
  };
  const form = 'username=admin&password=correct+horse';
  const begun = await visit(await shownUrl(hub, admin), { body: form });
  expect(begun.status, begun.text).toBe(303);
  const asked = await fetch(begun.location, { redirect: 'manual' });
  expect(asked.status, await asked.text()).toBe(302);
  const back = await visit(asked.headers.get('location') ?? '', { cookie: begun.cookie });
  expect(back.status, back.text).toBe(200);
  await status(hub, admin, 'connected');
  expect(fetched).toEqual([`${publicUrl}/oauth/client-metadata.json`]);
  expect(fixture.exchanges[0]?.get('client_id')).toBe(fetched[0]);
  expect(fixture.registered).toEqual([]);
});

test('a hub without a public address is known by a document that is hosted elsewhere', async () => {
  const fixture = await oauthFixture({ clientDocuments: true, noRegistration: true });
  const clientId = 'https://files.example.com/toolhub.json';
  const { hub, admin } = await guardedHub(fixture, {}, { oauth: { clientId } });
  fixture.switches.documentOf = async () => ({ client_id: clientId, redirect_uris: [`${hub.url}/oauth/callback`] });
  const page = await browse(await shownUrl(hub, admin));
  expect(page.status, page.text).toBe(200);
  await status(hub, admin, 'connected');
  expect(fixture.exchanges[0]?.get('client_id')).toBe(clientId);
});

test('the callback is not below the base path, and needs no login', async () => {
  const fixture = await oauthFixture();
  const { hub, admin } = await guardedHub(fixture, { env: { BASE_PATH: '/hub' } });
  const url = await shownUrl(hub, admin);
  expect((await browse(url)).status).toBe(200);
  expect(fixture.authorizations[0]?.get('redirect_uri')).toBe(`${new URL(hub.url).origin}/oauth/callback`);
  await status(hub, admin, 'connected');
});

test('a credential of the settings stays the only one', async () => {
  const fixture = await oauthFixture();
  const { hub, admin } = await guardedHub(fixture, {}, { headers: { authorization: 'Bearer wrong' } });
  expect((await status(hub, admin, 'disconnected')).error).toMatch(/401/);
  expect(fixture.refusals.every((token) => token === 'wrong')).toBe(true);
  const begun = await api(hub, 'POST', '/servers/mail/oauth/authorize', { token: admin });
  expect(begun.status, begun.text).toBe(409);
});

test('a server that wants a credential and offers no sign-in is named as that, with what to do', async () => {
  const { url, config } = await hostileHttp({ status: 401 });
  const hub = await testHub({ mcpServers: { mail: config } });
  const admin = await login(hub);
  expect(await status(hub, admin, 'disconnected')).toMatchObject({
    error: `${url}/mcp wants a credential, and offers no sign-in (OAuth) that the hub can use. Give it a token in "headers" (Authorization), or name its authorization server in "oauth.issuer".`,
    reason: { code: 'no_sign_in', values: { where: `${url}/mcp` } },
  });
});

test('no token, code or secret is in any answer, log or file', async () => {
  const fixture = await oauthFixture();
  const { hub, admin } = await signedIn(fixture, { env: { LOG_LEVEL: 'debug' } });
  const answers: string[] = [];
  fixture.expireAll();
  answers.push((await call(hub, 'one')).text);
  fixture.switches.refuseRefresh = true;
  fixture.expireAll();
  answers.push((await call(hub, 'two')).text);
  await until('it waits', async () => {
    fixture.expireAll();
    answers.push((await call(hub, 'three')).text);
    return (await serverAnswer(hub, admin)).status === 'oauth_required';
  });
  answers.push((await browse(await shownUrl(hub, admin))).text);
  await status(hub, admin, 'connected');
  for (const path of [
    '/servers',
    '/servers/mail',
    '/logs',
    '/settings',
    '/mcp-settings/export',
    '/activities',
    '/mcp-settings/export?secrets=include',
  ])
    answers.push((await api(hub, 'GET', path, { token: admin })).text);
  await hub.close();
  const files = filesIn(hub.folder);
  expect(files.some((path) => path.endsWith('oauth.sealed') && (statSync(path).mode & 0o777) === 0o600)).toBe(true);
  const everything = [...answers, ...files.map((path) => readFileSync(path, 'latin1'))].join('\n');
  expect(fixture.secrets.length).toBeGreaterThan(6);
  expect(fixture.secrets.filter((secret) => everything.includes(secret))).toEqual([]);
  expect(everything).not.toContain('canary-');
});

/**
 * A signed-in hub whose tokens are being renewed until `release` is called; its server is on its way to the name
 * `post`.
 */
async function renamingWhileRenewed(fixture: OAuthFixture, more: object = {}) {
  const { hub, admin } = await signedIn(fixture, {}, more);
  let release = (): void => undefined;
  fixture.switches.hold = new Promise((resolve) => (release = resolve));
  const before = fixture.exchanges.length;
  fixture.expireAll();
  const waiting = call(hub, 'x');
  await until('it is being renewed', () => fixture.exchanges.length > before);
  const rename = (from: string, newName: string) =>
    api(hub, 'PUT', `/servers/${from}`, { token: admin, body: { newName } });
  const renaming = rename('mail', 'post');
  await until('post is there', async () => (await api(hub, 'GET', '/servers/post', { token: admin })).status === 200);
  return { hub, admin, rename, release, done: () => Promise.all([renaming, waiting]) };
}

test('a server that gets its old name back while its sign-in is still on its way stays signed in to', async () => {
  const fixture = await oauthFixture();
  const { hub, admin, rename, release, done } = await renamingWhileRenewed(fixture);
  const back = rename('post', 'mail');
  await until('mail is there', async () => (await api(hub, 'GET', '/servers/mail', { token: admin })).status === 200);
  release();
  await Promise.all([back, done()]);
  await status(hub, admin, 'connected');
  await until('a call works', async () => said(await call(hub, 'back')) === 'back');
  expect(fixture.authorizations).toHaveLength(1);
});

test('who signs out of a server whose sign-in is still on its way to its new name is signed out', async () => {
  const fixture = await oauthFixture();
  const { hub, admin, release, done } = await renamingWhileRenewed(fixture);
  const out = api(hub, 'POST', '/servers/post/oauth/disconnect', { token: admin });
  await until(
    'it is asked to sign out',
    async () => (await serverAnswer(hub, admin, 'post')).status === 'oauth_required',
  );
  release();
  await done();
  expect((await out).status).toBe(200);
  const answer = await rpc(hub.mcp('post'), 'tools/call', { name: 'echo', arguments: { text: 'out' } });
  expect(said(answer)).toBeUndefined();
});

test('who takes the old name of a server while its sign-in is still on its way has none of it', async () => {
  const fixture = await oauthFixture();
  const { hub, admin, release, done } = await renamingWhileRenewed(fixture);
  await until('post is tried', async () => (await serverAnswer(hub, admin, 'post')).status === 'oauth_required');
  const config = { type: 'streamable-http', url: fixture.url };
  const added = await api(hub, 'POST', '/servers', { token: admin, body: { name: 'mail', config } });
  expect(added.status, added.text).toBe(201);
  await status(hub, admin, 'oauth_required');
  release();
  await done();
  await until('post goes on', async () => (await serverAnswer(hub, admin, 'post')).status === 'connected');
  expect((await serverAnswer(hub, admin)).status).toBe('oauth_required');
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { api, keyToken, login, passwordOf, userToken } from '../kit/api.ts';
import { oauthFixture, type OAuthFixture, type OAuthSwitches } from '../kit/oauth-server.ts';
import { person } from '../kit/person.ts';
import { rpc, stream, type Stream } from '../kit/raw.ts';
import { modernRequest, session } from '../kit/sessions.ts';
import { type SettingsDocument, testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// A server that each user signs in to alone (`oauth.perUser`): no call goes there as another user.

interface Answer {
  readonly name: string;
  readonly status: string;
  readonly error: string | null;
  readonly oauth?: { readonly perUser?: boolean; readonly signedIn?: boolean; readonly authorizationUrl?: string };
}

interface World {
  readonly fixture: OAuthFixture;
  readonly hub: TestHub;
  readonly admin: string;
  readonly ann: string;
  readonly bob: string;
}

const page = (hub: TestHub) => `${hub.url}/oauth/sign-in/mail`;

async function world(
  switches: OAuthSwitches = {},
  more: object = {},
  env: Record<string, string> = {},
): Promise<World> {
  const fixture = await oauthFixture(switches);
  const mail = { type: 'streamable-http', url: fixture.url, oauth: { perUser: true }, visibility: 'public', ...more };
  const systemConfig = { network: { allowedCidrs: ['127.0.0.1/32'] } };
  const hub = await testHub({ mcpServers: { mail }, systemConfig, env });
  const admin = await login(hub);
  const [ann, bob] = [await userToken(hub, admin, 'ann'), await userToken(hub, admin, 'bob')];
  return { fixture, hub, admin, ann, bob };
}

async function signIn(hub: TestHub, name: string): Promise<void> {
  const seen = await person(name).open(page(hub));
  expect(seen.status, seen.text).toBe(200);
}

async function serverAs(hub: TestHub, token: string): Promise<Answer> {
  const { body } = await api(hub, 'GET', '/servers', { token });
  const found = (body.data as Answer[]).find(({ name }) => name === 'mail');
  if (!found) throw new Error('mail is not in the list');
  return found;
}

function statusAs(hub: TestHub, token: string, wanted: string): Promise<Answer> {
  return until(`mail is ${wanted}`, async () => {
    const answer = await serverAs(hub, token);
    if (answer.status !== wanted) throw new Error(JSON.stringify(answer));
    return answer;
  });
}

/** The tools are there: a user has signed in and the server has listed them. */
async function listed(hub: TestHub): Promise<void> {
  await until('the tools are listed', async () => {
    const { result } = await rpc(hub.mcp('mail'), 'tools/list', {});
    return (result?.tools ?? []).length > 0;
  });
}

/** Hubs that may have others beside them take their time (`upstreamLimits.signInSettleMs`). */
async function forgotten(hub: TestHub, admin: string): Promise<void> {
  const path = '/logs?q=forgotten';
  const look = async () => (await api(hub, 'GET', path, { token: admin })).text.includes('a sign-in is forgotten');
  await until('the log says that it is forgotten', look);
}

const bearer = (token: string | undefined) =>
  token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
const call = (hub: TestHub, token: string | undefined, text: string) =>
  rpc(hub.mcp('mail'), 'tools/call', { name: 'echo', arguments: { text } }, bearer(token));
const said = (answer: Awaited<ReturnType<typeof call>>) => answer.result?.content?.[0]?.text;
const callersOf = (fixture: OAuthFixture) => fixture.calls.map(({ account, text }) => `${account}: ${String(text)}`);

test('each user’s calls go with their own sign-in, whatever they come in by', async () => {
  const { fixture, hub, ann, bob } = await world();
  await signIn(hub, 'ann');
  await listed(hub);
  await signIn(hub, 'bob');
  const annsKey = await keyToken(hub, ann, { kind: 'user' });
  const texts = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'ann' : 'bob'));
  const answers = await Promise.all(texts.map((text) => call(hub, text === 'ann' ? ann : bob, text)));
  expect(answers.map(said)).toEqual(texts);
  expect(said(await call(hub, annsKey, 'ann'))).toBe('ann');
  const rest = await api(hub, 'POST', '/tools/call/mail', {
    token: bob,
    body: { toolName: 'echo', arguments: { text: 'bob' } },
  });
  expect(rest.status, rest.text).toBe(200);
  expect(fixture.calls).toHaveLength(22);
  expect(callersOf(fixture).filter((line) => line !== 'ann: ann' && line !== 'bob: bob')).toEqual([]);
  expect(new Set(fixture.calls.map(({ token }) => token)).size).toBe(2);
  // The hub is one client there, for all users.
  expect(fixture.registered).toHaveLength(1);
});

test('the hub registers itself once, however many begin to sign in at the same moment', async () => {
  const { fixture, hub } = await world();
  await Promise.all([signIn(hub, 'ann'), signIn(hub, 'bob')]);
  await listed(hub);
  expect(fixture.registered).toHaveLength(1);
});

test('who has not signed in is told where to, everywhere, and no other user notices', async () => {
  const { fixture, hub, ann, bob } = await world();
  expect(await serverAs(hub, bob)).toMatchObject({
    status: 'oauth_required',
    oauth: { perUser: true, signedIn: false, authorizationUrl: page(hub) },
  });
  await signIn(hub, 'ann');
  await listed(hub);
  expect((await statusAs(hub, ann, 'connected')).oauth).toEqual({ perUser: true, signedIn: true });
  expect((await serverAs(hub, bob)).status).toBe('oauth_required');

  const refused = await call(hub, bob, 'x');
  expect(refused.error?.message).toContain(page(hub));
  expect(refused.error?.data).toEqual({ authorizationUrl: page(hub) });
  const rest = await api(hub, 'POST', '/tools/call/mail', { token: bob, body: { toolName: 'echo', arguments: {} } });
  expect(rest.status).toBe(403);
  expect(rest.body).toMatchObject({ success: false, error: 'oauth_required', authorizationUrl: page(hub) });
  const bare = await api(hub, 'GET', '/tools/mail/echo?text=x', { token: bob });
  expect(bare.status).toBe(403);
  expect(bare.body).toMatchObject({ error: 'oauth_required', authorizationUrl: page(hub) });

  expect(said(await call(hub, ann, 'meanwhile'))).toBe('meanwhile');
  expect(callersOf(fixture)).toEqual(['ann: meanwhile']);
  await signIn(hub, 'bob');
  expect(said(await call(hub, bob, 'at last'))).toBe('at last');
  expect(callersOf(fixture)).toEqual(['ann: meanwhile', 'bob: at last']);
});

test('before any user has signed in, a call by name says where to', async () => {
  const { hub, admin, bob } = await world();
  await until('the server has said that it wants a sign-in', async () => {
    const { servers } = await hub.health();
    return servers.connected === 0 && (await serverAs(hub, admin)).status === 'oauth_required';
  });
  const rest = await api(hub, 'POST', '/tools/call/mail', { token: bob, body: { toolName: 'echo', arguments: {} } });
  expect(rest.status, rest.text).toBe(403);
  expect(rest.body).toMatchObject({ error: 'oauth_required', authorizationUrl: page(hub) });
});

test('anonymous callers and keys without an owner use no sign-in', async () => {
  const { fixture, hub, admin } = await world();
  await signIn(hub, 'ann');
  await listed(hub);
  const key = await keyToken(hub, admin, { accessType: 'all' });
  expect((await call(hub, undefined, 'x')).error?.message).toMatch(/Log in to the hub first/);
  expect((await call(hub, key, 'x')).error?.message).toMatch(/this access key has no owner/);
  const bare = await api(hub, 'GET', '/tools/mail/echo?text=x');
  expect(bare.status).toBe(401);
  expect(bare.text).not.toContain('/oauth/sign-in');
  expect(fixture.calls).toEqual([]);
});

test('tools are listed with the sign-in of the owner, or of the first user, and that ends with it', async () => {
  const { fixture, hub, ann, bob } = await world({}, { owner: 'bob', publishedBy: 'admin' });
  await signIn(hub, 'ann');
  await listed(hub);
  expect(new Set(fixture.listings)).toEqual(new Set(['ann']));
  await signIn(hub, 'bob');
  expect(said(await call(hub, bob, 'x'))).toBe('x');
  expect((await api(hub, 'POST', '/servers/mail/oauth/disconnect', { token: ann })).status).toBe(200);
  await until('bob lists', () => fixture.listings.at(-1) === 'bob');
  expect((await call(hub, ann, 'y')).error?.message).toContain(page(hub));
  expect(said(await call(hub, bob, 'z'))).toBe('z');
  expect(callersOf(fixture)).toEqual(['bob: x', 'bob: z']);
});

test('one user’s sign-in that ends in the middle ends no other', async () => {
  const { fixture, hub, ann, bob } = await world();
  await signIn(hub, 'ann');
  await listed(hub);
  await signIn(hub, 'bob');
  expect([said(await call(hub, ann, '1')), said(await call(hub, bob, '2'))]).toEqual(['1', '2']);
  fixture.endSignInOf('bob');
  const refused = await call(hub, bob, '3');
  expect(refused.error?.message).toContain(page(hub));
  expect(refused.error?.data).toEqual({ authorizationUrl: page(hub) });
  expect((await serverAs(hub, bob)).status).toBe('oauth_required');
  expect(said(await call(hub, ann, '4'))).toBe('4');
  // And the tools stay when it is the one who lists them.
  fixture.endSignInOf('ann');
  expect((await call(hub, ann, '5')).error?.message).toContain(page(hub));
  await signIn(hub, 'bob');
  expect(said(await call(hub, bob, '6'))).toBe('6');
  await signIn(hub, 'ann');
  expect(said(await call(hub, ann, '7'))).toBe('7');
  expect(callersOf(fixture)).toEqual(['ann: 1', 'bob: 2', 'ann: 4', 'bob: 6', 'ann: 7']);
});

test('a hundred calls of two users that find their tokens expired renew each of them once', async () => {
  const { fixture, hub, ann, bob } = await world();
  await signIn(hub, 'ann');
  await listed(hub);
  await signIn(hub, 'bob');
  await Promise.all([call(hub, ann, 'warm'), call(hub, bob, 'warm')]);
  fixture.expireAll();
  const texts = Array.from({ length: 100 }, (_, i) => `${i % 2 === 0 ? 'ann' : 'bob'} ${i}`);
  const answers = await Promise.all(texts.map((text) => call(hub, text.startsWith('ann') ? ann : bob, text)));
  expect(answers.map(said)).toEqual(texts);
  expect(fixture.calls.filter(({ account, text }) => text !== 'warm' && !String(text).startsWith(account))).toEqual([]);
  expect(fixture.exchanges.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(2);
});

test('sign-ins survive a restart, each as whose it was', async () => {
  const { fixture, hub } = await world();
  await signIn(hub, 'ann');
  await listed(hub);
  await signIn(hub, 'bob');
  await hub.close();
  const sealed = readFileSync(join(hub.folder, 'data', 'oauth.sealed'), 'latin1');
  expect(fixture.secrets.filter((secret) => sealed.includes(secret))).toEqual([]);
  const next = await testHub({ folder: hub.folder });
  await listed(next);
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((name) => login(next, name, `password of ${name}`)));
  expect(said(await call(next, bob, 'b'))).toBe('b');
  expect(said(await call(next, ann, 'a'))).toBe('a');
  expect(callersOf(fixture)).toEqual(['bob: b', 'ann: a']);
  expect(fixture.authorizations).toHaveLength(2);
});

test('a server that is renamed stays signed in to, each as whose it was', async () => {
  const { fixture, hub, admin, ann, bob } = await world();
  await signIn(hub, 'ann');
  await listed(hub);
  await signIn(hub, 'bob');
  const { status } = await api(hub, 'PUT', '/servers/mail', { token: admin, body: { newName: 'post' } });
  expect(status).toBe(200);
  const texts = ['ann', 'bob'];
  for (const [i, token] of [ann, bob].entries())
    await until('a call works', async () => {
      const call = { name: 'echo', arguments: { text: texts[i] } };
      return said(await rpc(hub.mcp('post'), 'tools/call', call, bearer(token))) === texts[i];
    });
  expect(callersOf(fixture)).toEqual(['ann: ann', 'bob: bob']);
  expect(fixture.authorizations).toHaveLength(2);
  // The next server of the old name has none of it.
  const mail = { type: 'streamable-http', url: fixture.url, oauth: { perUser: true }, visibility: 'public' };
  await api(hub, 'POST', '/servers', { token: admin, body: { name: 'mail', config: mail } });
  expect((await serverAs(hub, ann)).oauth?.signedIn).toBe(false);
});

test('a new user with the name of a deleted one does not get their sign-in', async () => {
  const { fixture, hub, admin, ann } = await world();
  await signIn(hub, 'ann');
  await listed(hub);
  expect(said(await call(hub, ann, 'mine'))).toBe('mine');
  await signIn(hub, 'bob');
  expect((await api(hub, 'DELETE', '/users/ann', { token: admin })).status).toBe(200);
  const other = await userToken(hub, admin, 'ann');
  expect((await serverAs(hub, other)).oauth?.signedIn).toBe(false);
  expect((await call(hub, other, 'not mine')).error?.message).toContain(page(hub));
  expect(callersOf(fixture)).toEqual(['ann: mine']);
});

test.each<[when: string, at: 'holdMetadata' | 'hold', asked: (fixture: OAuthFixture) => number]>([
  ['begun', 'holdMetadata', ({ asked }) => asked.length],
  ['finished', 'hold', ({ exchanges }) => exchanges.length],
])('a sign-in that is being %s is not that of the next user of the name', async (_, at, asked) => {
  const { fixture, hub, ann } = await world();
  const before = asked(fixture);
  let release = (): void => undefined;
  fixture.switches[at] = new Promise((resolve) => (release = resolve));
  const signingIn = person('ann').open(page(hub));
  await until('it has got that far', () => asked(fixture) > before);
  // Both in one change, as a hub sees it that shares its settings with others.
  const document = JSON.parse(readFileSync(hub.settingsPath, 'utf8')) as SettingsDocument;
  const isAnn = (user: Record<string, unknown>) => user['username'] === 'ann';
  const createdAt = new Date().toISOString();
  const users = document.users?.map((user) => (isAnn(user) ? { ...user, createdAt } : user)) ?? [];
  hub.write({ ...document, users });
  await until(
    'the first ann is gone',
    async () => (await api(hub, 'GET', '/auth/user', { token: ann })).status === 401,
  );
  release();
  expect((await signingIn).status).toBe(403);
  const again = await login(hub, 'ann', passwordOf('ann'));
  expect((await serverAs(hub, again)).oauth?.signedIn).toBe(false);
});

test('who loses the server loses the sign-in with it', async () => {
  const { fixture, hub, admin, ann } = await world({}, {}, { LOG_LEVEL: 'info' });
  await signIn(hub, 'ann');
  await listed(hub);
  await api(hub, 'PUT', '/servers/mail', { token: admin, body: { config: { visibility: 'private' } } });
  const seen = await person('ann').open(page(hub));
  expect(seen.status).toBe(404);
  await forgotten(hub, admin);
  await api(hub, 'PUT', '/servers/mail', { token: admin, body: { config: { visibility: 'public' } } });
  expect((await serverAs(hub, ann)).oauth?.signedIn).toBe(false);
  expect(fixture.calls).toEqual([]);
});

test('a sign-in for all users is for none once users sign in alone, and the other way round', async () => {
  const { fixture, hub, admin, ann, bob } = await world({}, { oauth: {} }, { LOG_LEVEL: 'info' });
  await statusAs(hub, admin, 'oauth_required');
  expect((await person().open(page(hub))).status).toBe(200);
  await listed(hub);
  expect(said(await call(hub, ann, 'as the admin'))).toBe('as the admin');
  const change = (oauth: object) => api(hub, 'PUT', '/servers/mail', { token: admin, body: { config: { oauth } } });
  expect((await change({ perUser: true })).status).toBe(200);
  await statusAs(hub, ann, 'oauth_required');
  await forgotten(hub, admin);
  await signIn(hub, 'ann');
  await until('ann is in', async () => said(await call(hub, ann, 'as ann')) === 'as ann');
  expect((await call(hub, bob, 'x')).error?.message).toContain(page(hub));
  expect((await change({})).status).toBe(200);
  await until('it is everybody’s again', async () => (await serverAs(hub, admin)).oauth?.perUser === undefined);
  await statusAs(hub, admin, 'oauth_required');
  expect((await call(hub, bob, 'x')).error).toBeDefined();
  expect(callersOf(fixture)).toEqual(['admin: as the admin', 'ann: as ann']);
});

describe('what a server says unasked', () => {
  const uri = 'mail://inbox';
  const updated = (mark: string) => ({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri, mark },
  });
  const told = ({ messages }: Stream) =>
    messages.flatMap(({ method, params }) => (method === updated('').method ? [params?.['mark']] : []));
  const requests = (fixture: OAuthFixture, account: string, method: string) =>
    fixture.requests.filter((one) => one.account === account && one.method === method).map(({ params }) => params);
  const sessionOf = (hub: TestHub, token: string) => session(hub.mcp('mail'), bearer(token));

  /**
   * The admin has signed in first, and is who the tools are listed for; ann and bob come in by sessions, keys and
   * without a session.
   */
  async function all() {
    const own = await world({ resources: [uri] });
    const { hub, ann, bob } = own;
    await signIn(hub, 'admin');
    await listed(hub);
    for (const name of ['ann', 'bob']) await signIn(hub, name);
    return {
      ...own,
      keys: { ann: await keyToken(hub, ann, { kind: 'user' }), bob: await keyToken(hub, bob, { kind: 'user' }) },
    };
  }

  test('of changed resources reaches all clients of the user whose sign-in hears of them, and no others', async () => {
    const { fixture, hub, ann, bob, keys } = await all();
    const clientsOf = async (tokens: string[]) => {
      const sessions = await Promise.all(tokens.map((token) => sessionOf(hub, token)));
      const streams = await Promise.all(sessions.map((own) => own.listen()));
      for (const own of sessions) expect((await own.request('resources/subscribe', { uri })).result).toEqual({});
      const notifications = { resourceSubscriptions: [uri] };
      for (const token of tokens) {
        const request = modernRequest('subscriptions/listen', { notifications }, { id: 'sub', ...bearer(token) });
        const open = await stream(hub.mcp('mail'), { method: 'POST', ...request });
        const first = await open.message('the acknowledgement', ({ method }) => method !== undefined);
        expect(first.params?.['notifications']).toEqual(notifications);
        streams.push(open);
      }
      return streams;
    };
    const anns = await clientsOf([ann, keys.ann]);
    const bobs = await clientsOf([bob, keys.bob]);
    const say = (account: string, mark: string) =>
      until(`${account} is listened to`, () => fixture.say(account, updated(mark)) > 0);
    await say('ann', 'of ann');
    await until('all of ann’s hear it', () => anns.every((one) => told(one).length > 0));
    await say('bob', 'of bob');
    await until('all of bob’s hear it', () => bobs.every((one) => told(one).length > 0));
    await say('admin', 'of the one who lists');
    await say('ann', 'a fence');
    await until('all of ann’s hear it', () => anns.every((one) => told(one).includes('a fence')));
    expect(anns.map(told)).toEqual(anns.map(() => ['of ann', 'a fence']));
    expect(bobs.map(told)).toEqual(bobs.map(() => ['of bob']));
    // However many clients a user has, the server is asked once.
    const asked = (account: string) => requests(fixture, account, 'resources/subscribe');
    expect(['admin', 'ann', 'bob'].map((account) => asked(account).length)).toEqual([0, 1, 1]);

    // Who signed out hears nothing until they have signed in again.
    expect((await api(hub, 'POST', '/servers/mail/oauth/disconnect', { token: ann })).status).toBe(200);
    await until('no stream is open for ann', () => fixture.say('ann', updated('too late')) === 0);
    await signIn(hub, 'ann');
    await until('it is asked again', () => asked('ann').length === 2);
    await say('ann', 'again');
    await until('all of ann’s hear it', () => anns.every((one) => told(one).includes('again')));
    expect(bobs.map(told)).toEqual(bobs.map(() => ['of bob']));
  });

  test('is as much as the user’s clients asked for', async () => {
    const { fixture, hub, ann, bob, keys } = await all();
    const levels = (account: string) => requests(fixture, account, 'logging/setLevel').map(({ level }) => level);
    // Before there is a connection, and while there is one.
    const early = await sessionOf(hub, ann);
    expect((await early.request('logging/setLevel', { level: 'debug' })).result).toEqual({});
    expect((await early.call('echo', { text: 'x' })).result?.content?.[0]?.text).toBe('x');
    await until('it is told as ann', () => levels('ann').at(-1) === 'debug');
    const late = await sessionOf(hub, keys.bob);
    expect(said(await call(hub, bob, 'y'))).toBe('y');
    expect(levels('bob')).toEqual([]);
    await late.request('logging/setLevel', { level: 'debug' });
    await until('it is told as bob', () => levels('bob').at(-1) === 'debug');
    expect([levels('ann'), levels('bob')]).toEqual([['debug'], ['debug']]);
  });
});

test('only admins have users sign in to a server, and say where their tokens go', async () => {
  const fixture = await oauthFixture();
  const hub = await testHub({ mcpServers: {}, systemConfig: { network: { allowedCidrs: ['127.0.0.1/32'] } } });
  const admin = await login(hub);
  const ann = await userToken(hub, admin, 'ann');
  const config = { type: 'streamable-http', url: fixture.url, oauth: { perUser: true } };
  const made = await api(hub, 'POST', '/servers', { token: ann, body: { name: 'mail', config } });
  expect(made.status, made.text).toBe(403);
  const owned = { ...config, owner: 'ann' };
  expect((await api(hub, 'POST', '/servers', { token: admin, body: { name: 'mail', config: owned } })).status).toBe(
    201,
  );
  const oauth = { perUser: true, tokenEndpoint: 'https://evil.example/token' };
  for (const change of [{ oauth }, { url: 'https://evil.example/mcp' }]) {
    const answer = await api(hub, 'PUT', '/servers/mail', { token: ann, body: { config: change } });
    expect(answer.status, answer.text).toBe(403);
  }
  const harmless = await api(hub, 'PUT', '/servers/mail', { token: ann, body: { config: { description: 'Mail.' } } });
  expect(harmless.status, harmless.text).toBe(200);
});

test('signing out ends one user’s sign-in; all sign-ins end with the registration', async () => {
  const { fixture, hub, admin, ann, bob } = await world();
  await signIn(hub, 'ann');
  await listed(hub);
  await signIn(hub, 'bob');
  const out = (token: string, scope: string) =>
    api(hub, 'POST', '/servers/mail/oauth/disconnect', { token, body: { scope } });
  expect((await out(ann, 'all')).status).toBe(403);
  expect((await out(ann, 'tokens')).status).toBe(200);
  expect(fixture.revoked).toHaveLength(2);
  expect(said(await call(hub, bob, 'still'))).toBe('still');
  const all = await out(admin, 'all');
  expect(all.status, all.text).toBe(200);
  expect(fixture.revoked).toHaveLength(4);
  expect((await call(hub, bob, 'x')).error?.message).toContain(page(hub));
  await signIn(hub, 'bob');
  // The connection that lists and the user who signs in may both have begun with none.
  expect(fixture.registered.length).toBeGreaterThan(1);
});

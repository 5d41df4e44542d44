import { beforeAll, describe, expect, test } from 'vitest';
import { api, cookieLogin, login, userToken } from '../kit/api.ts';
import { authorize, fieldsOf, type HandClient, handClient, submit } from '../kit/authorizing.ts';
import { browser, clientId, clientSecret, type Company, company } from '../kit/company.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { raw, rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// A client whose token has lost what it stands on asks, is refused, and asks again. Each step ends in a state that
// tells client and person what to do, and none leads back to where they came from.

let hub: TestHub;
let corp: Company;
let admin: string;
beforeAll(async () => {
  corp = await company();
  const alpha = await hostileHttp({ name: 'alpha', tools: ['read'] });
  const oidc = [{ id: 'corp', name: 'Corp', issuer: corp.issuer, clientId, clientSecret, scopes: ['email'] }];
  hub = await testHub({
    mcpServers: { alpha: alpha.config },
    systemConfig: { routing: { enableBearerAuth: true }, auth: { oidc } },
  });
  await corp.open(hub.url, 'corp');
  admin = await login(hub);
  await hub.connected(1);
});

/** Asks for the tools: their names, or the whole answer where it is refused. */
async function tools(token: string, scope = '') {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await rpc(hub.mcp(scope), 'tools/list', {}, { headers });
  return answer.status === 200 ? (answer.result?.tools?.map(({ name }) => name) ?? []) : answer;
}

/** What every client acts upon: the status, and where it finds out how to come in. */
async function mustBeTurnedAway(token: string, scope = ''): Promise<void> {
  const answer = await tools(token, scope);
  const { status, headers } = Array.isArray(answer) ? { status: 200, headers: {} } : answer;
  const path = new URL(hub.mcp(scope)).pathname;
  expect([status, 'www-authenticate' in headers && headers['www-authenticate']]).toEqual([
    401,
    `Bearer error="invalid_token", error_description="The access token is not valid.", resource_metadata="${hub.url}/.well-known/oauth-protected-resource${path}"`,
  ]);
}

let people = 0;

/** A user, and a client with tokens that they let in. */
async function letIn(more: Record<string, string> = {}) {
  const username = `person${people++}`;
  await userToken(hub, admin, username, { servers: ['alpha'] });
  const client = await handClient(hub.url);
  const { body } = await client.redeem(await authorize(client.address(more), { username }));
  return { username, client, access: body.access_token, refresh: body.refresh_token };
}

/** Opens the address that a client gives its user, and logs in: each page, and where the browser was sent. */
async function pages(client: HandClient, username: string, password: string) {
  const opened = await fetch(client.address(), { redirect: 'manual' });
  const fields = { ...fieldsOf(await opened.text()), username, password };
  const loggedIn = await submit(client.address(), fields);
  const text = await loggedIn.text();
  return {
    statuses: [opened.status, loggedIn.status],
    sentTo: [opened, loggedIn].map(({ headers }) => headers.get('location')),
    text,
    decide: () => submit(client.address(), { ...fieldsOf(text), decision: 'allow', reach: 'all' }),
  };
}

describe('a token that has lost', () => {
  const grantOf = async (username: string) => {
    const grants = (await api(hub, 'GET', '/auth/grants', { token: admin })).body.data as Record<string, string>[];
    return grants.find((grant) => grant['username'] === username)?.['id'] ?? '';
  };
  const change = (method: string, path: string, body?: unknown) => api(hub, method, path, { token: admin, body });

  test.each<[string, (username: string) => Promise<string>]>([
    [
      'its consent',
      async (username) => {
        await change('DELETE', `/auth/grants/${await grantOf(username)}`);
        return `password of ${username}`;
      },
    ],
    [
      'the password of its user',
      async (username) => {
        await change('PUT', `/users/${username}`, { password: 'another password' });
        return 'another password';
      },
    ],
    [
      'its account, in whose place there is another one',
      async (username) => {
        await change('DELETE', `/users/${username}`);
        await userToken(hub, admin, username, { servers: ['alpha'] });
        return `password of ${username}`;
      },
    ],
  ])('%s is refused, its refresh token too, and one more login brings the client back', async (_, lose) => {
    const { username, client, access, refresh } = await letIn();
    expect(await tools(access)).toEqual(['alpha-read']);
    const password = await lose(username);
    for (let again = 0; again < 2; again++) {
      await mustBeTurnedAway(access);
      const renewed = await client.refresh(refresh);
      expect([renewed.status, renewed.body.error]).toEqual([400, 'invalid_grant']);
    }
    const { statuses, sentTo, decide } = await pages(client, username, password);
    expect([statuses, sentTo]).toEqual([
      [200, 200],
      [null, null],
    ]);
    const back = new URL((await decide()).headers.get('location') ?? '');
    expect(`${back.origin}${back.pathname}`).toBe(client.redirectUri);
    const { body } = await client.redeem(back);
    expect(await tools(body.access_token)).toEqual(['alpha-read']);
    expect((await client.refresh(body.refresh_token)).status).toBe(200);
  });

  test('its account for good is refused on the login page, which leads nowhere', async () => {
    const { username, client, access, refresh } = await letIn();
    await change('DELETE', `/users/${username}`);
    await mustBeTurnedAway(access);
    expect((await client.refresh(refresh)).body.error).toBe('invalid_grant');
    const { statuses, sentTo, text } = await pages(client, username, `password of ${username}`);
    expect([statuses, sentTo]).toEqual([
      [200, 401],
      [null, null],
    ]);
    expect(text).toContain('role="alert"');
  });

  test('its rights is good, and has nothing: another login would change nothing', async () => {
    const { username, access } = await letIn();
    await change('PUT', `/users/${username}`, { servers: [] });
    expect(await tools(access)).toEqual([]);
  });

  test('no endpoint but the one it is for is refused elsewhere, where a login for that one helps', async () => {
    const { username, client, access } = await letIn({ resource: hub.mcp('alpha') });
    expect(await tools(access, 'alpha')).toEqual(['read']);
    await mustBeTurnedAway(access);
    const { body } = await client.redeem(await authorize(client.address(), { username }));
    expect(await tools(body.access_token)).toEqual(['alpha-read']);
  });

  test('the account while the page of the consent was open is told so there', async () => {
    const { username, client } = await letIn();
    const { decide } = await pages(client, username, `password of ${username}`);
    await change('PUT', `/users/${username}`, { password: 'another password' });
    const answer = await decide();
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    expect(await answer.text()).toContain('Begin again in the app.');
  });

  test('the account before its code came back gets no token, and says so as a code that is none', async () => {
    const { username, client } = await letIn();
    const back = await authorize(client.address(), { username });
    await change('PUT', `/users/${username}`, { password: 'another password' });
    const { status, body } = await client.redeem(back);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  test('the authorization server is told of none, and finds none', async () => {
    const at = await testHub({ mcpServers: {}, systemConfig: { routing: { enableBearerAuth: true } } });
    const client = await handClient(at.url);
    const { body } = await client.redeem(await authorize(client.address()));
    const token = await login(at);
    await api(at, 'PUT', '/system-config', { token, body: { oauthServer: { enabled: false } } });
    const headers = { authorization: `Bearer ${body.access_token}` };
    const refused = await rpc(at.mcp(), 'tools/list', {}, { headers });
    expect(refused.status).toBe(401);
    const [, metadata = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers['www-authenticate'] ?? '') ?? [];
    expect((await raw(metadata, { method: 'GET' })).text).not.toContain('authorization_servers');
    const page = await fetch(client.address(), { redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([404, null]);
  });
});

describe('a browser', () => {
  /** The way through the provider, from the login page of a client. */
  async function sent(client: HandClient, at = browser()) {
    const text = await (await at.once(client.address())).text();
    const link = /href="([^"]*\/oidc\/corp\/start[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const visited: string[] = [];
    const { url, answer } = await at.go(new URL(link, hub.url).href, (next) => {
      visited.push(next);
      return false;
    });
    return { at, url, answer, visited };
  }

  test('with a session of the dashboard, or one that has ended, gets the login page and no other', async () => {
    const client = await handClient(hub.url);
    const { headers } = await cookieLogin(hub);
    for (const cookie of [headers.cookie, 'toolhub_session=ended']) {
      const page = await fetch(client.address(), { redirect: 'manual', headers: { cookie } });
      expect([page.status, page.headers.get('location')]).toEqual([200, null]);
      expect(await page.text()).toContain('name="password"');
    }
  });

  test('comes back from the provider to the consent once, and is not sent again for the same login', async () => {
    await api(hub, 'POST', '/users', { token: admin, body: { username: 'ann', email: 'ann@corp.example' } });
    corp.people['s1'] = { email: 'ann@corp.example', email_verified: true };
    corp.person = 's1';
    const { at, url, answer, visited } = await sent(await handClient(hub.url));
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('name="decision"');
    expect(visited.filter((next) => next.startsWith(`${hub.url}/oauth/authorize`))).toEqual([url]);
    expect(new Set(visited).size).toBe(visited.length);
    for (const next of [url, ...visited.filter((address) => address.includes('/callback'))]) {
      const again = await at.once(next);
      expect([again.status, again.headers.get('location')], next).toEqual([400, null]);
    }
  });

  test('of a person whom the hub does not know, or the provider turned away, ends on a page', async () => {
    corp.people['s9'] = { email: 'stranger@corp.example', email_verified: true };
    corp.person = 's9';
    const { answer, visited } = await sent(await handClient(hub.url));
    expect([answer.status, answer.headers.get('location')]).toEqual([403, null]);
    expect(visited.filter((next) => next.startsWith(`${hub.url}/oauth/authorize`))).toEqual([]);
    const at = browser();
    const begun = await at.once(`${hub.url}/api/auth/oidc/corp/start`);
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? '';
    const refused = new URLSearchParams({ error: 'access_denied', state });
    const turnedAway = await at.once(`${hub.url}/api/auth/oidc/corp/callback?${refused.toString()}`);
    expect([turnedAway.status, turnedAway.headers.get('location')]).toEqual([403, null]);
  });
});

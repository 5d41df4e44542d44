import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { fieldsOf, handClient, submit } from '../kit/authorizing.ts';
import { browser, clientId, clientSecret, type Company, company } from '../kit/company.ts';
import { sharedPostgres } from '../kit/databases.ts';
import { testIssuer } from '../kit/issuer.ts';
import { rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Two hubs that share a PostgreSQL, behind one address: a login at a provider is begun at one of them and finished at
// the other, and what ends at one has ended at the other.

const address = 'https://hub.example';
let corp: Company;
let url: string;
let first: TestHub;
let second: TestHub;
let admin: string;

beforeAll(async () => {
  corp = await company();
  url = await (await sharedPostgres()).createDatabase();
  const env = { DB_URL: url, JWT_SECRET: 'a secret of all hubs that share this database', INSTALL_BASE_URL: address };
  const provider = {
    id: 'corp',
    issuer: corp.issuer,
    clientId,
    clientSecret,
    signUp: 'auto',
    scopes: ['profile', 'groups'],
    groups: { eng: ['dev'] },
  };
  const systemConfig = { auth: { oidc: [provider] } };
  first = await testHub({ mcpServers: {}, groups: [{ id: 'g-dev', name: 'dev', servers: [] }], systemConfig, env });
  second = await testHub({ mcpServers: {}, env });
  await corp.open(address, 'corp');
  admin = await login(first);
});

/** What a balancer does: an address of the hubs, at this one of them. */
const at = (hub: TestHub, url: string) => url.replace(address, hub.url);

function cookiesIn(answer: Response): string {
  const set = answer.headers.getSetCookie().filter((line) => !/max-age=0/i.test(line));
  return set.map((line) => line.split(';', 1)[0]).join('; ');
}

const visit = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { cookie } });

/** Begins at one hub; the address with which the provider sends the browser back, and the browser's cookies. */
async function begun(hub: TestHub, person: string, path = '/api/auth/oidc/corp/start') {
  corp.person = person;
  const start = await visit(`${hub.url}${path}`);
  const { url } = await browser().go(start.headers.get('location') ?? '', (to) => to.startsWith(address));
  return { url, cookie: cookiesIn(start) };
}

async function loggedIn(person: string): Promise<string> {
  const { url, cookie } = await begun(first, person);
  const answer = await visit(at(second, url), cookie);
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/']);
  return cookiesIn(answer);
}

const statusAt = async (hub: TestHub, cookie: string) => (await visit(`${hub.url}/api/auth/user`, cookie)).status;

test('a login is begun at one and finished at the other, once', async () => {
  corp.people['s1'] = { preferred_username: 'ann' };
  const { url, cookie } = await begun(first, 's1');
  expect((await visit(at(second, url))).status).toBe(400);
  const answer = await visit(at(second, url), cookie);
  expect(answer.status).toBe(302);
  // Also at the one that has not heard of the new account yet.
  for (const hub of [first, second]) expect(await statusAt(hub, cookiesIn(answer))).toBe(200);
  for (const hub of [second, first]) {
    const again = await visit(at(hub, url), cookie);
    expect(again.status).toBeGreaterThanOrEqual(400);
    expect(again.headers.getSetCookie().join()).not.toContain('toolhub_session=');
  }
});

test('persons who come first at both at once have one account each', async () => {
  corp.people['s2'] = { preferred_username: 'bob' };
  const [one, two] = [await begun(first, 's2'), await begun(second, 's2')];
  const answers = await Promise.all([visit(at(second, one.url), one.cookie), visit(at(first, two.url), two.cookie)]);
  expect(answers.map(({ status }) => status)).toEqual([302, 302]);
  const { body } = await api(first, 'GET', '/users', { token: admin });
  expect((body.data as { username: string }[]).filter(({ username }) => username.startsWith('bob'))).toHaveLength(1);
});

test('the way back to the consent of a client leads over both', async () => {
  corp.people['s3'] = { preferred_username: 'cleo' };
  const client = await handClient(first.url);
  const page = await (await fetch(client.address({ resource: `${address}/mcp` }))).text();
  const link = /href="([^"]*\/oidc\/corp\/start[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const { url, cookie } = await begun(first, 's3', link);
  const back = await visit(at(second, url), cookie);
  const location = back.headers.get('location') ?? '';
  expect(location).toContain(`${address}/oauth/authorize?back=`);
  const consent = await visit(at(first, location), cookiesIn(back));
  const text = await consent.text();
  expect([consent.status, text]).toEqual([200, expect.stringContaining('<strong>cleo</strong>')]);
  const fields = new URLSearchParams({ ...fieldsOf(text), decision: 'allow', reach: 'all' });
  const decided = new URL((await submit(at(second, location), fields)).headers.get('location') ?? '');
  expect(decided.searchParams.get('code')).toBeTruthy();
});

test('one of them asks the provider again for the groups, however many requests come', async () => {
  corp.people['s5'] = { preferred_username: 'fay', groups: [] };
  const cookie = await loggedIn('s5');
  // As if it were long ago.
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`update toolhub.sessions set content = jsonb_set(content, '{provider,refresh,at}', '1')`);
  await client.end();
  corp.people['s5'] = { preferred_username: 'fay', groups: ['eng'] };
  const asked = corp.refreshTokens.length;
  const hubs = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? first : second));
  await Promise.all(hubs.map((hub) => statusAt(hub, cookie)));
  for (const hub of [first, second])
    await until('the group is there', async () =>
      (await (await visit(`${hub.url}/api/auth/user`, cookie)).text()).includes('g-dev'),
    );
  expect(corp.refreshTokens.length).toBe(asked + 1);
  await Promise.all(hubs.map((hub) => statusAt(hub, cookie)));
  expect(corp.refreshTokens.length).toBe(asked + 1);
});

test('what ends at one has ended at the other: by the provider, by an admin, and with the provider', async () => {
  const ended = (cookie: string) => until('the session has ended', async () => (await statusAt(first, cookie)) === 401);
  corp.people['s4'] = { preferred_username: 'dan' };
  const ends: [string, () => Promise<unknown>][] = [
    [
      'back-channel logout',
      async () =>
        fetch(`${second.url}/api/auth/oidc/corp/backchannel-logout`, {
          method: 'POST',
          body: new URLSearchParams({ logout_token: await corp.logoutToken({ sub: 's4' }) }),
        }),
    ],
    ['an admin', () => api(second, 'DELETE', '/users/dan/sessions', { token: admin })],
    ['the settings', () => api(second, 'PUT', '/system-config', { token: admin, body: { auth: { oidc: [] } } })],
  ];
  for (const [, end] of ends) {
    const cookie = await loggedIn('s4');
    expect(await statusAt(first, cookie)).toBe(200);
    await end();
    await ended(cookie);
  }
});

test('a person whom a proxy names to both at once has one account', async () => {
  const gate = await testIssuer();
  const jwks = { uri: `${gate.url}/keys`, issuer: gate.url, audience: ['hub'] };
  const body = { auth: { forwardAuth: { enabled: true, header: 'x-proxy-says', jwks } } };
  expect((await api(first, 'PUT', '/system-config', { token: admin, body })).status).toBe(200);
  const headers = { 'x-proxy-says': await gate.sign({ aud: 'hub', preferred_username: 'eve' }) };
  const nameAt = async (hub: TestHub) =>
    ((await api(hub, 'GET', '/auth/user', { headers })).body['user'] as { username: string } | undefined)?.username;
  await until('the second hub has the settings', async () => (await nameAt(second)) === 'eve');
  expect(await nameAt(first)).toBe('eve');
  expect((await rpc(first.mcp(), 'tools/list', {}, { headers })).status).toBe(200);
  expect((await api(second, 'DELETE', '/users/eve', { token: admin })).status).toBe(200);
  await until('it has ended at the first', async () => (await nameAt(first)) === undefined);
});

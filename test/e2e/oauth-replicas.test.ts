import { cpSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { databaseLimits } from '../../src/database/limits.ts';
import { api, login, userToken } from '../kit/api.ts';
import { sharedPostgres } from '../kit/databases.ts';
import { setLimits } from '../kit/limits.ts';
import { oauthFixture, type OAuthFixture } from '../kit/oauth-server.ts';
import { person } from '../kit/person.ts';
import { rpc } from '../kit/raw.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Hubs that share a PostgreSQL share the sign-ins to servers: one counts for all, tokens are renewed by one of them.

const jwt = 'a secret of all hubs that share this database';

interface Pair {
  readonly fixture: OAuthFixture;
  readonly url: string;
  readonly hubs: readonly [TestHub, TestHub];
}

async function pair(oauth: object, env: Record<string, string> = { JWT_SECRET: jwt }): Promise<Pair> {
  const fixture = await oauthFixture();
  const url = await (await sharedPostgres()).createDatabase();
  const mail = { type: 'streamable-http', url: fixture.url, oauth, visibility: 'public' };
  const first = await testHub({ mcpServers: { mail }, env: { DB_URL: url, ...env } });
  const second = await testHub({ mcpServers: {}, env: { DB_URL: url, ...env } });
  return { fixture, url, hubs: [first, second] };
}

async function rowsOf<T extends pg.QueryResultRow>(url: string, sql: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client(url);
  try {
    await client.connect();
    return (await client.query<T>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

const page = (hub: TestHub) => `${hub.url}/oauth/sign-in/mail`;
const call = (hub: TestHub, token: string | undefined, text: string) =>
  rpc(
    hub.mcp('mail'),
    'tools/call',
    { name: 'echo', arguments: { text } },
    token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
  );
const said = (answer: Awaited<ReturnType<typeof call>>) => answer.result?.content?.[0]?.text;

async function works(hub: TestHub, token: string | undefined, text: string): Promise<void> {
  await until(`a call works: ${text}`, async () => said(await call(hub, token, text)) === text);
}

async function waits(hub: TestHub, token: string): Promise<void> {
  await until('the server waits for a sign-in', async () => {
    const { body } = await api(hub, 'GET', '/servers/mail', { token });
    return (body.data as { status: string }).status === 'oauth_required';
  });
}

const renewals = (fixture: OAuthFixture) =>
  fixture.exchanges.filter((form) => form.get('grant_type') === 'refresh_token').length;

test('one sign-in counts for both hubs, also after a restart of one with an empty folder', async () => {
  const { fixture, url, hubs } = await pair({});
  const [first, second] = hubs;
  await waits(first, await login(first));
  await waits(second, await login(second));
  const seen = await person().open(page(first));
  expect(seen.status, seen.text).toBe(200);
  await works(first, undefined, 'first');
  await works(second, undefined, 'second');
  await second.close();
  const third = await testHub({ mcpServers: {}, env: { DB_URL: url, JWT_SECRET: jwt } });
  await works(third, undefined, 'third');
  expect(fixture.authorizations).toHaveLength(1);
  expect(fixture.calls.every(({ account }) => account === 'admin')).toBe(true);
});

test('a sign-in that begins at one hub can end at the other, once', async () => {
  const { fixture, hubs } = await pair({ perUser: true });
  const [first, second] = hubs;
  const ann = await userToken(first, await login(first), 'ann');
  await until(
    'the other hub knows ann',
    async () => (await api(second, 'GET', '/servers', { token: ann })).status === 200,
  );
  const who = person('ann');
  const answer = await who.answerOf(page(first));
  // As a load balancer does it: the same address, another hub behind it.
  const there = `${second.url}${answer.pathname}${answer.search}`;
  expect((await person('ann').open(there)).status, 'another browser').toBe(403);
  const again = await who.answerOf(page(first));
  const [one, two] = await Promise.all([
    who.open(`${second.url}${again.pathname}${again.search}`),
    raceOf(first, who, again),
  ]);
  expect(new Set([one.status, two.status])).toEqual(new Set([200, 400]));
  await works(first, ann, 'first');
  await works(second, ann, 'second');
  expect(fixture.exchanges).toHaveLength(1);
});

/** The same answer at the same moment, with the cookie. */
async function raceOf(hub: TestHub, who: ReturnType<typeof person>, answer: URL) {
  return fetch(`${hub.url}${answer.pathname}${answer.search}`, { headers: { cookie: who.cookiesFor(hub.url) } });
}

test('tokens that end are renewed once, by one hub, for a hundred calls at both', async () => {
  const { fixture, hubs } = await pair({});
  const [first, second] = hubs;
  await waits(first, await login(first));
  expect((await person().open(page(first))).status).toBe(200);
  for (const hub of hubs) await works(hub, undefined, 'warm');
  let release = (): void => undefined;
  fixture.switches.hold = new Promise((resolve) => (release = resolve));
  fixture.expireAll();
  const refusals = fixture.refusals.length;
  const calls = Array.from({ length: 100 }, (_, i) => call(i % 2 === 0 ? first : second, undefined, `call ${i}`));
  await until('all were refused', () => fixture.refusals.length >= refusals + 100);
  release();
  const answers = await Promise.all(calls);
  expect(answers.map(said)).toEqual(Array.from({ length: 100 }, (_, i) => `call ${i}`));
  expect(renewals(fixture)).toBe(1);
  // The next one is made with what came of the last, by whichever hub.
  fixture.expireAll();
  expect(said(await call(second, undefined, 'again'))).toBe('again');
  expect(said(await call(first, undefined, 'again'))).toBe('again');
  expect(renewals(fixture)).toBe(2);
});

test('each user’s sign-in is theirs at both hubs, and signing out at one is out at both', async () => {
  const { fixture, hubs } = await pair({ perUser: true }, {});
  const [first, second] = hubs;
  const admin = await login(first);
  // Without JWT_SECRET each hub has access tokens of its own.
  const names = ['ann', 'bob'];
  for (const name of names) await userToken(first, admin, name);
  const tokenAt = (hub: TestHub, name: string) =>
    until('they can log in', () => login(hub, name, `password of ${name}`));
  for (const name of names) expect((await person(name).open(page(first))).status).toBe(200);
  for (const hub of hubs) for (const name of names) await works(hub, await tokenAt(hub, name), name);
  expect(fixture.calls.filter(({ account, text }) => account !== text)).toEqual([]);
  const out = await api(second, 'POST', '/servers/mail/oauth/disconnect', { token: await tokenAt(second, 'ann') });
  expect(out.status, out.text).toBe(200);
  const ann = await tokenAt(first, 'ann');
  await until('ann is out', async () => (await call(first, ann, 'ann')).error?.message?.includes(page(first)));
  await works(first, await tokenAt(first, 'bob'), 'bob');
});

test('a server that is renamed at one hub stays signed in to at both', async () => {
  const { fixture, url, hubs } = await pair({ perUser: true });
  const [first, second] = hubs;
  const admin = await login(first);
  const names = ['ann', 'bob'];
  for (const name of names) {
    await userToken(first, admin, name);
    expect((await person(name).open(page(first))).status).toBe(200);
  }
  const tokens = await Promise.all(names.map((name) => login(second, name, `password of ${name}`)));
  for (const hub of hubs) for (const [i, name] of names.entries()) await works(hub, tokens[i], name);
  const answer = await api(first, 'PUT', '/servers/mail', { token: admin, body: { newName: 'post' } });
  expect(answer.status, answer.text).toBe(200);
  for (const hub of hubs)
    for (const [i, name] of names.entries())
      await until(`${name} goes on`, async () => {
        const call = { name: 'echo', arguments: { text: name } };
        const headers = { authorization: `Bearer ${tokens[i]}` };
        return said(await rpc(hub.mcp('post'), 'tools/call', call, { headers })) === name;
      });
  expect(fixture.calls.filter(({ account, text }) => account !== text)).toEqual([]);
  expect(fixture.authorizations).toHaveLength(2);
  const rows = await rowsOf<{ server: string }>(url, 'select server from toolhub.oauth_tokens');
  expect(new Set(rows.map(({ server }) => server))).toEqual(new Set(['post']));
});

test('nothing in the database can be read or put in the place of another', async () => {
  const { fixture, url, hubs } = await pair({ perUser: true });
  const [first, second] = hubs;
  const admin = await login(first);
  for (const name of ['ann', 'bob']) {
    await userToken(first, admin, name);
    expect((await person(name).open(page(first))).status).toBe(200);
  }
  const rows = await rowsOf<{ principal: string; ciphertext: Buffer }>(url, 'select * from toolhub.oauth_tokens');
  expect(rows.map(({ principal }) => principal).sort()).toEqual(['*', 'u:ann', 'u:bob']);
  const everything = rows.map(({ ciphertext }) => ciphertext.toString('latin1')).join('\n');
  expect(fixture.secrets.filter((secret) => everything.includes(secret))).toEqual([]);
  expect(everything).not.toContain(fixture.issuer);
  // JWT_SECRET is the only key: none is in the database.
  expect(await rowsOf(url, 'select * from toolhub.secrets')).toEqual([]);
  await rowsOf(
    url,
    `update toolhub.oauth_tokens set updated_at = now(),
       ciphertext = (select ciphertext from toolhub.oauth_tokens where principal = 'u:bob') where principal = 'u:ann'`,
  );
  await rowsOf(url, `select pg_notify('oauth_tokens', '')`);
  const ann = await login(second, 'ann', 'password of ann');
  await until('ann is out', async () => (await call(second, ann, 'x')).error?.message?.includes(page(second)));
  expect(fixture.calls).toEqual([]);
  for (const text of ['', '{', '["mail"]', '["mail",7]', 'x'.repeat(7_000)])
    await rowsOf(url, 'select pg_notify($1, $2)', ['oauth_tokens', text]);
  await works(second, await login(second, 'bob', 'password of bob'), 'bob');
});

test('a sign-in of a hub that was alone is taken over into the database, once', async () => {
  const fixture = await oauthFixture();
  const mail = { type: 'streamable-http', url: fixture.url };
  const alone = await testHub({ mcpServers: { mail }, env: { DB_URL: 'off' } });
  await waits(alone, await login(alone));
  expect((await person().open(page(alone))).status).toBe(200);
  await works(alone, undefined, 'alone');
  await alone.close();
  const url = await (await sharedPostgres()).createDatabase();
  const env = { DB_URL: url, JWT_SECRET: jwt };
  const shared = await testHub({ folder: alone.folder, env });
  await works(shared, undefined, 'shared');
  const other = await testHub({ mcpServers: {}, env });
  await works(other, undefined, 'other');
  expect(fixture.authorizations).toHaveLength(1);
  const out = await api(other, 'POST', '/servers/mail/oauth/disconnect', { token: await login(other) });
  expect(out.status).toBe(200);
  await waits(shared, await login(shared));
  await shared.close();
  // Signed out stays out: the folder has a copy now, not a sign-in of its own.
  const again = await testHub({ folder: alone.folder, env });
  await waits(again, await login(again));
});

test('while the database is away hubs go on with the tokens they have, and start with them', async () => {
  setLimits(databaseLimits, { databaseRetryMaxMs: 1_000 });
  const postgres = await sharedPostgres();
  const fixture = await oauthFixture();
  const url = await postgres.createDatabase();
  const mail = { type: 'streamable-http', url: fixture.url };
  const env = { DB_URL: url, JWT_SECRET: jwt };
  const hub = await testHub({ mcpServers: { mail }, env });
  await waits(hub, await login(hub));
  expect((await person().open(page(hub))).status).toBe(200);
  await works(hub, undefined, 'before');
  await postgres.kill();
  try {
    expect(said(await call(hub, undefined, 'while it is away'))).toBe('while it is away');
    const copy = join(hub.folder, 'elsewhere');
    await hub.close();
    cpSync(join(hub.folder, 'data'), copy, { recursive: true });
    const next = await testHub({ folder: hub.folder, env });
    await works(next, undefined, 'after a restart');
    // A refresh token is not used where the other hubs cannot be asked to leave it alone.
    fixture.expireAll();
    expect((await call(next, undefined, 'x')).error).toBeDefined();
    expect(renewals(fixture)).toBe(0);
    await postgres.start();
    await until('it goes on', async () => said(await call(next, undefined, 'y')) === 'y');
    expect(renewals(fixture)).toBe(1);
  } finally {
    await postgres.kill();
    await postgres.start();
  }
});

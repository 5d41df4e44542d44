import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { upstreamLimits } from '../../src/upstream/limits.ts';
import { api, login, userToken } from '../kit/api.ts';
import { sharedPostgres } from '../kit/databases.ts';
import { setLimits } from '../kit/limits.ts';
import { oauthFixture } from '../kit/oauth-server.ts';
import { person } from '../kit/person.ts';
import { isAlive } from '../kit/processes.ts';
import { rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What users set for themselves at a server, where it is kept: in a file over a restart, in a table that hubs share;
// and beside a sign-in of their own at the same server.

/** A program that says with what it was started. */
const program = `
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const say = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (method === 'initialize') return say({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'p', version: '1' } });
    if (method === 'tools/list') return say({ tools: [{ name: 'who', inputSchema: { type: 'object' } }] });
    if (method !== 'tools/call') return say({});
    say({ content: [{ type: 'text', text: JSON.stringify({ token: process.env.TOKEN, pid: process.pid }) }] });
  });
`;
const prog = {
  command: process.execPath,
  args: ['-e', program],
  credentialTemplate: [{ target: 'env', name: 'TOKEN', label: 'Token' }],
};

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const call = (hub: TestHub, token: string, server = 'prog') =>
  rpc(hub.mcp(server), 'tools/call', { name: 'who', arguments: {} }, bearer(token));
const set = (hub: TestHub, token: string, values: object, server = 'prog') =>
  api(hub, 'PUT', `/credentials/${server}`, { token, body: { values } });

/** What the program of this caller was started with; why there is none. */
async function told(hub: TestHub, token: string, server = 'prog'): Promise<{ token?: string; pid: number } | string> {
  const answer = await call(hub, token, server);
  const text = answer.result?.content?.[0]?.text;
  if (text !== undefined) return JSON.parse(text) as { token?: string; pid: number };
  return String((answer.error?.data as { reason?: string } | undefined)?.reason);
}
const tokenAt = async (hub: TestHub, token: string, server = 'prog') => {
  const answer = await told(hub, token, server);
  return typeof answer === 'string' ? answer : answer.token;
};

describe('hubs that share a PostgreSQL', () => {
  async function pair() {
    // Connections end because of what the other hub says, and not because they are looked through.
    setLimits(upstreamLimits, { dedicatedSweepMs: 24 * 3_600_000 });
    const env = {
      DB_URL: await (await sharedPostgres()).createDatabase(),
      JWT_SECRET: 'a secret of both of these hubs, long enough',
    };
    const one = await testHub({ mcpServers: { prog }, env });
    const two = await testHub({ mcpServers: {}, env });
    const admin = await login(one);
    const more = { servers: ['prog'] };
    const [ann, bob] = [await userToken(one, admin, 'ann', more), await userToken(one, admin, 'bob', more)];
    await until(
      'both hubs know the server and its users',
      async () => (await tokenAt(two, bob)) === 'credentials_required',
    );
    return { one, two, admin, ann, bob };
  }

  test('what a user sets at one goes with their calls at the other, each as whose it is, and ends at both', async () => {
    const { one, two, ann, bob } = await pair();
    expect((await set(one, ann, { 'env.TOKEN': 'of ann' })).status).toBe(200);
    expect((await set(two, bob, { 'env.TOKEN': 'of bob' })).status).toBe(200);
    for (const [hub, token, name] of [
      [two, ann, 'ann'],
      [one, bob, 'bob'],
    ] as const)
      await until(`a call of ${name} at the other hub`, async () => (await tokenAt(hub, token)) === `of ${name}`);
    const before = await told(two, ann);
    const bobs = await told(two, bob);
    if (typeof before === 'string' || typeof bobs === 'string') throw new Error('They have programs of their own.');
    await set(one, ann, { 'env.TOKEN': 'changed' });
    await until('the program with the old value has ended at the other hub', () => !isAlive(before.pid));
    expect(await tokenAt(two, ann)).toBe('changed');
    expect((await api(one, 'DELETE', '/credentials/prog', { token: ann })).status).toBe(200);
    await until('the other hub has none', async () => (await tokenAt(two, ann)) === 'credentials_required');
    // Of the other user nothing ended.
    expect(await told(two, bob)).toEqual(bobs);
  });

  test('a server that is renamed at one keeps them at the other; a user who is deleted at one has none there', async () => {
    const { one, two, admin, ann, bob } = await pair();
    await set(one, ann, { 'env.TOKEN': 'of ann' });
    await set(one, bob, { 'env.TOKEN': 'of bob' });
    const renamed = await api(one, 'PUT', '/servers/prog', { token: admin, body: { newName: 'other' } });
    expect(renamed.status, renamed.text).toBe(200);
    for (const [token, name] of [
      [ann, 'ann'],
      [bob, 'bob'],
    ] as const)
      await until(
        `${name} has them under the new name`,
        async () => (await tokenAt(two, token, 'other')) === `of ${name}`,
      );
    await api(one, 'DELETE', '/users/ann', { token: admin });
    const anew = await userToken(one, admin, 'ann', { servers: ['other'] });
    await until(
      'the next user of that name is asked',
      async () => (await tokenAt(two, anew, 'other')) === 'credentials_required',
    );
  });
});

test('after a restart they are read from the file, which only the hub with its secret can open', async () => {
  const before = await testHub({ mcpServers: { prog } });
  const admin = await login(before);
  const ann = await userToken(before, admin, 'ann', { servers: ['prog'] });
  await set(before, ann, { 'env.TOKEN': 'a value of ann' });
  await before.close();
  const data = join(before.folder, 'data');
  const sealed = join(data, 'credentials.sealed');
  // A text in Base64 may have any three letters.
  expect(readFileSync(sealed, 'utf8')).not.toMatch(/"ann"|prog|value|TOKEN/);
  const after = await testHub({ folder: before.folder });
  expect(await tokenAt(after, ann)).toBe('a value of ann');
  expect((await api(after, 'GET', '/credentials', { token: ann })).body.data).toMatchObject([{ configured: true }]);
  await after.close();
  const kept = readFileSync(sealed, 'utf8');
  rmSync(join(data, 'hub.secret'));
  const another = await testHub({ folder: before.folder });
  const again = await login(another, 'ann', 'password of ann');
  expect(await tokenAt(another, again)).toBe('credentials_required');
  // For when the secret comes back.
  expect(readFileSync(sealed, 'utf8')).toBe(kept);
});

test('a server can want both: a sign-in of each user, and what they set', async () => {
  const fixture = await oauthFixture();
  const mail = {
    type: 'streamable-http',
    url: fixture.url,
    oauth: { perUser: true },
    credentialTemplate: [{ target: 'headers', name: 'X-Team', label: 'Team' }],
    visibility: 'public',
  };
  const systemConfig = { network: { allowedCidrs: ['127.0.0.1/32'] } };
  const hub = await testHub({ mcpServers: { mail }, systemConfig });
  const admin = await login(hub);
  const [ann, bob] = [await userToken(hub, admin, 'ann'), await userToken(hub, admin, 'bob')];
  const signIn = async (name: string) => {
    const { status, text } = await person(name).open(`${hub.url}/oauth/sign-in/mail`);
    expect(status, text).toBe(200);
  };
  const echo = (token: string, text: string) =>
    rpc(hub.mcp('mail'), 'tools/call', { name: 'echo', arguments: { text } }, bearer(token));
  const why = async (token: string) => {
    const { error } = await echo(token, 'too early');
    return (error?.data as { reason?: string } | undefined)?.reason ?? error?.message;
  };

  // One after the other, in either order: each is asked for what is missing, and the server sees no call.
  await signIn('ann');
  await until('ann is asked for the rest', async () => (await why(ann)) === 'credentials_required');
  expect((await set(hub, ann, { 'headers.X-Team': 'team of ann' }, 'mail')).status).toBe(200);
  expect((await set(hub, bob, { 'headers.X-Team': 'team of bob' }, 'mail')).status).toBe(200);
  expect(await why(bob)).toMatch(/^Server "mail" needs bob to sign in/);
  expect(fixture.calls.filter(({ text }) => text === 'too early')).toEqual([]);
  await signIn('bob');
  const texts = Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? 'ann' : 'bob'));
  await until('the tools are there', async () => (await echo(ann, 'ann')).result !== undefined);
  const answers = await Promise.all(texts.map((text) => echo(text === 'ann' ? ann : bob, text)));
  expect(answers.map(({ result }) => result?.content?.[0]?.text)).toEqual(texts);
  const seen = fixture.calls.map(({ account, text, headers }) => [account, text, headers['x-team']]);
  expect(new Set(seen.map((one) => one.join()))).toEqual(new Set(['ann,ann,team of ann', 'bob,bob,team of bob']));
  expect((await api(hub, 'DELETE', '/credentials/mail', { token: bob })).status).toBe(200);
  expect(await why(bob)).toBe('credentials_required');
  expect((await echo(ann, 'ann')).result?.content?.[0]?.text).toBe('ann');
});

import { readFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { api, cookieLogin, login, passwordOf, userToken } from '../kit/api.ts';
import { fieldsOf, handClient, submit } from '../kit/authorizing.ts';
import { type Hostile, hostileStdio } from '../kit/hostile.ts';
import { modern, session } from '../kit/sessions.ts';
import { type SettingsDocument, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// An account is its name and when it was made: a new user with the name of a deleted one finds nothing of theirs,
// also when the hub sees both changes as one.

const task = '{"task":{"taskId":"t1","status":"working","ttl":60000}}';
const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } } } };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

let hub: TestHub;
let server: Hostile;
let admin: string;
let ann: string;
beforeEach(async () => {
  server = hostileStdio({
    name: 's',
    capabilities,
    tools: ['work', 'hang'],
    results: { work: task, 'tasks/result t1': '{"content":[{"type":"text","text":"for the first ann"}]}' },
  });
  const own = hostileStdio({ name: 'own', tools: ['pid'] });
  hub = await testHub({
    mcpServers: {
      s: { ...server.config, visibility: 'public' },
      own: { ...own.config, visibility: 'public', perSessionClient: true },
    },
  });
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
  await hub.connected(2);
});

async function madeAnew(): Promise<string> {
  expect((await api(hub, 'DELETE', '/users/ann', { token: admin })).status).toBe(200);
  return userToken(hub, admin, 'ann');
}

/** The same in the settings file, with the password of before: the hub sees one change. */
async function madeAnewInFile(): Promise<void> {
  const document = JSON.parse(readFileSync(hub.settingsPath, 'utf8')) as SettingsDocument;
  const users = document.users?.map((user) =>
    user['username'] === 'ann' ? { ...user, createdAt: new Date().toISOString() } : user,
  );
  hub.write({ ...document, users: users ?? [] });
  await until(
    'the first one is gone',
    async () => (await api(hub, 'GET', '/auth/user', { token: ann })).status === 401,
  );
}

test('no session', async () => {
  const first = await session(hub.mcp(), { headers: bearer(ann) });
  const headers = { ...first.headers, ...bearer(await madeAnew()) };
  expect((await first.request('tools/list', {}, { headers })).status).toBe(404);
});

test('no task', async () => {
  await modern(hub.mcp(), 'tools/call', { name: 's-work', arguments: {} }, { headers: bearer(ann) });
  const ask = async (token: string) =>
    (await session(hub.mcp(), { headers: bearer(token) })).request('tasks/result', { taskId: 't1' });
  expect((await ask(ann)).text).toContain('for the first ann');
  expect((await ask(await madeAnew())).error?.message).toBe('Unknown task: t1');
  expect(server.received('tasks/result')).toHaveLength(1);
});

test('no record of a call that ends when the name is another’s', async () => {
  const running = api(hub, 'POST', '/tools/call/s', { token: ann, body: { toolName: 'hang' } });
  await until('it is called', () => server.received('tools/call').length > 0);
  const again = await madeAnew();
  await server.control({ exit: 0 });
  await running;
  const records = async (token: string) => (await api(hub, 'GET', '/activities?tool=hang', { token })).body.data;
  await until('it is recorded', async () => ((await records(admin)) as unknown[]).length > 0);
  expect(await records(again)).toEqual([]);
});

test('no app that it let in, and no login, in lists', async () => {
  const client = await handClient(hub.url);
  const opened = await fetch(client.address());
  const shown = await submit(client.address(), {
    ...fieldsOf(await opened.text()),
    username: 'ann',
    password: passwordOf('ann'),
  });
  const page = fieldsOf(await shown.text());
  const decide = () => submit(client.address(), { ...page, decision: 'allow', reach: 'all' });
  const back = new URL((await decide()).headers.get('location') ?? '');
  expect((await client.redeem(back)).status).toBe(200);
  await cookieLogin(hub, 'ann', passwordOf('ann'));
  const lists = async (token: string) =>
    Promise.all(
      ['/auth/grants', '/auth/sessions'].map(async (path) => (await api(hub, 'GET', path, { token })).body.data),
    );
  expect(await lists(ann)).toMatchObject([[{ clientName: 'An app' }], [{ via: 'password' }]]);
  await madeAnewInFile();
  const again = await login(hub, 'ann', passwordOf('ann'));
  expect(await lists(again)).toEqual([[], []]);
  expect((await lists(admin))[0]).toEqual([]);
  // The page that the first one had left open.
  expect((await decide()).status).toBe(400);
});

test('no connection of its own, in one change of the settings', async () => {
  const pid = async (token: string): Promise<string> => {
    const headers = { 'x-session-id': 'x' };
    const answer = await api(hub, 'POST', '/tools/call/own', { token, body: { toolName: 'pid' }, headers });
    expect(answer.status, answer.text).toBe(200);
    return JSON.stringify((answer.body.data as { content: unknown }).content);
  };
  const before = await pid(ann);
  expect(await pid(ann)).toBe(before);
  await madeAnewInFile();
  expect(await pid(await login(hub, 'ann', passwordOf('ann')))).not.toBe(before);
});

import { beforeAll, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// Both spellings of what CONTRACT and MCPHub call differently, in files and in requests.

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      alpha: {
        ...(await hostileHttp({ name: 'alpha', tools: ['one', 'two'] })).config,
        // As MCPHub's dashboard writes them.
        tools: {
          'alpha-one': { enabled: false },
          'alpha-two': { enabled: true, description: 'In other words' },
          gone: { enabled: false },
        },
      },
    },
    groups: [{ id: 'id-old', name: 'old', servers: ['alpha'], owner: 'admin' }],
  });
  admin = await login(hub);
  await hub.connected(1);
});

const call = (method: string, path: string, body?: unknown) => api(hub, method, path, { token: admin, body });
async function tool(originalName: string) {
  const { body } = await call('GET', '/servers/alpha');
  const { tools } = body.data as { tools: { originalName: string; enabled: boolean; description: string }[] };
  return tools.find((tool) => tool.originalName === originalName);
}

test('a tool that the file switches under the name clients see is switched under either name', async () => {
  const toggle = async (name: string, enabled: boolean) => {
    expect((await call('POST', `/servers/alpha/tools/${name}/toggle`, { enabled })).status).toBe(200);
    expect(await tool('one'), `${name} ${enabled}`).toMatchObject({ enabled });
  };
  await toggle('alpha-one', true);
  await toggle('one', false);
  await toggle('alpha-one', true);
  await toggle('alpha-one', false);
});

test('a description that the file has under the name clients see is changed and reset under that name', async () => {
  expect((await tool('two'))?.description).toBe('In other words');
  expect((await call('PUT', '/servers/alpha/tools/alpha-two/description', { description: 'Mine' })).status).toBe(200);
  expect((await tool('two'))?.description).toBe('Mine');
  expect((await call('DELETE', '/servers/alpha/tools/alpha-two/description')).status).toBe(200);
  expect((await tool('two'))?.description).not.toBe('Mine');
});

test('a tool that only the settings know of can still be switched', async () => {
  expect((await call('POST', '/servers/alpha/tools/gone/toggle', { enabled: true })).status).toBe(200);
});

test('an access key opens what its scope says, whichever word is used', async () => {
  const wide = { name: 'k', allowedServers: ['alpha'] };
  const made = await call('POST', '/auth/keys', { ...wide, scope: 'servers' });
  expect(made.body.data).toMatchObject({ accessType: 'servers', allowedServers: ['alpha'] });
  const { id } = made.body.data as { id: string };
  const changed = await call('PUT', `/auth/keys/${id}`, { scope: 'groups' });
  expect([changed.status, changed.body.data]).toEqual([200, expect.objectContaining({ accessType: 'groups' })]);
  // Sent alone, nothing else changes the scope.
  const renamed = await call('PUT', `/auth/keys/${id}`, { name: 'n' });
  expect(renamed.body.data).toMatchObject({ name: 'n', accessType: 'groups' });
  for (const scopes of [{ scope: 'everything' }, { scope: 'servers', accessType: 'all' }]) {
    const refused = await call('POST', '/auth/keys', { ...wide, ...scopes });
    expect([refused.status, refused.body.errors?.map(({ path }) => path)], refused.text).toEqual([400, ['scope']]);
  }
});

test('an access key that names what it opens opens nothing else', async () => {
  const named = await call('POST', '/auth/keys', { name: 'k', allowedServers: ['alpha'] });
  expect(named.body.data).toMatchObject({ accessType: 'custom' });
  const empty = await call('POST', '/auth/keys', { name: 'k', allowedServers: [], allowedGroups: [] });
  expect(empty.body.data).toMatchObject({ accessType: 'all' });
});

test('a group that does not speak of its visibility is said to be public, which it is', async () => {
  const made = await call('POST', '/groups', { name: 'new' });
  expect(made.body.data).toMatchObject({ visibility: 'public' });
  expect((await call('GET', '/groups/old')).body.data).toMatchObject({ visibility: 'public' });
});

test('a new user has a password, under either name of it', async () => {
  const made = await call('POST', '/users', { username: 'eve', newPassword: 'of eve' });
  expect([made.status, made.text.includes('of eve')], made.text).toEqual([201, false]);
  await login(hub, 'eve', 'of eve');
  const refused = async (body: object) => {
    const { status, body: answer } = await call('POST', '/users', body);
    return [status, answer.errors?.map(({ path, message }) => `${path} ${message}`)];
  };
  const needed = 'password is required, or the e-mail address of a user who logs in at a provider';
  expect(await refused({ username: 'x' })).toEqual([400, [needed]]);
  expect(await refused({ username: 'x', password: null })).toEqual([400, [needed]]);
  expect(await refused({})).toEqual([400, ['username is required', needed]]);
  expect(await refused({ username: 'x', email: 'x@corp.example' })).toEqual([
    400,
    ['password is required: there is no provider to log in at'],
  ]);
  expect(await refused({ username: 'x', newPassword: '12345' })).toEqual([
    400,
    ['newPassword must have at least 6 characters'],
  ]);
  expect(await refused({ username: 'x', password: '123456', newPassword: '654321' })).toEqual([
    400,
    ['newPassword contradicts password; send one of them'],
  ]);
});

test('groups of a user are answered by id, also when they were given by name', async () => {
  const made = await call('POST', '/users', {
    username: 'bob',
    password: '123456',
    groups: ['old', 'id-old', 'later'],
  });
  expect(made.body.data).toMatchObject({ groups: ['id-old', 'later'] });
  const changed = await call('PUT', '/users/bob', { groups: ['old'] });
  expect(changed.body.data).toMatchObject({ groups: ['id-old'] });
});

test('the answer to a switch of a server is its new state', async () => {
  const toggled = async (enabled: boolean) => (await call('POST', '/servers/alpha/toggle', { enabled })).body.data;
  expect(await toggled(false)).toMatchObject({ enabled: false, status: 'disabled' });
  const { status } = (await toggled(true)) as { status: string };
  expect(['connecting', 'connected']).toContain(status);
});

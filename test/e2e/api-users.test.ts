import { hash } from '@node-rs/argon2';
import { beforeAll, describe, expect, test } from 'vitest';
import { storedSettings, testDatabase } from '../kit/hub-database.ts';
import { api, type ApiAnswer, keyToken, login, passwordOf, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// /api/users and /api/users-stats (SPEC, Users; CONTRACT §4).

const password = 'a good one';
const opens = async (hub: TestHub, token: string) => (await api(hub, 'GET', '/auth/user', { token })).status;
const data = (answer: ApiAnswer) => answer.body.data as Record<string, unknown>;

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  hub = await testHub({
    mcpServers: { alpha: { url: 'http://127.0.0.1:9/alpha', enabled: false }, beta: { command: 'x', enabled: false } },
    groups: [{ id: 'group-1', name: 'dev', servers: ['alpha', 'beta'] }],
    custom: { kept: true },
  });
  admin = await login(hub);
});

/** Creates, or changes with PUT, as the admin. */
const create = (body: unknown, on = hub, token = admin) => api(on, 'POST', '/users', { token, body });
const change = (name: string, body: unknown, on = hub, token = admin) =>
  api(on, 'PUT', `/users/${encodeURIComponent(name)}`, { token, body });
const remove = (name: string, on = hub, token = admin) =>
  api(on, 'DELETE', `/users/${encodeURIComponent(name)}`, { token });
const read = (name: string, on = hub, token = admin) => api(on, 'GET', `/users/${encodeURIComponent(name)}`, { token });

describe('only an admin who logged in', () => {
  let strangers: [who: string, token: string | undefined, status: number][];
  beforeAll(async () => {
    const user = await userToken(hub, admin, 'plain');
    strangers = [
      ['nobody', undefined, 401],
      ['a bad token', 'eyJ.eyJ.x', 401],
      ['a bad key', `mcphub_${'0'.repeat(64)}`, 401],
      ['a user', user, 403],
      ["a user's key", await keyToken(hub, user), 403],
      ["an admin's key", await keyToken(hub, admin, { kind: 'user' }), 403],
      ['a key of the system', await keyToken(hub, admin, { kind: 'system', accessType: 'all' }), 403],
    ];
  });

  test.each([
    ['GET', '/users'],
    ['GET', '/users/admin'],
    ['GET', '/users/nobody'],
    ['GET', '/users-stats'],
    ['HEAD', '/users'],
    ['POST', '/users', { username: 'made', password, role: 'admin' }],
    ['POST', '/users', 'not json'],
    ['PUT', '/users/admin', { password: 'taken over' }],
    ['PUT', '/users/plain', { role: 'admin' }],
    ['PUT', '/users/plain', { isAdmin: true }],
    ['DELETE', '/users/admin'],
    ['DELETE', '/users/plain'],
  ])('may %s %s', async (method, path, body?: unknown) => {
    const before = await storedSettings(hub);
    for (const [who, token, status] of strangers) {
      const answer = await api(hub, method, path, { token, body });
      expect([who, answer.status]).toEqual([who, status]);
      if (method !== 'HEAD') expect(answer.body).toEqual({ success: false, message: expect.any(String) as string });
    }
    expect(await storedSettings(hub)).toBe(before);
  });
});

describe('an admin', () => {
  test('creates a user with everything that SPEC names, and is told what exists not yet', async () => {
    const answer = await create({
      username: ' ann ',
      password,
      role: 'user',
      servers: ['alpha', 'gamma', 'alpha'],
      groups: ['group-1'],
      email: 'ann@example.com',
    });
    const ann = {
      username: 'ann',
      role: 'user',
      isAdmin: false,
      servers: ['alpha', 'gamma'],
      groups: ['group-1'],
      email: 'ann@example.com',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
    };
    expect([answer.status, answer.body]).toEqual([
      201,
      { success: true, data: ann, message: 'User created successfully. There is no server gamma yet.' },
    ]);
    expect((await read('ann')).body).toEqual({ success: true, data: ann });
    const list = await api(hub, 'GET', '/users', { token: admin });
    expect(list.status).toBe(200);
    expect(list.body.data).toContainEqual(ann);
    expect(list.body.data).toContainEqual(expect.objectContaining({ username: 'admin', role: 'admin', isAdmin: true }));
    expect(list.text).not.toMatch(/argon2|password|hash/i);
    expect(await storedSettings(hub)).toContain('$argon2id$');
    expect(await storedSettings(hub)).not.toContain(password);
    expect(JSON.parse(await storedSettings(hub))).toMatchObject({ custom: { kept: true } });
    expect(await opens(hub, await login(hub, 'ann', password))).toBe(200);
  });

  test.each([
    ['role', { role: 'admin' }, true],
    ['isAdmin', { isAdmin: true }, true],
    ['nothing', {}, false],
    ['both', { role: 'user', isAdmin: false }, false],
  ])('says the role by %s', async (how, said, isAdmin) => {
    const username = `role-by-${how}`;
    expect(data(await create({ username, password, ...said }))).toMatchObject({
      role: isAdmin ? 'admin' : 'user',
      isAdmin,
    });
    const token = await login(hub, username, password);
    expect((await api(hub, 'GET', '/users', { token })).status).toBe(isAdmin ? 200 : 403);
    await remove(username);
  });

  test.each(['Ünal', 'ann@example.com', 'a+b_c-d.e', '名前', 'x'.repeat(64)])(
    'reaches a user called %s by the path',
    async (username) => {
      expect((await create({ username, password })).status).toBe(201);
      expect(data(await read(username))['username']).toBe(username);
      expect(data(await change(username, { servers: ['beta'] }))['servers']).toEqual(['beta']);
      expect((await remove(username)).body).toEqual({ success: true, message: 'User deleted successfully.' });
      expect((await read(username)).status).toBe(404);
    },
  );

  test.each([
    ['no body', '', ''],
    ['broken JSON', '{', ''],
    ['a list', [], ''],
    ['no name', { password }, 'username'],
    ['no password', { username: 'x' }, 'password'],
    ['a short password', { username: 'x', password: '12345' }, 'password'],
    ['a password that is a list', { username: 'x', password: ['123456'] }, 'password'],
    ['a password without end', { username: 'x', password: 'x'.repeat(1_025) }, 'password'],
    ['an empty name', { username: ' ', password }, 'username'],
    ['a long name', { username: 'x'.repeat(65), password }, 'username'],
    ['a path', { username: '../x', password }, 'username'],
    ['a name with a slash', { username: 'a/b', password }, 'username'],
    ['dots', { username: '..', password }, 'username'],
    ['markup', { username: '<b>x</b>', password }, 'username'],
    ['a line break', { username: 'a\nb', password }, 'username'],
    ['a null', { username: 'a\u0000b', password }, 'username'],
    ['a name of the language', { username: '__proto__', password }, 'username'],
    ['another', { username: 'constructor', password }, 'username'],
    ['a reserved name', { username: 'System', password }, 'username'],
    ['a reserved name', { username: 'anonymous', password }, 'username'],
    ['a reserved name', { username: 'GUEST', password }, 'username'],
    ['an unknown role', { username: 'x', password, role: 'root' }, 'role'],
    ['a role that contradicts', { username: 'x', password, role: 'user', isAdmin: true }, 'isAdmin'],
    ['servers that are a text', { username: 'x', password, servers: 'alpha' }, 'servers'],
    ['servers without end', { username: 'x', password, servers: Array(1_001).fill('a') }, 'servers'],
    ['a server without a name', { username: 'x', password, servers: [''] }, 'servers[0]'],
    ['groups that are numbers', { username: 'x', password, groups: [1] }, 'groups[0]'],
  ])('is told what is wrong with a new user of %s', async (_, body, path) => {
    const before = await storedSettings(hub);
    const answer = await api(hub, 'POST', '/users', {
      token: admin,
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, answer.body.success]).toEqual([400, false]);
    if (path !== '') expect(answer.body.errors?.map((error) => error.path)).toContain(path);
    expect(answer.text).not.toContain(password);
    expect(await storedSettings(hub)).toBe(before);
  });

  test('cannot take a name twice, in whatever case, also not at the same time', async () => {
    const before = await storedSettings(hub);
    for (const username of ['admin', 'Admin', 'ADMIN']) {
      const answer = await create({ username, password });
      expect([answer.status, answer.body.success]).toEqual([409, false]);
    }
    expect(await storedSettings(hub)).toBe(before);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => create({ username: i % 2 === 0 ? 'twin' : 'Twin', password })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, ...Array<number>(7).fill(409)]);
  });

  test('who resets a password ends logins and access keys of that user, unless the keys are to be kept', async () => {
    await create({ username: 'kim', password, servers: ['alpha'] });
    const token = await login(hub, 'kim', password);
    const key = data(await api(hub, 'POST', '/auth/keys', { token, body: { name: 'laptop' } })) as Record<
      string,
      string
    >;
    const calls = async (credential = '') => (await api(hub, 'GET', '/servers', { token: credential })).status;
    expect(await calls(key['token'])).toBe(200);

    expect((await change('kim', { keepKeys: true })).status).toBe(400);
    const kept = await change('kim', { newPassword: 'another good one', keepKeys: true });
    expect(data(kept)['ended']).toEqual({ sessions: true, keys: [], grants: [] });
    expect([await opens(hub, token), await calls(key['token'])]).toEqual([401, 200]);

    const ended = await change('kim', { password: 'the third one' });
    expect(data(ended)['ended']).toEqual({ sessions: true, keys: [{ id: key['id'], name: 'laptop' }], grants: [] });
    expect(ended.body.message).toContain('laptop');
    expect(await calls(key['token'])).toBe(401);
    expect(data(await read('kim'))).not.toHaveProperty('ended');
  });

  test('changes exactly what is sent, and nothing that is not theirs to set', async () => {
    await create({ username: 'bob', password, servers: ['alpha'], groups: ['group-1'], email: 'b@example.com' });
    const before = data(await read('bob'));
    const { status, body } = await change('bob', {
      servers: [],
      username: 'eve',
      createdAt: '1970-01-01T00:00:00Z',
    });
    expect([status, body.data, body.message]).toEqual([200, { ...before, servers: [] }, 'User updated successfully.']);
    expect((await change('bob', { passwordHash: 'x', servers: [] })).status).toBe(400);
    expect(data(await change('bob', { email: '' }))['email']).toBeUndefined();
    expect(data(await change('bob', { role: 'admin' }))).toMatchObject({ role: 'admin', isAdmin: true });
    expect(data(await change('bob', { isAdmin: false }))).toMatchObject({ role: 'user', isAdmin: false });
    expect(await login(hub, 'bob', password)).toBeTypeOf('string');
    expect((await read('eve')).status).toBe(404);
  });

  test.each([
    ['nothing', {}],
    ['nothing known', { username: 'x', passwordHash: 'x' }],
    ['a list', []],
    ['a short password', { password: '12345' }],
    ['a short password by its other name', { newPassword: '12345' }],
    ['two passwords', { password: '123456', newPassword: '654321' }],
    ['an unknown role', { role: 'ADMIN' }],
    ['a contradiction', { role: 'admin', isAdmin: false }],
    ['servers that are no list', { servers: { 0: 'alpha' } }],
  ])('is told what is wrong with a change to %s', async (_, body) => {
    const before = await storedSettings(hub);
    const answer = await change('plain', body);
    expect([answer.status, answer.body.success, answer.body.errors?.length]).toEqual([400, false, 1]);
    expect(await storedSettings(hub)).toBe(before);
  });

  test.each(['nobody', 'PLAIN', 'plain ', '__proto__', 'constructor', '..%2fadmin', 'x'.repeat(2_000)])(
    'finds no user called %s',
    async (name) => {
      const before = await storedSettings(hub);
      for (const answer of [
        await read(name),
        await change(name, { role: 'admin' }),
        await change(name, { password }),
        await remove(name),
      ]) {
        expect([answer.status, answer.body]).toEqual([404, { success: false, message: `There is no user "${name}".` }]);
      }
      expect(await storedSettings(hub)).toBe(before);
    },
  );

  test.each(['password', 'newPassword'])('sets a password as %s, and who had the old one is out', async (member) => {
    const token = await userToken(hub, admin, `reset-${member}`);
    expect(await opens(hub, token)).toBe(200);
    expect((await change(`reset-${member}`, { [member]: 'set by the admin' })).status).toBe(200);
    expect(await opens(hub, token)).toBe(401);
    const old = { username: `reset-${member}`, password: passwordOf(`reset-${member}`) };
    expect((await api(hub, 'POST', '/auth/login', { body: old })).status).toBe(401);
    expect(await opens(hub, await login(hub, `reset-${member}`, 'set by the admin'))).toBe(200);
  });

  // With PostgreSQL there is no file to edit.
  test.skipIf(testDatabase() === 'postgres')(
    'cannot change anything while the settings file is broken, and is told so',
    async () => {
      const own = await testHub({ mcpServers: {} });
      const token = await login(own);
      const good = await storedSettings(own);
      own.write('{"users": [');
      const answer = await create({ username: 'x', password }, own, token);
      expect([answer.status, answer.body.success]).toEqual([409, false]);
      expect(await storedSettings(own)).toBe('{"users": [');
      expect((await api(own, 'GET', '/users', { token })).status).toBe(200);
      own.write(good);
      expect((await create({ username: 'x', password }, own, token)).status).toBe(201);
    },
  );
});

test('a role given or taken counts at once, with the token the user already has', async () => {
  const token = await userToken(hub, admin, 'riser');
  const may = async () => (await api(hub, 'GET', '/users', { token })).status;
  expect(await may()).toBe(403);
  await change('riser', { role: 'admin' });
  expect(await may()).toBe(200);
  await change('riser', { isAdmin: false });
  expect(await may()).toBe(403);
});

test('an admin who is demoted changes nothing any more, also not by what was on its way', async () => {
  const token = await userToken(hub, admin, 'leaving', { role: 'admin' });
  await create({ username: 'friend', password });
  const onTheWay = Array.from({ length: 12 }, (_, i) =>
    i % 2 === 0
      ? create({ username: `back-door-${i}`, password, role: 'admin' }, hub, token)
      : change('friend', { role: 'admin', password }, hub, token),
  );
  expect((await change('leaving', { role: 'user' })).status).toBe(200);
  const then = await storedSettings(hub);
  const late = (await Promise.all(onTheWay)).filter(({ status }) => status === 403);
  expect(late.length).toBeGreaterThan(0);
  expect(await storedSettings(hub)).toBe(then);
});

test('what has no owner is the system’s: an admin who is demoted takes neither its trust nor itself along', async () => {
  const upstream = await hostileHttp({ tools: ['t'] });
  const own = await testHub({
    mcpServers: { ours: { ...upstream.config }, given: { url: 'http://127.0.0.1:9/mcp', owner: 'admin' } },
    groups: [{ name: 'all', servers: ['ours'] }],
  });
  await own.connected(1);
  const token = await login(own);
  const root = await userToken(own, token, 'root', { role: 'admin' });
  expect((await change('admin', { role: 'user' }, own, root)).status).toBe(200);
  const ask = async (who: string, method: string, path: string, body?: unknown) => {
    const answer = await api(own, method, path, { token: who, ...(body !== undefined && { body }) });
    return [answer.status, data(answer)];
  };
  const statusOf = async () => (await ask(root, 'GET', '/servers/ours'))[1];
  // Started again, as it is another owner's now.
  const now = await until('it is connected again', async () => {
    const found = await statusOf();
    return (found as { status: string }).status === 'connected' && found;
  });
  expect(now).toMatchObject({ owner: 'root' });
  await ask(root, 'POST', '/servers/ours/reload');
  await until('it is connected at its private address again', async () => (await own.health()).servers.connected === 1);
  expect(await statusOf()).toMatchObject({ status: 'connected' });
  expect(await ask(root, 'GET', '/groups/all')).toMatchObject([200, { owner: 'root' }]);
  // What is said to be theirs stays theirs.
  expect(await ask(root, 'GET', '/servers/given')).toMatchObject([200, { owner: 'admin' }]);
  for (const [method, path, body] of [
    ['GET', '/servers/ours'],
    ['PUT', '/servers/ours', { config: { url: 'https://elsewhere.example/mcp' } }],
    ['DELETE', '/servers/ours'],
    ['PUT', '/groups/all', { description: 'mine' }],
    ['DELETE', '/groups/all'],
  ] as const)
    expect((await ask(token, method, path, body))[0], `${method} ${path}`).toBe(path === '/groups/all' ? 403 : 404);
});

test('who takes an admin’s right away is told which keys of the system go on opening', async () => {
  const own = await testHub({ mcpServers: {} });
  const token = await login(own);
  const makes = async (username: string) => {
    const { status } = await create({ username, password, role: 'admin' }, own, token);
    expect(status).toBe(201);
  };
  await makes('without');
  expect((await change('without', { role: 'user' }, own, token)).body.message).toBe('User updated successfully.');
  const key = (body: object) => api(own, 'POST', '/auth/keys', { token, body });
  await key({ name: 'CI' });
  await key({ name: 'off', enabled: false });
  await key({ name: 'my own', kind: 'user' });
  await makes('bob');
  await makes('eve');
  const told = (name: string) => `The access keys of the system stay good: CI. Delete those that ${name} knows.`;
  expect((await change('bob', { role: 'admin' }, own, token)).body.message).toBe('User updated successfully.');
  expect((await change('bob', { role: 'user' }, own, token)).body.message).toBe(
    `User updated successfully. ${told('bob')}`,
  );
  expect((await remove('bob', own, token)).body.message).toBe('User deleted successfully.');
  expect((await remove('eve', own, token)).body.message).toBe(`User deleted successfully. ${told('eve')}`);
});

describe('a user who is deleted', () => {
  test('is out at once, with tokens and keys, also when another of that name comes and the hub restarts', async () => {
    const first = await testHub({ mcpServers: {} });
    const admin = await login(first);
    const token = await userToken(first, admin, 'ann');
    const key = await keyToken(first, token);
    const other = await keyToken(first, admin);
    expect((await api(first, 'GET', '/users', { token: key })).status).toBe(403);
    expect((await remove('ann', first, admin)).status).toBe(200);
    const refused = async (hub: TestHub) => [
      await opens(hub, token),
      (await api(hub, 'GET', '/users', { token: key })).status,
      (await api(hub, 'GET', '/users', { token: other })).status,
    ];
    expect(await refused(first)).toEqual([401, 401, 403]);
    const keys = await api(first, 'GET', '/auth/keys', { token: admin });
    expect(keys.body.data).toHaveLength(1);
    const again = await userToken(first, admin, 'ann');
    expect(await refused(first)).toEqual([401, 401, 403]);
    expect(await opens(first, again)).toBe(200);
    await first.close();
    const second = await testHub({ folder: first.folder });
    expect(await refused(second)).toEqual([401, 401, 403]);
    expect(await opens(second, again)).toBe(200);
  });

  test('leaves what no admin vouches for switched off: nothing of the hub goes to where it leads', async () => {
    const victim = await hostileHttp({ tools: ['t'] });
    const theirs = {
      ...victim.config,
      headers: { 'x-stolen': '${SECRET_OF_THE_HUB}' },
      tools: { t: { enabled: false } },
    };
    const program = { command: 'x', enabled: false };
    const kept = { url: 'http://127.0.0.1:9/mcp', owner: 'carol' };
    const mcpServers = { bobs: { ...theirs, owner: 'bob' }, program: { ...program, owner: 'bob' }, carols: kept };
    const own = await testHub({ mcpServers, env: { SECRET_OF_THE_HUB: 'value-of-the-hub-2' } });
    const root = await login(own);
    await userToken(own, root, 'bob');
    await userToken(own, root, 'carol', { role: 'admin' });
    const gone = await remove('bob', own, root);
    expect([gone.status, gone.body.message]).toEqual([200, expect.stringContaining('switched off: bobs.')]);
    expect((await remove('carol', own, root)).body.message).toBe('User deleted successfully.');
    const stored = JSON.parse(await storedSettings(own)) as { mcpServers: Record<string, unknown> };
    expect(stored.mcpServers).toEqual({
      bobs: { ...theirs, owner: 'admin', enabled: false },
      program: { ...program, owner: 'admin' },
      carols: { ...kept, owner: 'admin' },
    });
    const bobs = (method: string, path: string, body?: unknown) =>
      api(own, method, `/servers/bobs${path}`, { token: root, body });
    expect(data(await bobs('GET', ''))).toMatchObject({ status: 'disabled' });
    expect(victim.received('initialize')).toEqual([]);
    // Who switches it on vouches for it.
    await bobs('POST', '/toggle', { enabled: true });
    await until('it is connected with what the hub has', () =>
      victim.journal().some(({ headers }) => headers?.['x-stolen'] === 'value-of-the-hub-2'),
    );
  });

  test('is never oneself', async () => {
    const before = await storedSettings(hub);
    const { status, body } = await remove('admin');
    expect([status, body.message]).toEqual([
      400,
      'Cannot delete user "admin": it is your own account. Ask another admin.',
    ]);
    expect(await storedSettings(hub)).toBe(before);
  });
});

describe('the last admin', () => {
  test('stays one', async () => {
    const own = await testHub({ mcpServers: {} });
    const token = await login(own);
    for (const body of [{ role: 'user' }, { isAdmin: false }]) {
      expect((await change('admin', body, own, token)).status).toBe(400);
    }
    expect((await remove('admin', own, token)).status).toBe(400);
    expect((await api(own, 'GET', '/users', { token })).status).toBe(200);
  });

  test.each([
    ['demote', (own: TestHub) => (name: string, token: string) => change(name, { role: 'user' }, own, token)],
    ['delete', (own: TestHub) => (name: string, token: string) => remove(name, own, token)],
  ])('is left also when two %s each other at the same moment', async (_, attackOn) => {
    const own = await testHub({ mcpServers: {} });
    const one = await login(own);
    const two = await userToken(own, one, 'two', { role: 'admin' });
    const attack = attackOn(own);
    const answers = await Promise.all([attack('two', one), attack('admin', two)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const { users } = JSON.parse(await storedSettings(own)) as { users: { role: string }[] };
    expect(users.filter(({ role }) => role === 'admin')).toHaveLength(1);
  });
});

test('the statistics count each user once per server and per group', async () => {
  const users = ['one', 'two', 'three'].map((username) => ({ username, password: 'x', role: 'user' }));
  const own = await testHub({
    mcpServers: { alpha: { url: 'http://127.0.0.1:9/', enabled: false } },
    groups: [
      { id: 'g1', name: 'dev', servers: ['alpha', 'beta'] },
      { id: 'g2', name: 'ops', servers: [{ name: 'alpha', tools: ['x'] }] },
    ],
    users: [
      { username: 'boss', password: await hash(password), isAdmin: true },
      { ...users[0], servers: ['alpha'], groups: ['g1', 'g2', 'dev'] },
      { ...users[1], servers: ['alpha', 'gone'] },
      { ...users[2], groups: ['ops', 'nowhere'] },
    ],
  });
  const { status, body } = await api(own, 'GET', '/users-stats', { token: await login(own, 'boss', password) });
  expect([status, body]).toEqual([
    200,
    {
      success: true,
      data: {
        totalUsers: 4,
        adminUsers: 1,
        regularUsers: 3,
        usersPerServer: { alpha: 3, beta: 1, gone: 1 },
        usersPerGroup: { g1: 1, g2: 2, nowhere: 1 },
      },
    },
  ]);
});

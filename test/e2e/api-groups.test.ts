import { beforeAll, describe, expect, test } from 'vitest';
import { storedSettings } from '../kit/hub-database.ts';
import { api, type ApiAnswer, keyToken, login, userToken } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// /api/groups (SPEC, Groups; CONTRACT §4).

interface Group {
  id: string;
  name: string;
  description: string;
  servers: string[];
  owner: string;
}

const dataOf = (answer: ApiAnswer) => answer.body.data as Group;
const listOf = (answer: ApiAnswer) => answer.body.data as Group[];

let hub: TestHub;
let admin: string;
let ann: string;
let bob: string;
let key: string;
beforeAll(async () => {
  const server = await hostileHttp({ name: 'alpha', tools: ['one', 'two'] });
  hub = await testHub({
    mcpServers: {
      alpha: { ...server.config, visibility: 'public' },
      beta: { command: 'x', enabled: false, visibility: 'public' },
      secret: { command: 'x', enabled: false, visibility: 'private' },
    },
    groups: [
      {
        id: 'id-dev',
        name: 'dev',
        servers: ['alpha', { name: 'secret', tools: ['t'] }],
        visibility: 'public',
        owner: 'ann',
      },
      { id: 'id-hidden', name: 'hidden', servers: ['alpha'], visibility: 'private' },
    ],
  });
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
  bob = await userToken(hub, admin, 'bob');
  key = await keyToken(hub, ann);
  await hub.connected(1);
});

const post = (body: unknown, token = admin) => api(hub, 'POST', '/groups', { token, body });
const get = (path = '', token = admin) => api(hub, 'GET', `/groups${path}`, { token });
/** A group of its own for one test. */
async function made(name: string, more: object = {}, token = admin): Promise<Group> {
  const answer = await post({ name, ...more }, token);
  expect(answer.status, answer.text).toBe(201);
  return dataOf(answer);
}
/** The request fails like this, and the settings file is what it was. */
async function refused(answer: () => Promise<ApiAnswer>, status: number, message: string | RegExp = '') {
  const before = await storedSettings(hub);
  const { status: found, body, text } = await answer();
  expect([found, body.success], text).toEqual([status, false]);
  expect(body.message).toMatch(message);
  expect(await storedSettings(hub)).toBe(before);
  return body.errors;
}

describe('every route', () => {
  const routes: [method: string, path: string, body: unknown][] = [
    ['GET', '', undefined],
    ['POST', '', { name: 'x' }],
    ['POST', '/batch', { groups: [{ name: 'x' }] }],
    ['GET', '/dev', undefined],
    ['PUT', '/dev', { name: 'x' }],
    ['DELETE', '/dev', undefined],
    ['GET', '/dev/servers', undefined],
    ['POST', '/dev/servers', { serverName: 'beta' }],
    ['DELETE', '/dev/servers/alpha', undefined],
    ['PUT', '/dev/servers/batch', { servers: [] }],
    ['GET', '/dev/server-configs', undefined],
    ['GET', '/dev/server-configs/alpha', undefined],
    ['PUT', '/dev/server-configs/alpha/tools', { tools: [] }],
  ];

  test.each(routes)('%s /groups%s needs a credential that holds', async (method, path, body) => {
    for (const token of [undefined, 'eyJ.eyJ.x', `mcphub_${'0'.repeat(64)}`]) {
      await refused(() => api(hub, method, `/groups${path}`, { token, body }), 401);
    }
  });

  test.each(routes.filter(([method, path]) => method !== 'GET' && path !== '' && path !== '/batch'))(
    '%s /groups%s is refused to others than owner and admin, and to keys',
    async (method, path, body) => {
      await refused(() => api(hub, method, `/groups${path}`, { token: bob, body }), 403, /belongs to ann/);
      await refused(() => api(hub, method, `/groups${path}`, { token: key, body }), 403, /key/);
    },
  );

  test.each(routes.filter(([, path]) => path.startsWith('/dev')))(
    '%s /groups%s answers for a group that may not be seen as for none',
    async (method, path, body) => {
      const answers = await Promise.all(
        ['hidden', 'id-hidden', 'nowhere1', '__proto__'].map(async (name) => {
          const at = path.replace('/dev', `/${name}`);
          const answer = await api(hub, method, `/groups${at}`, { token: bob, body });
          return [answer.status, answer.text.replaceAll(name, '?')];
        }),
      );
      expect(answers[0]?.[0]).toBe(404);
      for (const answer of answers) expect(answer).toEqual(answers[0]);
    },
  );

  test.each(routes.filter(([method]) => method === 'POST' || method === 'PUT'))(
    '%s /groups%s refuses what is no JSON, and what is not its input',
    async (method, path) => {
      const call = (body: unknown, headers = {}) => api(hub, method, `/groups${path}`, { token: admin, body, headers });
      await refused(() => call('{"name":'), 400, /JSON/);
      await refused(() => call('name=x', { 'content-type': 'application/x-www-form-urlencoded' }), 415);
      for (const body of [
        [],
        'null',
        '"x"',
        {},
        { name: 7, servers: 'alpha', serverName: 7, tools: 'some', groups: {} },
      ]) {
        const errors = await refused(() => call(body), 400);
        expect(errors?.length).toBeGreaterThan(0);
      }
    },
  );
});

describe('creating', () => {
  test('answers 201 with the group, servers as names, owned by who made it', async () => {
    const answer = await post(
      { name: ' My group ', description: 'Words', servers: ['beta', { name: 'alpha', tools: ['one'] }] },
      ann,
    );
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      success: true,
      message: 'Group created successfully.',
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        name: 'My group',
        description: 'Words',
        servers: ['beta', 'alpha'],
        owner: 'ann',
        visibility: 'private',
        sharedWithUsers: [],
      },
    });
    const { id } = dataOf(answer);
    for (const path of [`/${id}`, '/My%20group']) expect(dataOf(await get(path, ann)).id).toBe(id);
    expect(listOf(await get(`/${id}/server-configs`, ann))).toEqual([
      { name: 'beta', tools: 'all', prompts: 'all', resources: 'all' },
      { name: 'alpha', tools: ['one'], prompts: 'all', resources: 'all' },
    ]);
  });

  test.each([
    ['', 400],
    ['   ', 400],
    ['a/b', 400],
    ['$smart', 400],
    ['x'.repeat(65), 400],
    ['__proto__', 400],
    ['..', 400],
    ['<script>', 400],
    ['dev', 409],
    ['DEV', 409],
    ['id-dev', 409],
    ['hidden', 409],
  ])('a group called %j is refused', async (name, status) => {
    await refused(() => post({ name }, ann), status);
  });

  test('a server that is not there, or not for the caller, is named in the error, the same way', async () => {
    for (const name of ['gone', 'secret', '__proto__']) {
      const errors = await refused(() => post({ name: 'x', servers: ['alpha', name] }, bob), 400, name);
      expect(errors?.[0]?.path).toBe('servers[1]');
      expect(errors?.[0]?.message).toBe(`names an unknown server "${name}". Known: alpha, beta`);
    }
  });

  test('a tool that the server does not offer is taken and told', async () => {
    const answer = await post({ name: 'slip', servers: [{ name: 'alpha', tools: ['one', 'onee'] }] });
    expect([answer.status, answer.body.message]).toEqual([201, expect.stringContaining('"onee"')]);
  });

  test('in a batch each stands for itself', async () => {
    const batch = (groups: unknown) => api(hub, 'POST', '/groups/batch', { token: admin, body: { groups } });
    const some = await batch([{ name: 'batch-1' }, { name: 'dev' }, { servers: [] }, 7]);
    expect([some.status, some.body['success'], some.body['successCount'], some.body['failureCount']]).toEqual([
      207,
      false,
      1,
      3,
    ]);
    expect(
      (some.body['results'] as { name: string; success: boolean }[]).map(({ name, success }) => [name, success]),
    ).toEqual([
      ['batch-1', true],
      ['dev', false],
      ['', false],
      ['', false],
    ]);
    expect((await batch([{ name: 'batch-2' }])).status).toBe(200);
    expect((await batch([{ name: 'batch-2' }])).status).toBe(400);
    await refused(() => batch([]), 400);
    await refused(() => batch(Array.from({ length: 201 }, (_, i) => ({ name: `n${i}` }))), 400);
  });
});

test('a group of a user is theirs until they share it, one of an admin is for all', async () => {
  const own = async (token: string, more: object = {}) => {
    const { name } = await made(`of-${crypto.randomUUID().slice(0, 8)}`, { servers: ['alpha'], ...more }, token);
    const statuses = await Promise.all([admin, ann, bob].map(async (who) => (await get(`/${name}`, who)).status));
    return [...statuses, (await rpc(hub.mcp(name), 'tools/list')).result?.tools?.length];
  };
  expect(await own(ann)).toEqual([200, 200, 404, 0]);
  expect(await own(ann, { visibility: null })).toEqual([200, 200, 404, 0]);
  expect(await own(ann, { visibility: 'group', sharedWithUsers: ['bob'] })).toEqual([200, 200, 200, 0]);
  expect(await own(admin)).toEqual([200, 200, 200, 2]);
});

describe('changing', () => {
  test('is by id or name, and answers the new state', async () => {
    const { id } = await made('changing', { servers: [{ name: 'alpha', tools: ['one'] }] });
    const renamed = await api(hub, 'PUT', '/groups/changing', {
      token: admin,
      body: { name: 'changed', description: 'New', servers: ['alpha', 'beta'] },
    });
    expect(renamed.body).toMatchObject({
      success: true,
      message: expect.stringContaining('updated') as string,
      data: { id, name: 'changed', description: 'New', servers: ['alpha', 'beta'] },
    });
    // A client that sends back the list it got changes nothing.
    expect(dataOf(await get(`/${id}/server-configs/alpha`))).toMatchObject({ tools: ['one'] });
    await refused(() => api(hub, 'PUT', `/groups/${id}`, { token: admin, body: { name: 'Dev' } }), 409);
    expect((await get('/changing')).status).toBe(404);
    const gone = await api(hub, 'DELETE', '/groups/changed', { token: admin });
    expect([gone.status, gone.body]).toEqual([200, { success: true, message: 'Group deleted successfully.' }]);
    expect((await get(`/${id}`)).status).toBe(404);
  });

  test('the id wins over a name', async () => {
    const { id } = await made('victim');
    await refused(() => post({ name: id }), 409);
  });

  test('servers are added once, in both spellings, and removed', async () => {
    await made('adding');
    const add = (body: unknown) => api(hub, 'POST', '/groups/adding/servers', { token: admin, body });
    expect(dataOf(await add({ serverName: 'alpha' })).servers).toEqual(['alpha']);
    expect(dataOf(await add({ serverId: 'beta' })).servers).toEqual(['alpha', 'beta']);
    const again = await add({ serverName: 'alpha' });
    expect(dataOf(await add({ serverName: 'alpha', tools: ['one'] })).servers).toEqual(['alpha', 'beta']);
    expect(listOf(await get('/adding/server-configs'))).toMatchObject([{ tools: ['one'] }, { tools: 'all' }]);
    expect([again.status, dataOf(again).servers]).toEqual([200, ['alpha', 'beta']]);
    await refused(() => add({ serverName: 'gone' }), 400, /"gone".*Known: alpha, beta/);
    const remove = (name: string) => api(hub, 'DELETE', `/groups/adding/servers/${name}`, { token: admin });
    expect(dataOf(await remove('alpha')).servers).toEqual(['beta']);
    expect((await remove('alpha')).status).toBe(200);
    expect(listOf(await get('/adding/servers'))).toEqual(['beta']);
  });

  test('the whole list is replaced, in both formats of its elements', async () => {
    await made('listing', { servers: ['beta'] });
    const put = (servers: unknown) =>
      api(hub, 'PUT', '/groups/listing/servers/batch', { token: admin, body: { servers } });
    const answer = await put([{ name: 'alpha', tools: ['two'], alias: 'a' }, 'beta']);
    expect([answer.status, dataOf(answer).servers]).toEqual([200, ['alpha', 'beta']]);
    expect(listOf(await get('/listing/server-configs'))).toEqual([
      { name: 'alpha', alias: 'a', tools: ['two'], prompts: 'all', resources: 'all' },
      { name: 'beta', tools: 'all', prompts: 'all', resources: 'all' },
    ]);
    for (const bad of [
      [7],
      [{ tools: 'all' }],
      [{ name: 'alpha', tools: 'some' }],
      ['gone'],
      ['alpha', { name: 'beta', alias: 'alpha' }],
    ]) {
      await refused(() => put(bad), 400);
    }
  });

  test('the tools of one server are chosen, and clients see it', async () => {
    await made('choosing', { servers: ['alpha'] });
    const names = async () => (await rpc(hub.mcp('choosing'), 'tools/list', {})).result?.tools?.map(({ name }) => name);
    expect(await names()).toEqual(['alpha-one', 'alpha-two']);
    const put = (server: string, tools: unknown) =>
      api(hub, 'PUT', `/groups/choosing/server-configs/${server}/tools`, { token: admin, body: { tools } });
    const answer = await put('alpha', ['two']);
    expect([answer.status, dataOf(answer).servers]).toEqual([200, ['alpha']]);
    expect(await names()).toEqual(['alpha-two']);
    expect((await put('alpha', 'all')).status).toBe(200);
    expect(await names()).toEqual(['alpha-one', 'alpha-two']);
    await refused(() => put('beta', 'all'), 404, /not in the group/);
  });
});

describe('what users see', () => {
  test('is their groups, and in them their servers', async () => {
    const all = listOf(await get());
    expect(all.find(({ name }) => name === 'dev')?.servers).toEqual(['alpha', 'secret']);
    for (const token of [ann, bob, key]) {
      const groups = listOf(await get('', token));
      expect(groups.map(({ name }) => name)).not.toContain('hidden');
      expect(groups.find(({ name }) => name === 'dev')?.servers).toEqual(['alpha']);
      expect(listOf(await get('/dev/servers', token))).toEqual(['alpha']);
      expect(listOf(await get('/dev/server-configs', token)).map(({ name }) => name)).toEqual(['alpha']);
      expect((await get('/dev/server-configs/secret', token)).status).toBe(404);
    }
    const only = await keyToken(hub, admin, { kind: 'system', accessType: 'groups', allowedGroups: ['dev'] });
    expect(listOf(await get('', only)).map(({ name, servers }) => [name, servers])).toEqual([
      ['dev', ['alpha', 'secret']],
    ]);
  });

  test('an owner who replaces the list keeps what they cannot see in it', async () => {
    const body = { servers: ['beta', 'alpha'] };
    const answer = await api(hub, 'PUT', '/groups/dev/servers/batch', { token: ann, body });
    expect(dataOf(answer).servers).toEqual(['beta', 'alpha']);
    expect(dataOf(await get('/dev')).servers).toEqual(['beta', 'alpha', 'secret']);
    await api(hub, 'PUT', '/groups/dev/servers/batch', { token: ann, body: { servers: ['alpha'] } });
    await refused(() => api(hub, 'POST', '/groups/dev/servers', { token: ann, body: { serverName: 'secret' } }), 400);
    await refused(() => api(hub, 'PUT', '/groups/dev', { token: ann, body: { owner: 'bob' } }), 403);
  });
});

describe('an owner selects no more of a server than the group had of it and they may use', () => {
  let own: TestHub;
  let root: string;
  let eve: string;
  let member: string;
  beforeAll(async () => {
    const db = await hostileHttp({ name: 'db', tools: ['read', 'write', 'drop'] });
    own = await testHub({
      mcpServers: { db: { ...db.config, visibility: 'private' } },
      groups: [
        { id: 'id-team', name: 'team', servers: [{ name: 'db', tools: ['read'], prompts: [] }], owner: 'eve' },
        { id: 'id-wide', name: 'wide', servers: ['db'], owner: 'eve' },
      ],
    });
    root = await login(own);
    eve = await userToken(own, root, 'eve', { groups: ['team'] });
    member = await userToken(own, root, 'member', { groups: ['team'] });
    await own.connected(1);
  });

  const ask = (method: string, path: string, body: unknown, token = eve) =>
    api(own, method, `/groups${path}`, { token, body });
  const tools = async (scope: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await rpc(own.mcp(scope), 'tools/list', {}, { headers })).result?.tools?.map(({ name }) => name);
  };
  const selected = async (group: string) => {
    const configs = await api(own, 'GET', `/groups/${group}/server-configs`, { token: root });
    return configs.body.data as { name: string; tools: unknown; prompts: unknown }[];
  };
  const tooMuch = (answer: ApiAnswer, path: string, may: string) => {
    expect([answer.status, answer.body.errors], answer.text).toEqual([
      400,
      expect.arrayContaining([{ path, message: expect.stringContaining(`you may select ${may}`) as string }]),
    ]);
  };

  test('in a group that gives them their access', async () => {
    const put = (choice: unknown) => ask('PUT', '/team/server-configs/db/tools', { tools: choice });
    for (const choice of ['all', ['read', 'drop']]) tooMuch(await put(choice), 'tools', 'read');
    const all = { servers: ['db'] };
    tooMuch(await ask('PUT', '/team/servers/batch', all), 'servers[0]', 'read');
    const prompts = { servers: [{ name: 'db', tools: ['read'] }] };
    for (const path of ['/team', '/team/servers/batch']) tooMuch(await ask('PUT', path, prompts), 'servers[0]', 'none');
    expect(await tools('team', eve)).toEqual(['db-read']);
    expect(await tools('team', member)).toEqual(['db-read']);
    expect(await tools('', member)).toEqual(['db-read']);
    // What widens nothing stays allowed.
    const same = { description: 'Words', servers: ['db'] };
    for (const body of [same, { servers: [{ name: 'db', tools: ['read'], prompts: [], alias: 'd' }] }])
      expect((await ask('PUT', '/team', body)).status).toBe(200);
    expect(await selected('team')).toMatchObject([{ name: 'db', tools: ['read'], prompts: [] }]);
    expect((await put(['d-read'])).status).toBe(200);
    expect((await put([])).status).toBe(200);
    expect(await tools('team', member)).toEqual([]);
    expect((await ask('PUT', '/team/server-configs/db/tools', { tools: ['read'] }, root)).status).toBe(200);
  });

  test('in a group of their own, whose keys would have it too', async () => {
    tooMuch(await ask('POST', '', { name: 'mine', servers: ['db'] }), 'servers[0]', 'read');
    expect((await ask('POST', '', { name: 'mine' })).status).toBe(201);
    const key = await keyToken(own, root, { kind: 'system', accessType: 'groups', allowedGroups: ['mine'] });
    const add = (choice: object) => ask('POST', '/mine/servers', { serverName: 'db', ...choice });
    tooMuch(await add({}), 'serverName', 'read');
    tooMuch(await add({ tools: 'all' }), 'serverName', 'read');
    tooMuch(await add({ tools: ['read', 'drop'] }), 'serverName', 'read');
    expect(await selected('mine')).toEqual([]);
    const some = { servers: [{ name: 'db', tools: ['read'], prompts: [] }] };
    expect((await ask('PUT', '/mine/servers/batch', some)).status).toBe(200);
    tooMuch(await ask('PUT', '/mine/server-configs/db/tools', { tools: 'all' }), 'tools', 'read');
    expect(await tools('mine', key)).toEqual(['db-read']);
  });

  test('in one where an admin selected more, which stays until they narrow it', async () => {
    const put = (choice: unknown) => ask('PUT', '/wide/server-configs/db/tools', { tools: choice });
    expect((await ask('PUT', '/wide', { name: 'broad', servers: ['db'] })).status).toBe(200);
    expect((await ask('PUT', '/broad', { name: 'wide', servers: ['db'] })).status).toBe(200);
    expect((await put('all')).status).toBe(200);
    expect(await selected('wide')).toMatchObject([{ tools: 'all', prompts: 'all' }]);
    expect((await put(['drop'])).status).toBe(200);
    expect((await put(['drop', 'read'])).status).toBe(200);
    tooMuch(await put(['drop', 'read', 'write']), 'tools', 'drop, read');
    expect(await selected('wide')).toMatchObject([{ tools: ['drop', 'read'], prompts: 'all' }]);
  });
});

test('who may change a group or server, and no other user, sees with whom it can be shared', async () => {
  const candidates = async (path: string, token: string | undefined) => {
    const { status, body } = await api(hub, 'GET', `${path}/share-candidates`, { token });
    return [status, body.data];
  };
  expect(await candidates('/groups/dev', ann)).toEqual([200, ['admin', 'bob']]);
  expect(await candidates('/groups/id-dev', admin)).toEqual([200, ['admin', 'bob']]);
  expect(await candidates('/servers/alpha', admin)).toEqual([200, ['ann', 'bob']]);
  for (const [path, token, status] of [
    ['/groups/dev', bob, 403],
    ['/groups/dev', key, 403],
    ['/groups/hidden', bob, 404],
    ['/servers/alpha', bob, 403],
    ['/servers/alpha', key, 403],
    ['/servers/secret', bob, 404],
    ['/servers/none', admin, 404],
    ['/groups/dev', undefined, 401],
  ] as const) {
    expect([path, ...(await candidates(path, token))]).toEqual([path, status, undefined]);
  }
});

test('the tools of a group may be given by the names clients see', async () => {
  await made('named');
  const servers = [{ name: 'alpha', tools: ['alpha-two', 'alpha-three'] }];
  const answer = await api(hub, 'PUT', '/groups/named/servers/batch', { token: admin, body: { servers } });
  expect(answer.body.message).toContain('offers no tool "alpha-three" now');
  expect((await get('/named/server-configs')).body.data).toMatchObject([{ tools: ['two', 'alpha-three'] }]);
  const listed = await rpc(hub.mcp('named'), 'tools/list', {}, { headers: { authorization: `Bearer ${admin}` } });
  expect(listed.result?.tools?.map(({ name }) => name)).toEqual(['alpha-two']);
});

test('a hub that is read-only shows groups and changes none', async () => {
  const fixed = await testHub({
    mcpServers: {},
    groups: [{ name: 'dev', servers: [] }],
    env: { READONLY: 'true' },
  });
  const token = await login(fixed);
  expect((await api(fixed, 'GET', '/groups/dev', { token })).status).toBe(200);
  const before = await storedSettings(fixed);
  expect((await api(fixed, 'POST', '/groups', { token, body: { name: 'x' } })).status).toBe(403);
  expect(await storedSettings(fixed)).toBe(before);
});

test('each change reaches connected clients', async () => {
  await made('watched');
  const client = await session(hub.mcp('watched'));
  const stream = await client.listen();
  await api(hub, 'POST', '/groups/watched/servers', { token: admin, body: { serverName: 'alpha' } });
  await stream.message('the list changed', ({ method }) => method === 'notifications/tools/list_changed');
});

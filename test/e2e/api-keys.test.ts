import { beforeAll, describe, expect, test } from 'vitest';
import { coreLimits } from '../../src/core/limits.ts';
import { api, type ApiAnswer, keyToken, login, userToken } from '../kit/api.ts';
import { rewriteSettings, storedSettings } from '../kit/hub-database.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { raw, rpc } from '../kit/raw.ts';
import { session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// /api/auth/keys (CONTRACT §2; reference: MCPHub §1.7).

const data = (answer: ApiAnswer) => answer.body.data as Record<string, unknown> & { id: string; token: string };

let hub: TestHub;
let admin: string;
let ann: string;
let bob: string;
beforeAll(async () => {
  const mcpServers = { a: { url: 'http://127.0.0.1:9/mcp', enabled: false } };
  const groups = [{ id: 'g-dev', name: 'dev', servers: [] }];
  hub = await testHub({ mcpServers, groups, systemConfig: { routing: { enableBearerAuth: true } } });
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann');
  bob = await userToken(hub, admin, 'bob');
});

const create = (token: string | undefined, body: unknown) => api(hub, 'POST', '/auth/keys', { token, body });
const list = async (token: string) =>
  (await api(hub, 'GET', '/auth/keys', { token })).body.data as Record<string, unknown>[];
/** What the MCP endpoint says to a key. */
const mcp = async (key: string) =>
  (await rpc(hub.mcp(), 'tools/list', {}, { headers: { authorization: `Bearer ${key}` } })).status;

test('a key is shown once, kept as a hash, works at once, and is masked in every other answer', async () => {
  const made = await create(ann, { name: ' my laptop ' });
  const { id, token } = data(made);
  const shown = {
    id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    name: 'my laptop',
    enabled: true,
    kind: 'user',
    owner: 'ann',
    accessType: 'all',
    allowedGroups: [],
    allowedServers: [],
    readOnly: false,
    allowedAddresses: [],
  };
  expect([made.status, made.body]).toEqual([
    201,
    {
      success: true,
      data: { ...shown, token: expect.stringMatching(/^mcphub_[0-9a-f]{64}$/) as string },
      message: 'Bearer key created. The token is only shown once.',
    },
  ]);
  expect(made.headers['cache-control']).toBe('no-store');
  const masked = { ...shown, token: `${token.slice(0, 8)}...${token.slice(-4)}` };
  expect(await list(ann)).toContainEqual(masked);
  const changed = await api(hub, 'PUT', `/auth/keys/${id}`, { token: ann, body: { name: 'laptop' } });
  expect(changed.body.data).toEqual({ ...masked, name: 'laptop' });
  expect(await storedSettings(hub)).not.toContain(token);
  for (const text of [changed.text, JSON.stringify(await list(admin))]) {
    expect(text).not.toContain(token);
    expect(text).not.toMatch(/hash/i);
  }
  expect(await mcp(token)).toBe(200);
  expect(await mcp(token.toUpperCase())).toBe(401);
  expect(await mcp(`${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`)).toBe(401);
});

test('a key that is switched off or deleted opens nothing from that moment', async () => {
  const { id, token } = data(await create(ann, { name: 'k' }));
  const set = (enabled: boolean) => api(hub, 'PUT', `/auth/keys/${id}`, { token: ann, body: { enabled } });
  expect(await mcp(token)).toBe(200);
  expect((await set(false)).body.data).toMatchObject({ enabled: false });
  expect(await mcp(token)).toBe(401);
  await set(true);
  expect(await mcp(token)).toBe(200);
  const gone = await api(hub, 'DELETE', `/auth/keys/${id}`, { token: ann });
  expect([gone.status, gone.body]).toEqual([200, { success: true, message: 'Access key deleted successfully.' }]);
  expect(await mcp(token)).toBe(401);
  expect((await api(hub, 'DELETE', `/auth/keys/${id}`, { token: ann })).status).toBe(404);
});

describe('a user', () => {
  test("sees and changes their own keys; another's key is as one that does not exist", async () => {
    const own = data(await create(ann, { name: 'own' }));
    const others = [
      data(await create(bob, { name: "bob's" })),
      data(await create(admin, { name: 'system' })),
      data(await create(admin, { name: 'admin', kind: 'user' })),
    ];
    const visible = (await list(ann)).map(({ id }) => id);
    expect(visible).toContain(own.id);
    const before = await storedSettings(hub);
    for (const { id } of [...others, { id: 'no-such-id' }, { id: '__proto__' }]) {
      expect(visible).not.toContain(id);
      for (const answer of [
        await api(hub, 'PUT', `/auth/keys/${id}`, { token: ann, body: { enabled: false } }),
        await api(hub, 'DELETE', `/auth/keys/${id}`, { token: ann }),
      ]) {
        expect([answer.status, answer.body]).toEqual([
          404,
          { success: false, message: `There is no access key "${id}".` },
        ]);
      }
    }
    expect(await storedSettings(hub)).toBe(before);
  });

  test.each([
    ['a key of the system', { kind: 'system' }],
    ['a key of the system in their name', { kind: 'system', owner: 'ann' }],
    ['a key for another user', { owner: 'bob' }],
    ['a key for an admin', { kind: 'user', owner: 'admin' }],
    ['a key for an unknown user', { kind: 'user', owner: 'nobody' }],
  ])('cannot make %s', async (_, more) => {
    const before = await storedSettings(hub);
    const answer = await create(ann, { name: 'k', ...more });
    expect([answer.status, answer.body.success]).toEqual([403, false]);
    expect(await storedSettings(hub)).toBe(before);
  });

  test('is told that a scope does not limit their key', async () => {
    const limited = { accessType: 'servers', allowedServers: [] };
    const made = await create(ann, { name: 'limited', ...limited });
    expect([made.status, made.body.message]).toEqual([201, expect.stringContaining('all that ann may use')]);
    const { id } = data(made);
    const change = (body: object) => api(hub, 'PUT', `/auth/keys/${id}`, { token: ann, body });
    expect((await change({ name: 'x' })).body.message).toContain('all that ann may use');
    expect((await change({ accessType: 'all' })).body.message).toBe('Access key updated successfully.');
    const ofSystem = await create(admin, { name: 'limited', ...limited });
    expect(ofSystem.body.message).toBe('Bearer key created. The token is only shown once.');
  });

  test('cannot give a key away, change its token, or make it more than it is', async () => {
    const { id, token } = data(await create(ann, { name: 'k' }));
    const made = data(
      await api(hub, 'PUT', `/auth/keys/${id}`, {
        token: ann,
        body: {
          name: 'k2',
          owner: 'admin',
          kind: 'system',
          id: 'x',
          token: 'chosen',
        },
      }),
    );
    expect(made).toMatchObject({ id, name: 'k2', owner: 'ann', kind: 'user' });
    expect(await mcp(token)).toBe(200);
    const chosen = data(await create(ann, { name: 'k', token: `mcphub_${'a'.repeat(64)}`, id: 'x' }));
    expect(chosen.token).not.toBe(`mcphub_${'a'.repeat(64)}`);
    expect(chosen.id).not.toBe('x');
    const refused = await create(ann, { name: 'k', tokenHash: 'x', maskedToken: 'x' });
    expect([refused.status, refused.text]).toEqual([400, expect.stringMatching(/tokenHash, maskedToken/)]);
  });

  test(`may have ${coreLimits.keysPerOwner} keys and no more`, async () => {
    const bearerKeys = Array.from({ length: coreLimits.keysPerOwner - 1 }, (_, i) => ({
      id: `k${i}`,
      name: `k${i}`,
      token: `mcphub_${String(i).padStart(64, '0')}`,
      kind: 'user',
      owner: 'admin',
    }));
    const full = await testHub({ mcpServers: {}, bearerKeys });
    const token = await login(full);
    const more = () => api(full, 'POST', '/auth/keys', { token, body: { name: 'more', kind: 'user' } });
    const statuses = await Promise.all([more(), more(), more()]);
    expect(statuses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 400, 400]);
  });
});

describe('an admin', () => {
  test('sees and changes all keys, and makes those of the system and of others', async () => {
    const others = data(await create(bob, { name: "bob's" }));
    const system = data(await create(admin, { name: 'ci', accessType: 'groups', allowedGroups: ['dev'] }));
    expect(system).toMatchObject({ kind: 'system', accessType: 'groups', allowedGroups: ['dev'] });
    expect(system).not.toHaveProperty('owner');
    const forAnn = data(await create(admin, { name: 'for ann', owner: 'ann' }));
    expect(forAnn).toMatchObject({ kind: 'user', owner: 'ann' });
    const ids = (await list(admin)).map(({ id }) => id);
    for (const { id } of [others, system, forAnn]) expect(ids).toContain(id);
    expect((await list(ann)).map(({ id }) => id)).toContain(forAnn.id);
    const body = { enabled: false, accessType: 'servers', allowedServers: ['a', 'a'], allowedGroups: [] };
    const changed = await api(hub, 'PUT', `/auth/keys/${system.id}`, { token: admin, body });
    expect(changed.body.data).toMatchObject({ ...body, allowedServers: ['a'] });
    expect((await api(hub, 'DELETE', `/auth/keys/${others.id}`, { token: admin })).status).toBe(200);
    expect(await mcp(others.token)).toBe(401);
  });

  test('manages a key of an imported file, whose token is never shown', async () => {
    const token = `mcphub_${'5'.repeat(64)}`;
    const bearerKeys = [
      { name: 'no id', token },
      { id: 'with-id', name: 'b', token: 'short', enabled: true },
    ];
    const own = await testHub({ mcpServers: {}, bearerKeys });
    const session = await login(own);
    const { text, body } = await api(own, 'GET', '/auth/keys', { token: session });
    expect(text).not.toContain(token);
    expect(text).not.toContain('short"');
    const [first, second] = body.data as { id: string; name: string; token: string }[];
    expect([first?.name, first?.token, second?.token]).toEqual(['no id', 'mcphub_5...5555', '********']);
    expect(first?.id).not.toBe('');
    expect((await api(own, 'DELETE', `/auth/keys/${first?.id}`, { token: session })).status).toBe(200);
    expect((await api(own, 'DELETE', '/auth/keys/with-id', { token: session })).status).toBe(200);
    expect((await api(own, 'GET', '/auth/keys', { token: session })).body.data).toEqual([]);
  });

  test('a key of an imported file is kept hashed, goes on opening what it opened, and is never exported', async () => {
    const token = `mcphub_${'6'.repeat(64)}`;
    const legacy = 'the one key of old files';
    const own = await testHub({
      mcpServers: {},
      bearerKeys: [{ id: 'k', name: 'k', token }],
      systemConfig: { routing: { enableBearerAuth: true, bearerAuthKey: legacy } },
    });
    const opens = async (key: string) =>
      (await rpc(own.mcp(), 'tools/list', {}, { headers: { authorization: `Bearer ${key}` } })).status;
    const session = await login(own);
    const plain = [token, legacy];
    for (const text of [
      await storedSettings(own),
      (await api(own, 'GET', '/mcp-settings/export?secrets=include', { token: session })).text,
      (await api(own, 'GET', '/settings', { token: session })).text,
    ]) {
      for (const key of plain) expect(text).not.toContain(key);
    }
    expect(await Promise.all([...plain, 'another'].map(opens))).toEqual([200, 200, 401]);
    const names = (await api(own, 'GET', '/auth/keys', { token: session })).body.data as { id: string; name: string }[];
    expect(names.map(({ name }) => name)).toEqual(['k', 'systemConfig.routing.bearerAuthKey']);
    await api(own, 'DELETE', `/auth/keys/${names[1]?.id}`, { token: session });
    expect(await opens(legacy)).toBe(401);
  });

  test('who is one no more manages only their own keys', async () => {
    const token = await userToken(hub, admin, 'former', { role: 'admin' });
    expect((await list(token)).length).toBeGreaterThan(1);
    await api(hub, 'PUT', '/users/former', { token: admin, body: { role: 'user' } });
    expect(await list(token)).toEqual([]);
    expect((await create(token, { name: 'k', kind: 'system' })).status).toBe(403);
  });
});

describe('a key that expires', () => {
  test('is refused from then on, and its session and stream end; a later time lets it in again', async () => {
    const { id, token, ...made } = data(await create(ann, { name: 'short', expiresAt: '2999-01-01' }));
    expect(made['expiresAt']).toBe('2999-01-01T00:00:00.000Z');
    const put = (body: unknown) => api(hub, 'PUT', `/auth/keys/${id}`, { token: ann, body });
    const client = await session(hub.mcp(), { headers: { authorization: `Bearer ${token}` } });
    const stream = await client.listen();
    let expiresAt = '';
    await until('it is to expire soon', async () => {
      expiresAt = new Date(Date.now() + 2_000).toISOString();
      return (await put({ expiresAt })).status === 200;
    });
    await until('the stream has ended', () => stream.ended());
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
    expect(await mcp(token)).toBe(401);
    expect((await api(hub, 'GET', '/servers', { token })).status).toBe(401);
    expect((await list(ann)).find((key) => key['id'] === id)).toMatchObject({ expiresAt, enabled: true });

    expect((await put({ name: 'renamed', expiresAt })).status).toBe(200);
    expect(await mcp(token)).toBe(401);
    expect((await put({ expiresAt: new Date(Date.now() - 1_000).toISOString() })).status).toBe(400);
    expect(data(await put({ expiresAt: '2999-01-01T00:00:00+02:00' }))['expiresAt']).toBe('2998-12-31T22:00:00.000Z');
    expect(await mcp(token)).toBe(200);
    expect(data(await put({ expiresAt: null }))).not.toHaveProperty('expiresAt');
    expect(await mcp(token)).toBe(200);
  });

  test.each(['2020-01-01T00:00:00Z', 'tomorrow', '2999-13-01', '2999-01-01T00:00:00', 4_070_908_800, true])(
    'is not made with %j',
    async (expiresAt) => {
      const { status, body } = await create(ann, { name: 'k', expiresAt });
      expect([status, body.errors?.map(({ path }) => path)]).toEqual([400, ['expiresAt']]);
    },
  );
});

describe('a key for some addresses', () => {
  let proxied: TestHub;
  let session: string;
  beforeAll(async () => {
    const systemConfig = { routing: { enableBearerAuth: true } };
    proxied = await testHub({ mcpServers: {}, systemConfig, env: { TRUST_PROXY: 'loopback' } });
    session = await login(proxied);
  });
  const make = (allowedAddresses: unknown) =>
    api(proxied, 'POST', '/auth/keys', { token: session, body: { name: 'k', allowedAddresses } });
  /** What each kind of endpoint says to the key in a request that the proxy passes on. */
  const statuses = async (token: string, forwarded: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': forwarded };
    const [overMcp, overRest, overSse] = await Promise.all([
      rpc(proxied.mcp(), 'tools/list', {}, { headers }),
      api(proxied, 'GET', '/servers', { token, headers }),
      raw(proxied.sse(), { method: 'POST', headers }),
    ]);
    return [overMcp.status, overRest.status, overSse.status === 401];
  };

  test('opens nothing from elsewhere, whatever a client writes into X-Forwarded-For', async () => {
    const { token, id, ...made } = data(await make([' 203.0.113.0/24 ', '2001:db8::/32', '203.0.113.0/24']));
    expect(made['allowedAddresses']).toEqual(['203.0.113.0/24', '2001:db8::/32']);
    for (const from of [
      '203.0.113.9',
      '2001:db8::9',
      '::ffff:203.0.113.9',
      '[2001:db8::9]:443',
      '198.51.100.1, 203.0.113.9',
    ])
      expect(await statuses(token, from), from).toEqual([200, 200, false]);
    for (const from of [
      '198.51.100.1',
      '203.0.113.9, 198.51.100.1',
      '203.0.113.9, , 198.51.100.1',
      'x, 198.51.100.1',
      '',
    ])
      expect(await statuses(token, from), from).toEqual([401, 401, true]);
    const change = (allowedAddresses: unknown) =>
      api(proxied, 'PUT', `/auth/keys/${id}`, { token: session, body: { allowedAddresses } });
    for (const anywhere of [[], null]) {
      expect((await change(['127.0.0.1'])).body.data).toMatchObject({ allowedAddresses: ['127.0.0.1'] });
      expect(await statuses(token, '203.0.113.9')).toEqual([401, 401, true]);
      expect((await change(anywhere)).body.data).toMatchObject({ allowedAddresses: [] });
      expect(await statuses(token, '198.51.100.1')).toEqual([200, 200, false]);
    }
  });

  test.each([
    [['10.0.0.0/33'], 'allowedAddresses[0]'],
    [['10.0.0.1', 'example.com'], 'allowedAddresses[1]'],
    [['10.0.0.0/8/8'], 'allowedAddresses[0]'],
    [['010.0.0.1'], 'allowedAddresses[0]'],
    [[''], 'allowedAddresses[0]'],
    [[1], 'allowedAddresses[0]'],
    ['10.0.0.0/8', 'allowedAddresses'],
    [Array(coreLimits.listedNames + 1).fill('10.0.0.1'), 'allowedAddresses'],
  ])('is not made with %j', async (allowedAddresses, path) => {
    const { status, body } = await make(allowedAddresses);
    expect([status, body.errors?.[0]?.path]).toEqual([400, path]);
  });
});

describe('a key that only reads', () => {
  test('reaches what a server says only reads, as it says now, and no other caller sees less', async () => {
    const tools = (readOnlyHint: unknown) => [
      { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
      { name: 'turn', inputSchema: { type: 'object' }, annotations: { readOnlyHint } },
      { name: 'write', inputSchema: { type: 'object' }, annotations: { readOnlyHint: 'true' } },
      { name: 'plain', inputSchema: { type: 'object' } },
    ];
    const server = hostileStdio({ name: 's', tools: tools(true) });
    const changed = hostileStdio({ name: 's', tools: tools(false) });
    const settings = { mcpServers: { s: server.config }, systemConfig: { routing: { enableBearerAuth: true } } };
    const read = `mcphub_${'7'.repeat(64)}`;
    const write = `mcphub_${'8'.repeat(64)}`;
    const bearerKeys = [
      { id: 'read', name: 'read', token: read, readOnly: true },
      { id: 'write', name: 'write', token: write },
    ];
    const own = await testHub({ ...settings, bearerKeys });
    await own.connected(1);
    const listed = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const { result } = await rpc(own.mcp(), 'tools/list', {}, { headers });
      return (result?.tools ?? []).map(({ name }) => name);
    };
    const called = async (key: string, name: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const params = { name: 'call_tool', arguments: { toolName: `s-${name}`, arguments: {} } };
      const answers = [
        await rpc(own.mcp(), 'tools/call', { name: `s-${name}`, arguments: {} }, { headers }),
        await rpc(own.mcp('$smart'), 'tools/call', params, { headers }),
      ];
      const rest = await api(own, 'POST', '/tools/call/s', { token: key, body: { toolName: name } });
      return [...answers.map(({ result }) => result !== undefined && result.isError !== true), rest.status];
    };
    expect(await listed(read)).toEqual(['s-look', 's-turn']);
    expect(await listed(write)).toEqual(['s-look', 's-turn', 's-write', 's-plain']);
    expect(await called(read, 'turn')).toEqual([true, true, 200]);
    for (const hidden of ['write', 'plain']) expect(await called(read, hidden)).toEqual([false, false, 404]);
    expect(await called(write, 'plain')).toEqual([true, true, 200]);
    await rewriteSettings(own, { ...settings, mcpServers: { s: changed.config }, bearerKeys });
    await until('the annotation has changed', async () => (await listed(read)).join() === 's-look');
    expect(await called(read, 'turn')).toEqual([false, false, 404]);
    expect(changed.received('tools/call')).toEqual([]);
    expect(await called(write, 'turn')).toEqual([true, true, 200]);
  });
});

describe('a key that is rotated', () => {
  test('gets a token that is shown once; the one before ends at once, or with its overlap, with its streams', async () => {
    const made = data(await create(ann, { name: 'k' }));
    const rotate = (body?: unknown, token = ann) =>
      api(hub, 'POST', `/auth/keys/${made.id}/rotate`, { token, ...(body !== undefined && { body }) });
    const answer = await rotate();
    const second = data(answer);
    expect([answer.status, second.id]).toEqual([200, made.id]);
    expect(second.token).toMatch(/^mcphub_[0-9a-f]{64}$/);
    expect(second).not.toHaveProperty('previousUntil');
    expect([await mcp(made.token), await mcp(second.token)]).toEqual([401, 200]);

    const client = await session(hub.mcp(), { headers: { authorization: `Bearer ${second.token}` } });
    const stream = await client.listen();
    const third = data(await rotate({ overlapSeconds: 2 }));
    const ends = Date.parse(String(third['previousUntil']));
    expect(await mcp(third.token)).toBe(200);
    await until('the stream has ended', () => stream.ended());
    expect(Date.now()).toBeGreaterThanOrEqual(ends);
    expect([await mcp(second.token), await mcp(third.token)]).toEqual([401, 200]);

    const fourth = data(await rotate({ overlapSeconds: 3_600 }));
    expect(await Promise.all([made, second, third, fourth].map(({ token }) => mcp(token)))).toEqual([
      401, 401, 200, 200,
    ]);
    expect(await storedSettings(hub)).not.toContain(third.token);
    expect(JSON.stringify(await list(ann))).not.toMatch(/hash/i);
    const fifth = data(await rotate({ overlapSeconds: 0 }));
    expect(await Promise.all([third, fourth, fifth].map(({ token }) => mcp(token)))).toEqual([401, 401, 200]);

    expect((await rotate({}, bob)).status).toBe(404);
    expect((await rotate({}, fifth.token)).status).toBe(403);
    for (const overlapSeconds of [-1, 0.5, '60', 30 * 86_400 + 1])
      expect((await rotate({ overlapSeconds })).body.errors?.[0]?.path).toBe('overlapSeconds');
    expect(await mcp(fifth.token)).toBe(200);
  });
});

describe('a body that is wrong is refused by path, and nothing changes:', () => {
  test.each([
    ['no body', '', undefined],
    ['broken JSON', '{"name":', undefined],
    ['a list', [], ''],
    ['no name', {}, 'name'],
    ['an empty name', { name: ' ' }, 'name'],
    ['a name without end', { name: 'x'.repeat(101) }, 'name'],
    ['a name that is a number', { name: 1 }, 'name'],
    ['enabled as a text', { name: 'k', enabled: 'yes' }, 'enabled'],
    ['an unknown kind', { name: 'k', kind: 'root' }, 'kind'],
    ['an unknown accessType', { name: 'k', accessType: 'some' }, 'accessType'],
    ['groups that are a text', { name: 'k', allowedGroups: 'dev' }, 'allowedGroups'],
    ['servers that are numbers', { name: 'k', allowedServers: [1] }, 'allowedServers[0]'],
    ['servers without end', { name: 'k', allowedServers: Array(1_001).fill('a') }, 'allowedServers'],
    ['an unknown server', { name: 'k', allowedServers: ['a', 'gone'] }, 'allowedServers[1]'],
    ['an unknown group', { name: 'k', allowedGroups: ['g-dev', 'dev', 'gone'] }, 'allowedGroups[2]'],
    ['an unknown owner', { name: 'k', owner: 'nobody' }, 'owner'],
  ])('%s', async (_, body, path) => {
    const { id } = data(await create(admin, { name: 'k' }));
    const before = await storedSettings(hub);
    const headers = { 'content-type': 'application/json' };
    const answer = await api(hub, 'POST', '/auth/keys', { token: admin, body, headers });
    expect([answer.status, answer.body.success, answer.body.errors?.[0]?.path]).toEqual([400, false, path]);
    if (path === 'owner' || path === 'kind') return;
    const changed = await api(hub, 'PUT', `/auth/keys/${id}`, { token: admin, body, headers });
    expect([changed.status, changed.body.success]).toEqual([400, false]);
    expect(await storedSettings(hub)).toBe(before);
  });
});

describe('only a user who logged in', () => {
  test.each([
    ['GET', '/auth/keys'],
    ['POST', '/auth/keys', { name: 'k' }],
    ['PUT', '/auth/keys/ID', { enabled: true }],
    ['DELETE', '/auth/keys/ID'],
  ])('may %s %s', async (method, path, body?: unknown) => {
    const own = data(await create(ann, { name: 'own' }));
    const strangers = [
      [undefined, 401],
      ['eyJ.eyJ.x', 401],
      [`mcphub_${'0'.repeat(64)}`, 401],
      [own.token, 403],
      [await keyToken(hub, admin), 403],
      [await keyToken(hub, admin, { kind: 'user' }), 403],
    ] as const;
    const before = await storedSettings(hub);
    for (const [token, status] of strangers) {
      const answer = await api(hub, method, path.replace('ID', own.id), { token, body });
      expect([answer.status, answer.body]).toEqual([status, { success: false, message: expect.any(String) as string }]);
    }
    expect(await storedSettings(hub)).toBe(before);
  });
});

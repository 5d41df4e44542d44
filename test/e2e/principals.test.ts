import { createHash, randomBytes } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { raw, rpc, stream } from '../kit/raw.ts';
import { legacySession, modern, modernRequest, session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import type { SettingsDocument, TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Who may see and call what over MCP (CONTRACT §2), and that sessions belong to who began them.

const newKey = () => `mcphub_${randomBytes(32).toString('hex')}`;
const keys = { all: newKey(), group: newKey(), servers: newKey(), custom: newKey(), off: newKey(), mallory: newKey() };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const open = await hostileHttp({ name: 'open', tools: ['echo', 'hang', 'progress', 'grow'] });
const closed = await hostileHttp({ name: 'closed', tools: ['echo'] });
const shared = await hostileHttp({ name: 'shared', tools: ['echo'] });
let settings: SettingsDocument;
let hub: TestHub;

const key = (id: string, token: string, more: Record<string, unknown>) => ({
  id,
  name: id,
  token,
  enabled: true,
  kind: 'system',
  accessType: 'all',
  allowedGroups: [],
  allowedServers: [],
  ...more,
});

beforeAll(async () => {
  settings = {
    mcpServers: {
      open: open.config,
      closed: { ...closed.config, visibility: 'private', owner: 'admin' },
      shared: { ...shared.config, visibility: 'group', owner: 'admin', sharedWithUsers: ['mallory'] },
    },
    groups: [
      { id: '11111111-1111-4111-8111-111111111111', name: 'mixed', servers: ['open', 'closed'] },
      { id: '22222222-2222-4222-8222-222222222222', name: 'plain', servers: ['open'] },
    ],
    users: [{ username: 'mallory', password: await hash('long enough 1!'), isAdmin: false }],
    bearerKeys: [
      key('all', keys.all, {}),
      key('group', keys.group, { accessType: 'groups', allowedGroups: ['plain'] }),
      key('servers', keys.servers, { accessType: 'servers', allowedServers: ['open'] }),
      key('custom', keys.custom, { accessType: 'custom', allowedGroups: ['plain'], allowedServers: ['closed'] }),
      key('off', keys.off, { enabled: false }),
      key('mallory', keys.mallory, { kind: 'user', owner: 'mallory' }),
    ],
    systemConfig: { routing: { enableBearerAuth: true } },
  };
  hub = await testHub(settings);
  await hub.connected(3);
});

const names = async (scope: string, token?: string) =>
  (
    (await rpc(hub.mcp(scope), 'tools/list', {}, token === undefined ? {} : { headers: bearer(token) })).result
      ?.tools ?? []
  )
    .map((tool) => tool.name)
    .sort();

describe('with authentication on', () => {
  test('no caller gets in without a credential, on any route, and no server hears of the attempt', async () => {
    const before = open.journal().length;
    for (const scope of ['', 'mixed', 'open', 'nobody', '$smart']) {
      for (const answer of [
        await rpc(hub.mcp(scope), 'tools/call', { name: 'open-echo' }),
        await modern(hub.mcp(scope), 'tools/list'),
        await raw(hub.mcp(scope), { method: 'GET' }),
        await raw(hub.mcp(scope), { method: 'DELETE' }),
        await raw(hub.sse(scope), { method: 'GET' }),
      ]) {
        expect(answer.status, scope).toBe(401);
        expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
        expect(answer.headers['www-authenticate']).toContain('resource_metadata=');
        expect(answer.headers['mcp-session-id']).toBeUndefined();
      }
    }
    expect((await raw(`${hub.url}/messages?sessionId=x`, { body: {} })).status).toBe(401);
    expect(open.journal()).toHaveLength(before);
  });

  test('what is not a valid credential is refused, whatever it looks like', async () => {
    const almost = keys.all.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    for (const authorization of [
      '',
      'Bearer',
      'Bearer ',
      `Bearer ${almost}`,
      `Bearer ${keys.all}x`,
      `Bearer ${keys.off}`,
      `Basic ${btoa(`admin:${keys.all}`)}`,
      `Bearer ${keys.all.toUpperCase()}`,
      `Bearer ${createHash('sha256').update(keys.all).digest('hex')}`,
      'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.',
      'Bearer undefined',
      'Bearer null',
      `Bearer ${'x'.repeat(8_000)}`,
      `Token ${keys.all}`,
    ]) {
      const answer = await rpc(hub.mcp(), 'tools/list', {}, { headers: { authorization } });
      expect(answer.status, authorization.slice(0, 60)).toBe(401);
    }
    expect((await rpc(`${hub.mcp()}?token=${keys.all}`, 'tools/list', {})).status).toBe(401);
  });

  test('a key of everything sees everything; the scheme is case-insensitive', async () => {
    expect(await names('', keys.all)).toEqual(expect.arrayContaining(['closed-echo', 'open-echo', 'shared-echo']));
    expect((await rpc(hub.mcp(), 'tools/list', {}, { headers: { authorization: `bearer ${keys.all}` } })).status).toBe(
      200,
    );
  });

  test('a scoped key reaches its scope and nothing beside it', async () => {
    expect(await names('plain', keys.group)).toContain('open-echo');
    expect(await names('open', keys.servers)).toContain('echo');
    expect(await names('plain', keys.servers)).toContain('open-echo');
    const beyond: [string, string][] = [
      [keys.group, ''],
      [keys.group, 'mixed'],
      [keys.group, 'closed'],
      [keys.group, 'open'],
      [keys.servers, ''],
      [keys.servers, 'mixed'],
      [keys.servers, 'closed'],
      [keys.custom, ''],
      [keys.custom, 'mixed'],
      [keys.custom, 'shared'],
    ];
    const before = closed.received('tools/call').length + shared.received('tools/call').length;
    for (const [token, scope] of beyond) {
      for (const name of ['closed-echo', 'shared-echo', 'echo']) {
        const answer = await rpc(hub.mcp(scope), 'tools/call', { name, arguments: {} }, { headers: bearer(token) });
        expect(answer.result, `${scope} ${name}`).toBeUndefined();
      }
      expect(await names(scope, token), scope).not.toEqual(expect.arrayContaining(['closed-echo']));
    }
    expect(closed.received('tools/call').length + shared.received('tools/call').length).toBe(before);
    expect(await names('closed', keys.custom)).toEqual(['echo']);
  });

  test('the key of a user reaches what the user reaches', async () => {
    const reached = await names('', keys.mallory);
    expect(reached).toContain('shared-echo');
    expect(reached).not.toContain('closed-echo');
    const answer = await rpc(hub.mcp('closed'), 'tools/call', { name: 'echo' }, { headers: bearer(keys.mallory) });
    expect(answer.error?.code).toBe(-32602);
  });

  test('a session belongs to who began it: others are told it does not exist', async () => {
    const mine = await session(hub.mcp('plain'), { headers: bearer(keys.all) });
    for (const token of [keys.group, keys.servers, keys.mallory]) {
      const headers = { ...mine.headers, ...bearer(token) };
      expect((await rpc(hub.mcp('plain'), 'tools/list', {}, { headers })).status).toBe(404);
      expect((await raw(hub.mcp('plain'), { method: 'GET', headers })).status).toBe(404);
      expect((await raw(hub.mcp('plain'), { method: 'DELETE', headers })).status).toBe(404);
      expect(
        (
          await raw(hub.mcp('plain'), {
            headers,
            body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
          })
        ).status,
      ).toBe(404);
    }
    expect(
      (await rpc(hub.mcp('plain'), 'tools/list', {}, { headers: { ...mine.headers, authorization: undefined } }))
        .status,
    ).toBe(401);
    expect((await mine.request('tools/list')).status).toBe(200);
  });

  test('messages of another’s event stream are refused', async () => {
    const mine = await legacySession(hub.sse('plain'), { headers: bearer(keys.all) });
    const ping = { jsonrpc: '2.0', id: 'theirs', method: 'ping' };
    expect((await raw(mine.endpoint, { body: ping, headers: bearer(keys.mallory) })).status).toBe(404);
    expect((await raw(mine.endpoint, { body: ping })).status).toBe(401);
    expect((await mine.request('ping')).result).toEqual({});
    expect(mine.stream.messages.some((message) => message.id === 'theirs')).toBe(false);
  });
});

describe('with authentication off', () => {
  let welcoming: TestHub;
  beforeAll(async () => {
    welcoming = await testHub({ ...settings, systemConfig: { routing: { enableBearerAuth: false } } });
    await welcoming.connected(3);
  });

  test('anonymous sees what is not marked private or shared, everywhere', async () => {
    const seen = async (scope: string) =>
      ((await rpc(welcoming.mcp(scope), 'tools/list', {})).result?.tools ?? []).map((tool) => tool.name);
    expect((await seen('')).every((name) => name.startsWith('open-'))).toBe(true);
    expect((await seen('mixed')).every((name) => name.startsWith('open-'))).toBe(true);
    expect([await seen('closed'), await seen('shared')]).toEqual([[], []]);
    const before = closed.received('tools/call').length;
    for (const [scope, name] of [
      ['', 'closed-echo'],
      ['mixed', 'closed-echo'],
      ['closed', 'echo'],
      ['closed', 'closed-echo'],
      ['shared', 'echo'],
    ] as const) {
      expect((await rpc(welcoming.mcp(scope), 'tools/call', { name })).error?.code, `${scope} ${name}`).toBe(-32602);
      expect((await modern(welcoming.mcp(scope), 'tools/call', { name })).error?.code, `${scope} ${name}`).toBe(-32602);
    }
    expect(closed.received('tools/call')).toHaveLength(before);
  });

  test('the endpoint of an invisible server looks like that of none', async () => {
    const look = async (scope: string) => {
      const own = await session(welcoming.mcp(scope));
      const listed = await own.request('tools/list');
      return JSON.stringify([
        own.initialized.result,
        listed.status,
        listed.result,
        (await own.call('echo')).error,
      ]).replaceAll(scope, '<scope>');
    };
    expect(await look('closed')).toBe(await look('nobody'));
  });

  test('a credential that is sent is honoured, and a bad one refused', async () => {
    const listed = await rpc(welcoming.mcp(), 'tools/list', {}, { headers: bearer(keys.all) });
    expect(listed.result?.tools?.map((tool) => tool.name)).toContain('closed-echo');
    expect((await rpc(welcoming.mcp(), 'tools/list', {}, { headers: bearer(newKey()) })).status).toBe(401);
    expect((await rpc(welcoming.mcp(), 'tools/list', {}, { headers: bearer(keys.off) })).status).toBe(401);
  });

  test('anonymous may not go on with the session of a key, nor a key with one of anonymous', async () => {
    const mine = await session(welcoming.mcp(), { headers: bearer(keys.all) });
    expect(
      (await rpc(welcoming.mcp(), 'tools/list', {}, { headers: { ...mine.headers, authorization: undefined } })).status,
    ).toBe(404);
    const theirs = await session(welcoming.mcp());
    expect(
      (await rpc(welcoming.mcp(), 'tools/list', {}, { headers: { ...theirs.headers, ...bearer(keys.all) } })).status,
    ).toBe(404);
  });
});

describe('the endpoints of a user, as MCPHub has them', () => {
  const at = (own: TestHub, path: string) => `${own.url}/${path}`;
  const listed = async (url: string, token: string) =>
    (await rpc(url, 'tools/list', {}, { headers: bearer(token) })).result?.tools?.map((tool) => tool.name);

  test('are those of all scopes, as that user sees them, on both transports', async () => {
    const token = await login(hub, 'mallory', 'long enough 1!');
    for (const credential of [token, keys.mallory]) {
      expect(await listed(at(hub, 'mallory/mcp'), credential)).toEqual(await listed(hub.mcp(), credential));
      expect(await listed(at(hub, 'mallory/mcp/shared'), credential)).toContain('echo');
      expect(await listed(at(hub, 'mallory/mcp/$smart'), credential)).toEqual(['search_tools', 'call_tool']);
    }
    const legacy = await legacySession(at(hub, 'mallory/sse/shared'), { headers: bearer(token) });
    expect((await legacy.request('tools/list')).result?.tools?.map((tool) => tool.name)).toContain('echo');
  });

  test('serve no other user, and do not tell who exists', async () => {
    const before = shared.journal().length;
    const open = await testHub({ mcpServers: {}, systemConfig: { routing: { enableBearerAuth: false } } });
    for (const kind of ['mcp', 'sse', 'mcp/shared', 'sse/shared']) {
      const method = kind.startsWith('sse') ? 'GET' : 'POST';
      const body = method === 'POST' ? { jsonrpc: '2.0', id: 1, method: 'tools/list' } : undefined;
      for (const own of [hub, open]) {
        const nobody = await raw(at(own, `mallory/${kind}`), { method, body });
        expect([kind, nobody.status]).toEqual([kind, 401]);
        const metadata = /resource_metadata="([^"]+)"/.exec(String(nobody.headers['www-authenticate']))?.[1] ?? '';
        expect(metadata).toContain(`/mallory/${kind}`);
        expect((await raw(metadata, { method: 'GET' })).status).toBe(200);
      }
      for (const token of [keys.all, keys.mallory]) {
        const others = ['nobody', 'MALLORY', 'mallory%20', ...(token === keys.all ? ['mallory', '%6Dallory'] : [])];
        const answers = others.map((user) => raw(at(hub, `${user}/${kind}`), { method, body, headers: bearer(token) }));
        for (const { status, error } of await Promise.all(answers)) {
          expect([kind, status, error?.message]).toEqual([
            kind,
            403,
            'This endpoint is for the user it is named after. Leave the name out.',
          ]);
        }
      }
    }
    expect(shared.journal()).toHaveLength(before);
  });

  test('leave alone what is below /api, and pages', async () => {
    for (const path of ['api/mcp', 'api/sse/x', 'oauth/mcp', 'servers/mcp', 'groups/sse', 'settings/mcp/x']) {
      const { text } = await raw(at(hub, path), { method: 'GET', headers: bearer(keys.mallory) });
      expect([path, text]).not.toEqual([path, expect.stringContaining('"jsonrpc"')]);
    }
  });
});

describe('access that is withdrawn', () => {
  test('ends with the next request, also within a session and on an event stream', async () => {
    const own = await testHub(settings);
    await own.connected(3);
    const headers = bearer(keys.servers);
    const mine = await session(own.mcp('open'), { headers });
    const legacy = await legacySession(own.sse('open'), { headers });
    own.write({
      ...settings,
      bearerKeys: settings.bearerKeys?.filter((one) => one['id'] !== 'servers') ?? [],
    });
    await until(
      'the key is refused',
      async () => (await rpc(own.mcp('open'), 'tools/list', {}, { headers })).status === 401,
    );
    expect((await mine.request('tools/list')).status).toBe(401);
    expect((await raw(legacy.endpoint, { headers, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status).toBe(401);
  });

  test('ends the streams that were opened with it, and no others', async () => {
    const own = await testHub(settings);
    await own.connected(3);
    const headers = bearer(keys.servers);
    const mine = await session(own.mcp('open'), { headers });
    const streams = [
      await mine.listen(),
      (await legacySession(own.sse('open'), { headers })).stream,
      await stream(own.mcp('open'), {
        method: 'POST',
        ...modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } }, { headers }),
      }),
    ];
    const other = await session(own.mcp('open'), { headers: bearer(keys.all) });
    const heard = await other.listen();
    own.write({ ...settings, bearerKeys: settings.bearerKeys?.filter((one) => one['id'] !== 'servers') ?? [] });
    await until(
      'the key is refused',
      async () => (await rpc(own.mcp('open'), 'tools/list', {}, { headers })).status === 401,
    );
    await until('they have ended', () => streams.every((one) => one.ended()));
    expect(heard.ended()).toBe(false);
    await other.call('open-grow', { tool: 'nothing_for_them' });
    await heard.message('the change', (message) => message.method === 'notifications/tools/list_changed');
    for (const one of streams) {
      const changes = one.messages.filter((message) => message.method === 'notifications/tools/list_changed');
      expect(changes.length).toBeLessThanOrEqual(1);
    }
  });

  test('ends the streams of a user who logs out, and of anonymous where they are welcome no more', async () => {
    const own = await testHub({ mcpServers: {}, systemConfig: { routing: { enableBearerAuth: false } } });
    const [admin, token] = [await login(own), await login(own)];
    const listening = async (headers: Record<string, string>) => (await session(own.mcp(), { headers })).listen();
    const [theirs, others, anybodys] = [
      await listening(bearer(token)),
      await listening(bearer(admin)),
      await listening({}),
    ];
    await api(own, 'POST', '/auth/logout', { token });
    await until('theirs has ended', () => theirs.ended());
    expect([others.ended(), anybodys.ended()]).toEqual([false, false]);
    const closed = { routing: { enableBearerAuth: true } };
    await api(own, 'PUT', '/system-config', { token: admin, body: closed });
    await until('that of anybody has ended', () => anybodys.ended());
    expect(others.ended()).toBe(false);
  });

  test('a server that becomes private disappears for those who may not see it, in the middle of their session', async () => {
    const own = await testHub({ ...settings, systemConfig: { routing: { enableBearerAuth: false } } });
    await own.connected(3);
    const mine = await session(own.mcp());
    const events = await mine.listen();
    expect((await mine.call('open-echo')).result).toBeDefined();
    own.write({
      ...settings,
      mcpServers: { ...settings.mcpServers, open: { ...open.config, visibility: 'private' } },
      systemConfig: { routing: { enableBearerAuth: false } },
    });
    await events.message('the change', (message) => message.method === 'notifications/tools/list_changed');
    expect((await mine.request('tools/list')).result?.tools).toEqual([]);
    expect((await mine.call('open-echo')).error?.code).toBe(-32602);
  });
});

test('a hub that listens beyond loopback asks for a credential without being told to', async () => {
  const own = await testHub({ mcpServers: {}, env: { HOST: '0.0.0.0' } });
  const { port } = new URL(own.url);
  expect((await rpc(`http://127.0.0.1:${port}/mcp`, 'tools/list', {})).status).toBe(401);
  expect((await raw(`http://127.0.0.1:${port}/health`, { method: 'GET' })).status).toBe(200);
});

import { beforeAll, describe, expect, test } from 'vitest';
import { version } from '../../src/version.ts';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { scrape } from '../kit/prometheus.ts';
import { raw, rpc, stream } from '../kit/raw.ts';
import { type HubOptions, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

const server = (name: string) => hostileStdio({ name, tools: ['echo', 'hang', 'fail'] }).config;
const bearer = (token: string | undefined) => (token === undefined ? {} : { authorization: `Bearer ${token}` });

const ask = (hub: Pick<TestHub, 'url'>, token?: string, method = 'GET') =>
  raw(new URL('/metrics', hub.url).href, { method, headers: bearer(token) });

async function read(hub: Pick<TestHub, 'url'>, token: string) {
  const { status, text } = await ask(hub, token);
  expect(status, text).toBe(200);
  return scrape(text);
}

async function open(options: HubOptions) {
  const hub = await testHub(options);
  await hub.connected(Object.keys(options.mcpServers ?? {}).length);
  return { hub, admin: await login(hub) };
}

describe('who may read them', () => {
  let hub: TestHub;
  const tokens: Record<string, string | undefined> = {};
  beforeAll(async () => {
    const opened = await open({ mcpServers: { alpha: server('alpha'), secret: server('secret') } });
    hub = opened.hub;
    const { admin } = opened;
    const ann = await userToken(hub, admin, 'ann', { servers: ['alpha'] });
    Object.assign(tokens, {
      nobody: undefined,
      'a wrong token': 'nonsense',
      'a key that never was': `mcphub_${'0'.repeat(64)}`,
      'a user': ann,
      "a user's key": await keyToken(hub, ann, { name: 'ann' }),
      'a key for some servers': await keyToken(hub, admin, {
        name: 'some',
        kind: 'system',
        accessType: 'servers',
        allowedServers: ['alpha', 'secret'],
      }),
      'a key that opens everything': await keyToken(hub, admin, { name: 'all', kind: 'system', accessType: 'all' }),
      'an admin': admin,
    });
  });

  test.each([
    ['nobody', 401],
    ['a wrong token', 401],
    ['a key that never was', 401],
    ['a user', 403],
    ["a user's key", 403],
    ['a key for some servers', 403],
    ['a key that opens everything', 200],
    ['an admin', 200],
  ])('%s: %i', async (who, status) => {
    const answer = await ask(hub, tokens[who]);
    expect(answer.status, answer.text).toBe(status);
    if (status === 200) {
      expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(scrape(answer.text).value('toolhub_server_up', { server: 'secret' })).toBe(1);
    } else {
      expect(answer.message).toEqual({ success: false, message: expect.stringMatching(/./) });
      expect(answer.text).not.toMatch(/toolhub_|secret|alpha/);
      if (status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
    const head = await ask(hub, tokens[who], 'HEAD');
    expect([head.status, head.text]).toEqual([status, '']);
  });

  test('a token in the address opens nothing', async () => {
    const url = new URL(`/metrics?token=${tokens['an admin']}`, hub.url).href;
    expect((await raw(url, { method: 'GET' })).status).toBe(401);
  });

  test('an admin who is one no more', async () => {
    const admin = tokens['an admin'];
    const bob = await userToken(hub, admin ?? '', 'bob', { role: 'admin' });
    const key = await keyToken(hub, bob, { name: 'bob', kind: 'user' });
    expect([(await ask(hub, bob)).status, (await ask(hub, key)).status]).toEqual([200, 200]);
    expect((await api(hub, 'PUT', '/users/bob', { token: admin, body: { role: 'user' } })).status).toBe(200);
    expect([(await ask(hub, bob)).status, (await ask(hub, key)).status]).toEqual([403, 403]);
  });
});

test('every call moves the numbers of its server, by what came of it', async () => {
  const { hub, admin } = await open({ mcpServers: { alpha: server('alpha'), beta: server('beta') } });
  const of = async (server: string) => {
    const { value } = await read(hub, admin);
    const calls = (outcome: string) => value('toolhub_calls_total', { server, outcome });
    return {
      outcomes: ['success', 'error', 'refused'].map(calls),
      took: value('toolhub_call_duration_seconds_count', { server }),
      bytes: value('toolhub_call_result_bytes_total', { server }),
    };
  };
  const untouched = { outcomes: [0, 0, 0], took: undefined, bytes: 0 };
  expect(await of('alpha')).toEqual(untouched);
  const call = (name: string, scope = 'alpha') => rpc(hub.mcp(scope), 'tools/call', { name, arguments: {} });
  const answers = [await call('echo'), await call('fail')];
  await call('nothing');
  await call('nothing', '');
  expect((await api(hub, 'POST', '/tools/call/alpha', { token: admin, body: { toolName: 'echo' } })).status).toBe(200);
  const alpha = await of('alpha');
  expect(alpha).toMatchObject({ outcomes: [2, 1, 1], took: 3 });
  expect(alpha.bytes).toBeGreaterThan(answers.length);
  expect(await of('beta')).toEqual(untouched);
  expect((await of('$unknown')).outcomes[2]).toBe(1);
  await rpc(hub.mcp('$smart'), 'tools/call', { name: 'search_tools', arguments: { query: 'echo' } });
  expect((await read(hub, admin)).value('toolhub_search_duration_seconds_count')).toBe(1);
});

test('nothing is left of a server that was removed or renamed, and what its last call did is nowhere', async () => {
  const [alpha, beta] = [server('alpha'), server('beta')];
  const { hub, admin } = await open({ mcpServers: { alpha, beta } });
  await rpc(hub.mcp('alpha'), 'tools/call', { name: 'echo' });
  const hanging = rpc(hub.mcp('alpha'), 'tools/call', { name: 'hang' });
  await rpc(hub.mcp('beta'), 'tools/call', { name: 'echo' });
  const named = async (name: string) =>
    (await read(hub, admin)).samples.filter(({ labels }) => labels['server'] === name).length;
  expect(await named('alpha')).toBeGreaterThan(10);
  expect((await api(hub, 'DELETE', '/servers/alpha', { token: admin })).status).toBe(200);
  const add = async (name: string) => {
    const added = await api(hub, 'POST', '/servers', { token: admin, body: { name, config: alpha } });
    expect(added.status, added.text).toBe(201);
    await until(`${name} is there`, async () => (await named(name)) > 0);
  };
  await add('gamma');
  await hanging;
  expect(await named('alpha')).toBe(0);
  const { value } = await read(hub, admin);
  expect(value('toolhub_calls_total', { server: 'gamma', outcome: 'success' })).toBe(0);
  expect(value('toolhub_calls_total', { server: 'beta', outcome: 'success' })).toBe(1);
  await add('alpha');
  const again = await read(hub, admin);
  expect(again.value('toolhub_calls_total', { server: 'alpha', outcome: 'success' })).toBe(0);
});

test('what is open, kept and said is in them, and what the process took', async () => {
  const { hub, admin } = await open({ mcpServers: { alpha: server('alpha') } });
  const before = await read(hub, admin);
  expect(before.value('toolhub_build_info', { version, node: process.versions.node })).toBe(1);
  expect(before.value('toolhub_server_tools', { server: 'alpha' })).toBe(3);
  const database = before.samples.filter(({ name, value }) => name === 'toolhub_database_state' && value === 1);
  expect(database.map(({ labels }) => labels['state'])).toEqual([(await hub.health()).database.state]);
  expect(before.value('toolhub_rows_dropped_total', { rows: 'activity' })).toBe(0);
  expect(before.value('toolhub_rows_failing', { rows: 'log' })).toBe(0);
  expect(before.value('toolhub_streams', { to: 'log' })).toBe(0);
  const reader = await stream(`${hub.url}/api/logs/stream`, { method: 'GET', headers: bearer(admin) });
  await until(
    'the reader is counted',
    async () => (await read(hub, admin)).value('toolhub_streams', { to: 'log' }) === 1,
  );
  reader.close();
  await until('it has left', async () => (await read(hub, admin)).value('toolhub_streams', { to: 'log' }) === 0);
  const after = await read(hub, admin);
  for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_active_seconds_total']) {
    expect(after.value(name), name).toBeGreaterThan(before.value(name) ?? Infinity);
  }
  expect(after.value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
  expect(after.value('process_start_time_seconds')).toBeLessThan(Date.now() / 1000);
});

test('entries of the log are counted by their level', async () => {
  const { hub, admin } = await open({ mcpServers: {}, env: { LOG_LEVEL: 'warn' } });
  const warnings = async () => (await read(hub, admin)).value('toolhub_log_entries_total', { level: 'warn' }) ?? 0;
  const before = await warnings();
  await api(hub, 'POST', '/auth/login', { body: { username: 'admin', password: 'wrong horse' } });
  expect(await warnings()).toBe(before + 1);
});

test('they are at the root whatever BASE_PATH is, also of a read-only hub without a dashboard', async () => {
  const env = { BASE_PATH: '/hub', READONLY: 'true', DISABLE_WEB: 'true' };
  const { hub, admin } = await open({ mcpServers: {}, env });
  await read(hub, admin);
  expect((await raw(`${hub.url}/metrics`, { method: 'GET', headers: bearer(admin) })).status).toBe(404);
  expect((await ask(hub, admin, 'POST')).status).toBe(404);
});

test('two hubs in one process tell of themselves alone, and go on when the other ends', async () => {
  const one = await open({ mcpServers: { alpha: server('alpha') } });
  const other = await open({ mcpServers: { alpha: server('alpha') } });
  await rpc(one.hub.mcp('alpha'), 'tools/call', { name: 'echo' });
  const calls = async ({ hub, admin }: typeof one) =>
    (await read(hub, admin)).value('toolhub_calls_total', { server: 'alpha', outcome: 'success' });
  expect([await calls(one), await calls(other)]).toEqual([1, 0]);
  await one.hub.close();
  expect(await calls(other)).toBe(0);
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { authLimits } from '../../src/auth/limits.ts';
import type { LogEntry } from '../../src/core/log-entry.ts';
import { logLimits } from '../../src/logs/limits.ts';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { copyOfEmbedded } from '../kit/embedded-template.ts';
import { temporaryFolder } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { raw } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What others make the hub log does not push entries about logins and accounts out of it, nor what other services said.

const loud = (lines: number) => `
  const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (method === 'initialize')
      answer(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });
    if (method === 'tools/list') {
      answer(id, { tools: [] });
      for (let n = 0; n < ${lines}; n++) process.stderr.write('line ' + n + '\\n');
    }
  });
`;

async function logs(hub: TestHub, token: string, query: string): Promise<LogEntry[]> {
  const { status, text, body } = await api(hub, 'GET', `/logs?limit=10000${query}`, { token });
  expect(status, text).toBe(200);
  return body.data as LogEntry[];
}

async function start(kind: 'off' | 'embedded', lines: number): Promise<TestHub> {
  const folder = temporaryFolder();
  if (kind === 'embedded') await copyOfEmbedded(join(folder, 'data'));
  const hub = await testHub({
    mcpServers: { loud: { command: process.execPath, args: ['-e', loud(lines)], enabled: false } },
    folder,
    env: { LOG_LEVEL: 'info', DB_URL: kind === 'off' ? 'off' : '' },
  });
  if (kind === 'embedded')
    await until('the database is ready', async () => (await hub.health()).database.state === 'ready', 60_000);
  return hub;
}

/** So many answers of sign-ins that were never begun. */
async function fillLog(hub: TestHub, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 50)
    await Promise.all(
      Array.from({ length: 50 }, () => raw(`${hub.url}/oauth/callback?state=no&code=no`, { method: 'GET' })),
    );
}

const texts = (entries: readonly LogEntry[]) => entries.map(({ message }) => message.replace(/ .*/, ''));

test.each(['off', 'embedded'] as const)('logins and changes stay in the log, in order (%s)', async (kind) => {
  setLimits(logLimits, { logRing: 200, securityRing: 200 });
  const hub = await start(kind, 0);
  const admin = await login(hub);
  for (const username of ['eve', 'mallory', 'admin'])
    await api(hub, 'POST', '/auth/login', { body: { username, password: 'wrong' } });
  await userToken(hub, admin, 'ann');
  await keyToken(hub, admin);
  const told = { systemConfig: { routing: { enableGlobalRoute: true } } };
  await api(hub, 'PUT', '/system-config', { token: admin, body: told.systemConfig });
  await api(hub, 'POST', '/mcp-settings/import?mode=merge', { token: admin, body: told });
  await api(hub, 'GET', '/mcp-settings/export?secrets=include', { token: admin });
  await api(hub, 'GET', '/servers', { token: 'no token of this hub' });
  await raw(hub.mcp(), { headers: { authorization: 'Bearer no key of this hub' }, body: '{}' });

  await fillLog(hub, 3 * logLimits.logRing);

  const failed = await logs(hub, admin, '&q=login%20failed');
  expect(failed.map(({ message }) => /user=(\S+)/.exec(message)?.[1])).toEqual(['eve', 'mallory', 'admin']);
  expect(texts(await logs(hub, admin, '&q=login'))).toEqual(['login', 'login', 'login', 'login', 'login']);
  const all = await logs(hub, admin, '');
  for (const what of [
    'user created',
    'access key created',
    'system configuration changed',
    'settings imported',
    'settings exported with their secrets',
  ])
    expect(all.filter(({ message }) => message.startsWith(what)).length, what).toBe(1);
  expect(all.filter(({ message }) => message.startsWith('credential refused'))).toHaveLength(1);
  expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort((a, b) => a - b));
});

test('a user who is no admin pushes nothing out of the log with keys, and an admin has each of them told', async () => {
  const hub = await start('off', 0);
  const admin = await login(hub);
  const ann = await userToken(hub, admin, 'ann');
  await userToken(hub, admin, 'bob');
  const count = authLimits.accountToldOfKind + 5;
  for (const [token, name] of [
    [ann, 'ann'],
    [admin, 'admin'],
  ] as const)
    for (let n = 0; n < count; n++) {
      const made = await api(hub, 'POST', '/auth/keys', { token, body: { name: `${name} ${n}`, kind: 'user' } });
      expect(made.status, made.text).toBe(201);
    }
  const told = (await logs(hub, admin, '&q=access%20key%20created')).map(
    ({ message }) => /by=(\S+)/.exec(message)?.[1] ?? '',
  );
  expect(told.filter((by) => by === 'ann')).toHaveLength(authLimits.accountToldOfKind);
  expect(told.filter((by) => by === 'admin')).toHaveLength(count);
});

test('what a server writes to stderr does not push out of memory what others said', async () => {
  const hub = await start('off', 2_000);
  const admin = await login(hub);
  const others = async () => (await logs(hub, admin, '')).filter(({ service }) => service !== 'server:loud');
  const before = await others();
  expect(before.length).toBeGreaterThan(0);
  const toggled = await api(hub, 'POST', '/servers/loud/toggle', { token: admin, body: { enabled: true } });
  expect(toggled.status, toggled.text).toBe(200);
  await until('its last line is in the log', async () =>
    (await logs(hub, admin, '&service=server:loud')).some(({ message }) => message.endsWith('line 1999')),
  );
  expect((await others()).slice(0, before.length)).toEqual(before);
});

import { expect, test } from 'vitest';
import type { ServerDetails } from '../../src/core/answers/settings.ts';
import type { LogEntry } from '../../src/core/log-entry.ts';
import { api, login, userToken } from '../kit/api.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { documentOf, restApi } from '../kit/openapi.ts';
import { rpc } from '../kit/raw.ts';
import { testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Dying programs print what they were given, and where they are. That is for those who manage the server; who calls its
// tools hears that it is away.

const env = { LOG_LEVEL: 'info' };

const program = `
  const lines = require('node:readline').createInterface({ input: process.stdin });
  const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  lines.on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize')
      answer(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });
    if (method === 'tools/list') answer(id, { tools: [{ name: 'die', inputSchema: { type: 'object' } }] });
    if (method === 'tools/call')
      process.stderr.write('cannot log in with ' + process.env.API_KEY + '\\n', () => process.exit(3));
  });
`;

test('what a server prints when it dies reaches the log and its managers, and no caller; its secrets reach none of them', async () => {
  const secret = 'key-a1b2c3d4e5f6';
  const hub = await testHub({
    mcpServers: {
      s: { command: process.execPath, args: ['-e', program], env: { API_KEY: secret }, visibility: 'public' },
    },
    env,
  });
  await hub.connected(1);
  const admin = await login(hub);
  const ann = await userToken(hub, admin, 'ann');
  const call = () => rpc(hub.mcp(), 'tools/call', { name: 's-die', arguments: {} });
  const overHttp = () => api(hub, 'POST', '/tools/call/s', { token: ann, body: { toolName: 'die' } });
  const told = [
    (await call()).text,
    (await call()).text,
    (await overHttp()).text,
    (await api(hub, 'POST', '/tools/s/die')).text,
    (await api(hub, 'GET', '/servers/s', { token: ann })).text,
    (await api(hub, 'GET', '/activities', { token: ann })).text,
  ];
  for (const text of told) expect(text).not.toMatch(/cannot log in|exited|said last/);
  expect(told[0]).toContain('ended before the answer came. Whether the call was carried out is not known.');
  expect(told[0]).not.toContain('ry again');
  const seen = async (token: string) => (await api(hub, 'GET', '/servers/s', { token })).body.data as ServerDetails;
  let details = await seen(admin);
  // It may have been started again since.
  await until('it is seen to be away', async () => {
    if (details.reason === undefined) await call();
    details = await seen(admin);
    return details.reason !== undefined;
  });
  const toManagers = [
    JSON.stringify(details),
    (await api(hub, 'GET', '/logs?service=server:s', { token: admin })).text,
  ];
  for (const text of toManagers) expect(text).toContain('cannot log in with');
  const { reason, output } = details;
  expect(reason?.text).toMatch(/^The program exited with code 3: cannot log in with /);
  expect(output).toMatch(/^cannot log in with /);
  expect([reason?.text, output].join()).not.toContain(secret);
  expect(Object.keys(await seen(ann))).not.toContain('reason');
  expect(Object.keys(await seen(ann))).not.toContain('output');
  for (const text of [...told, ...toManagers, JSON.stringify(hub.hub.servers())]) expect(text).not.toContain(secret);
});

test.each([
  ['ends before it answers', { answers: 'json' }, { exitAt: 'tools/call' }],
  ['ends in the middle of its answer', {}, { exitAt: 'tools/call' }],
  ['cuts the connection, and stays', {}, { cutStreamOn: 'tools/call' }],
  ['ends with its stream', { transport: 'sse' }, { exitAt: 'tools/call' }],
] as const)('a call to a server over HTTP that %s is not told to be tried again', async (_, options, set) => {
  const web = await hostileHttp({ name: 'web', ...options });
  const hub = await testHub({ mcpServers: { web: web.config }, env });
  await hub.connected(1);
  const token = await login(hub);
  const overHttp = () => api(hub, 'POST', '/tools/call/web', { token, body: { toolName: 'delay' } });
  await web.control({ set });
  const { status, body, headers } = await overHttp();
  expect([status, body['message']]).toEqual([
    503,
    'The connection to server "web" ended before the answer came. Whether the call was carried out is not known.',
  ]);
  // When the server may be back (CONTRACT §4: 503 with Retry-After).
  expect(headers['retry-after']).toBe('1');
  web.stop();
  await until('one that never left is told to be tried again', async () => {
    const next = await overHttp();
    const isToTry = /connection refused|Try again|Next attempt/.test(String(next.body['message']));
    return isToTry && next.headers['retry-after'] !== undefined;
  });
});

test('a call to a REST API whose connection is cut is not told to be tried again, but for one that only reads', async () => {
  const rest = await restApi();
  rest.on('/cut', (_, response) => response.destroy());
  const operations = { get: { operationId: 'read' }, post: { operationId: 'write' } };
  const schema = documentOf(rest.origin, { '/cut': operations });
  const hub = await testHub({ mcpServers: { api: { openapi: { schema } } }, env });
  await hub.connected(1);
  const token = await login(hub);
  const call = (toolName: string) => api(hub, 'POST', '/tools/call/api', { token, body: { toolName } });
  const written = await call('write');
  expect([written.status, written.body['message']]).toEqual([
    503,
    'The connection to server "api" ended before the answer came. Whether the call was carried out is not known.',
  ]);
  const over = await rpc(hub.mcp(), 'tools/call', { name: 'api-write', arguments: {} });
  expect(over.error?.message).toBe(written.body['message']);
  expect((await call('read')).status).toBe(502);
});

test('a server that is given to another user has a log when it runs again', async () => {
  const hub = await testHub({ mcpServers: { s: { command: process.execPath, args: ['-e', program] } }, env });
  await hub.connected(1);
  const admin = await login(hub);
  const ann = await userToken(hub, admin, 'ann');
  const given = await api(hub, 'PUT', '/servers/s', { token: admin, body: { config: { owner: 'ann' } } });
  expect(given.body.data).toMatchObject({ owner: 'ann' });
  await hub.connected(1);
  await api(hub, 'POST', '/tools/call/s', { token: ann, body: { toolName: 'die' } });
  const log = async () => (await api(hub, 'GET', '/logs?service=server:s', { token: admin })).body.data as LogEntry[];
  await until('it is gone', async () => (await log()).some(({ level }) => level === 'warn'));
  expect((await log()).map(({ message }) => message)).toContain('cannot log in with undefined');
});

test('what an HTTP server answers to a failing call, and where it is, is not for callers', async () => {
  const web = await hostileHttp({ name: 'web' });
  const hub = await testHub({ mcpServers: { web: web.config }, env });
  await hub.connected(1);
  await web.control({ set: { status: 500, body: 'Traceback: /srv/app/main.py' } });
  const { text, error } = await rpc(hub.mcp(), 'tools/call', { name: 'web-delay', arguments: { tag: 'x' } });
  expect(error?.message).toBe('Server "web" gave no proper answer. Its owner and admins see why in the log.');
  expect(text).not.toMatch(/Traceback|127\.0\.0\.1/);
  const log = await api(hub, 'GET', '/logs?service=server:web', { token: await login(hub) });
  expect(log.text).toContain('Traceback: /srv/app/main.py');
});

test('an error of a server does not tell a hidden resource from one that is not there', async () => {
  const server = hostileStdio({ name: 's', resources: [{ uri: 'x://shown' }, { uri: 'x://hidden' }] });
  const hub = await testHub({
    mcpServers: { s: { ...server.config, resources: { 'x://hidden': { enabled: false } } } },
  });
  await hub.connected(1);
  const token = await login(hub);
  const same = (text: string) => text.replaceAll(/hidden|nowhere/g, '?');
  const overMcp = async (uri: string) => same((await rpc(hub.mcp(), 'resources/read', { uri })).text);
  const overHttp = async (uri: string) => {
    const { status, text } = await api(hub, 'POST', '/resources/read', { token, body: { uri } });
    return [status, same(text)];
  };
  expect(await overMcp('x://nowhere')).toBe(await overMcp('x://hidden'));
  expect(await overHttp('x://nowhere')).toEqual(await overHttp('x://hidden'));
  expect(server.received('resources/read').length).toBeGreaterThan(0);
  expect((await rpc(hub.mcp(), 'resources/read', { uri: 'x://shown' })).result?.contents).toHaveLength(1);
});

import { beforeAll, expect, test } from 'vitest';
import { type Hostile, hostileHttp, hostileStdio } from '../kit/hostile.ts';
import type { RawAnswer, Stream } from '../kit/raw.ts';
import { modern, modernMeta, session } from '../kit/sessions.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Who hears what a server logs, and from which severity on it logs at all (CONTRACT §5; decisions/0021).

const note = (level: string, data: string): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level, data } });
const logged = (heard: Pick<RawAnswer | Stream, 'messages'>): unknown[] =>
  heard.messages.filter(({ method }) => method === 'notifications/message').map(({ params }) => params?.data);
const levels = (server: Hostile): unknown[] => server.received('logging/setLevel').map(({ params }) => params['level']);

let hub: TestHub;
let pipe: Hostile;
/** One of which no call was given up: what it logs could be about that. */
let calm: Hostile;
let http: Hostile;
beforeAll(async () => {
  pipe = hostileStdio({ name: 'pipe' });
  calm = hostileStdio({ name: 'calm' });
  http = await hostileHttp({ name: 'http' });
  hub = await testHub({ mcpServers: { pipe: pipe.config, calm: calm.config, http: http.config } });
  await hub.connected(3);
});

test('over a pipe, what is logged while one call runs is that call’s; while two run, of no call', async () => {
  const [a, b] = await Promise.all([session(hub.mcp()), session(hub.mcp())]);
  const hanging = async (own: typeof a, tag: string) => {
    const before = pipe.received('tools/call').length;
    const open = await own.begin('tools/call', {
      name: 'pipe-hang',
      arguments: { tag },
      _meta: { progressToken: tag },
    });
    await until('the call arrived', () => pipe.received('tools/call').length > before);
    return open;
  };
  const first = await hanging(a, 'first');
  await pipe.control({ emit: note('info', 'for the only one') });
  await until('it is heard', () => logged(first).length === 1);
  const second = await hanging(b, 'second');
  await pipe.control({ emit: note('info', 'for whom?') });
  // Attributed by its token, so it comes after what came before it.
  await b.call('pipe-progress', { tag: 'fence', steps: 1 }, { meta: { progressToken: 'fence' } });
  expect([logged(first), logged(second)]).toEqual([['for the only one'], []]);
  await Promise.all([a.end(), b.end()]);
});

test('over HTTP, only what comes on a call’s own stream is that call’s', async () => {
  const own = await session(hub.mcp());
  const before = http.received('tools/call').length;
  const open = await own.begin('tools/call', { name: 'http-hang', arguments: {}, _meta: { progressToken: 1 } });
  await until('the call arrived', () => http.received('tools/call').length > before);
  await http.control({ emit: note('info', 'to all') });
  const answer = await own.call('http-log', { tag: 'on its own stream' });
  expect(logged(answer)).toEqual(['on its own stream']);
  expect(logged(open)).toEqual([]);
  await own.end();
});

test('a server logs at the least severe level that any of its sessions wants, and each session hears its own', async () => {
  const [loud, quiet] = await Promise.all([session(hub.mcp()), session(hub.mcp('calm'))]);
  expect((await quiet.request('logging/setLevel', { level: 'emergency' })).result).toEqual({});
  // Those who said nothing still count on it.
  expect(levels(calm)).toEqual(['info']);
  expect((await loud.request('logging/setLevel', { level: 'debug' })).result).toEqual({});
  expect(levels(calm)).toEqual(['info', 'debug']);
  expect(levels(http)).toEqual(['debug']);
  expect(logged(await loud.call('calm-log', { tag: 'heard' }))).toEqual(['heard']);
  expect(logged(await quiet.call('log', { tag: 'not heard' }))).toEqual([]);
  await loud.end();
  await until('no client wants that much any more', () => levels(calm).at(-1) === 'info');
  expect((await quiet.request('logging/setLevel', { level: 'loud' })).error?.code).toBe(-32602);
  await quiet.end();
});

test('a server that was away is told again what is wanted of it', async () => {
  const own = await session(hub.mcp('pipe'));
  await own.request('logging/setLevel', { level: 'debug' });
  const before = levels(pipe).length;
  await own.call('die');
  await until('it is told again', () => levels(pipe).length > before);
  expect(levels(pipe).at(-1)).toBe('debug');
  await own.end();
});

test('a stateless request hears what it asked for, no other does', async () => {
  const call = (logLevel?: string) =>
    modern(
      hub.mcp(),
      'tools/call',
      { name: 'pipe-log', arguments: { tag: 'said' } },
      {
        meta: modernMeta(logLevel === undefined ? {} : { 'io.modelcontextprotocol/logLevel': logLevel }),
      },
    );
  await hub.connected(3);
  expect(logged(await call('debug'))).toEqual(['said']);
  expect(levels(pipe).at(-1)).toBe('debug');
  expect(logged(await call('error'))).toEqual([]);
  expect(logged(await call())).toEqual([]);
});

test('on a connection of its own a session hears everything that is logged, at its own level', async () => {
  const server = hostileStdio({ name: 'own' });
  const hub = await testHub({ mcpServers: { own: { ...server.config, perSessionClient: true } } });
  await hub.connected(1);
  const [a, b] = await Promise.all([session(hub.mcp()), session(hub.mcp())]);
  await a.request('logging/setLevel', { level: 'error' });
  const open = await Promise.all([a.listen(), b.listen()]);
  const pids = await Promise.all([a, b].map(async (own) => (await own.call('own-pid')).result?.content?.[0]?.text));
  expect(new Set(pids).size).toBe(2);
  const told = (pid: string | undefined) =>
    server.journal().filter((entry) => String(entry.pid) === pid && entry.method === 'logging/setLevel');
  // A connection of its own is told its level beside the first call, which does not wait for it.
  await until('the server of the one is told', () => told(pids[0]).length > 0);
  expect(told(pids[0]).map(({ text }) => text)).toEqual([expect.stringContaining('"error"')]);
  expect(told(pids[1])).toEqual([]);
  // The control socket belongs to whichever process opened it last; only one of them can speak.
  await server.control({ emit: note('warning', 'a warning') });
  await server.control({ emit: note('error', 'an error') });
  const heard = await until('a client hears it', () => open.map(logged).find((one) => one.includes('an error')));
  expect([['an error'], ['a warning', 'an error']]).toContainEqual(heard);
  expect(open.map(logged).filter((one) => one.length > 0)).toHaveLength(1);
});

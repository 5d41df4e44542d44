import { connect } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { atEnd } from '../kit/at-end.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { raw, rpc, stream } from '../kit/raw.ts';
import { legacySession, session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// The transport of 2024-11-05: a stream that stays, and posts beside it.

const server = await hostileHttp({ name: 'alpha' });
const other = await hostileHttp({ name: 'beta' });
let hub: TestHub;
beforeAll(async () => {
  hub = await testHub({
    mcpServers: { alpha: server.config, beta: other.config },
    groups: [{ id: 'g-1', name: 'one', servers: ['alpha'] }],
    env: { BASE_PATH: '/hub' },
  });
  await hub.connected(2);
});

test('the first event names the address to post to, with BASE_PATH', async () => {
  const own = await legacySession(hub.sse());
  expect(new URL(own.endpoint).pathname).toBe('/hub/messages');
  expect(new URL(own.endpoint).searchParams.get('sessionId')).toBeTruthy();
  expect(own.stream.headers['content-type']).toContain('text/event-stream');
});

test('answers come over the stream, each post is 202', async () => {
  const own = await legacySession(hub.sse());
  const posted = await own.post({
    jsonrpc: '2.0',
    id: 'x',
    method: 'tools/call',
    params: { name: 'alpha-delay', arguments: { tag: 'over there' } },
  });
  expect(posted.status).toBe(202);
  const answer = await own.stream.message('the answer', (message) => message.id === 'x');
  expect(answer.result?.content?.[0]?.text).toBe('over there');
});

test('each scope shows what it shows over streamable HTTP', async () => {
  for (const scope of ['', 'one', 'alpha', 'nobody']) {
    const own = await legacySession(hub.sse(scope));
    const listed = await own.request('tools/list', {});
    expect(listed.result?.tools, scope).toEqual((await rpc(hub.mcp(scope), 'tools/list', {})).result?.tools);
  }
});

test('a hundred calls at once on each of five streams do not mix, though ids are the same', async () => {
  const clients = await Promise.all(Array.from({ length: 5 }, () => legacySession(hub.sse())));
  await Promise.all(
    clients.map(async (client, c) => {
      const calls = Array.from({ length: 100 }, async (_, i) => {
        const answer = await client.request(
          'tools/call',
          { name: 'alpha-delay', arguments: { tag: `${c}/${i}`, ms: (i * 7) % 20 } },
          i,
        );
        expect(answer.result?.content?.[0]?.text).toBe(`${c}/${i}`);
      });
      await Promise.all(calls);
    }),
  );
});

test('a message whose stream ends while its body comes is refused', async () => {
  const own = await legacySession(hub.sse());
  const { hostname, port, host, pathname, search } = new URL(own.endpoint);
  const body = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  const socket = connect(Number(port), hostname);
  atEnd(() => void socket.destroy());
  let heard = '';
  socket.setEncoding('latin1').on('data', (text: string) => (heard += text));
  const length = `Content-Length: ${body.length}`;
  // Answered once the hub has begun with the request.
  const expects = 'Expect: 100-continue\r\nContent-Type: application/json';
  socket.write(`POST ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n${expects}\r\n${length}\r\n\r\n`);
  await until('it has begun', () => heard.includes(' 100 '));
  own.stream.close();
  await until('the stream is over', async () => (await own.post({ jsonrpc: '2.0', method: 'ping' })).status === 404);
  socket.write(body);
  await until('it is answered', () => heard.includes(' 404 '));
});

test('errors are answered on the stream too', async () => {
  const own = await legacySession(hub.sse());
  expect((await own.request('tools/destroy')).error?.code).toBe(-32601);
  expect((await own.request('tools/call', { name: 'alpha-nothing' })).error?.code).toBe(-32602);
});

test('posts to no session, an unknown one, an ended one, or of no use are refused', async () => {
  const at = (id: string) => `${hub.url}/messages?sessionId=${id}`;
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  expect((await raw(`${hub.url}/messages`, { body: ping })).status).toBe(400);
  expect((await raw(at(crypto.randomUUID()), { body: ping })).status).toBe(404);
  const streamable = await session(hub.mcp());
  expect((await raw(at(encodeURIComponent(streamable.id)), { body: ping })).status).toBe(404);
  const own = await legacySession(hub.sse());
  expect((await raw(own.endpoint, { body: '{' })).status).toBe(400);
  expect((await raw(own.endpoint, { body: ping, headers: { 'content-type': 'text/plain' } })).status).toBe(415);
  expect((await raw(own.endpoint, { method: 'GET' })).status).toBeGreaterThanOrEqual(400);
  expect((await own.request('ping')).result).toEqual({});
  own.stream.close();
  await until(
    'the session is gone with its stream',
    async () => (await raw(own.endpoint, { body: ping })).status === 404,
  );
});

test('a stream that is dropped cancels what it waited for', async () => {
  const own = await legacySession(hub.sse());
  await own.post({
    jsonrpc: '2.0',
    id: 5,
    method: 'tools/call',
    params: { name: 'alpha-hang', arguments: { tag: 'dropped stream' } },
  });
  const call = await until('the call arrived', () =>
    server.received('tools/call').find((one) => JSON.stringify(one.params).includes('dropped stream')),
  );
  own.stream.close();
  await until('the cancellation arrived', () =>
    server.received('notifications/cancelled').some((note) => note.params['requestId'] === call.id),
  );
});

test('progress and log messages come over the stream, changes of the list as well', async () => {
  const own = await legacySession(hub.sse());
  const answer = await own.request('tools/call', {
    name: 'alpha-progress',
    arguments: { steps: 3 },
    _meta: { progressToken: 'legacy' },
  });
  expect(answer.result).toBeDefined();
  const seen = own.stream.messages.filter((message) => message.method === 'notifications/progress');
  expect(seen.map((message) => [message.params?.progressToken, message.params?.progress])).toEqual([
    ['legacy', 1],
    ['legacy', 2],
    ['legacy', 3],
  ]);
  await own.request('tools/call', { name: 'beta-grow', arguments: {} });
  await own.stream.message('the change', (message) => message.method === 'notifications/tools/list_changed');
});

test('POST to the stream address is refused, so that clients of the newer transport fall back', async () => {
  const answer = await raw(hub.sse(), { body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} } });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
});

test('two hundred streams that come and go leave the hub as it was', async () => {
  for (let round = 0; round < 4; round++) {
    const streams = await Promise.all(Array.from({ length: 50 }, () => stream(hub.sse())));
    expect(streams.every((one) => one.status === 200)).toBe(true);
    for (const one of streams) one.close();
  }
  const own = await legacySession(hub.sse());
  expect((await own.request('ping')).result).toEqual({});
});

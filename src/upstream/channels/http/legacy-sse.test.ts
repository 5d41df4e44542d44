import { expect, test, vi } from 'vitest';
import { atEnd } from '../../../../test/kit/at-end.ts';
import { openHttp, request } from '../../../../test/kit/channel-log.ts';
import { freePort } from '../../../../test/kit/processes.ts';
import { json, result, scriptedHttp, sse, stream } from '../../../../test/kit/scripted-http.ts';
import type { ScriptedHttp } from '../../../../test/kit/scripted-http.ts';
import { until } from '../../../../test/kit/until.ts';
import { upstreamLimits } from '../../limits.ts';
import { ThrottledReader } from '../throttled-reader.ts';
import { openLegacySse } from './legacy-sse.ts';
import { openEither } from './channel.ts';
import type { RemoteOptions } from './remote.ts';

const open = (url: string, options: Partial<RemoteOptions> = {}, opener = openLegacySse) =>
  openHttp(opener, url, { headers: { authorization: 'Bearer t' }, ...options });

/** A server of 2024-11-05 at `/sse`. `postStatus` is how it answers a POST to its stream's address. */
async function legacyServer(
  endpoint = '/messages?sessionId=s1',
  postStatus = 405,
): Promise<ScriptedHttp & { say(message: unknown): void; end(): void }> {
  let out: ReturnType<typeof stream> | undefined;
  const server = await scriptedHttp(({ method, path, message }, response) => {
    if (method === 'GET' && path === '/sse') {
      out = stream(response);
      out.write(`event: endpoint\ndata: ${endpoint}\n\n`);
    } else if (method !== 'POST' || !path.startsWith('/messages')) {
      response.writeHead(path === '/sse' ? postStatus : 404).end();
    } else if (message.method === 'refuse') {
      response.writeHead(413).end('too much');
    } else if (message.method === 'lost') {
      response.writeHead(404).end('Session not found');
    } else {
      response.writeHead(202).end('Accepted');
      if (message.id !== undefined && message.method !== 'hang') out?.write(sse(result(message.id, message.params)));
    }
  });
  return Object.assign(server, {
    say: (message: unknown) => void out?.write(sse(message)),
    end: () => void out?.end(),
  });
}

test('messages sent before the address is known wait for it, and answers come over the stream', async () => {
  const server = await legacyServer();
  const { channel, events } = open(`${server.origin}/sse`);
  for (const id of [1, 2]) channel.send(request(id, 'echo', { id }), id);
  await Promise.all([1, 2].map((id) => events.answer(id)));
  channel.ready('2024-11-05');
  channel.send(request(3, 'echo'), 3);
  await events.answer(3);
  expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /sse',
    ...Array.from({ length: 3 }, () => 'POST /messages?sessionId=s1'),
  ]);
  expect(server.seen.every(({ headers }) => headers.authorization === 'Bearer t')).toBe(true);
  expect(server.seen.at(-1)?.headers['mcp-protocol-version']).toBe('2024-11-05');
  // A message on a stream that all calls share does not prove to which call it belongs.
  expect(events.heard.every(({ relatedTo }) => relatedTo === undefined)).toBe(true);
});

test('what the server says unasked arrives', async () => {
  const server = await legacyServer();
  const { channel, events } = open(`${server.origin}/sse`);
  channel.send(request(1, 'echo'), 1);
  await events.answer(1);
  server.say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  await until('it is here', () =>
    events.heard.some(({ message }) => message.method === 'notifications/tools/list_changed'),
  );
});

test('many answers on the one stream are no flood, and many messages without a request are', async () => {
  const throttled = vi.spyOn(ThrottledReader.prototype, 'push');
  atEnd(() => throttled.mockRestore());
  const server = await legacyServer();
  const { channel, events } = open(`${server.origin}/sse`);
  const last = upstreamLimits.floodPerSecond * 2;
  channel.send(request(last + 1, 'echo'), last + 1);
  await events.answer(last + 1);
  for (let id = 1; id <= last; id++) server.say(result(id));
  await events.answer(last);
  expect(throttled).not.toHaveBeenCalled();
  // However many were answers before.
  const flood = upstreamLimits.floodPerSecond;
  for (let n = 1; n <= flood; n++) server.say({ jsonrpc: '2.0', method: 'notifications/message', params: { n } });
  await until('all have come', () => events.heard.length === last + 1 + flood);
  expect(throttled).toHaveBeenCalled();
  expect(events.heard.at(-1)?.message.params).toEqual({ n: flood });
});

test.each(['absolute', 'relative'])('an %s address within the origin is accepted', async (kind) => {
  let origin = '';
  const server = await scriptedHttp(({ method, message, path }, response) => {
    if (method === 'GET')
      stream(response).write(`event: endpoint\ndata: ${kind === 'absolute' ? `${origin}/a/post` : 'post'}\n\n`);
    else json(response, result(message.id, path), {}, 202);
  });
  ({ origin } = server);
  const { channel } = open(`${origin}/a/sse`);
  channel.send(request(1, 'echo'), 1);
  await until('it was posted', () => server.seen.some(({ path, method }) => method === 'POST' && path === '/a/post'));
});

test('an address in another origin is refused and sees nothing', async () => {
  const other = await scriptedHttp((_seen, response) => response.end());
  const server = await legacyServer(`${other.origin}/messages`);
  const { channel, events } = open(`${server.origin}/sse`);
  channel.send(request(1, 'echo'), 1);
  expect((await events.closing()).message).toBe(
    `${server.origin}/sse wants messages at ${other.origin}, another origin than its own; that is refused.`,
  );
  expect(other.seen).toEqual([]);
  expect(() => channel.send(request(2, 'echo'), 2)).toThrow('is not connected');
});

test('the end of the stream is the end of the channel', async () => {
  const server = await legacyServer();
  const { channel, events } = open(`${server.origin}/sse`);
  channel.send(request(1, 'echo'), 1);
  await events.answer(1);
  server.end();
  expect(await events.closing()).toMatchObject({
    code: 'upstream_unavailable',
    message: `${server.origin}/sse ended the event stream.`,
  });
  expect(events.closings).toHaveLength(1);
});

test('a message that is refused fails its request alone, a lost session ends the channel', async () => {
  const server = await legacyServer();
  const { channel, events } = open(`${server.origin}/sse`);
  channel.send(request(1, 'refuse'), 1);
  expect((await events.failure(1)).error.message).toBe(`${server.origin}/sse answered 413 Payload Too Large: too much`);
  channel.send(request(2, 'echo'), 2);
  await events.answer(2);
  channel.send(request(3, 'lost'), 3);
  expect((await events.closing()).message).toMatch('answered 404 Not Found');
});

test('a server without a stream is reported with its answer', async () => {
  const server = await scriptedHttp((_seen, response) =>
    json(response, { message: 'nope' }, { 'www-authenticate': 'Bearer' }, 401),
  );
  const { events } = open(server.origin);
  expect((await events.closing()).message).toMatch('requires authorization');
  const page = await scriptedHttp((_seen, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  );
  expect((await open(page.origin).events.closing()).message).toMatch('answered with a web page');
  const nobody = await freePort();
  expect((await open(`http://127.0.0.1:${nobody}/sse`).events.closing()).message).toMatch('connection refused');
});

test('a server that opens no stream, or names no address, is given up in time', async () => {
  const hanging = await scriptedHttp(() => {});
  const mute = await scriptedHttp((_seen, response) => void stream(response).write(': hello\n\n'));
  for (const server of [hanging, mute]) {
    const { events } = open(server.origin, { connectTimeoutMs: 100 });
    expect((await events.closing()).message).toMatch('did not open an event stream within 100 ms');
    await until('every connection is closed', async () => (await server.connections()) === 0);
  }
});

test('close ends the stream without a word', async () => {
  const server = await legacyServer();
  const { channel, events } = open(`${server.origin}/sse`);
  channel.send(request(1, 'echo'), 1);
  await events.answer(1);
  channel.send(request(2, 'hang'), 2);
  await channel.close();
  await until('every connection is closed', async () => (await server.connections()) === 0);
  expect([...events.closings, ...events.failures]).toEqual([]);
});

test.each([400, 404, 405, 406, 415])(
  'of an unknown transport, a server that refuses the first POST with %i is spoken to in the legacy way',
  async (status) => {
    const server = await legacyServer('/messages', status);
    const { channel, events } = open(`${server.origin}/sse`, {}, openEither);
    channel.send(request(1, 'initialize', { x: 1 }), 1);
    expect((await events.answer(1)).result).toEqual({ x: 1 });
    channel.ready('2024-11-05');
    channel.send(request(2, 'echo'), 2);
    await events.answer(2);
    expect(events.failures).toEqual([]);
    server.end();
    expect((await events.closing()).message).toMatch('ended the event stream');
  },
);

test('of an unknown transport, a server that speaks streamable HTTP is never asked for the other', async () => {
  const server = await scriptedHttp(({ message }, response) => {
    if (message.id === 1) json(response, result(message.id));
    else response.writeHead(404).end();
  });
  const { channel, events } = open(server.origin, {}, openEither);
  channel.send(request(1, 'initialize'), 1);
  await events.answer(1);
  channel.send(request(2, 'initialize'), 2);
  await events.failure(2);
  expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'POST']);
});

test('of an unknown transport, a probe of another era decides nothing', async () => {
  const server = await legacyServer('/messages', 400);
  const { channel, events } = open(`${server.origin}/sse`, {}, openEither);
  channel.send(request(1, 'server/discover'), 1);
  await events.failure(1);
  channel.send(request(2, 'initialize'), 2);
  await events.answer(2);
});

test('an address where neither transport is says so once, with both answers', async () => {
  const server = await scriptedHttp((_seen, response) => response.writeHead(404).end());
  const { channel, events } = open(`${server.origin}/nothing`, {}, openEither);
  channel.send(request(1, 'initialize'), 1);
  expect((await events.closing()).message).toMatch(/answered 404 Not Found.*Legacy SSE was tried too: .*404/);
});

test('a refusal for want of authorization is not mistaken for another transport', async () => {
  const server = await scriptedHttp((_seen, response) => response.writeHead(401).end());
  const { channel, events } = open(server.origin, {}, openEither);
  channel.send(request(1, 'initialize'), 1);
  expect((await events.failure(1)).error.message).toMatch('requires authorization');
  expect(server.seen).toHaveLength(1);
});

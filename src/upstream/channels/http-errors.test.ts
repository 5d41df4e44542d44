import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { atEnd } from '../../../test/kit/at-end.ts';
import { openHttp, request } from '../../../test/kit/channel-log.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { json, result, scriptedHttp } from '../../../test/kit/scripted-http.ts';
import { HttpAnswer } from './http-errors.ts';
import type { RemoteOptions } from './http/remote.ts';
import { openStreamableHttp } from './http/streamable-http.ts';

const open = (url: string, options: Partial<RemoteOptions> = {}) => openHttp(openStreamableHttp, url, options);

const initialize = request(1, 'initialize');
const note = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

test('a user and password in the address become basic authentication and are never shown', async () => {
  const server = await scriptedHttp((_seen, response) => response.writeHead(500).end());
  const { channel, events } = open(`${server.origin.replace('//', '//me:pa%20ss@')}/mcp?secret=1`);
  channel.send(initialize, 1);
  const { error } = await events.failure(1);
  expect(server.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:pa ss').toString('base64')}`);
  expect(error.message).toBe(`${server.origin}/mcp answered 500 Internal Server Error`);
});

test('without a session 404 means a wrong address', async () => {
  const server = await scriptedHttp((_seen, response) =>
    response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>no</h1>'),
  );
  const { channel, events } = open(`${server.origin}/wrong`);
  channel.send(initialize, 1);
  const { error, sessionLost } = await events.failure(1);
  expect(sessionLost).toBe(false);
  expect(error.message).toBe(`${server.origin}/wrong answered 404 Not Found. Is this the address of its MCP endpoint?`);
});

test('401 says that authorization is needed and keeps the challenge', async () => {
  const challenge = 'Bearer resource_metadata="https://x/.well-known/oauth-protected-resource"';
  const server = await scriptedHttp((_seen, response) => {
    json(
      response,
      { error: 'invalid_token', error_description: 'The\u0007 token\n expired' },
      { 'www-authenticate': challenge },
      401,
    );
  });
  const { channel, events } = open(server.origin);
  channel.send(initialize, 1);
  const { error } = await events.failure(1);
  expect(error.message).toBe(
    `${server.origin}/ answered 401 Unauthorized: the server requires authorization. Give it a valid credential: The token expired`,
  );
  expect(error.cause).toBeInstanceOf(HttpAnswer);
  expect(error.cause).toMatchObject({ status: 401, wwwAuthenticate: challenge });
});

test('an error says what the server said, in at most 200 characters and without control characters', async () => {
  const server = await scriptedHttp((_seen, response) => {
    response
      .writeHead(503, { 'retry-after': '7', 'content-type': 'text/plain' })
      .end(`over\u001b[31mloaded ${'!'.repeat(100_000)}`);
  });
  const { channel, events } = open(server.origin);
  channel.send(initialize, 1);
  const { error } = await events.failure(1);
  expect(error).toMatchObject({ code: 'upstream_unavailable', retryAfterMs: 7_000 });
  expect(error.message).toMatch(/answered 503 Service Unavailable: over \[31mloaded !+$/);
  expect(error.message.length).toBeLessThan(300);
});

test('a JSON-RPC error for this very request is its answer, whatever the status', async () => {
  const error = { code: -32601, message: 'Method not found' };
  const server = await scriptedHttp(({ message }, response) => {
    if (message.method === 'initialize') json(response, result(message.id), { 'mcp-session-id': 's' });
    else json(response, { jsonrpc: '2.0', id: message.id, error }, {}, 404);
  });
  const { channel, events } = open(server.origin);
  channel.send(initialize, 1);
  await events.answer(1);
  channel.send(request(2, 'unknown/method'), 2);
  expect((await events.answer(2)).error).toEqual(error);
  expect(events.failures).toEqual([]);
});

test.each([
  ['text/html', '<!doctype html><p>hi', /answered with a web page\. Is this the address/],
  ['text/plain', 'pong', /answered 200 with something that is not the answer to the request: pong$/],
  ['application/json', '{"jsonrpc":"2.0","id":99,"result":{}}', /answered 200 without the answer/],
  ['application/json', '', /answered 200 without the answer/],
])('a 200 of type %s with %j is a failure that says so', async (type, body, message) => {
  const server = await scriptedHttp((_seen, response) => response.writeHead(200, { 'content-type': type }).end(body));
  const { channel, events } = open(server.origin);
  channel.send(initialize, 1);
  expect((await events.failure(1)).error.message).toMatch(message);
});

test('202 for a request is a failure, for a notification it is right', async () => {
  const server = await scriptedHttp((_seen, response) => response.writeHead(202).end());
  const { channel, events } = open(server.origin);
  channel.send(note);
  channel.send(request(2, 'tools/list'), 2);
  expect((await events.failure(2)).error.message).toMatch('answered 202 without the answer');
  expect(events.failures).toHaveLength(1);
});

test('a redirect within the origin is followed with method, body and headers, and remembered', async () => {
  const server = await scriptedHttp(({ path, message }, response) => {
    if (path === '/mcp') response.writeHead(307, { location: '/mcp/' }).end();
    else json(response, result(message.id));
  });
  const { channel, events } = open(`${server.origin}/mcp`, { headers: { authorization: 'Bearer t' } });
  for (const id of [1, 2]) {
    channel.send(request(id, 'tools/list'), id);
    await events.answer(id);
  }
  expect(server.seen.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
    ['POST', '/mcp', 'Bearer t'],
    ['POST', '/mcp/', 'Bearer t'],
    ['POST', '/mcp/', 'Bearer t'],
  ]);
});

test('a redirect to another origin is refused and sees no credential', async () => {
  const other = await scriptedHttp((_seen, response) => response.end());
  const server = await scriptedHttp((_seen, response) =>
    response.writeHead(308, { location: `${other.origin}/mcp` }).end(),
  );
  const { channel, events } = open(server.origin, { headers: { authorization: 'Bearer t' } });
  channel.send(initialize, 1);
  expect((await events.failure(1)).error.message).toMatch(
    `redirects to ${other.origin}/mcp, another origin, which is not followed`,
  );
  expect(other.seen).toEqual([]);
});

test('redirects in a circle end', async () => {
  const server = await scriptedHttp((_seen, response) => response.writeHead(307, { location: '/again' }).end());
  const { channel, events } = open(server.origin);
  channel.send(initialize, 1);
  expect((await events.failure(1)).error.message).toMatch('redirects too often');
  expect(server.seen).toHaveLength(4);
});

test('what cannot be reached is said in words', async () => {
  const failureOf = async (url: string, options: Partial<RemoteOptions> = {}): Promise<string> => {
    const { channel, events } = open(url, options);
    channel.send(initialize, 1);
    const { error } = await events.failure(1);
    expect(error.code).toBe('upstream_unavailable');
    return error.message;
  };
  const port = await freePort();
  expect(await failureOf(`http://127.0.0.1:${port}/mcp`)).toBe(
    `Cannot reach http://127.0.0.1:${port}/mcp: connection refused. Is the server running?`,
  );
  expect(await failureOf(`http://localhost:${port}/mcp`)).toMatch('connection refused');
  expect(await failureOf('http://no-such-host.invalid/mcp')).toMatch('its host name is not known');
  const plain = await scriptedHttp((_seen, response) => response.end());
  expect(await failureOf(plain.origin.replace('http:', 'https:'))).toMatch('it does not speak TLS');
  const rude = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('220 mail.example ESMTP\r\n'));
  });
  await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve));
  atEnd(() => void rude.close());
  expect(await failureOf(`http://127.0.0.1:${(rude.address() as AddressInfo).port}/`)).toMatch(
    'it does not speak HTTP',
  );
  const cutter = await scriptedHttp((_seen, response) => void response.destroy());
  expect(await failureOf(cutter.origin)).toMatch('the connection was closed before the answer was complete');
});

test('an address or header that cannot be used is reported as an event, never thrown', async () => {
  for (const [url, headers] of [
    ['not an address', {}],
    ['ftp://127.0.0.1/', {}],
    ['http://127.0.0.1/', { 'x-bad': 'a\r\nb' }],
    ['http://127.0.0.1/', { 'bad name': 'a' }],
  ] as const) {
    const { events } = open(url, { headers });
    expect((await events.closing()).code).toBe('invalid_input');
  }
});

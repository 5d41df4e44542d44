import { expect, test, vi } from 'vitest';
import { atEnd } from '../../../../test/kit/at-end.ts';
import { openHttp, request } from '../../../../test/kit/channel-log.ts';
import { json, result, scriptedHttp, sse, stream } from '../../../../test/kit/scripted-http.ts';
import type { ScriptedHttp } from '../../../../test/kit/scripted-http.ts';
import { until } from '../../../../test/kit/until.ts';
import { upstreamLimits } from '../../limits.ts';
import { ThrottledReader } from '../throttled-reader.ts';
import type { RemoteOptions } from './remote.ts';
import { openStreamableHttp } from './streamable-http.ts';

const open = (url: string, options: Partial<RemoteOptions> = {}) => openHttp(openStreamableHttp, url, options);

const initialize = request(1, 'initialize');
const note = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** A server with sessions: `initialize` gives the next one of the names. */
async function sessionServer(...names: string[]): Promise<ScriptedHttp & { forget(): void }> {
  let current: string | undefined;
  const server = await scriptedHttp(({ method, message, headers }, response) => {
    if (message.method === 'initialize') {
      current = names.shift() ?? 'none-left';
      json(response, result(message.id), { 'mcp-session-id': current });
    } else if (headers['mcp-session-id'] !== current) {
      json(response, { jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null }, {}, 404);
    } else if (method !== 'POST') {
      response.writeHead(method === 'GET' ? 405 : 200).end();
    } else if (message.id === undefined) {
      response.writeHead(202).end();
    } else {
      json(response, result(message.id), { 'mcp-session-id': String(current) });
    }
  });
  return Object.assign(server, { forget: () => void (current = 'forgotten') });
}

test('a JSON answer reaches its request with its exact text, and the headers are those of the transport', async () => {
  const server = await scriptedHttp((_seen, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
      .end('{\n"jsonrpc":"2.0","id":1,"result":1.0\n}');
  });
  const { channel, events } = open(`${server.origin}/mcp?key=k`, {
    headers: { Authorization: 'Bearer t', 'X-Team': 'a', Accept: 'nothing', Connection: 'close', Host: 'elsewhere' },
  });
  channel.send(initialize, 1);
  await events.answer(1);
  expect(events.heard).toEqual([
    { message: { jsonrpc: '2.0', id: 1, result: 1 }, text: '{ "jsonrpc":"2.0","id":1,"result":1.0 }', relatedTo: 1 },
  ]);
  expect(server.seen[0]).toMatchObject({
    method: 'POST',
    path: '/mcp?key=k',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      authorization: 'Bearer t',
      'x-team': 'a',
      'user-agent': 'toolhub/test',
      host: server.origin.slice(7),
    },
  });
  expect(server.seen[0]?.headers).not.toHaveProperty('accept-encoding');
  expect(server.seen[0]?.headers.connection).not.toBe('close');
});

test('everything an answer stream carries belongs to its request, in order', async () => {
  const server = await scriptedHttp(({ message }, response) => {
    stream(response);
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { of: message.id } };
    const bytes = Buffer.from(
      `: hi\n\nid: 0\ndata:\n\n${sse(progress)}${sse({ ...progress, id: 'ask', method: 'roots/list' })}${sse(result(message.id, 'ü€😀'))}`,
    );
    const write = (at: number): void => {
      if (at >= bytes.length) response.end();
      else response.write(bytes.subarray(at, at + 40), () => write(at + 40));
    };
    write(0);
  });
  const { channel, events } = open(server.origin);
  for (const id of [1, 2, 3]) channel.send(request(id, 'tools/call'), id);
  await Promise.all([1, 2, 3].map((id) => events.answer(id)));
  for (const id of [1, 2, 3]) {
    const own = events.heard.filter((one) => one.relatedTo === id).map(({ message }) => message);
    expect(own).toMatchObject([
      { method: 'notifications/progress', params: { of: id } },
      { method: 'roots/list', id: 'ask' },
      { id, result: 'ü€😀' },
    ]);
  }
  expect(events.failures).toEqual([]);
});

test('a batch answer is its messages', async () => {
  const server = await scriptedHttp(({ message }, response) =>
    json(response, [{ jsonrpc: '2.0', method: 'note' }, result(message.id)]),
  );
  const { channel, events } = open(server.origin);
  channel.send(initialize, 1);
  await events.answer(1);
  expect(events.heard.map(({ message, relatedTo }) => [message.method, message.id, relatedTo])).toEqual([
    ['note', undefined, 1],
    [undefined, 1, 1],
  ]);
});

test('session id and protocol version are sent once they are known, and close ends the session', async () => {
  const server = await sessionServer('s1');
  const { channel, events } = open(`${server.origin}/mcp`);
  channel.send(initialize, 1);
  await events.answer(1);
  channel.send(note);
  channel.ready('2025-11-25');
  await until('the stream was asked for', () => server.seen.some(({ method }) => method === 'GET'));
  channel.send(request(2, 'tools/list'), 2);
  await events.answer(2);
  await channel.close();
  const version = (name: string, value: string | undefined) => server.seen.map(({ headers }) => headers[name] ?? value);
  expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET', 'POST', 'DELETE']);
  expect(version('mcp-session-id', '-')).toEqual(['-', 's1', 's1', 's1', 's1']);
  expect(version('mcp-protocol-version', '-').slice(2)).toEqual(['2025-11-25', '2025-11-25', '2025-11-25']);
  expect(server.seen[0]?.headers).not.toHaveProperty('mcp-protocol-version');
  expect(events.closings).toEqual([]);
  expect(() => channel.send(note)).toThrow('is not connected');
});

test('a server that lost our session is told apart, and initialize starts a new one', async () => {
  const server = await sessionServer('s1', 's2');
  const { channel, events } = open(server.origin);
  channel.send(initialize, 1);
  await events.answer(1);
  server.forget();
  channel.send(request(2, 'tools/call'), 2);
  expect(await events.failure(2)).toMatchObject({ sessionLost: true, error: { code: 'upstream_failed' } });
  channel.forgetSession();
  channel.send(request(3, 'initialize'), 3);
  await events.answer(3);
  expect(server.seen.at(-1)?.headers).not.toHaveProperty('mcp-session-id');
  channel.send(request(4, 'tools/call'), 4);
  await events.answer(4);
  expect(server.seen.at(-1)?.headers['mcp-session-id']).toBe('s2');
});

test.each([
  ['Bad Request: No valid session ID provided', true],
  ['Bad Request: Server not initialized', true],
  ['Session abc not found', true],
  ['Session has expired', true],
  ['Unknown session', true],
  ['Invalid arguments', false],
])('400 "%s" means a lost session: %s', async (said, lost) => {
  const server = await scriptedHttp(({ message }, response) => {
    if (message.method === 'initialize') json(response, result(message.id), { 'mcp-session-id': 's' });
    else json(response, { jsonrpc: '2.0', error: { code: -32000, message: said }, id: null }, {}, 400);
  });
  const { channel, events } = open(server.origin);
  channel.send(initialize, 1);
  await events.answer(1);
  channel.send(request(2, 'tools/call'), 2);
  expect((await events.failure(2)).sessionLost).toBe(lost);
});

test('the late answer of an ended session does not bring its id back', async () => {
  let late: (() => void) | undefined;
  const server = await scriptedHttp(({ message }, response) => {
    const send = (): void => json(response, result(message.id), { 'mcp-session-id': 'old' });
    if (message.method === 'slow') late = send;
    else if (message.id === 3) json(response, result(message.id));
    else send();
  });
  const { channel, events } = open(server.origin);
  channel.send(initialize, 1);
  await events.answer(1);
  channel.send(request(2, 'slow'), 2);
  await until('the slow call has arrived', () => late);
  channel.forgetSession();
  late?.();
  await events.answer(2);
  channel.send(request(3, 'tools/list'), 3);
  await events.answer(3);
  expect(server.seen.at(-1)?.headers).not.toHaveProperty('mcp-session-id');
});

test('a 20 MB answer arrives as JSON and over a stream, and one that is too large fails its request alone', async () => {
  const server = await scriptedHttp(({ message }, response) => {
    const text = 'x'.repeat((message.params as { bytes: number }).bytes);
    if (message.method === 'json') json(response, result(message.id, text));
    else stream(response).end(sse(result(message.id, text)));
  });
  const { channel, events } = open(server.origin, { maxMessageBytes: 21_000_000 });
  channel.send(request(1, 'json', { bytes: 20_000_000 }), 1);
  channel.send(request(2, 'stream', { bytes: 20_000_000 }), 2);
  channel.send(request(3, 'json', { bytes: 22_000_000 }), 3);
  channel.send(request(4, 'stream', { bytes: 22_000_000 }), 4);
  for (const id of [1, 2]) expect((await events.answer(id)).result).toHaveLength(20_000_000);
  for (const id of [3, 4]) expect((await events.failure(id)).error.message).toMatch('"maxMessageBytes"');
});

test('a cut answer stream is taken up again from its last event, as soon as the server wants', async () => {
  let begun = 0;
  const server = await scriptedHttp(({ method, headers, message }, response) => {
    if (method === 'POST') {
      stream(response).write(
        `retry: 5\n\n${sse({ jsonrpc: '2.0', method: 'progress' }, 'e1')}id: e2\ndata: {"cut in the mid`,
        () => response.destroy(),
      );
      begun = Number(message.id);
    } else if (headers['last-event-id'] === 'e1') {
      stream(response).end(sse({ jsonrpc: '2.0', method: 'progress' }, 'e2'));
    } else {
      stream(response).end(sse(result(begun), 'e3'));
    }
  });
  const { channel, events } = open(server.origin);
  channel.send(request(6, 'tools/call'), 6);
  await events.answer(6);
  expect(server.seen.map(({ method, headers }) => [method, headers['last-event-id']])).toEqual([
    ['POST', undefined],
    ['GET', 'e1'],
    ['GET', 'e2'],
  ]);
  expect(events.heard.map(({ message, relatedTo }) => [message.method, relatedTo])).toEqual([
    ['progress', 6],
    ['progress', 6],
    [undefined, 6],
  ]);
  expect(events.failures).toEqual([]);
});

test('a stream that never gets to the answer fails after a bounded number of attempts', async () => {
  const server = await scriptedHttp(({ method }, response) => {
    if (method === 'POST') stream(response).end('retry: 1\nid: e1\ndata:\n\n');
    else stream(response).end();
  });
  const { channel, events } = open(server.origin);
  channel.send(request(1, 'tools/call'), 1);
  const { error } = await events.failure(1);
  expect(error.message).toMatch('ended the stream of its answer before the answer');
  expect(error.isLost).toBe(true);
  expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(5);
});

test('a stream without event ids that ends early fails at once', async () => {
  const server = await scriptedHttp((_seen, response) => stream(response).end(sse({ jsonrpc: '2.0', method: 'note' })));
  const { channel, events } = open(server.origin);
  channel.send(request(1, 'tools/call'), 1);
  const { error } = await events.failure(1, 500);
  expect(error.message).toMatch('before the answer');
  expect(error.isLost).toBe(true);
  expect(server.seen).toHaveLength(1);
});

test('the server stream brings what belongs to no request, and is opened again from its last event', async () => {
  let opened = 0;
  const server = await scriptedHttp(({ method, message }, response) => {
    if (method === 'POST') {
      json(response, result(message.id));
      return;
    }
    opened++;
    stream(response).write(`retry: 5\n\n${sse({ jsonrpc: '2.0', method: `note ${opened}` }, `n${opened}`)}`);
    if (opened === 1) response.end();
  });
  const { channel, events } = open(server.origin);
  channel.ready('2025-06-18');
  await until('both notes are here', () => events.heard.length === 2);
  expect(events.heard.map(({ message, relatedTo }) => [message.method, relatedTo])).toEqual([
    ['note 1', undefined],
    ['note 2', undefined],
  ]);
  expect(server.seen.at(-1)?.headers).toMatchObject({ 'last-event-id': 'n1', accept: 'text/event-stream' });
});

test.each([404, 405, 400])('a server without a stream of its own (%i) is not asked again', async (status) => {
  const server = await scriptedHttp(({ method, message }, response) => {
    if (method === 'GET') response.writeHead(status).end();
    else json(response, result(message.id));
  });
  const { channel, events } = open(server.origin);
  channel.ready('2025-06-18');
  await until('it was asked', () => server.seen.length === 1);
  channel.send(request(1, 'ping'), 1);
  await events.answer(1);
  expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(1);
  expect(events.failures).toEqual([]);
});

test('a server of 2026-07-28 is not asked for a stream', async () => {
  const server = await scriptedHttp(({ message }, response) => json(response, result(message.id)));
  const { channel, events } = open(server.origin);
  channel.ready('2026-07-28');
  channel.send(request(1, 'tools/list'), 1);
  await events.answer(1);
  expect(server.seen.map(({ method }) => method)).toEqual(['POST']);
});

test('a server that never answers holds only its caller, who can give up', async () => {
  const server = await scriptedHttp(({ message }, response) => {
    if (message.method === 'quick') json(response, result(message.id));
  });
  const { channel, events } = open(server.origin);
  channel.send(request(1, 'hang'), 1);
  channel.send(request(2, 'quick'), 2);
  await events.answer(2);
  channel.abandon(1);
  await until('the server sees that no caller waits', () => server.open.size === 0);
  expect(events.failures).toEqual([]);
});

test('an abandoned answer stream ends and is not resumed', async () => {
  const server = await scriptedHttp((_seen, response) =>
    stream(response).write(`retry: 1\n\n${sse({ jsonrpc: '2.0', method: 'note' }, 'e1')}`),
  );
  const { channel, events } = open(server.origin);
  channel.send(request(1, 'tools/call'), 1);
  await until('the note is here', () => events.heard.length === 1);
  channel.abandon(1);
  await until('the stream is over', () => server.open.size === 0);
  channel.send(request(2, 'tools/call'), 2);
  await until('the next note is here', () => events.heard.length === 2);
  expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'POST']);
  expect(events.failures).toEqual([]);
});

test('close ends calls and streams without a word, though the server hangs', async () => {
  const server = await scriptedHttp(({ method, message }, response) => {
    if (message.method === 'initialize') json(response, result(message.id), { 'mcp-session-id': 's' });
    if (method === 'GET') stream(response).write(': open\n\n');
  });
  const { channel, events } = open(server.origin);
  channel.send(initialize, 1);
  await events.answer(1);
  channel.ready('2025-06-18');
  channel.send(request(2, 'hang'), 2);
  channel.send(note);
  await until('all are open', () => server.open.size === 3);
  // The DELETE is not answered either: a close that waited for it would not end within the time of a test.
  await channel.close();
  await until('every connection is closed', async () => (await server.connections()) === 0);
  expect(events.failures).toEqual([]);
  expect(events.closings).toEqual([]);
});

test('many calls at once all get their own answer', async () => {
  const server = await scriptedHttp(({ message }, response) => {
    if (Number(message.id) % 2 === 0) json(response, result(message.id, message.params));
    else stream(response).end(sse(result(message.id, message.params)));
  });
  const { channel, events } = open(server.origin);
  const ids = Array.from({ length: 300 }, (_, index) => index + 1);
  for (const id of ids) channel.send(request(id, 'echo', { id }), id);
  await Promise.all(ids.map((id) => events.answer(id)));
  for (const { message, relatedTo } of events.heard) {
    expect([message.result, relatedTo]).toEqual([{ id: message.id }, message.id]);
  }
});

test('a flood of events before an answer is read with pauses, in order, and the answer comes', async () => {
  const throttled = vi.spyOn(ThrottledReader.prototype, 'push');
  atEnd(() => throttled.mockRestore());
  const count = upstreamLimits.floodPerSecond * 4;
  const server = await scriptedHttp(({ message }, response) => {
    stream(response);
    for (let n = 1; n <= count; n++)
      response.write(sse({ jsonrpc: '2.0', method: 'notifications/message', params: { n } }));
    response.end(sse(result(message.id)));
  });
  const { channel, events } = open(`${server.origin}/mcp`);
  channel.send(initialize, 1);
  await events.answer(1);
  expect(throttled).toHaveBeenCalled();
  const numbers = events.heard.flatMap(({ message }) => (message.params as { n?: number } | undefined)?.n ?? []);
  expect(numbers).toEqual(Array.from({ length: count }, (_, i) => i + 1));
});

import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { type Answer, bodyMemory, echo, echoServer, wire } from '../../test/kit/fast-path.ts';
import { until } from '../../test/kit/until.ts';
import type { HttpResponse } from './http.ts';

const post = (body: string, head = '', url = '/mcp'): string =>
  `POST ${url} HTTP/1.1\r\nHost: h\r\n${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const answersIn = (heard: string): number => heard.split('HTTP/1.1 200 OK').length - 1;

/** Keeps responses until the test answers them. */
function held(): { answer: Answer; responses: HttpResponse[] } {
  const responses: HttpResponse[] = [];
  return { answer: (_req, _body, res) => void responses.push(res), responses };
}

const short = { 'content-type': 'text/plain', 'content-length': 2 };

test('plain requests of a connection are read by the front, and the rest of it by node:http from the first other on', async () => {
  const server = await echoServer();
  const line = await wire(server.port);
  await line.send(post('1', '', '/mcp/1'));
  await until('the first', () => server.byFastPath.length === 1);
  await line.send(`${post('2', '', '/mcp/2')}GET /mcp/3 HTTP/1.1\r\nHost: h\r\n\r\n${post('4', '', '/mcp/4')}`);
  await until('all', () => server.byNode.length === 2);
  expect([server.byFastPath, server.byNode]).toEqual([
    ['/mcp/1', '/mcp/2'],
    ['/mcp/3', '/mcp/4'],
  ]);
});

test('what the front does not take goes to node:http, whatever its shape', async () => {
  const server = await echoServer();
  const line = await wire(server.port);
  await line.send(post('x', '', '/node'));
  await until('its answer', () => answersIn(line.heard) === 1);
  expect([server.byFastPath, server.byNode]).toEqual([[], ['/node']]);
});

test('a hundred requests sent at once are answered one after the other, in order', async () => {
  const server = await echoServer();
  const line = await wire(server.port);
  const bodies = Array.from({ length: 100 }, (_, i) => `"number ${i}, with an é"`);
  await line.send(Buffer.from(bodies.map((body) => post(body)).join('')).toString('latin1'));
  await until('all answers', () => answersIn(line.heard) === 100);
  const told = [...line.heard.matchAll(/number (\d+)/g)].map(([, i]) => Number(i));
  expect(told).toEqual(bodies.map((_, i) => i));
  expect(server.byNode).toEqual([]);
});

test('a request that is sent ahead waits for the answer to the one before it', async () => {
  const { answer, responses } = held();
  const server = await echoServer({ fastPath: true, answer });
  const line = await wire(server.port);
  await line.send(post('1') + post('2'));
  await until('the first', () => responses.length === 1);
  expect(server.byFastPath).toHaveLength(1);
  responses[0]?.writeHead(200, short);
  responses[0]?.end('ok');
  await until('the second', () => responses.length === 2);
});

test('one that is sent ahead and is larger than what is read ahead arrives whole when its turn comes', async () => {
  const { answer, responses } = held();
  const server = await echoServer({ fastPath: true, answer });
  const line = await wire(server.port);
  await line.send(post('1'));
  const [first] = await until('the first', () => responses.length === 1 && responses);
  const large = post('x'.repeat(64 * 1024));
  const rest = 20;
  const read = first?.req.socket.bytesRead ?? 0;
  await line.send(large.slice(0, -rest));
  await until('most of it is there', () => (first?.req.socket.bytesRead ?? 0) - read === large.length - rest);
  await line.send(large.slice(-rest));
  first?.writeHead(200, short);
  first?.end('ok');
  await until('the second', () => responses.length === 2);
  expect(server.byNode).toEqual([]);
});

test('a head that comes again is read as any other, whatever the length of the body and what is behind it', async () => {
  const [fast, plain] = [await echoServer(), await echoServer({ fastPath: false })];
  const [line, other] = [await wire(fast.port), await wire(plain.port)];
  const withLength = (length: string, body: string, behind = 'X-Behind: b\r\n') =>
    `POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: \t${length}\r\n${behind}\r\n${body}`;
  const all = [
    withLength('3', 'one'),
    withLength('5', 'three'),
    withLength('5', 'other'),
    withLength('0', ''),
    withLength('0002', 'é'),
    withLength('000002', 'ab'),
    withLength('5', 'three', 'X-Behind: c\r\n'),
    withLength('5', 'three', ''),
    withLength('7', 'another', ''),
    withLength('5', 'three', 'A: b\r\n'),
    withLength('7', 'another', 'A: b\r\n'),
    withLength('7', 'another', 'A: c\r\n'),
    withLength('65536', 'x'.repeat(65_536)),
    withLength('4', 'last'),
  ];
  for (const [i, one] of all.entries()) {
    const bytes = Buffer.from(one).toString('latin1');
    await Promise.all([line.send(bytes), other.send(bytes)]);
    await until('both answers', () => answersIn(line.heard) === i + 1 && answersIn(other.heard) === i + 1);
  }
  const said = (heard: string) => heard.replaceAll(/^Date: .*\r\n/gm, '');
  expect(said(line.heard)).toBe(said(other.heard));
  expect([fast.byFastPath.length, fast.byNode]).toEqual([all.length, []]);
  // One byte more than the front takes.
  await line.send(withLength('65537', 'x'.repeat(65_537)));
  await until('its answer', () => answersIn(line.heard) === all.length + 1);
  expect(fast.byNode).toEqual(['/mcp']);
});

test('an answer without a length goes out in chunks as they come, and the connection stays', async () => {
  const { answer, responses } = held();
  const server = await echoServer({ fastPath: true, answer });
  const line = await wire(server.port);
  await line.send(post('1'));
  const [res] = await until('the request', () => responses.length === 1 && responses);
  res?.writeHead(200, { 'content-type': 'text/event-stream' });
  res?.flushHeaders();
  await until('the head', () => line.heard.endsWith('Transfer-Encoding: chunked\r\n\r\n'));
  res?.write('first é');
  await until('the first chunk', () => line.heard.endsWith('8\r\nfirst Ã©\r\n'));
  res?.write(Buffer.from('second'));
  res?.end('third');
  await until('the end', () => line.heard.endsWith('6\r\nsecond\r\n5\r\nthird\r\n0\r\n\r\n'));
  await line.send(post('2'));
  await until('the next request', () => responses.length === 2);
  expect(server.byNode).toEqual([]);
});

test.each(['leaves', 'ends its side', 'is cut off'])('who works on an answer hears that its client %s', async (how) => {
  const { answer, responses } = held();
  const server = await echoServer({ fastPath: true, answer });
  const line = await wire(server.port);
  await line.send(post('1'));
  const [res] = await until('the request', () => responses.length === 1 && responses);
  let closes = 0;
  res?.on('close', () => (closes += 1));
  if (how === 'leaves') line.socket.destroy();
  else if (how === 'ends its side') line.socket.end();
  else line.socket.resetAndDestroy();
  await until('it is told', () => closes > 0);
  res?.writeHead(200, short);
  res?.end('ok');
  expect(closes).toBe(1);
  // Work that begins only now is told too.
  expect(res?.destroyed).toBe(true);
  res?.on('close', () => (closes += 1));
  await until('that was told', () => closes === 2);
});

test('a line break in a header is refused before anything is sent', async () => {
  const errors: unknown[] = [];
  const server = await echoServer({
    fastPath: true,
    answer(req, body, res) {
      try {
        res.writeHead(200, { 'x-told': 'a\r\nset-cookie: b' });
      } catch (error) {
        errors.push(error);
      }
      echo(req, body, res);
    },
  });
  const line = await wire(server.port);
  await line.send(post('1'));
  await until('what is said in its place', () => answersIn(line.heard) === 1);
  expect(errors).toHaveLength(1);
  expect(line.heard).not.toContain('set-cookie');
});

test('a body that comes in pieces is put together; one in crumbs is left to node:http', async () => {
  const server = await echoServer();
  const line = await wire(server.port);
  const text = post('x'.repeat(40));
  const at = text.length - 40;
  await line.send(text.slice(0, at));
  for (let i = at; i < text.length; i += 8) await line.send(text.slice(i, i + 8));
  await until('the first answer', () => answersIn(line.heard) === 1);
  await line.send(text.slice(0, at));
  for (let i = at; i < text.length; i += 1) {
    await line.send(text.slice(i, i + 1));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await until('the second answer', () => answersIn(line.heard) === 2);
  expect([server.byFastPath.length, server.byNode.length]).toEqual([1, 1]);
});

test('a client that reads nothing is not worked for again before it has', async () => {
  const { answer, responses } = held();
  const server = await echoServer({ fastPath: true, answer });
  const socket = connect(server.port, '127.0.0.1').pause();
  socket.write(post('1') + post('2'));
  const [res] = await until('the request', () => responses.length === 1 && responses);
  const long = Buffer.alloc(32 * 1024 * 1024, 'x');
  res?.writeHead(200, { 'content-length': long.length });
  res?.end(long);
  expect(res?.writableLength).toBeGreaterThan(0);
  // Others come and are answered meanwhile, one after the other.
  for (let i = 0; i < 10; i++) {
    const other = await wire(server.port);
    await other.send(post('3', '', '/mcp/other'));
    await until('the other request', () => responses.length === i + 2);
    responses[i + 1]?.writeHead(200, short);
    responses[i + 1]?.end('ok');
    await until('its answer', () => answersIn(other.heard) === 1);
  }
  expect(server.byFastPath.filter((url) => url === '/mcp')).toHaveLength(1);
  socket.resume();
  await until('the second request', () => responses.length === 12);
  socket.destroy();
});

test('one that reads late gets all the answers, were each of them short', async () => {
  const { answer: hold, responses } = held();
  const text = Buffer.alloc(16_000, 'x');
  let answered = 0;
  const reply = (res?: HttpResponse): void => {
    res?.writeHead(200, { 'content-length': text.length });
    res?.end(text);
    answered += 1;
  };
  const answer: Answer = (req, body, res) => (responses.length === 0 ? hold(req, body, res) : reply(res));
  const server = await echoServer({ fastPath: true, answer });
  const socket = connect(server.port, '127.0.0.1').pause();
  const all = post('1').repeat(1_000);
  socket.write(all);
  await until('all of it is there', () => responses[0]?.req.socket.bytesRead === all.length);
  reply(responses[0]);
  await until('too much waits', () => (responses[0]?.writableLength ?? 0) > 0);
  expect(answered).toBeLessThan(1_000);
  socket.resume();
  await until('all answers', () => answered === 1_000);
  expect(server.byNode).toEqual([]);
  socket.destroy();
});

test('a connection that is idle, and a request that never gets whole, are closed in time', async () => {
  const server = await echoServer({ fastPath: true, idleMs: 1_000, requestMs: 1_000 });
  const [idle, silent, half] = [await wire(server.port), await wire(server.port), await wire(server.port)];
  await idle.send(post('1'));
  await half.send(post('1').slice(0, -1));
  await until('all are closed', () => idle.closed && silent.closed && half.closed);
  expect(answersIn(idle.heard)).toBe(1);
  expect(silent.heard).toBe('');
  expect(half.heard).toMatch(/^HTTP\/1\.1 408 /);
  expect(server.byNode).toEqual([]);
});

const one = { mostPerAddress: Infinity, clientOf: () => undefined };

test('the time of a request is not counted from zero again when node:http goes on with it', async () => {
  // node:http looks at its own connections twice a minute.
  const server = await echoServer({ fastPath: true, requestMs: 2_000, sweepMs: 20 });
  const trickle = await wire(server.port);
  const body = 'x'.repeat(1_000);
  const whole = post(body);
  const headEnds = whole.indexOf('\r\n\r\n') + 4;
  await trickle.send(whole.slice(0, headEnds + 1));
  let sent = headEnds + 1;
  // More pieces than the fast path waits for: it hands over, and node:http reads on.
  const pieces = setInterval(() => {
    if (trickle.closed || sent > 900) return;
    void trickle.send(whole.slice(sent, ++sent));
  }, 5);
  await until('it is closed', () => trickle.closed);
  clearInterval(pieces);
  expect(sent).toBeGreaterThan(headEnds + 16);
  expect(trickle.heard).toMatch(/^HTTP\/1\.1 408 /);
});

test.each([
  ['mcp', '/mcp'],
  ['node:http', '/node'],
])('past the bound the connection that waits longest makes room, and none that is worked on (%s)', async (_, url) => {
  const { answer, responses } = held();
  const server = await echoServer({ fastPath: true, answer, bounds: { ...one, most: 4 } });
  const busy = await wire(server.port);
  await busy.send(post('busy', '', url));
  await until('the request', () => responses.length === 1);
  const slow = await wire(server.port);
  await slow.send(post('slow', '', url).slice(0, -1));
  await until('its connection', () => server.fastPath?.connections.open === 2);
  // What was sent is there: the server reads it in the next turn, before others connect.
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  const [idle, later] = [await wire(server.port), await wire(server.port)];
  await until('all are open', () => server.fastPath?.connections.open === 4);
  const fifth = await wire(server.port);
  await until('the slow one is closed', () => slow.closed);
  await fifth.send(post('fifth', '', url));
  await until('the new one is heard', () => responses.length === 2);
  for (const response of responses) {
    response.writeHead(200, short);
    response.end('ok');
  }
  await until('both are answered', () => answersIn(busy.heard) === 1 && answersIn(fifth.heard) === 1);
  expect([busy.closed, idle.closed, later.closed]).toEqual([false, false, false]);
  expect(server.fastPath?.connections.refused).toBe(0);
});

test('where all are worked on a new connection is refused, and told so', async () => {
  const { answer, responses } = held();
  const refused: unknown[] = [];
  const server = await echoServer({
    fastPath: true,
    answer,
    bounds: { ...one, most: 2, refused: (...told) => refused.push(told) },
  });
  const [first, second] = [await wire(server.port), await wire(server.port)];
  await first.send(post('1'));
  await second.send(post('2', '', '/node'));
  await until('both requests', () => responses.length === 2);
  const third = await wire(server.port);
  await until('it is refused', () => third.closed);
  expect(third.heard).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n/s);
  expect(refused).toEqual([[expect.stringContaining('127.0.0.1'), 'all']]);
  expect([first.closed, second.closed]).toEqual([false, false]);
});

test('one address has no more than its share', async () => {
  const { answer, responses } = held();
  const clientOf = (address: string) => address;
  const server = await echoServer({ fastPath: true, answer, bounds: { most: 100, mostPerAddress: 2, clientOf } });
  const lines = [await wire(server.port), await wire(server.port)];
  for (const line of lines) await line.send(post('x'));
  await until('both requests', () => responses.length === 2);
  const third = await wire(server.port);
  await until('it is refused', () => third.closed);
  expect(third.heard).toMatch(/^HTTP\/1\.1 503 /);
  lines[0]?.socket.destroy();
  await until('one has gone', () => server.fastPath?.connections.open === 1);
  // Others may be told that all are busy for a moment.
  await until('there is room again', async () => {
    const next = await wire(server.port);
    await next.send(post('y'));
    await until('it is refused or read', () => next.closed || responses.length === 3);
    return responses.length === 3;
  });
});

test('what waits of bodies takes from the memory for them, and gives it back', async () => {
  const budget = bodyMemory(200_000);
  const server = await echoServer({ fastPath: true, bodies: budget });
  const lines = [await wire(server.port), await wire(server.port), await wire(server.port)];
  const whole = post('x'.repeat(50_000));
  await lines[0]?.send(whole.slice(0, -1));
  await until('it is counted', () => budget.used > 50_000);
  // There is no memory for this body: node:http, and the code behind it, go on with it.
  await lines[1]?.send(whole.slice(0, -1));
  await until('the other is handed over', () => server.byNode.length === 1);
  // A smaller one has room, until it has as much as would be left.
  const before = budget.used;
  const growing = post('x'.repeat(45_000));
  await lines[2]?.send(growing.slice(0, 20_000));
  await until('it is counted', () => budget.used > before);
  await lines[2]?.send(growing.slice(20_000, 44_000));
  await until('it is handed over too', () => server.byNode.length === 2);
  await lines[0]?.send(whole.slice(-1));
  await until('the first is answered', () => server.byFastPath.length === 1);
  expect(budget.used).toBe(0);
});

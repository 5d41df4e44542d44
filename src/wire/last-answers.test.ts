import { expect, test } from 'vitest';
import { type Answer, echoServer, wire } from '../../test/kit/fast-path.ts';
import { until } from '../../test/kit/until.ts';
import type { HttpResponse } from './http.ts';

// How connections end when the hub stops.

const post = (body: string, url = '/mcp'): string =>
  `POST ${url} HTTP/1.1\r\nHost: h\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const short = { 'content-type': 'text/plain', 'content-length': 2 };

/** Keeps responses until the test answers them. */
function held(): { answer: Answer; responses: HttpResponse[] } {
  const responses: HttpResponse[] = [];
  return { answer: (_req, _body, res) => void responses.push(res), responses };
}

test('at the end idle connections are closed, busy ones once they have answered', async () => {
  const { answer, responses } = held();
  const server = await echoServer({ fastPath: true, answer });
  const [idle, busy] = [await wire(server.port), await wire(server.port)];
  await busy.send(post('1'));
  await until('the request', () => responses.length === 1);
  server.fastPath?.end();
  await until('the idle one is closed', () => idle.closed);
  expect(busy.closed).toBe(false);
  responses[0]?.writeHead(200, short);
  responses[0]?.end('ok');
  await until('the busy one is closed', () => busy.closed);
  expect(busy.heard).toMatch(/Connection: close\r\n[^]*ok$/);
});

test('a request that is here in part when the end comes is answered', async () => {
  let heldBytes = 0;
  const bodies = { hold: (bytes: number) => (heldBytes += bytes) > 0, release: () => undefined };
  const server = await echoServer({ fastPath: true, bodies });
  const [line, idle] = [await wire(server.port), await wire(server.port)];
  const whole = post('1'.repeat(100));
  await line.send(whole.slice(0, -10));
  await until('a part of it is here', () => heldBytes > 0);
  server.fastPath?.end();
  await until('the idle one is closed', () => idle.closed);
  expect(line.closed).toBe(false);
  await line.send(whole.slice(-10));
  await until('it is closed', () => line.closed);
  expect(line.heard).toMatch(/^HTTP\/1\.1 200 [^]*Connection: close\r\n/);
});

test.each(['/mcp', '/node'])(
  'before the end, an answer closes its connection, and others stay open: %s',
  async (url) => {
    const server = await echoServer({ fastPath: true });
    const [used, idle] = [await wire(server.port), await wire(server.port)];
    await used.send(post('1', url));
    await until('it is answered', () => used.heard.includes('HTTP/1.1 200 OK'));
    expect(used.closed).toBe(false);
    server.fastPath?.lastAnswers();
    const later = await wire(server.port);
    for (const line of [used, idle, later]) {
      expect(line.closed).toBe(false);
      await line.send(post('2', url));
      await until('it is answered and closed', () => line.closed);
      expect(line.heard).toMatch(/Connection: close\r\n[^]*$/i);
    }
  },
);

test('an answer that began before the last ones leaves its connection open, as it has said', async () => {
  const { answer, responses } = held();
  const server = await echoServer({ fastPath: true, answer });
  const line = await wire(server.port);
  await line.send(post('1'));
  const [res] = await until('the request', () => responses.length === 1 && responses);
  res?.writeHead(200, { 'content-type': 'text/event-stream' });
  res?.flushHeaders();
  await until('the head', () => line.heard.includes('Connection: keep-alive'));
  server.fastPath?.lastAnswers();
  res?.end('done');
  await until('the end', () => line.heard.endsWith('0\r\n\r\n'));
  await line.send(post('2'));
  await until('the next request', () => responses.length === 2);
  responses[1]?.writeHead(200, short);
  responses[1]?.end('ok');
  await until('it is closed', () => line.closed);
  expect(line.heard).toMatch(/Connection: close\r\n[^]*ok$/);
});

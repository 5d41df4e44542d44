import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { claim } from '../core/json/large-buffers.ts';
import { LargeText } from '../core/json/large-text.ts';
import { TurnBudget } from '../core/turn-budget.ts';
import { atEnd } from '../../test/kit/at-end.ts';
import { until } from '../../test/kit/until.ts';
import { PacedWriter, unsent } from './paced-writer.ts';

/** A response and the client that reads it. */
async function response() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  atEnd(() => {
    client.destroy();
    server.close();
  });
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [, res] = (await once(server, 'request')) as [unknown, ServerResponse];
  const read: Buffer[] = [];
  client.pause();
  return {
    res,
    client,
    read: () => {
      client.on('data', (chunk) => read.push(chunk)).resume();
      return () =>
        Buffer.concat(read)
          .toString('latin1')
          .replace(/^.*?\r\n\r\n/s, '');
    },
  };
}

const pieces = (count: number, size = 64 * 1024) =>
  new LargeText(Array.from({ length: count }, (_, i) => Buffer.alloc(size, 0x41 + (i % 26))));

test('no turn writes more than its share, and a piece', async () => {
  const { res, read } = await response();
  const turns: number[] = [];
  let now = 0;
  const budget = new TurnBudget(128 * 1024, (act) =>
    setImmediate(() => {
      if (now > 0) turns.push(now);
      now = 0;
      act();
    }),
  );
  const write = res.write.bind(res);
  vi.spyOn(res, 'write').mockImplementation((chunk: Buffer, taken: unknown) => {
    now += Buffer.byteLength(chunk);
    return write(chunk, taken as () => void);
  });
  res.writeHead(200, { 'content-length': 40 * 64 * 1024 });
  const text = read();
  const writer = new PacedWriter(res, false, budget);
  writer.writeLarge('', pieces(40), '');
  writer.end();
  await until('all is read', () => text().length === 40 * 64 * 1024);
  expect(text()).toBe(pieces(40).toString());
  expect(Math.max(...turns)).toBeLessThanOrEqual(128 * 1024);
  expect(unsent()).toBe(0);
});

test('what is written meanwhile follows behind, in order', async () => {
  const { res, read } = await response();
  res.writeHead(200, { 'content-length': 6 + 8 * 64 * 1024 });
  const text = read();
  const writer = new PacedWriter(res);
  writer.write('a');
  writer.writeLarge('<', pieces(4), '>');
  writer.write('b');
  writer.writeLarge('<', pieces(4), '>');
  writer.end();
  await until('all is read', () => text().length === 6 + 8 * 64 * 1024);
  expect(text().replace(/[A-Z]+/g, '…')).toBe('a<…>b<…>');
});

test('a client that reads nothing is given no more than its connection takes, and nothing is kept once it has left', async () => {
  const { res, client } = await response();
  res.writeHead(200);
  const writer = new PacedWriter(res);
  writer.writeLarge('', pieces(800), '');
  await until('the connection takes no more', () => res.writableNeedDrain);
  expect(unsent()).toBeGreaterThan(30 * 1024 * 1024);
  expect(writer.isIdle).toBe(false);
  client.destroy();
  await until('it is forgotten', () => unsent() === 0);
});

test.each([
  ['is given back once the client has it, where nothing else reads it', true],
  ['stays where something else may read it', false],
])('the memory of a large text %s', async (_, isLast) => {
  const { res, read } = await response();
  const large = pieces(40);
  const whole = large.toString();
  for (const piece of large.pieces) claim(piece);
  res.writeHead(200, { 'content-length': whole.length });
  const text = read();
  const writer = new PacedWriter(res, isLast);
  writer.writeLarge('', large, '');
  writer.end();
  await until('all is read', () => text().length === whole.length);
  expect(text()).toBe(whole);
  const left = large.pieces.map(({ length }) => length).reduce((sum, length) => sum + length, 0);
  expect(left).toBe(isLast ? 0 : whole.length);
});

test('of a client that has left nothing is given back that the system may still have its hands on', async () => {
  const broken: Buffer[] = [];
  // Where the system has taken all that was written so far, no write breaks off.
  while (broken.length === 0) {
    const before = unsent();
    const { res, client } = await response();
    const large = pieces(800);
    for (const piece of large.pieces) claim(piece);
    const write = res.write.bind(res);
    vi.spyOn(res, 'write').mockImplementation((chunk: Buffer, taken: unknown) => {
      return write(chunk, (error) => {
        if (error) broken.push(chunk);
        (taken as (error?: Error | null) => void)(error);
      });
    });
    res.writeHead(200);
    new PacedWriter(res, true).writeLarge('', large, '');
    await until('the connection takes no more', () => res.writableNeedDrain);
    const closed = once(res, 'close');
    client.destroy();
    // What is written between the end of the connection and this is never called back.
    await closed;
    await until('the rest is forgotten', () => unsent() === before);
  }
  expect(broken.map(({ length }) => length)).toEqual(broken.map(() => 64 * 1024));
});

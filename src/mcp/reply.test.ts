import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { until } from '../../test/kit/until.ts';
import { mcpLimits } from './limits.ts';
import { PostReply } from './reply.ts';
import { createStreams } from './stream.ts';

// What a client that does not read may cost.

/** A response on its way to a client that reads only when it is told to. */
async function unreadResponse(): Promise<{ res: ServerResponse; read: () => Promise<string>; gone: () => boolean }> {
  const responses: ServerResponse[] = [];
  const server = createServer((_, res) => void responses.push(res)).listen(0, '127.0.0.1');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  await until('it listens', () => server.listening);
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  atEnd(() => void socket.destroy());
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  const res = await until('the request', () => responses[0]);
  const chunks: Buffer[] = [];
  const read = async (): Promise<string> => {
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk)).resume();
    await until('the end of the response', () => socket.readableEnded || socket.destroyed);
    return Buffer.concat(chunks).toString();
  };
  return { res, read, gone: () => res.destroyed };
}

const line = `{"tag":"${'x'.repeat(10_000)}"}`;

test('progress that a client does not read is left out, and the answer comes all the same', async () => {
  const { res, read } = await unreadResponse();
  const reply = new PostReply(res, true, {});
  for (let i = 0; i < 2_000; i++) reply.notify(line);
  expect(res.writableLength).toBeLessThan(mcpLimits.notifyBacklogBytes * 2);
  reply.answer('{"id":"the answer"}');
  expect(await read()).toContain('data: {"id":"the answer"}\n\n');
});

test('an answer that is not read waits for a while only', async () => {
  const { res } = await unreadResponse();
  new PostReply(res, false, {}).answer(`{"text":"${'x'.repeat(20_000_000)}"}`);
  expect(res.socket?.timeout).toBe(mcpLimits.unreadMs);
  res.socket?.emit('timeout');
  expect(res.destroyed).toBe(true);
});

test('a stream takes a message of any size, and is dropped when too much of it stays unread', async () => {
  const streams = createStreams();
  atEnd(() => streams.close());
  const { res, gone } = await unreadResponse();
  let closed = 0;
  const stream = streams.open(res, {}, () => void closed++);
  stream.send(`{"text":"${'x'.repeat(mcpLimits.streamBacklogBytes + 8_000_000)}"}`);
  expect(gone()).toBe(false);
  stream.send('{}');
  expect(gone()).toBe(true);
  await until('it is closed', () => closed === 1);
});

test('a reply to a client that has left is over: what works on it is told, and nothing waits for its end', async () => {
  const { res, gone } = await unreadResponse();
  let closes = 0;
  res.on('close', () => void closes++);
  res.destroy();
  await until('its end was told', () => closes === 1 && gone());
  const reply = new PostReply(res, true, {});
  const told: string[] = [];
  reply.gone = () => void told.push('gone');
  reply.finished = () => void told.push('finished');
  reply.notify(line);
  await until('both are told', () => told.length === 2);
  reply.answer('{}');
  expect(told).toEqual(['finished', 'gone']);
});

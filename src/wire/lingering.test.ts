import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { until } from '../../test/kit/until.ts';
import { Connections } from './connections.ts';
import { wireLimits } from './limits.ts';

const mb = 1024 * 1024;

/** A server that refuses every body before it has read it, and a client of it that has not read yet. */
async function refusing() {
  const connections = new Connections({ most: Infinity, mostPerAddress: Infinity, clientOf: () => undefined }, 60_000);
  const server = createServer((req, res) => {
    connections.of(req.socket)?.asked(req, res);
    res.writeHead(413, { 'content-length': 2 });
    res.end('no');
  });
  server.on('connection', (socket: Socket) => void connections.admit(socket));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  atEnd(() => void client.destroy());
  const seen: { heard: string; error?: string } = { heard: '' };
  client.on('error', (error) => (seen.error = error.message));
  client.pause();
  const post = (bytes: number): void =>
    void client.write(`POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n`);
  return { connections, client, seen, post };
}

test('a client that sends all of its body before it reads finds the answer, also on a connection that ends with it', async () => {
  const { connections, client, seen, post } = await refusing();
  post(16 * mb);
  let sent = false;
  client.write(Buffer.alloc(16 * mb), () => (sent = true));
  await until('all is sent', () => sent || seen.error !== undefined);
  client.on('data', (chunk) => (seen.heard += chunk.toString()));
  client.resume();
  await until('the end', () => client.readableEnded || seen.error !== undefined);
  expect(seen.error).toBeUndefined();
  expect(seen.heard).toMatch(/^HTTP\/1\.1 413 [^]*\r\n\r\nno$/);
  await until('the connection is closed', () => connections.open === 0);
});

test.each([
  ['more than is read away', { lingerBytes: mb }, 16 * mb],
  ['longer than is waited', { lingerMs: 50 }, 1],
])('a client that goes on sending %s is left', async (_, limits, bytes) => {
  setLimits(wireLimits, limits);
  const { connections, client, post } = await refusing();
  post(1_000 * mb);
  client.write(Buffer.alloc(bytes));
  await until('the connection is open', () => connections.open === 1);
  await until('the connection is closed', () => connections.open === 0);
});

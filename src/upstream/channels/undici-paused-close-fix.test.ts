import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { atEnd } from '../../../test/kit/at-end.ts';
import { openHttp, request } from '../../../test/kit/channel-log.ts';
import { until } from '../../../test/kit/until.ts';
import { upstreamLimits } from '../limits.ts';
import { openStreamableHttp } from './http/streamable-http.ts';

const count = upstreamLimits.floodPerSecond * 4;
const flood = 'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'.repeat(count);
const answer = 'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n';

/** Answers with a flood, and says nothing of where it ends but by what it does with the connection then. */
async function floodServer(then: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n${flood}${answer}`, () => then(socket));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

test('a flood that ends with its connection is read to its end, and its answer comes', async () => {
  const { channel, events } = openHttp(openStreamableHttp, await floodServer((socket) => socket.end()));
  channel.send(request(1, 'x'), 1);
  await events.answer(1);
  expect([events.heard.length, events.failures]).toEqual([count + 1, []]);
});

test('one whose connection breaks fails its request at most', async () => {
  const { channel, events } = openHttp(openStreamableHttp, await floodServer((socket) => socket.resetAndDestroy()));
  channel.send(request(1, 'x'), 1);
  await until('it is over', () => events.failures.length > 0 || events.heard.some(({ message }) => message.id === 1));
});

import { createHmac } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { atEnd } from '../../../test/kit/at-end.ts';
import { silent } from '../../../test/kit/databases.ts';
import type { AuditRecord } from '../../core/audit.ts';
import type { AuditOutputs } from '../../core/settings/governance.ts';
import { chained, chainStart } from './chain.ts';
import { createDelivery } from './delivery.ts';
import { auditLimits } from './limits.ts';
import { createAuditSinks } from './sinks.ts';

const records = (count: number, from = 1): AuditRecord[] =>
  Array.from({ length: count }, (_, i) =>
    chained(
      {
        time: '2026-01-01T00:00:00.000Z',
        actor: { kind: 'user', name: 'ann' },
        address: '192.0.2.1',
        via: 'api',
        action: 'server.delete',
        target: 'ä'.repeat(10),
        result: i === 0 ? 'refused' : 'success',
        count: 1,
      },
      { id: from + i - 1, hash: chainStart },
    ),
  );

function sinksTo(outputs: AuditOutputs) {
  const sinks = createAuditSinks(() => outputs, silent);
  atEnd(() => sinks.close());
  return sinks;
}

test('a webhook gets each record once and in order, signed, and again when it failed', async () => {
  const bodies: { body: string; signature: unknown }[] = [];
  // The second answer leads elsewhere, where nothing is sent; the third one takes the records.
  const answers = [503, 302, 204];
  const server = createHttp((request, response) => {
    void text(request).then((body) => {
      bodies.push({ body, signature: request.headers['x-toolhub-signature'] });
      response.writeHead(answers[bodies.length - 1] ?? 204, { location: 'http://127.0.0.1:9/' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const sinks = sinksTo({ webhook: { url: `http://127.0.0.1:${port}/hook`, secret: 'of both' } });
  sinks.send(records(3));
  await expect.poll(() => bodies.length, { timeout: 60_000 }).toBe(3);
  const [first, , last] = bodies;
  expect(first?.body).toBe(last?.body);
  expect(
    last?.body
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as AuditRecord).id),
  ).toEqual([1, 2, 3]);
  expect(last?.signature).toBe(
    `sha256=${createHmac('sha256', 'of both')
      .update(last?.body ?? '')
      .digest('hex')}`,
  );
});

test('syslog over TCP has the length of each message in front, and goes on over a new connection', async () => {
  let received = Buffer.alloc(0);
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('data', (chunk) => (received = Buffer.concat([received, chunk])));
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const sinks = sinksTo({ syslog: { host: '127.0.0.1', port, protocol: 'tcp' } });
  sinks.send(records(2));
  const messages = () => {
    const found: string[] = [];
    for (let rest = received; ;) {
      const space = rest.indexOf(32);
      const length = Number(rest.subarray(0, space).toString());
      if (space < 0 || rest.length < space + 1 + length) return found;
      found.push(rest.subarray(space + 1, space + 1 + length).toString());
      rest = rest.subarray(space + 1 + length);
    }
  };
  await expect.poll(() => messages().length).toBe(2);
  const [refused, other] = messages();
  expect(refused).toMatch(/^<109>1 2026-01-01T00:00:00\.000Z \S+ toolhub \d+ audit - \ufeff\{/);
  expect(other).toMatch(/^<110>1 /);
  expect(JSON.parse(other?.slice(other.indexOf('{')) ?? '')).toEqual(records(2)[1]);
  for (const socket of sockets) socket.destroy();
  await expect
    .poll(() => {
      sinks.send(records(1, 3));
      return messages().length;
    })
    .toBeGreaterThan(2);
});

test('syslog over UDP is one datagram for each record', async () => {
  const socket = createSocket('udp4');
  const heard: string[] = [];
  socket.on('message', (message) => heard.push(message.toString()));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  atEnd(() => void socket.close());
  sinksTo({ syslog: { host: '127.0.0.1', port: socket.address().port, protocol: 'udp' } }).send(records(2));
  await expect.poll(() => heard.length).toBe(2);
});

test('what a receiver does not take is bounded, the newest stay, and a stop does not wait for it', async () => {
  const warned: string[] = [];
  const taken: number[] = [];
  let isAway = true;
  const delivery = createDelivery({
    name: 'It',
    log: { ...silent, warn: (message) => void warned.push(message) },
    firstRetryMs: 1,
    send: async (batch) => {
      if (isAway) throw new Error('away');
      taken.push(...batch.map(({ id }) => id));
    },
  });
  for (let from = 1; from <= 2 * auditLimits.sinkQueue; from += 500) delivery.add(records(500, from));
  isAway = false;
  await expect.poll(() => taken.length, { timeout: 60_000 }).toBe(auditLimits.sinkQueue);
  expect(taken[0]).toBe(auditLimits.sinkQueue + 1);
  expect(warned.length).toBeLessThan(2);
  const hanging = createDelivery({
    name: 'It',
    log: silent,
    send: (_, signal) => once(signal, 'abort').then(() => Promise.reject(new Error('stopped'))),
  });
  hanging.add(records(1));
  await hanging.close();
});

test('the end of one that fails, as with another address in the settings, leaves no rejection behind', async () => {
  const unhandled = vi.fn<(reason: unknown) => void>();
  process.on('unhandledRejection', unhandled);
  try {
    const tried = vi.fn<() => void>();
    const send = async (): Promise<void> => {
      tried();
      throw new Error('away');
    };
    const delivery = createDelivery({ name: 'It', log: silent, send });
    delivery.add(records(1));
    await expect.poll(() => tried.mock.calls.length).toBe(1);
    await delivery.close();
    // Node tells of them once the promises of this turn are done.
    await new Promise((done) => setImmediate(done));
    expect(unhandled).not.toHaveBeenCalled();
  } finally {
    process.off('unhandledRejection', unhandled);
  }
});

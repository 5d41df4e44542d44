import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { atEnd } from './at-end.ts';

/** A network between two programs that can be cut, silenced and slowed down: a TCP proxy on 127.0.0.1. */
export interface TcpLink {
  readonly port: number;
  /** As it should be, from the start and after a fault. */
  heal(): void;
  /** Connections are refused, and those that are open break. */
  cut(): void;
  /** Nothing comes through any more, and neither side is told: a partition. */
  silence(): void;
  /** Each piece takes so long in each direction. */
  slow(ms: number): void;
}

/** `to`: the port of 127.0.0.1 that it leads to. */
export async function tcpLink(to: () => number): Promise<TcpLink> {
  let state: 'open' | 'cut' | 'silent' = 'open';
  let delayMs = 0;
  const sockets = new Set<Socket>();

  function carry(from: Socket, target: Socket): void {
    from.on('data', (chunk) => {
      if (state === 'silent') return;
      if (delayMs === 0) target.write(chunk);
      // In order: timers of one length fire in the order they were set.
      else setTimeout(() => state !== 'silent' && target.write(chunk), delayMs);
    });
    from.on('end', () => setTimeout(() => target.end(), delayMs));
    from.on('close', () => {
      sockets.delete(from);
      // A partition tells nothing.
      if (state !== 'silent') setTimeout(() => target.destroy(), delayMs);
    });
    from.on('error', () => undefined);
    sockets.add(from);
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (state === 'cut') return void client.resetAndDestroy();
    const target = connect({ port: to(), host: '127.0.0.1', allowHalfOpen: true });
    carry(client, target);
    carry(target, client);
  });
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  atEnd(async () => {
    close();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    port,
    heal() {
      // What was silent broke off on the way; both sides find that out now.
      if (state === 'silent') close();
      state = 'open';
      delayMs = 0;
    },
    cut() {
      state = 'cut';
      for (const socket of sockets) socket.resetAndDestroy();
    },
    silence: () => void (state = 'silent'),
    slow: (ms) => void (delayMs = ms),
  };
}

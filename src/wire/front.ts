import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpResponse } from './http.ts';
import { PlainConnection } from './plain-connection.ts';
import type { PlainRequest } from './plain-request.ts';

/** Connections that the front has, beside those that node:http has. */
export interface Front {
  /** Closes those that wait for a request, and the others as soon as they have answered. */
  end(): void;
  /** Closes all. */
  destroy(): void;
}

export interface FrontOptions {
  /** Whether requests for this path are answered by `handle`; all others are for the server's own listeners. */
  readonly takes: (url: string) => boolean;
  readonly handle: (req: PlainRequest, res: HttpResponse) => void;
}

/** Connections are looked through this often for what is over its time, which is minutes. */
const sweepMs = 5_000;

/**
 * Puts itself in front of a server of node:http, which would take half of all the time a call takes: requests of the plain shape are read and answered here (`head.ts` says what is
 * plain), and a connection is given to the server, for good, with the first request that is not (decisions/0023).
 */
export function createFront(server: Server, { takes, handle }: FrontOptions): Front {
  const connections = new Set<PlainConnection>();
  const own = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners('connection');
  let ending = false;
  const options = {
    takes,
    handle,
    handOver(socket: Socket, unread: Buffer) {
      // Otherwise the stream, whose chunk this is, would ask for the next one after the server has paused, and the rest of a body would pile up in memory.
      socket.read(0);
      for (const listener of own) listener.call(server, socket);
      // Its parser reads from the socket itself from now on; this is what came before.
      socket.emit('data', unread);
    },
    gone: (connection: PlainConnection) => void connections.delete(connection),
    idleMs: server.keepAliveTimeout,
    requestMs: server.requestTimeout,
  };
  server.on('connection', (socket: Socket) => {
    const connection = new PlainConnection(socket, options);
    connections.add(connection);
    if (ending) connection.end();
  });
  const sweep = setInterval(() => {
    const now = Date.now();
    for (const connection of connections) connection.expire(now);
  }, sweepMs).unref();
  server.on('close', () => clearInterval(sweep));
  return {
    end() {
      ending = true;
      for (const connection of connections) connection.end();
    },
    destroy() {
      for (const connection of connections) connection.destroy();
    },
  };
}

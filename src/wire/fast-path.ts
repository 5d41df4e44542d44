import type { Server } from 'node:http';
import { Socket } from 'node:net';
import { type ConnectionBounds, Connections, refusal } from './connections.ts';
import type { HttpResponse, PlainRequest } from './http.ts';
import { PlainConnection, type PlainOptions } from './plain-connection.ts';

/** Connections of the fast path, beside those of node:http. */
export interface FastPath {
  /** From now on `endpoint` answers what it takes. Until then all requests are for the server's own listeners. */
  serve(endpoint: PlainEndpoint): void;
  /**
   * From now on each answer closes its connection, those of node:http too. One that waits stays open: a request may be
   * on its way.
   */
  lastAnswers(): void;
  /** Closes those that wait for a request, and the others as soon as they have answered. */
  end(): void;
  /** Closes all. */
  destroy(): void;
  /**
   * Connections of clients, those that node:http has included: how many are open, and how many were refused since the
   * start.
   */
  readonly connections: Pick<Connections, 'open' | 'refused'>;
}

/** See `PlainOptions.hold`. */
export interface BodyMemory {
  hold(bytes: number, size: number): boolean;
  release(bytes: number): void;
}

export interface Elsewhere {
  /** Whether more has to be read of a request that `handle` does not take, to know whether it is one. */
  isUnsure(socket: Socket, unread: Buffer): boolean;
  /** Takes the connection, with what was read of it. False for a request of the server's listeners. */
  elsewhere(socket: Socket, unread: Buffer): boolean;
}

/** What answers the requests of the fast path. */
export interface PlainEndpoint {
  /** Whether requests for this path are answered by `handle`; all others are for the server's own listeners. */
  readonly takes: (url: string) => boolean;
  readonly handle: (req: PlainRequest, res: HttpResponse) => void;
  /** The memory for bodies of requests. */
  readonly bodies: BodyMemory;
}

export interface FastPathOptions {
  readonly bounds: ConnectionBounds;
  /** Requests that are for neither `handle` nor the server's listeners. */
  readonly elsewhere?: Elsewhere | undefined;
  /** Connections are looked through this often for what is over its time, which is minutes. */
  readonly sweepMs?: number;
}

/**
 * Reads connections before a server of node:http does, which would take half of all the time a call takes: requests of
 * the plain shape are read and answered here (`head.ts` says what is plain), and a connection is given to the server,
 * for good, with the first request that is not (decisions/0023).
 */
export function createFastPath(server: Server, { bounds, elsewhere, sweepMs = 5_000 }: FastPathOptions): FastPath {
  const plain = new Set<PlainConnection>();
  const connections = new Connections(bounds, server.requestTimeout);
  const own = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners('connection');
  let ending = false;
  let isLast = false;
  const options: PlainOptions = {
    takes: () => false,
    handle: () => undefined,
    handOver(socket: Socket, unread: Buffer) {
      if (elsewhere?.elsewhere(socket, unread)) return;
      // Otherwise the stream, whose chunk this is, would ask for the next one after the server has paused, and the rest
      // of a body would pile up in memory.
      socket.read(0);
      connections.of(socket)?.handedOver();
      for (const listener of own) listener.call(server, socket);
      // Its parser reads from the socket itself from now on; this is what came before.
      socket.emit('data', unread);
    },
    hold: () => false,
    release: () => undefined,
    isUnsure: (socket: Socket, unread: Buffer) => elsewhere?.isUnsure(socket, unread) === true,
    gone: (connection: PlainConnection) => void plain.delete(connection),
    keepAlive: `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(server.keepAliveTimeout / 1_000)}\r\n`,
    idleMs: server.keepAliveTimeout,
    requestMs: server.requestTimeout,
  };
  server.on('connection', (socket: Socket) => {
    const admitted = connections.admit(socket);
    if (!admitted) return;
    const connection = new PlainConnection(socket, options);
    admitted.reader = connection;
    plain.add(connection);
    if (isLast) connection.lastAnswer();
    if (ending) connection.end();
  });
  server.prependListener('request', (req, res) => {
    if (isLast) res.shouldKeepAlive = false;
    connections.of(req.socket)?.asked(req, res);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // In the middle of an answer nothing else can be sent.
    if (!(socket instanceof Socket) || !socket.writable || connections.of(socket)?.answers === true) {
      socket.destroy(error);
    } else {
      socket.end(refusal(statusOf(error)));
      socket.destroySoon();
    }
  });
  const sweep = setInterval(() => {
    const now = Date.now();
    for (const connection of plain) connection.expire(now);
    connections.expire(now);
  }, sweepMs).unref();
  server.on('close', () => clearInterval(sweep));
  return {
    serve({ takes, handle, bodies }) {
      options.takes = takes;
      // Handed on as it is: nothing stands between a connection and what answers it.
      options.handle = handle;
      options.hold = (bytes, size) => bodies.hold(bytes, size);
      options.release = (bytes) => bodies.release(bytes);
    },
    lastAnswers() {
      isLast = true;
      for (const connection of plain) connection.lastAnswer();
    },
    end() {
      ending = true;
      for (const connection of plain) connection.end();
    },
    destroy() {
      for (const connection of plain) connection.destroy();
    },
    connections,
  };
}

/** What node:http could not read is answered with the status that it gives by itself. */
function statusOf({ code }: NodeJS.ErrnoException): number {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431;
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 413;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408;
    default:
      return 400;
  }
}

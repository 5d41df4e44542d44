import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { passHeader } from '../replicas/pass.ts';
import { helloPath } from '../replicas/hello.ts';
import { refusal } from '../wire/connections.ts';
import type { HttpRequest } from '../wire/http.ts';
import { wireLimits } from '../wire/limits.ts';
import type { Worker } from './worker.ts';

/**
 * The connections of one of several workers: those of the port they share, of which this worker answers MCP and the
 * lead everything else; those that were handed to it; and those of other hubs, which need an address that is this
 * worker's alone.
 */
export function createWorkerConnections(
  server: Server,
  { lead }: Worker,
  host: string,
  isMcp: (url: string | undefined) => boolean,
) {
  const others = new Set<Socket>();
  const given = new WeakSet<Socket>();
  const ofHubs = new WeakSet<Socket>();
  const alone = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    ofHubs.add(socket);
    take(socket);
  });

  function take(socket: Socket): void {
    others.add(socket);
    socket.once('close', () => others.delete(socket));
    server.emit('connection', socket);
  }

  lead.onGiven((socket, unread) => {
    given.add(socket);
    if (unread.length > 0) socket.unshift(unread);
    take(socket);
  });

  const isForLead = (socket: Socket): boolean => !lead.isHere && !ofHubs.has(socket);

  // A proxy sends MCP and everything else over one connection. What it sends next is spread over the workers again.
  server.prependListener('request', (req, res) => {
    if (!isMcp(req.url)) return;
    if (given.has(req.socket) || req.method === 'GET' || isForLead(req.socket)) res.shouldKeepAlive = false;
  });

  return {
    /** Whether it takes more of a request than `unread` to know where it belongs: its first line, within bounds. */
    isUnsure: (socket: Socket, unread: Buffer): boolean =>
      isForLead(socket) && unread.length < wireLimits.plainHeadBytes && firstLine(unread) === undefined,
    /**
     * Gives the lead what is not MCP, and what is not clear: a request line that is longer than MCP takes, or of
     * another shape. True when this worker has no more to do with the connection.
     */
    elsewhere(socket: Socket, unread: Buffer): boolean {
      if (!isForLead(socket)) return false;
      const [, path] = /^[A-Z]{1,20} (\/[\x21-\x7e]*) HTTP\/1\.[01]$/.exec(firstLine(unread) ?? '') ?? [];
      if (path !== undefined && isMcp(path)) return false;
      if (lead.give(socket, unread)) return true;
      socket.on('error', () => socket.destroy());
      socket.end(refusal(503, 'Retry-After: 1\r\n'));
      socket.destroySoon();
      return true;
    },
    /**
     * Whether this worker must not answer a request: one that came behind a request for MCP, on a connection that
     * node:http has, and what another caller than a hub sends to the address for hubs. The former its client may send
     * again over another connection (421, RFC 9110 §15.5.20), which is handed to the lead.
     */
    isMisdirected({ socket, url = '/', headers }: HttpRequest): boolean {
      if (ofHubs.has(socket)) return headers[passHeader] === undefined && url.split('?', 1)[0] !== helloPath;
      return !lead.isHere && !isMcp(url);
    },
    async listen(): Promise<string> {
      await new Promise<void>((resolve, reject) => {
        alone.once('error', reject);
        alone.listen({ host, port: 0, exclusive: true }, resolve);
      });
      const { address, family, port } = alone.address() as AddressInfo;
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
    },
    async close(): Promise<void> {
      if (alone.listening) await new Promise<void>((resolve) => alone.close(() => resolve()));
      await Promise.all([...others].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    },
  };
}

/** The first line without its end, behind the empty lines that node:http skips; undefined where it is not whole. */
function firstLine(unread: Buffer): string | undefined {
  return /^(?:\r?\n)*([^\r\n]+)\r?\n/.exec(unread.toString('latin1', 0, wireLimits.plainHeadBytes))?.[1];
}

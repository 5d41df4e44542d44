import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Worker } from './worker.ts';

/**
 * The connections of one of several workers that do not come from the port they share: those of other hubs, which need
 * an address that is this worker's alone, and those that were handed to it.
 */
export function createWorkerConnections(
  server: Server,
  { lead }: Worker,
  host: string,
  isMcp: (url: string | undefined) => boolean,
) {
  const others = new Set<Socket>();
  const given = new WeakSet<Socket>();
  const alone = createServer({ allowHalfOpen: true, noDelay: true }, take);

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

  // A proxy sends MCP and everything else over one connection. What it sends next is spread over the workers again.
  server.prependListener('request', (req, res) => {
    if (isMcp(req.url) && (given.has(req.socket) || req.method === 'GET')) res.shouldKeepAlive = false;
  });

  return {
    /** Gives the lead what is not MCP; what other hubs ask is for this worker. */
    elsewhere(socket: Socket, unread: Buffer): boolean {
      if (lead.isHere || others.has(socket)) return false;
      const [, path] =
        /^[A-Z]{1,20} (\/[\x21-\x7e]*) HTTP\/1\.[01]\r?\n/.exec(unread.toString('latin1', 0, 8_192)) ?? [];
      return path !== undefined && !isMcp(path) && lead.give(socket, unread);
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

import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { wireLimits } from '../../src/wire/limits.ts';
import { atEnd } from './at-end.ts';

/** A load balancer of the plainest kind: it sends each request to any of the hubs. */
export interface Balancer {
  readonly url: string;
  mcp(scope?: string): string;
  /** The hubs, as they are asked next; may be replaced at any time. */
  targets: string[];
  /** Which of the targets gets the next request: one after the other, if nothing else is said. */
  choose: (req: IncomingMessage, targets: readonly string[]) => number;
}

/**
 * Starts one on a free port of 127.0.0.1. A hub that takes no connection is passed over, as every balancer does; a
 * request that was sent is not sent again.
 */
export async function balancer(targets: string[]): Promise<Balancer> {
  // One that waited is closed here before the hub closes it: a request that is sent at that moment would break off.
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity, timeout: wireLimits.idleConnectionMs / 2 });
  let turn = 0;
  const own: Pick<Balancer, 'targets' | 'choose'> = { targets, choose: () => turn++ };
  // The clients close theirs.
  const server = createServer({ keepAliveTimeout: 0 }, (req, res) => void take(req, res));

  async function take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { targets } = own;
    const first = own.choose(req, targets);
    send(
      req,
      res,
      Buffer.concat(chunks),
      [...targets.keys()].map((i) => targets[(first + i) % targets.length] ?? ''),
    );
  }

  function send(req: IncomingMessage, res: ServerResponse, body: Buffer, [to, ...others]: string[]): void {
    if (to === undefined) return void res.writeHead(502).end();
    const headers = { ...req.headers, 'x-forwarded-for': req.socket.remoteAddress ?? '' };
    const sent = request(new URL(req.url ?? '/', to), { method: req.method ?? 'GET', headers, agent }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      res.flushHeaders();
      answer.on('data', (chunk: Buffer) => res.write(chunk));
      answer.on('end', () => res.end());
      answer.on('error', () => res.destroy());
    });
    res.on('close', () => sent.destroy());
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && !res.destroyed) return send(req, res, body, others);
      if (res.headersSent) res.destroy();
      else res.writeHead(502).end();
    });
    sent.end(body);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => {
    agent.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(own, { url, mcp: (scope = '') => (scope === '' ? `${url}/mcp` : `${url}/mcp/${scope}`) });
}

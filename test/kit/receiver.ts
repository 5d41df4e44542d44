import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { atEnd } from './at-end.ts';

export interface Received {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** A program that is sent messages. It answers with these statuses in turn, then with 200, and leads to nowhere. */
export async function receiver(...statuses: number[]): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ body, headers: request.headers });
      response.writeHead(statuses[received.length - 1] ?? 200, { location: 'http://127.0.0.1:9/' }).end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

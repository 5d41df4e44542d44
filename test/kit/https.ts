import { readFileSync } from 'node:fs';
import { request as plainRequest, type RequestListener } from 'node:http';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { atEnd } from './at-end.ts';

/** An https server on 127.0.0.1 whose certificate is accepted until it is closed. Answers its origin. */
export async function httpsServer(answer: RequestListener): Promise<string> {
  const server = createServer({ key: pem(), cert: pem() }, answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  atEnd(() => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    server.closeAllConnections();
    return new Promise<void>((done) => server.close(() => done()));
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Visit {
  readonly status: number | undefined;
  readonly text: string;
  readonly type: string;
  readonly location: string;
  /** The first cookie that was set, as it is sent back. */
  readonly cookie: string;
}

/**
 * A proxy that ends TLS in front of a hub, and a visitor to whom the hub's public address leads there, and who trusts
 * the proxy's certificate and no other.
 */
export async function tlsInFrontOf(
  hub: { readonly url: string },
  publicUrl: string,
): Promise<(url: string, sent?: { body?: string; cookie?: string }) => Promise<Visit>> {
  const proxy = await httpsServer((incoming, answer) => {
    const { method = 'GET', headers } = incoming;
    const forwarded = { ...headers, 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
    const outgoing = plainRequest(new URL(incoming.url ?? '/', hub.url), { method, headers: forwarded }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(outgoing);
  });
  return (url, { body, cookie } = {}) =>
    new Promise((resolve, reject) => {
      const { origin, host, pathname, search } = new URL(url);
      if (origin !== publicUrl) return reject(new Error(`${url} is not below ${publicUrl}`));
      const form = { 'content-type': 'application/x-www-form-urlencoded', origin };
      const headers = { host, ...(body !== undefined && form), ...(cookie !== undefined && { cookie }) };
      const options = { ca: pem(), rejectUnauthorized: true, servername: 'localhost', headers };
      const method = body === undefined ? 'GET' : 'POST';
      const outgoing = request(new URL(pathname + search, proxy), { ...options, method }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('end', () => {
          const { statusCode: status, headers: got } = response;
          const type = (got['content-type'] ?? '').split(';')[0] ?? '';
          const set = got['set-cookie']?.[0]?.split(';')[0] ?? '';
          resolve({ status, text, type, location: got.location ?? '', cookie: set });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
}

function pem(): Buffer {
  return readFileSync(new URL('fixtures/self-signed.pem', import.meta.url));
}

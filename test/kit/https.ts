import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { atEnd } from './at-end.ts';

/** An https server on 127.0.0.1 whose certificate is accepted until it is closed. Answers its origin. */
export async function httpsServer(answer: RequestListener): Promise<string> {
  const pem = readFileSync(new URL('fixtures/self-signed.pem', import.meta.url));
  const server = createServer({ key: pem, cert: pem }, answer);
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

import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type ByteBudget, createByteBudget } from '../../src/core/byte-budget.ts';
import { SafeResponse } from '../../src/wire/safe-response.ts';
import { createFastPath, type FastPath, type FastPathOptions, type PlainEndpoint } from '../../src/wire/fast-path.ts';
import type { HttpRequest, HttpResponse, PlainRequest } from '../../src/wire/http.ts';
import { atEnd } from './at-end.ts';

export interface EchoServer {
  readonly port: number;
  /** URLs of the requests that node:http has read. */
  readonly byNode: string[];
  /** URLs of those that the fast path has read. */
  readonly byFastPath: string[];
  readonly fastPath: FastPath | undefined;
}

/** Answers a request whose body is here. */
export type Answer = (req: HttpRequest, body: Buffer, res: HttpResponse) => void;

/** What was understood of a request, told back. */
export const echo: Answer = ({ method, url, headers }, body, res) => {
  const { connection: _, ...rest } = headers;
  const text = JSON.stringify({
    method,
    url,
    headers: Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)),
    body: body.toString('latin1'),
  });
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  res.end(text);
};

export const bodyMemory = (bytes: number): ByteBudget => createByteBudget(() => bytes);

const unbounded = { most: Infinity, mostPerAddress: Infinity, clientOf: () => undefined };

/** A server of node:http, with the fast path before it or without. Ends with the test. */
export async function echoServer(
  options: { fastPath: boolean; answer?: Answer; idleMs?: number; requestMs?: number } & Partial<FastPathOptions> &
    Partial<Pick<PlainEndpoint, 'bodies'>> = {
    fastPath: true,
  },
): Promise<EchoServer> {
  const { answer = echo, idleMs = 75_000, requestMs = 120_000, sweepMs = 5_000 } = options;
  const { bounds = unbounded, bodies = bodyMemory(Infinity) } = options;
  const byNode: string[] = [];
  const byFastPath: string[] = [];
  const settings = { keepAliveTimeout: idleMs, requestTimeout: requestMs, ServerResponse: SafeResponse };
  const server = createServer(settings, (req, res) => {
    byNode.push(req.url ?? '');
    void bodyOf(req).then((body) => answer(req, body, res));
  });
  const handle = (req: PlainRequest, res: HttpResponse): void => {
    byFastPath.push(req.url);
    answer(req, req.body, res);
  };
  const fastPath = options.fastPath ? createFastPath(server, { bounds, sweepMs }) : undefined;
  fastPath?.serve({ takes: (url) => !url.startsWith('/node'), handle, bodies });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    fastPath?.destroy();
    await closed;
  });
  return { port: (server.address() as AddressInfo).port, byNode, byFastPath, fastPath };
}

function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => resolve(Buffer.concat(chunks)));
    req.on('error', () => undefined);
  });
}

export interface Wire {
  readonly socket: Socket;
  /** What has come, as latin1. */
  heard: string;
  closed: boolean;
  send(bytes: string): Promise<void>;
}

/** A bare connection. */
export async function wire(port: number): Promise<Wire> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  const own: Wire = {
    socket,
    heard: '',
    closed: false,
    send: (bytes) =>
      new Promise((resolve) => {
        socket.write(bytes, 'latin1', () => setImmediate(resolve));
      }),
  };
  socket.on('data', (chunk) => (own.heard += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  socket.on('close', () => (own.closed = true));
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve());
    socket.once('error', reject);
  });
  atEnd(() => void socket.destroy());
  return own;
}

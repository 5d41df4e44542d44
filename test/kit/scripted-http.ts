import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from './at-end.ts';
import type { RpcMessage } from '../../src/core/protocol/rpc.ts';

/** One request as the server saw it. `message` is its body, when that is JSON. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly message: RpcMessage;
}

export interface ScriptedHttp {
  readonly origin: string;
  /** Every request, in order. */
  readonly seen: Seen[];
  /** Responses that have not ended. */
  readonly open: Set<ServerResponse>;
  /** Connections that are open. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

/**
 * An HTTP server on a free port of 127.0.0.1 that does what `script` says for each request. It is stopped at the end of
 * the test.
 */
export async function scriptedHttp(
  script: (seen: Seen, response: ServerResponse, request: IncomingMessage) => void,
): Promise<ScriptedHttp> {
  const seen: Seen[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one: Seen = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        message: chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString()) as RpcMessage) : {},
      };
      seen.push(one);
      script(one, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  atEnd(close);
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    open,
    connections: () => new Promise((resolve) => server.getConnections((_error, count) => resolve(count))),
    close,
  };
}

export function json(
  response: ServerResponse,
  body: unknown,
  headers: Record<string, string> = {},
  status = 200,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Begins an event stream. */
export function stream(response: ServerResponse, headers: Record<string, string> = {}): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  response.flushHeaders();
  return response;
}

export function sse(message: unknown, id?: string): string {
  return `event: message\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
}

export function result(id: unknown, value: unknown = {}): RpcMessage {
  return { jsonrpc: '2.0', id, result: value };
}

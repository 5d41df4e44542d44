import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import { principalId } from '../../core/access/principal.ts';
import type { createReader, Reader } from '../../logs/stream-reader.ts';
import { httpLimits } from '../limits.ts';
import { type ApiEnv, stillAllowed } from './caller.ts';

export interface EventStreamOptions {
  /** May throw a HubError; the client is answered with that then. */
  readonly open: (sink: Parameters<typeof createReader>[0]) => Reader;
}

/**
 * Server-sent events, for as long as the client stays and the credential it came with holds (CONTRACT §4). A HEAD
 * request gets the headers alone.
 */
export function eventStream(c: Context<ApiEnv>, { open }: EventStreamOptions): Response {
  if (c.req.method === 'HEAD') return c.body(null, 200, streamHeaders);
  // Written to directly: only here it is known whether the client still reads, and one that does not can be cut off.
  const response = (c.env as HttpBindings).outgoing;
  // Not before `open` has not thrown: what it writes at once is already part of the stream.
  const begin = () => response.headersSent || response.writeHead(200, streamHeaders);
  const reader = open({
    write(text) {
      begin();
      return response.write(text);
    },
    close: () => void (response.writableNeedDrain ? response.destroy() : response.end()),
  });
  begin();
  // Proxies may hold the headers back until something follows.
  reader.write(': open\n\n');
  const { caller } = c.var;
  const me = principalId(caller.principal);
  const request = c.req.raw;
  const watch = setInterval(() => {
    stillAllowed(request).then(
      () => principalId(caller.principal) === me || reader.close(),
      () => reader.close(),
    );
  }, httpLimits.streamCredentialMs).unref();
  response.on('drain', () => reader.drained());
  response.on('error', () => reader.close());
  response.on('close', () => {
    clearInterval(watch);
    reader.close();
  });
  return RESPONSE_ALREADY_SENT;
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Nginx would hold the events back.
  'x-accel-buffering': 'no',
};

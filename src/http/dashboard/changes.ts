import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { HubError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import { principalId } from '../../core/access/principal.ts';
import { createReader, type Reader } from '../../logs/stream-reader.ts';
import type { ApiEnv, CallerOptions } from '../frame/caller.ts';

/** Tells pages that are open that something is not what it was. */
export interface Changes {
  /** Settings, or what servers are doing, have changed; to be called as often as one likes. */
  announce(): void;
  /** `GET /api/events`. */
  readonly routes: Hono<ApiEnv>;
  /** Ends all streams. */
  close(): void;
}

/**
 * Server-sent events that say `{type: "changed"}` and nothing else: everybody hears the same, and asks again for what they may see. Several changes within
 * `limits.changesEveryMs` are one event.
 */
export function createChanges(identify: CallerOptions['identify']): Changes {
  const readers = new Set<Reader>();
  let timer: NodeJS.Timeout | undefined;
  const heartbeat = setInterval(() => {
    for (const reader of readers) reader.beat();
  }, limits.streamKeepAliveMs).unref();
  const routes = new Hono<ApiEnv>();

  routes.get('/events', (c) => {
    if (c.req.method === 'HEAD') return c.body(null, 200, streamHeaders);
    if (readers.size >= limits.changeReaders) {
      throw new HubError('too_many', 'Too many pages follow the changes. Close one, or try again later.', {
        retryAfterMs: limits.streamKeepAliveMs,
      });
    }
    const response = (c.env as HttpBindings).outgoing;
    const sink = { write: (text: string) => response.write(text), close: () => void response.end() };
    const reader = createReader(sink, () => readers.delete(reader));
    readers.add(reader);
    response.writeHead(200, streamHeaders);
    reader.write(': open\n\n');
    const me = principalId(c.var.caller.principal);
    const headers = c.req.header();
    const watch = setInterval(() => {
      identify(headers).then(
        (who) => (typeof who === 'object' && principalId(who) === me) || reader.close(),
        () => reader.close(),
      );
    }, limits.streamCredentialMs).unref();
    response.on('drain', () => reader.drained());
    response.on('error', () => reader.close());
    response.on('close', () => {
      clearInterval(watch);
      reader.close();
    });
    return RESPONSE_ALREADY_SENT;
  });

  return {
    announce() {
      if (readers.size === 0) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const reader of readers) reader.write('data: {"type":"changed"}\n\n');
      }, limits.changesEveryMs).unref();
    },
    routes,
    close() {
      clearInterval(heartbeat);
      clearTimeout(timer);
      for (const reader of readers) reader.close();
    },
  };
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Nginx would hold the events back.
  'x-accel-buffering': 'no',
};

import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { limits } from '../../core/limits.ts';
import { principalId } from '../../core/access/principal.ts';
import type { ApiEnv, CallerOptions } from '../frame/caller.ts';
import type { Changes } from './changes.ts';

export interface EventsOptions {
  readonly changes: Pick<Changes, 'follow'>;
  readonly identify: CallerOptions['identify'];
}

/** `GET /api/events`: the changes, for as long as the credential it was opened with holds. */
export function eventsRoutes({ changes, identify }: EventsOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get('/events', (c) => {
    if (c.req.method === 'HEAD') return c.body(null, 200, streamHeaders);
    const response = (c.env as HttpBindings).outgoing;
    const reader = changes.follow({ write: (text) => response.write(text), close: () => void response.end() });
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
  return routes;
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Nginx would hold the events back.
  'x-accel-buffering': 'no',
};

import { Hono } from 'hono';
import type { ApiEnv } from '../frame/caller.ts';
import { eventStream } from '../frame/event-stream.ts';
import type { Changes } from './changes.ts';

export interface EventsOptions {
  readonly changes: Pick<Changes, 'follow'>;
}

/** `GET /api/events`: the changes, and that calls were recorded. */
export function eventsRoutes({ changes }: EventsOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get('/events', (c) => eventStream(c, { open: (sink) => changes.follow(sink, c.var.caller) }));
  return routes;
}

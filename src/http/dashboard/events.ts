import { Hono } from 'hono';
import type { ApiEnv, CallerOptions } from '../frame/caller.ts';
import { eventStream } from '../frame/event-stream.ts';
import type { Changes } from './changes.ts';

export interface EventsOptions {
  readonly changes: Pick<Changes, 'follow'>;
  readonly identify: CallerOptions['identify'];
}

/** `GET /api/events`: the changes. */
export function eventsRoutes({ changes, identify }: EventsOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get('/events', (c) => eventStream(c, { open: changes.follow, identify }));
  return routes;
}

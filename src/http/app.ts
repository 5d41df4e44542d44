import { Hono } from 'hono';
import { HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { ApiEnv } from './frame/caller.ts';
import { answerErrors, fail } from './frame/reply.ts';
import { type Health, healthRoute } from './open/health.ts';

export interface AppOptions {
  /** Prefix of every path but `/health` and `/metrics`; empty or like `/hub`. */
  readonly basePath: string;
  readonly health: () => Health;
  /** The dashboard; undefined with `DISABLE_WEB`: the API only. */
  readonly dashboard: Hono | undefined;
  /** What is below `${basePath}/api`. */
  readonly api: Hono<ApiEnv>;
  readonly log: Logger;
}

/**
 * Everything the hub answers over HTTP except MCP itself, which has its own fast path. Unknown paths get the JSON
 * envelope.
 */
export function createApp({ basePath, health, dashboard, api, log }: AppOptions): Hono {
  // `/groups/` is `/groups`, as it is in MCPHub. Everything below sees the path without the slash.
  const app = new Hono({ strict: false });
  app.get('/health', healthRoute(health));
  app.route(`${basePath}/api`, api);
  if (dashboard) app.route('/', dashboard);
  app.notFound((c) => fail(c, new HubError('not_found', `There is nothing at ${c.req.method} ${c.req.path}.`)));
  app.onError(answerErrors(log));
  return app;
}

import { type Context, Hono } from 'hono';
import type { ApiEnv } from './caller.ts';
import { HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { type Health, healthRoute } from './health.ts';
import { homeRoute } from './home.ts';
import { answerErrors, fail } from './reply.ts';

export interface AppOptions {
  /** Prefix of every path but `/health`; empty or like `/hub`. */
  readonly basePath: string;
  readonly health: () => Health;
  /** The address of the hub as the client of a request knows it, `BASE_PATH` included. */
  readonly hubUrl: (c: Context) => string;
  /** Whether MCP endpoints ask for an access key; asked anew for each page. */
  readonly keyRequired: () => boolean;
  /** False with `DISABLE_WEB`: no pages, the API only. */
  readonly web: boolean;
  /** What is below `${basePath}/api`. */
  readonly api: Hono<ApiEnv>;
  readonly log: Logger;
}

/** Everything the hub answers over HTTP except MCP itself, which has a faster front. Unknown paths get the JSON envelope. */
export function createApp({ basePath, health, hubUrl, keyRequired, web, api, log }: AppOptions): Hono {
  const app = new Hono();
  app.get('/health', healthRoute(health));
  app.route(`${basePath}/api`, api);
  if (web) {
    const home = homeRoute({ hubUrl, health, keyRequired });
    app.get(`${basePath}/`, home);
    if (basePath !== '') app.get(basePath, home);
  }
  app.notFound((c) => fail(c, new HubError('not_found', `There is nothing at ${c.req.method} ${c.req.path}.`)));
  app.onError(answerErrors(log));
  return app;
}

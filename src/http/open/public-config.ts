import { Hono } from 'hono';
import { ok } from '../frame/reply.ts';

/**
 * `/config` and `/public-config` (reference: MCPHub §1.2): what a dashboard has to know before a user has logged in.
 * They are below `BASE_PATH`, outside `/api`.
 */
export function publicConfigRoutes({ basePath, version }: { basePath: string; version: string }): Hono {
  const routes = new Hono();
  routes.get(`${basePath}/config`, (c) => {
    c.header('Cache-Control', 'no-store');
    return ok(c, { basePath, version, name: 'toolhub' });
  });
  routes.get(`${basePath}/public-config`, (c) => {
    c.header('Cache-Control', 'no-store');
    return ok(c, { skipAuth: false, permissions: {}, betterAuth: { enabled: false } });
  });
  return routes;
}

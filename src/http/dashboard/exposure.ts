import { Hono } from 'hono';
import { anonymous } from '../../core/access/principal.ts';
import type { Settings } from '../../core/settings/types.ts';
import type { Views } from '../../core/access/view.ts';
import { adminOnly, type ApiEnv } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';

export interface ExposureRoutes {
  readonly views: Views;
  /** Only programs on this machine reach the hub. */
  readonly loopback: boolean;
  /** Whether MCP endpoints ask for an access key. */
  readonly keyRequired: (settings: Settings) => boolean;
}

/** `GET /exposure`, for admins: what somebody without a credential can call now, over plain HTTP and over MCP; null where that is closed (CONTRACT §2). */
export function exposureRoutes({ views, loopback, keyRequired }: ExposureRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get('/exposure', adminOnly, (c) => {
    const { settings } = c.var.caller;
    const { servers, lists } = views.get(anonymous, { kind: 'all' });
    const all = { servers, tools: lists.tools.texts.length };
    const http = settings.system.routing.openApiAccess === 'open' ? all : null;
    return ok(c, { loopback, http, mcp: keyRequired(settings) ? null : all });
  });
  return routes;
}

import { Hono } from 'hono';
import type { Outside } from '../../core/access/outside.ts';
import { anonymous, anonymousOutside, type Principal } from '../../core/access/principal.ts';
import { needsCredential } from '../../core/access/identity.ts';
import type { Views } from '../../core/access/view.ts';
import type { Exposure } from '../../core/answers/records.ts';
import { adminOnly, type ApiEnv } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';

export interface ExposureRoutes {
  readonly views: Views;
  readonly outside: Pick<Outside, 'exposed'>;
}

/**
 * `GET /exposure`, for admins: what a caller without a credential can call now, over plain HTTP and over MCP; null
 * where that is closed (CONTRACT §7). `loopback`: the hub is not exposed, so this is about programs on its machine.
 */
export function exposureRoutes({ views, outside }: ExposureRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get('/exposure', adminOnly, (c) => {
    const { settings } = c.var.caller;
    const exposed = outside.exposed();
    const all = (principal: Principal) => {
      const { servers, lists } = views.get(principal, { kind: 'all' });
      return { servers, tools: lists.tools.texts.length };
    };
    const isOpen = settings.system.routing.openApiAccess === 'open';
    return ok(c, {
      loopback: !exposed,
      http: isOpen ? all(exposed ? anonymousOutside : anonymous) : null,
      mcp: needsCredential(settings, exposed) ? null : all(anonymous),
    } satisfies Exposure);
  });
  return routes;
}

import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { seesEverything } from '../../core/access/identity.ts';
import { HubError } from '../../core/errors.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { type ApiEnv, callerOf, type CallerOptions } from '../frame/caller.ts';

export interface MetricsRoute extends CallerOptions {
  readonly metrics: Metrics;
}

/**
 * `GET /metrics` (CONTRACT §1), at the root whatever `BASE_PATH` is. It names every server, so it is for those who see
 * them all.
 */
export function metricsRoutes({ metrics, ...options }: MetricsRoute): Hono<ApiEnv & { Bindings: HttpBindings }> {
  const routes = new Hono<ApiEnv & { Bindings: HttpBindings }>();
  const never = () => false;
  const caller = callerOf(options, { open: never, anonymous: never, queryToken: never, cookie: never });
  routes.get('/metrics', caller, async (c) => {
    const { settings, principal } = c.var.caller;
    if (!seesEverything(settings, principal))
      throw new HubError('forbidden', 'Metrics are for admins, and for access keys that open everything.');
    // What asks for OpenMetrics gets its exemplars too.
    const asksOpen = /\bapplication\/openmetrics-text\b/i.test(c.req.header('accept') ?? '');
    const { text, type } = await metrics.read(asksOpen ? 'openMetrics' : 'plain');
    return c.body(text, 200, { 'Content-Type': type, 'Cache-Control': 'no-store' });
  });
  return routes;
}

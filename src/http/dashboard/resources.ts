import type { Context, Hono } from 'hono';
import type { Settings } from '../../core/settings/types.ts';
import type { Views } from '../../core/access/view.ts';
import { isLoopbackName } from '../../mcp/guard.ts';
import type { ApiEnv } from '../frame/caller.ts';
import type { Changes } from './changes.ts';
import { connectRoutes } from './connect.ts';
import { exposureRoutes } from './exposure.ts';
import { registryRoutes } from './registry.ts';

export interface DashboardResources {
  readonly changes: Pick<Changes, 'routes'>;
  readonly views: Views;
  /** Where the hub listens. */
  readonly host: string;
  /** The MCP registry, without a slash at the end. */
  readonly registryUrl: string;
  readonly hubUrl: (c: Context) => string;
}

/** What pages ask besides what everybody asks. */
export function dashboardResources({ changes, views, host, registryUrl, hubUrl }: DashboardResources): Hono<ApiEnv>[] {
  const loopback = isLoopbackName(host);
  // Not set is on, beyond loopback.
  const keyRequired = ({ system }: Settings) => system.routing.enableBearerAuth ?? !loopback;
  return [
    changes.routes,
    connectRoutes({ views, hubUrl, keyRequired }),
    exposureRoutes({ views, loopback, keyRequired }),
    registryRoutes({ registryUrl }),
  ];
}

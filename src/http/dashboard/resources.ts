import type { Context, Hono } from 'hono';
import type { Settings } from '../../core/settings/types.ts';
import { needsCredential } from '../../core/access/rules.ts';
import type { Views } from '../../core/access/view.ts';
import { isLoopbackName } from '../../mcp/guard.ts';
import type { ApiEnv, CallerOptions } from '../frame/caller.ts';
import type { Changes } from './changes.ts';
import { connectRoutes } from './connect.ts';
import { eventsRoutes } from './events.ts';
import { exposureRoutes } from './exposure.ts';
import { registryRoutes } from './registry.ts';

export interface DashboardResources {
  readonly changes: Pick<Changes, 'follow'>;
  readonly identify: CallerOptions['identify'];
  readonly views: Views;
  /** Where the hub listens. */
  readonly host: string;
  /** The MCP registry, without a slash at the end. */
  readonly registryUrl: string;
  readonly hubUrl: (c: Context) => string;
}

/** What pages ask besides what everybody asks. */
export function dashboardResources(options: DashboardResources): Hono<ApiEnv>[] {
  const { changes, identify, views, host, registryUrl, hubUrl } = options;
  const loopback = isLoopbackName(host);
  const keyRequired = (settings: Settings) => needsCredential(settings, loopback);
  return [
    eventsRoutes({ changes, identify }),
    connectRoutes({ views, hubUrl, keyRequired }),
    exposureRoutes({ views, loopback, keyRequired }),
    registryRoutes({ registryUrl }),
  ];
}

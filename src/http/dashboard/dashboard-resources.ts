import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { Outside } from '../../core/access/outside.ts';
import { needsCredential } from '../../core/access/identity.ts';
import type { Views } from '../../core/access/view.ts';
import type { Pool } from '../../upstream/connections/pool.ts';
import type { ApiEnv } from '../frame/caller.ts';
import type { Changes } from './changes.ts';
import { type ClientRoutes, clientRoutes } from './clients.ts';
import { connectRoutes } from './connect.ts';
import { costRoutes } from './costs.ts';
import { eventsRoutes } from './events.ts';
import { exposureRoutes } from './exposure.ts';
import { registryRoutes } from './registry.ts';

export interface DashboardResources {
  readonly changes: Pick<Changes, 'follow'>;
  readonly arrivals: ClientRoutes['arrivals'];
  readonly views: Views;
  readonly pool: Pick<Pool, 'catalogue'>;
  readonly outside: Outside;
  /** The MCP registry, without a slash at the end. */
  readonly registryUrl: string;
  readonly hubUrl: (c: Context) => string;
}

/** The routes that only pages of the dashboard need. */
export function dashboardResources(options: DashboardResources): Hono<ApiEnv>[] {
  const { changes, arrivals, views, pool, outside, registryUrl, hubUrl } = options;
  const keyRequired = (c: Context<ApiEnv>) =>
    needsCredential(c.var.caller.settings, outside.reaches((c.env as HttpBindings).incoming));
  return [
    eventsRoutes({ changes }),
    clientRoutes({ arrivals }),
    connectRoutes({ views, hubUrl, keyRequired }),
    costRoutes({ views, catalogue: () => pool.catalogue }),
    exposureRoutes({ views, outside }),
    registryRoutes({ registryUrl }),
  ];
}

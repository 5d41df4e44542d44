import type { Handler } from 'hono';
import type { ServerState } from '../core/hub.ts';

/** The body of `GET /health` (CONTRACT §4). */
export interface Health {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly message: string;
  readonly version: string;
  /** Seconds since the start. */
  readonly uptime: number;
  /** ISO 8601. */
  readonly timestamp: string;
  /** Enabled servers only; every one that is not connected counts as disconnected. */
  readonly servers: { readonly total: number; readonly connected: number; readonly disconnected: number };
}

export interface HealthFacts {
  readonly servers: readonly ServerState[];
  readonly version: string;
  /** Both in milliseconds since 1970. */
  readonly startedAt: number;
  readonly now: number;
  /** Why the hub itself cannot serve; a server that is down is no such reason. */
  readonly problem?: string | undefined;
}

export function assessHealth({ servers, version, startedAt, now, problem }: HealthFacts): Health {
  const enabled = servers.filter(({ status }) => status !== 'disabled');
  const total = enabled.length;
  const connected = enabled.filter(({ status }) => status === 'connected').length;
  const ready = connected === total;
  return {
    status: problem !== undefined ? 'unhealthy' : ready ? 'healthy' : 'degraded',
    message: problem ?? (ready ? 'All enabled MCP servers are ready' : 'Some enabled MCP servers are not ready'),
    version,
    uptime: Math.floor((now - startedAt) / 1000),
    timestamp: new Date(now).toISOString(),
    servers: { total, connected, disconnected: total - connected },
  };
}

/** `GET /health`: 200 also when servers are down, 503 only when the hub itself cannot serve. Open to all, so it names no server. */
export function healthRoute(read: () => Health): Handler {
  return (c) => {
    const health = read();
    c.header('Cache-Control', 'no-store');
    return c.json(health, health.status === 'unhealthy' ? 503 : 200);
  };
}

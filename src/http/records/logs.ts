import { Hono } from 'hono';
import type { Principal } from '../../core/access/principal.ts';
import { isAdmin } from '../../core/access/identity.ts';
import { reaches } from '../../core/access/rules.ts';
import type { LogEntry } from '../../core/answers/records.ts';
import type { Logger } from '../../core/logger.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { parseLogListing, type ReadableFrom } from '../../logs/log-filter.ts';
import type { LogStore } from '../../logs/log-store.ts';
import type { LogStream } from '../../logs/stream.ts';
import { adminOnly, type ApiEnv, editorOf } from '../frame/caller.ts';
import { eventStream } from '../frame/event-stream.ts';
import { ok } from '../frame/reply.ts';

export interface LogsOptions {
  readonly logs: Pick<LogStore, 'read' | 'clear'>;
  readonly stream: Pick<LogStream, 'open'>;
  /** A stream reads the settings again for as long as it is open. */
  readonly settings: () => Settings;
  /** Entries of this server from before then are for admins only; milliseconds since 1970. */
  readonly since: (server: ServerSettings) => number;
  readonly log: Logger;
}

/**
 * `/logs` and `/logs/stream` (SPEC, Logs and Events; CONTRACT §4): who is not admin sees the entries of the servers
 * within reach.
 */
export function logsRoutes(options: LogsOptions): Hono<ApiEnv> {
  const { logs, stream, log } = options;
  const routes = new Hono<ApiEnv>();

  routes.get('/logs', async (c) => {
    const listing = parseLogListing(c.req.query());
    const { admin, principal } = c.var.caller;
    const found = await logs.read({ ...listing, ...(!admin && readable(principal, options)) });
    return ok(c, found.logs satisfies readonly LogEntry[], { incomplete: found.incomplete });
  });

  routes.delete('/logs', adminOnly, async (c) => {
    const { username: by } = editorOf(c.var.caller);
    await logs.clear();
    log.info('logs cleared', { by });
    return ok(c, undefined, { message: 'Logs cleared successfully' });
  });

  routes.get('/logs/stream', (c) => {
    const { limit: _limit, before: _before, after: _after, ...filter } = parseLogListing(c.req.query());
    const lastEventId = c.req.header('last-event-id');
    const wanted = {
      ...filter,
      ...readable(c.var.caller.principal, options),
      ...(lastEventId !== undefined && { lastEventId }),
    };
    return eventStream(c, { open: (sink) => stream.open(wanted, sink) });
  });

  return routes;
}

/**
 * Which entries a principal may see: admins all, others those of `server:<name>` for the servers they reach now, and of
 * a server of a user those since that is there. What the hub says of itself, of users and of other servers is in the
 * other services.
 */
function readable(principal: Principal, { settings, since }: LogsOptions): { readonly readableFrom: ReadableFrom } {
  return {
    readableFrom(service) {
      const now = settings();
      if (isAdmin(now, principal)) return 0;
      const server = service.startsWith(prefix) ? now.servers.get(service.slice(prefix.length)) : undefined;
      // Ids of entries are microseconds.
      return server && reaches(now, principal, server) ? since(server) * 1_000 : undefined;
    },
  };
}

const prefix = 'server:';

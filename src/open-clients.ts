import type { ServerAsk } from './core/asks.ts';
import type { Closers } from './core/closers.ts';
import { createSealer } from './core/seal.ts';
import type { Views } from './core/view.ts';
import { createAnnouncer } from './mcp/announcer.ts';
import { askSession, createAsks } from './mcp/asks/asks.ts';
import { createEventLogs } from './mcp/event-log.ts';
import { sessionOf } from './mcp/request.ts';
import { createSessions } from './mcp/sessions.ts';
import { createStreams } from './mcp/stream.ts';
import type { DataDir } from './settings/data-dir.ts';
import type { Tenant } from './upstream/leases.ts';
import type { Unasked } from './upstream/link.ts';

export interface OpenClients {
  readonly views: Views;
  readonly dataDir: DataDir;
}

/** What a server said that belongs to no request; `tenant` is whose connection it came on, undefined for the one that is there for all. */
export type Said = (server: string, tenant: Tenant | undefined, ...said: Parameters<Unasked>) => void;

/** What a server asks of the one client whose connection it is, in the middle of none of that client's calls. */
export type Asked = (tenant: Tenant, ask: ServerAsk) => void;

/** Everything on the side of the clients that outlives a request: sessions, streams and what they are told. */
export function openClients({ views, dataDir }: OpenClients, closers: Closers) {
  const announcer = createAnnouncer(views);
  const streams = createStreams();
  closers.add(() => streams.close());
  const eventLogs = createEventLogs();
  closers.add(() => eventLogs.close());
  const sessions = createSessions(createSealer(dataDir.secret('hub', 32), 'session'));
  const asks = createAsks(createSealer(dataDir.secret('hub', 32), 'request state'));
  const asked: Asked = (tenant, ask) => askSession(sessions.byId(sessionOf(tenant.session) ?? ''), ask, asks);
  const said: Said = (server, _tenant, method, message, text) => {
    if (method === 'notifications/elicitation/complete') asks.elicitations.completed(server, message, text, sessions);
  };
  return {
    announcer,
    streams,
    eventLogs,
    sessions,
    asks,
    asked,
    said,
    /** Settings or offers changed: everybody is told what is new to them. */
    reconcile() {
      announcer.announce();
    },
  };
}

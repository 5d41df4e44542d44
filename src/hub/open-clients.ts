import type { Identify } from '../auth/identify.ts';
import type { ServerAsk } from '../core/protocol/asks.ts';
import type { Outside, Sent } from '../core/access/outside.ts';
import { isGone, needsCredential } from '../core/access/rules.ts';
import type { Closers } from '../core/closers.ts';
import { limits } from '../core/limits.ts';
import type { LoggerFor } from '../core/logger.ts';
import type { Principal } from '../core/access/principal.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { createSealer } from '../core/seal.ts';
import type { Views } from '../core/access/view.ts';
import type { Env } from '../env/env.ts';
import { createAnnouncer } from '../mcp/announcer.ts';
import type { DispatchOptions } from '../mcp/dispatch.ts';
import { type DoorOptions, type Identified, isClosed } from '../mcp/door.ts';
import { askBetweenCalls, createAsks } from '../mcp/asks/asks.ts';
import { createEventLogs } from '../mcp/event-log.ts';
import { createHints } from '../mcp/hints.ts';
import { isAtLeast, wantedLevel } from '../mcp/log-level.ts';
import { createLogLevels, type LogLevels } from '../mcp/log-levels.ts';
import { type ClientRequest, mcpSession, sessionOf } from '../mcp/request.ts';
import { createSessions, type Sessions } from '../mcp/sessions.ts';
import { createStreams, type Streams } from '../mcp/stream.ts';
import { createSubscriptions } from '../mcp/subscriptions.ts';
import { createTasks } from '../mcp/tasks.ts';
import { takenPaths } from '../http/frame/taken-paths.ts';
import type { DataDir } from '../settings/data-dir.ts';
import type { SettingsStore } from '../settings/store.ts';
import type { Connection } from '../upstream/connection.ts';
import type { Leases, Tenant } from '../upstream/leases.ts';
import type { Unasked } from '../upstream/link/options.ts';
import type { Pool } from '../upstream/pool.ts';

export interface OpenClients {
  readonly views: Views;
  readonly dataDir: DataDir;
  readonly settings: Pick<SettingsStore, 'current'>;
  readonly pool: Pool;
  readonly leases: Leases;
  readonly env: Env;
  readonly outside: Outside;
  /** Who the credential of a request is. */
  readonly who: () => Identify;
  readonly log: LoggerFor;
}

/** What a server said that belongs to no request; `tenant` is whose connection it came on, undefined for the one that is there for all. */
export type Said = (server: string, tenant: Tenant | undefined, ...said: Parameters<Unasked>) => void;

/** What a server asks of the one client whose connection it is, in the middle of none of that client's calls. */
export type Asked = (tenant: Tenant, ask: ServerAsk) => void;

export type Clients = ReturnType<typeof openClients>;

/** Everything on the side of the clients that outlives a request: sessions, streams and what they are told. */
export function openClients(options: OpenClients, closers: Closers) {
  const { views, dataDir, settings, pool, env, outside, leases, who, log } = options;
  const announcer = createAnnouncer(views);
  const streams = createStreams();
  closers.add(() => streams.close());
  const eventLogs = createEventLogs();
  closers.add(() => eventLogs.close());
  const sessions = createSessions(createSealer(dataDir.secret('hub', 32), 'session'));
  const asks = createAsks(createSealer(dataDir.secret('hub', 32), 'request state'));
  const asked: Asked = ({ session }, ask) => askBetweenCalls(() => sessions.byId(sessionOf(session) ?? ''), ask, asks);
  const shared = (server: string): Connection | undefined => pool.connection(server);
  const subscriptions = createSubscriptions({
    views,
    connection(server, { principal, session }) {
      const on = leases.connection(server, { principal, session });
      return on && { on, owner: leases.ownerOf(on) };
    },
    log: log('gateway'),
  });
  const logLevels = createLogLevels({
    views,
    shared,
    own: (sid) => leases.ofSession(mcpSession(sid)),
    ofUser: (principal) => leases.ofUser(principal),
  });
  closers.add(() => logLevels.close());
  const tasks = createTasks({ views, life: (server) => lifeOf(shared(server)) });
  /** Of one request, or of those that may come from anywhere the hub can be reached. */
  const asksCredential = (req?: Sent): boolean =>
    needsCredential(settings.current, req ? outside.reaches(req) : outside.exposed());
  const hints = createHints({
    settings: () => settings.current,
    hints: (server) => pool.catalogue.offers.get(server)?.hints,
    needsCredential: asksCredential,
  });

  const said: Said = (server, tenant, method, message, text) => {
    const params = isObject(message.params) ? message.params : {};
    if (method === 'notifications/resources/updated' && typeof params['uri'] === 'string') {
      subscriptions.updated(server, tenant, params['uri'], text);
    } else if (method === 'notifications/elicitation/complete') {
      asks.elicitations.completed(server, message, text, { sessions, views });
    } else if (method === 'notifications/tasks/status') {
      tasks.changed(server, message, text, sessions);
    } else if (method === 'notifications/message' && tenant) {
      // Nobody else is on this connection.
      const session = sessions.byId(sessionOf(tenant.session) ?? '');
      if (session && isAtLeast(message, session.logLevel ?? 'debug')) session.send(text);
    }
  };

  const identify: DoorOptions['identify'] = (headers) => who().identifyNow(headers) ?? who().identify(headers);
  const sessionEnded = (sid: string): void => {
    eventLogs.endSession(sid);
    logLevels.endSession(sid);
    leases.endSession(mcpSession(sid));
  };
  const endpoints = { basePath: env.basePath, taken: takenPaths, settings: () => settings.current };
  const withdrawn = withdrawing({ sessions, sessionEnded, streams, endpoints, identify, asksCredential });
  sweepNowAndThen(withdrawn, closers);

  const forRequests = {
    views,
    asks,
    subscriptions,
    logLevels,
    tasks,
    hints,
    about: (server: string) => pool.catalogue.offers.get(server)?.about,
  } satisfies Partial<DispatchOptions>;

  return {
    announcer,
    streams,
    eventLogs,
    sessions,
    identify,
    asks,
    asked,
    abilitiesOf: ({ session }: Tenant) => sessions.byId(sessionOf(session) ?? '')?.facts.abilities,
    said,
    forRequests,
    needed: needing(leases, logLevels),
    /** The connection of a session's or user's own is not what it was. */
    ownConnection: ({ session }: Tenant, connection: Connection): void =>
      logLevels.connected(sessionOf(session), connection),
    sessionEnded,
    rootsChanged: (sid: string): void => leases.rootsChanged(mcpSession(sid)),
    /** Settings or offers changed: everybody is told what is new to them. */
    reconcile() {
      withdrawn.endSessions();
      withdrawn.endStreams();
      subscriptions.reconcile();
      logLevels.reconcile();
      announcer.announce();
    },
  };
}

/** For requests that are on their way through a connection. What sessions want is known already where they all share one, and where they have their own. */
function needing(leases: Leases, logLevels: LogLevels) {
  return (connection: Connection, request: ClientRequest): void => {
    const level = wantedLevel(request);
    if (level === undefined) return;
    if (request.stateless || leases.ownerOf(connection)?.session === '') void logLevels.need(connection, level);
  };
}

/** What ends when the tasks of a server do: a process takes them along, a remote server keeps them while the hub is not connected. */
function lifeOf(connection: Connection | undefined): unknown {
  return connection?.server.transport.type === 'stdio' ? connection.offer?.about : connection;
}

interface Withdrawing {
  readonly sessions: Sessions;
  readonly sessionEnded: (sid: string) => void;
  readonly streams: Streams;
  readonly endpoints: Pick<DoorOptions, 'basePath' | 'taken' | 'settings'>;
  readonly identify: DoorOptions['identify'];
  readonly asksCredential: (req?: Sent) => boolean;
}

/** Whoever is not let in any more hears nothing more either, nor does anybody at an endpoint that was switched off. */
function withdrawing({ sessions, sessionEnded, streams, endpoints, identify, asksCredential }: Withdrawing) {
  const isOver = (who: Identified, req: Sent): boolean => who === 'bad' || (who === 'none' && asksCredential(req));
  return {
    endSessions(): void {
      const isWithdrawn = (principal: Principal): boolean =>
        principal.kind === 'anonymous' ? asksCredential() : isGone(endpoints.settings(), principal);
      for (const sid of sessions.sweep(isWithdrawn)) sessionEnded(sid);
    },
    endStreams(): void {
      streams.endWhere((req) => {
        if (isClosed(req.url ?? '', endpoints)) return true;
        const who = identify(req.headers);
        return who instanceof Promise ? who.then((late) => isOver(late, req)) : isOver(who, req);
      });
    },
  };
}

/** For credentials that end by themselves; what the settings say holds at once. */
function sweepNowAndThen(withdrawn: ReturnType<typeof withdrawing>, closers: Closers): void {
  const timers = [
    setInterval(() => withdrawn.endSessions(), limits.withdrawnSweepMs).unref(),
    setInterval(() => withdrawn.endStreams(), limits.streamCredentialMs).unref(),
  ];
  closers.add(() => timers.forEach((timer) => clearInterval(timer)));
}

import type { Identify } from '../auth/identify.ts';
import type { ServerRequest } from '../core/protocol/server-requests.ts';
import type { Outside, Sent } from '../core/access/outside.ts';
import { isGone, needsCredential } from '../core/access/identity.ts';
import type { Catalogue } from '../core/catalogue.ts';
import type { Closers } from '../core/closers.ts';
import type { LoggerFor } from '../core/logger.ts';
import type { Principal } from '../core/access/principal.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { HubId } from '../core/hub-id.ts';
import { createSealer, type Sealer } from '../core/seal.ts';
import type { Views } from '../core/access/view.ts';
import type { Env } from '../env/env.ts';
import { httpLimits } from '../http/limits.ts';
import { createAnnouncer } from '../mcp/announcer.ts';
import type { DispatchOptions } from '../mcp/dispatch.ts';
import { endpointOf, type McpEntryOptions, type Identified, isClosed } from '../mcp/mcp-entry.ts';
import { mcpLimits } from '../mcp/limits.ts';
import {
  requestBetweenCalls,
  createServerRequests,
  type ServerRequests,
} from '../mcp/server-requests/server-requests.ts';
import { createEventLogs } from '../mcp/event-log.ts';
import { noticeWithoutSecrets } from '../mcp/relay/call-secrets.ts';
import { createRunningCalls } from '../mcp/relay/running-calls.ts';
import { createHints } from '../mcp/hints.ts';
import { createLogLevels, isAtLeast } from '../mcp/log-levels.ts';
import { mcpSession, sessionOf } from '../core/access/client-session.ts';
import { createSessions, type Sessions } from '../mcp/sessions.ts';
import { createStreams, type Streams } from '../mcp/stream.ts';
import type { SubscriptionOptions, Subscriptions } from '../mcp/subscriptions.ts';
import { createToolArguments } from '../core/arguments/tool.ts';
import { createKeptResults } from '../mcp/kept-results.ts';
import { subscriptionsWithOwn, withOwnItems } from '../mcp/own-connection.ts';
import { createTasks, type Tasks } from '../mcp/tasks.ts';
import { takenPaths } from '../http/frame/taken-paths.ts';
import type { News } from '../replicas/news.ts';
import type { Replicas } from '../replicas/replicas.ts';
import type { DataDir } from '../settings/data-dir.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { SettingsStore } from '../settings/store.ts';
import type { Connection } from '../upstream/connections/connection.ts';
import type { ConnectionOwner } from '../upstream/connections/owner.ts';
import type { DedicatedConnections } from '../upstream/connections/dedicated-connections.ts';
import type { Unasked } from '../upstream/connections/link/options.ts';
import type { Pool } from '../upstream/connections/pool.ts';

export interface OpenClients {
  readonly views: Views;
  readonly dataDir: DataDir;
  readonly settings: Pick<SettingsStore, 'current'>;
  /** The settings with all that the hub offers itself. */
  readonly ownItems: () => Settings;
  readonly pool: Pool;
  /** Whether policies let a subscriber read a resource. */
  readonly mayHear: SubscriptionOptions['mayHear'];
  /** What callers see of what servers offer. */
  readonly catalogue: () => Catalogue;
  readonly dedicated: DedicatedConnections;
  readonly env: Env;
  readonly outside: Outside;
  /** Who the credential of a request belongs to. */
  readonly who: () => Identify;
  /** Whether a request came through a proxy that may say who sends it. */
  readonly fromProxy: (req: Parameters<McpEntryOptions['identify']>[0]) => boolean;
  /** The client's address, also behind trusted proxies. */
  readonly address: McpEntryOptions['address'];
  readonly log: LoggerFor;
  /** Names this run of the hub. */
  readonly hubId: HubId;
  readonly replicas: Replicas | undefined;
}

/**
 * A server's notification that belongs to no request; `connectionOwner` is the owner of the connection it came on,
 * undefined for the shared connection.
 */
export type Said = (server: string, connectionOwner: ConnectionOwner | undefined, ...said: Parameters<Unasked>) => void;

/** A server request to the one client that owns the connection, outside of that client's calls. */
export type Asked = (connectionOwner: ConnectionOwner, ask: ServerRequest) => void;

export type Clients = ReturnType<typeof openClients>;

/** Everything on the side of the clients that outlives a request: sessions, streams and what they are told. */
export function openClients(options: OpenClients, closers: Closers) {
  const { views, dataDir, settings, catalogue, pool, env, outside, dedicated, who, address, fromProxy, log } = options;
  const { hubId, replicas } = options;
  const sealer = (use: string) => sealerOfSessions(env, dataDir, use);
  const announcer = createAnnouncer(views);
  const streams = createStreams();
  const eventLogs = createEventLogs(Date.now, hubId);
  for (const part of [streams, eventLogs]) closers.add(() => part.close());
  const sessions = createSessions(sealer('session'), Date.now, hubId);
  const serverRequests = createServerRequests(sealer('request state'), undefined, undefined, hubId);
  const asked: Asked = ({ session }, ask) =>
    requestBetweenCalls(() => sessions.byId(sessionOf(session) ?? ''), ask, serverRequests);
  const shared = (server: string): Connection | undefined => pool.connection(server);
  const subscriptions = subscriptionsWithOwn(options.ownItems, {
    views,
    mayHear: options.mayHear,
    connection: (server, of) => watchedBy(dedicated, dedicated.connection(server, of)),
    log: log('gateway'),
  });
  const logLevels = createLogLevels({
    views,
    shared,
    own: (sid) => dedicated.ofSession(mcpSession(sid)),
    ofUser: (principal) => dedicated.ofUser(principal),
  });
  closers.add(() => logLevels.close());
  const tasks = createTasks({ views, settings: options.ownItems, catalogue, life: (server) => lifeOf(shared(server)) });
  /** For one request; without it, for a request from any place that can reach the hub. */
  const requiresCredential = (req?: Sent): boolean =>
    needsCredential(settings.current, req ? outside.reaches(req) : outside.exposed());
  const hints = createHints({
    settings: () => settings.current,
    hints: (server) => catalogue().offers.get(server)?.hints,
    needsCredential: requiresCredential,
  });

  const said = sayTo({ views, settings, sessions, serverRequests, subscriptions, tasks });

  const identify = identifyOf({ who, fromProxy });
  const sessionEnded = (sid: string): void => {
    eventLogs.endSession(sid);
    logLevels.endSession(sid);
    dedicated.endSession(mcpSession(sid));
  };
  replicas?.onNews(hearOf(sessions, sessionEnded));
  const endpoints = { basePath: env.basePath, taken: takenPaths, settings: () => settings.current };
  const ending = { sessions, sessionEnded, streams, endpoints, identify, address, requiresCredential };
  const withdrawn = withdrawing(ending, closers);

  const forRequests = {
    running: withdrawn.running,
    ...ownItems(options),
    views,
    serverRequests,
    subscriptions,
    logLevels,
    tasks,
    hints,
    ...offered(pool, catalogue),
  } satisfies Partial<DispatchOptions>;

  return {
    replicas,
    /** Questions of servers that wait for their clients. */
    // A call may still ask something, and the answer has to reach this hub.
    waiting: () => withdrawn.running.count + serverRequests.clients.size + serverRequests.suspendedCalls.size,
    announcer,
    streams,
    eventLogs,
    sessions,
    identify,
    serverRequests,
    asked,
    abilitiesOf: ({ session }: ConnectionOwner) => sessions.byId(sessionOf(session) ?? '')?.facts.abilities,
    said,
    /** Whether a server keeps something that a client still wants, though no request is under way. */
    isInUse: (server: string): boolean => tasks.isOpenAt(server) || withdrawn.running.isAt(server),
    forRequests,
    /** A session's or user's own connection changed. */
    ownConnection: ({ session }: ConnectionOwner, connection: Connection): void =>
      logLevels.connected(sessionOf(session), connection),
    sessionEnded,
    rootsChanged: (sid: string): void => dedicated.rootsChanged(mcpSession(sid)),
    /** Settings or offers changed: each client is told what changed for it. */
    reconcile() {
      withdrawn.end();
      subscriptions.reconcile();
      logLevels.reconcile();
      announcer.announce();
    },
  };
}

/** What of it goes to which clients. */
function sayTo({ views, settings, sessions, serverRequests, subscriptions, tasks }: SaidTo): Said {
  return (server, connectionOwner, method, message, text) => {
    const clean = (): string => noticeWithoutSecrets(text, server, settings.current);
    const params = isObject(message.params) ? message.params : {};
    if (method === 'notifications/resources/updated' && typeof params['uri'] === 'string') {
      subscriptions.updated(server, connectionOwner, params['uri'], text);
    } else if (method === 'notifications/elicitation/complete') {
      serverRequests.elicitations.completed(server, message, text, { sessions, views });
    } else if (method === 'notifications/tasks/status') {
      tasks.changed(server, message, clean, sessions);
    } else if (method === 'notifications/message' && connectionOwner) {
      // Only this session uses this connection.
      const session = sessions.byId(sessionOf(connectionOwner.session) ?? '');
      if (session && isAtLeast(message, session.logLevel ?? 'debug')) session.send(clean());
    }
  };
}

interface SaidTo extends Pick<OpenClients, 'views' | 'settings'> {
  readonly sessions: Sessions;
  readonly serverRequests: ServerRequests;
  readonly subscriptions: Subscriptions;
  readonly tasks: Tasks;
}

/** What other hubs tell of sessions. */
function hearOf(sessions: Sessions, sessionEnded: (sid: string) => void): (news: News) => void {
  return (news) => {
    if (news.kind === 'cancelled') {
      sessions.byId(news.sid)?.inFlight.get(news.id)?.cancel(news.reason);
    } else {
      sessions.end({ sid: news.sid, expiresAt: news.until });
      sessionEnded(news.sid);
    }
  };
}

function watchedBy(dedicated: DedicatedConnections, on: Connection | undefined) {
  return on && { on, owner: dedicated.ownerOf(on) };
}

/** What requests need to know of what servers offer, besides their views. */
function offered(pool: Pool, catalogue: () => Catalogue): Pick<DispatchOptions, 'about' | 'listed'> {
  return {
    about: (server) => catalogue().offers.get(server)?.about,
    listed: (server, waitMs) => pool.listed(server, waitMs),
  };
}

type OwnItems = Pick<OpenClients, 'hubId' | 'ownItems' | 'catalogue' | 'dedicated' | 'views'>;

/**
 * Hubs with the same `JWT_SECRET` on one database open each other's tokens; those that this one sealed before, or that
 * hubs with a copy of its `hub.secret` did, too.
 */
function sealerOfSessions({ jwtSecret, database }: Env, dataDir: DataDir, use: string): Sealer {
  const own = createSealer(dataDir.secret('hub', 32), use);
  if (jwtSecret === undefined || database.kind !== 'postgres') return own;
  const shared = createSealer(Buffer.from(jwtSecret), `shared ${use}`);
  return { seal: (text) => shared.seal(text), open: (token) => shared.open(token) ?? own.open(token) };
}

/** What the hub offers itself: its prompts and resources, and what is left of results that were given in parts. */
function ownItems({ hubId, ownItems: own, catalogue, dedicated, views }: OwnItems) {
  const schemas = createToolArguments();
  const results = createKeptResults({
    hub: hubId,
    settings: own,
    catalogue,
    views,
    problems: (tool, value) => schemas.check(tool, value),
  });
  return { results, connections: withOwnItems(dedicated, own, results) };
}

/**
 * A value that changes when the tasks of a server end: they end with its process; a remote server keeps them while the
 * hub is not connected.
 */
function lifeOf(connection: Connection | undefined): unknown {
  return connection?.server.transport.type === 'stdio' ? connection.offer?.about : connection;
}

/** Without waiting where that is possible. */
function identifyOf({ who, fromProxy }: Pick<OpenClients, 'who' | 'fromProxy'>): McpEntryOptions['identify'] {
  return (req, address, endpoint) => {
    const { headers } = req;
    const forwarded = fromProxy(req) && !isOfPage(headers);
    return (
      who().identifyNow(headers, address, undefined, endpoint, forwarded) ??
      who().identify(headers, address, undefined, endpoint, forwarded)
    );
  };
}

/** A page in a browser, of any site: what a proxy says of who is there is not for what a page asks of MCP endpoints. */
function isOfPage({ origin, 'sec-fetch-site': site }: Sent['headers']): boolean {
  return origin !== undefined || (site !== undefined && site !== 'none');
}

interface Withdrawing {
  readonly sessions: Sessions;
  readonly sessionEnded: (sid: string) => void;
  readonly streams: Streams;
  readonly endpoints: Pick<McpEntryOptions, 'basePath' | 'taken' | 'settings'>;
  readonly identify: McpEntryOptions['identify'];
  readonly address: McpEntryOptions['address'];
  readonly requiresCredential: (req?: Sent) => boolean;
}

/** Ends sessions, streams and running calls of clients that lost access; streams also at endpoints switched off. */
function withdrawing(options: Withdrawing, closers: Closers) {
  const running = createRunningCalls();
  const { sessions, sessionEnded, streams, endpoints, identify, address, requiresCredential } = options;
  const isOver = (who: Identified, req: Sent): boolean => who === 'bad' || (who === 'none' && requiresCredential(req));
  const withdrawn = {
    endSessions(): void {
      const isWithdrawn = (principal: Principal): boolean =>
        principal.kind === 'anonymous' ? requiresCredential() : isGone(endpoints.settings(), principal);
      for (const sid of sessions.sweep(isWithdrawn)) sessionEnded(sid);
    },
    endStreamsAndCalls(): void {
      running.endWithdrawn();
      streams.endWhere((req) => {
        if (isClosed(req.url ?? '', endpoints)) return true;
        const who = identify(req, address(req), endpointOf(req.url ?? '', endpoints));
        return who instanceof Promise ? who.then((late) => isOver(late, req)) : isOver(who, req);
      });
    },
  };
  sweepNowAndThen(withdrawn, closers);
  return {
    running,
    end(): void {
      withdrawn.endSessions();
      withdrawn.endStreamsAndCalls();
    },
  };
}

/** For credentials that expire; changes of the settings take effect at once. */
function sweepNowAndThen(withdrawn: Record<'endSessions' | 'endStreamsAndCalls', () => void>, closers: Closers): void {
  const timers = [
    setInterval(() => withdrawn.endSessions(), mcpLimits.withdrawnSweepMs).unref(),
    setInterval(() => withdrawn.endStreamsAndCalls(), httpLimits.streamCredentialMs).unref(),
  ];
  closers.add(() => timers.forEach((timer) => clearInterval(timer)));
}

import { HubError } from '../core/errors.ts';
import type { Offer } from '../core/catalogue.ts';
import type { Principal } from '../core/access/principal.ts';
import type { Scope } from '../core/access/scope.ts';
import { isObject, type RpcMessage } from '../core/protocol/rpc.ts';
import { metaKeys, statelessRevision } from '../core/protocol/stateless.ts';
import type { Views } from '../core/access/view.ts';
import { withTimeout } from '../core/with-timeout.ts';
import { upstreamLimits } from '../upstream/limits.ts';
import { mcpLimits } from './limits.ts';
import type { ClientRequest } from './request.ts';

/**
 * A connection that may be told from which severity on its server is to log; `upstream/connections/connection.ts` is
 * one.
 */
export interface LoggingConnection {
  readonly server: { readonly name: string };
  readonly status: { readonly kind: string };
  readonly offer: Offer | undefined;
  ask(method: string, params: string | undefined, timeoutMs: number): Promise<unknown>;
}

/** A session that said from which severity on it wants log messages. */
interface Wish {
  readonly principal: Principal;
  readonly scope: Scope;
  readonly level: string;
}

interface Kept extends Wish {
  readonly until: number;
}

export interface LogLevelOptions {
  readonly views: Views;
  /** The connection that is there for all. */
  readonly shared: (server: string) => LoggingConnection | undefined;
  /** The session's own connections that are there now. */
  readonly own: (sid: string) => readonly LoggingConnection[];
  /** The connections that only this user's clients share, as far as they are there now. */
  readonly ofUser: (principal: Principal) => readonly LoggingConnection[];
}

/**
 * From which severity on servers log: on a connection that is there for all, the least severe that any of its sessions
 * wants, and never less than what a client that says nothing may count on; on a user's own connection likewise what
 * this user's requests wanted lately; on a session's own connection what that session wants. Which messages each client
 * gets is decided for each message (`wantsLog`).
 */
export interface LogLevels {
  /**
   * Sets the level that a session wants. Resolves when the servers that it sees have been told, or after a bounded
   * time.
   */
  set(sid: string, wish: Wish): Promise<void>;
  /** Sets the level that one request needs from the server of a connection. Resolves when the server was told. */
  need(connection: LoggingConnection, level: string): Promise<void>;
  /** A session's own connection is there (again); without a session, a user's own. */
  connected(sid: string | undefined, connection: LoggingConnection): void;
  /** The session is over. */
  endSession(sid: string): void;
  /** Settings, offers or connections changed. */
  reconcile(): void;
  close(): void;
}

/** What a client that did not ask for a level may count on. */
const usual = 'info';

const nothing = Promise.resolve();

export function createLogLevels(
  { views, shared, own, ofUser }: LogLevelOptions,
  now: () => number = Date.now,
): LogLevels {
  const kept = new Map<string, Kept>();
  /** What single requests needed lately. */
  const needs = new Map<LoggingConnection, { level: string; until: number }>();
  /** What the server of a connection was last told, and after which handshake (`about`). */
  const told = new WeakMap<LoggingConnection, { about: unknown; level: string }>();
  /** Connections whose servers were told a level. */
  const changed = new Set<LoggingConnection>();
  let timer: NodeJS.Timeout | undefined;

  /** Tells the server of a connection the level, unless it has been told. Never rejects. */
  function tell(connection: LoggingConnection, level: string): Promise<void> {
    const about = connection.offer?.about;
    if (!about || connection.status.kind !== 'connected' || !takesLevel(about)) return nothing;
    const before = told.get(connection);
    if (before?.about === about && before.level === level) return nothing;
    told.set(connection, { about, level });
    // The server may ignore it: what each client gets is decided by the hub.
    return connection.ask('logging/setLevel', JSON.stringify({ level }), upstreamLimits.subscribeAnswerMs).then(
      () => undefined,
      () => undefined,
    );
  }

  /** The level for each connection for which a session or a request wants one. */
  function wanted(): Map<LoggingConnection, string> {
    const levels = new Map<LoggingConnection, string>();
    const add = (connection: LoggingConnection | undefined, level: string): void => {
      if (connection) levels.set(connection, lower(level, levels.get(connection) ?? usual));
    };
    for (const [sid, { principal, scope, level, until }] of kept) {
      if (until <= now()) kept.delete(sid);
      else for (const server of views.get(principal, scope).servers) add(shared(server), level);
    }
    for (const [connection, { level, until }] of needs) {
      if (until > now() && connection.status.kind !== 'stopped') add(connection, level);
      else needs.delete(connection);
    }
    return levels;
  }

  function raiseTo(connection: LoggingConnection | undefined, level: string): Promise<void> {
    if (!connection) return nothing;
    changed.add(connection);
    const known = told.get(connection);
    const current = known?.about === connection.offer?.about ? known?.level : undefined;
    return tell(connection, lower(level, current ?? usual));
  }

  function reconcile(): void {
    const levels = wanted();
    for (const connection of levels.keys()) changed.add(connection);
    for (const connection of changed) {
      void tell(connection, levels.get(connection) ?? usual);
      if (!levels.has(connection)) changed.delete(connection);
    }
  }

  function need(connection: LoggingConnection, level: string): Promise<void> {
    const before = needs.get(connection);
    const alive = before && before.until > now() ? before.level : level;
    needs.set(connection, { level: lower(level, alive), until: now() + mcpLimits.logNeedMs });
    return raiseTo(connection, level);
  }

  /** A server may have to log less now; no caller waits for that. */
  function soon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      reconcile();
    }, mcpLimits.setLevelWaitMs).unref();
  }

  return {
    async set(sid, wish) {
      kept.delete(sid);
      if (kept.size >= mcpLimits.wantedLogLevels) kept.delete(kept.keys().next().value ?? '');
      kept.set(sid, { ...wish, until: now() + mcpLimits.logWishMs });
      soon();
      const { servers } = views.get(wish.principal, wish.scope);
      const telling = servers.map((server) => raiseTo(shared(server), wish.level));
      for (const connection of ofUser(wish.principal))
        if (servers.includes(connection.server.name)) telling.push(need(connection, wish.level));
      for (const connection of own(sid)) telling.push(tell(connection, wish.level));
      await withTimeout(Promise.all(telling), mcpLimits.setLevelWaitMs);
    },
    need,
    connected(sid, connection) {
      const wish = sid === undefined ? needs.get(connection) : kept.get(sid);
      if (wish) void tell(connection, sid === undefined ? lower(wish.level, usual) : wish.level);
    },
    endSession(sid) {
      if (kept.delete(sid)) soon();
    },
    reconcile,
    close: () => clearTimeout(timer),
  };
}

function takesLevel({ capabilities, protocolVersion }: Offer['about']): boolean {
  return capabilities.includes('logging') && protocolVersion < statelessRevision;
}

/** Severities of `notifications/message`, least first (2025-11-25, Logging; RFC 5424). */
export const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** The level of a `logging/setLevel`. Throws HubError `invalid_input` for what is no level. */
export function levelAsked(request: ClientRequest): string {
  const level = isObject(request.message.params) ? request.message.params['level'] : undefined;
  if (typeof level !== 'string' || !levels.includes(level)) {
    throw new HubError('invalid_input', `logging/setLevel needs params.level, one of ${levels.join(', ')}.`);
  }
  return level;
}

/**
 * Whether the client that made a request wants this log message about it. A stateless client says so in each request,
 * and gets none that it did not ask for (2026-07-28, Logging).
 */
export function wantsLog(request: ClientRequest, message: RpcMessage): boolean {
  const wanted = wantedLevel(request);
  if (wanted === undefined) return !request.stateless;
  return isAtLeast(message, wanted);
}

/** From which severity on the client of a request wants log messages about it; undefined when it did not say. */
export function wantedLevel(request: ClientRequest): string | undefined {
  return request.stateless ? levelOf(request) : request.session?.logLevel;
}

/** Whether a log message is at least as severe as the wanted level. */
export function isAtLeast(message: RpcMessage, wanted: string): boolean {
  const level = isObject(message.params) ? message.params['level'] : undefined;
  return typeof level === 'string' && levels.indexOf(level) >= levels.indexOf(wanted);
}

/** The level that a stateless request asks for; undefined when it wants no log messages. */
function levelOf({ message }: ClientRequest): string | undefined {
  const meta = isObject(message.params) ? message.params['_meta'] : undefined;
  const level = isObject(meta) ? meta[metaKeys.logLevel] : undefined;
  return typeof level === 'string' && levels.includes(level) ? level : undefined;
}

/** The one that lets more through. */
export function lower(a: string, b: string): string {
  return levels.indexOf(a) <= levels.indexOf(b) ? a : b;
}

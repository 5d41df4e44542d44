import type { Offer } from '../core/catalogue.ts';
import { limits } from '../core/limits.ts';
import type { Principal } from '../core/access/principal.ts';
import type { Scope } from '../core/access/scope.ts';
import { statelessRevision } from '../core/protocol/stateless.ts';
import type { Views } from '../core/access/view.ts';
import { within } from '../core/within.ts';
import { lower } from './log-level.ts';

/** A connection that may be told from which severity on its server is to log; `upstream/connection.ts` is one. */
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
  /** The connections that this user's clients share and nobody else's, as far as they are there now. */
  readonly ofUser: (principal: Principal) => readonly LoggingConnection[];
}

/**
 * From which severity on servers log: on a connection that is there for all, the least severe that any of its sessions wants, and never less than what a client that
 * says nothing may count on; on a user's own connection likewise what this user's requests wanted lately; on a session's own connection what that session wants.
 * What each client hears of it is decided for each message (`wantsLog`).
 */
export interface LogLevels {
  /** A session wants this. Resolves when the servers that it sees have been told, or had time to be. */
  set(sid: string, wish: Wish): Promise<void>;
  /** One request wants this of the server at the other end of a connection. Resolves when it was told. */
  need(connection: LoggingConnection, level: string): Promise<void>;
  /** This connection of a session's own is there (again); without a session, one of a user's. */
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
  const wishes = new Map<string, Kept>();
  /** What single requests needed lately. */
  const needs = new Map<LoggingConnection, { level: string; until: number }>();
  /** What a connection was last told, and in which of its lives. */
  const told = new WeakMap<LoggingConnection, { about: unknown; level: string }>();
  /** Connections whose servers log otherwise than by themselves. */
  const changed = new Set<LoggingConnection>();
  let timer: NodeJS.Timeout | undefined;

  /** Tells a connection, unless it knows. Never rejects. */
  function tell(connection: LoggingConnection, level: string): Promise<void> {
    const about = connection.offer?.about;
    if (!about || connection.status.kind !== 'connected' || !takesLevel(about)) return nothing;
    const before = told.get(connection);
    if (before?.about === about && before.level === level) return nothing;
    told.set(connection, { about, level });
    // Whether it obeys is its own affair: what each client hears is decided here.
    return connection.ask('logging/setLevel', JSON.stringify({ level }), limits.subscribeAnswerMs).then(
      () => undefined,
      () => undefined,
    );
  }

  /** What is to be told on each connection, of those that somebody has a wish for. */
  function wanted(): Map<LoggingConnection, string> {
    const levels = new Map<LoggingConnection, string>();
    const add = (connection: LoggingConnection | undefined, level: string): void => {
      if (connection) levels.set(connection, lower(level, levels.get(connection) ?? usual));
    };
    for (const [sid, { principal, scope, level, until }] of wishes) {
      if (until <= now()) wishes.delete(sid);
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
    needs.set(connection, { level: lower(level, alive), until: now() + limits.logNeedMs });
    return raiseTo(connection, level);
  }

  /** Less is wanted of some server, perhaps: nobody waits for it to log less. */
  function soon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      reconcile();
    }, limits.setLevelWaitMs).unref();
  }

  return {
    async set(sid, wish) {
      wishes.delete(sid);
      if (wishes.size >= limits.logWishes) wishes.delete(wishes.keys().next().value ?? '');
      wishes.set(sid, { ...wish, until: now() + limits.logWishMs });
      soon();
      const { servers } = views.get(wish.principal, wish.scope);
      const telling = servers.map((server) => raiseTo(shared(server), wish.level));
      for (const connection of ofUser(wish.principal))
        if (servers.includes(connection.server.name)) telling.push(need(connection, wish.level));
      for (const connection of own(sid)) telling.push(tell(connection, wish.level));
      await within(Promise.all(telling), limits.setLevelWaitMs);
    },
    need,
    connected(sid, connection) {
      const wish = sid === undefined ? needs.get(connection) : wishes.get(sid);
      if (wish) void tell(connection, sid === undefined ? lower(wish.level, usual) : wish.level);
    },
    endSession(sid) {
      if (wishes.delete(sid)) soon();
    },
    reconcile,
    close: () => clearTimeout(timer),
  };
}

function takesLevel({ capabilities, protocolVersion }: Offer['about']): boolean {
  return capabilities.includes('logging') && protocolVersion < statelessRevision;
}

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
}

/**
 * From which severity on servers log: on a connection that is there for all, the least severe that any of its sessions wants, and never less than what a client that
 * says nothing may count on; on a session's own connection what that session wants. What each client hears of it is decided for each message (`wantsLog`).
 */
export interface LogLevels {
  /** A session wants this. Resolves when the servers that it sees have been told, or had time to be. */
  set(sid: string, wish: Wish): Promise<void>;
  /** One request that comes without a session wants this of one server. */
  need(server: string, level: string): void;
  /** This connection of a session's own is there (again). */
  connected(sid: string, connection: LoggingConnection): void;
  /** The session is over. */
  endSession(sid: string): void;
  /** Settings, offers or connections changed. */
  reconcile(): void;
  close(): void;
}

/** What a client that did not ask for a level may count on. */
const usual = 'info';

const nothing = Promise.resolve();

export function createLogLevels({ views, shared, own }: LogLevelOptions, now: () => number = Date.now): LogLevels {
  const wishes = new Map<string, Kept>();
  /** What single requests needed lately. */
  const needs = new Map<string, { level: string; until: number }>();
  /** What a connection was last told, and in which of its lives. */
  const told = new WeakMap<LoggingConnection, { about: unknown; level: string }>();
  /** Servers that log otherwise than by themselves. */
  const changed = new Set<string>();
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

  /** What each server is to be told, of those that somebody has a wish for. */
  function wanted(): Map<string, string> {
    const levels = new Map<string, string>();
    const add = (server: string, level: string): void => {
      levels.set(server, lower(level, levels.get(server) ?? usual));
    };
    for (const [sid, { principal, scope, level, until }] of wishes) {
      if (until <= now()) wishes.delete(sid);
      else for (const server of views.get(principal, scope).servers) add(server, level);
    }
    for (const [server, { level, until }] of needs) {
      if (until > now()) add(server, level);
      else needs.delete(server);
    }
    return levels;
  }

  function raiseTo(server: string, level: string): Promise<void> {
    const connection = shared(server);
    if (!connection) return nothing;
    changed.add(server);
    const known = told.get(connection);
    const current = known?.about === connection.offer?.about ? known?.level : undefined;
    return tell(connection, lower(level, current ?? usual));
  }

  function reconcile(): void {
    const levels = wanted();
    for (const server of new Set([...changed, ...levels.keys()])) {
      const connection = shared(server);
      if (connection) void tell(connection, levels.get(server) ?? usual);
      if (!levels.has(server)) changed.delete(server);
    }
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
      const telling = views.get(wish.principal, wish.scope).servers.map((server) => raiseTo(server, wish.level));
      for (const connection of own(sid)) telling.push(tell(connection, wish.level));
      await within(Promise.all(telling), limits.setLevelWaitMs);
    },
    need(server, level) {
      const before = needs.get(server);
      const alive = before && before.until > now() ? before.level : level;
      needs.set(server, { level: lower(level, alive), until: now() + limits.logNeedMs });
      void raiseTo(server, level);
    },
    connected(sid, connection) {
      const wish = wishes.get(sid);
      if (wish) void tell(connection, wish.level);
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

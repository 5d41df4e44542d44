import { type ClientCapabilities, noCapabilities, type ServerRequest } from '../../core/protocol/server-requests.ts';
import { HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { type Principal, principalId, principalOf } from '../../core/access/principal.ts';
import { userOf } from '../../core/access/identity.ts';
import { rpcErrors } from '../../core/protocol/rpc.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { Channel, ChannelEvents } from '../channels/channel.ts';
import { upstreamLimits } from '../limits.ts';
import { Connection } from './connection.ts';
import {
  askingApart,
  type AskingRequest,
  type DedicatedConnection,
  isBusy,
  isFree,
  isSpent,
  type RequestConnection,
} from './asking-apart.ts';
import { cleanLog, hiding, valuesOf } from './hidden-values.ts';
import type { AskableCall, Unasked } from './link/options.ts';
import type { Home } from './link/server-requests.ts';
import type { ConnectionOptions } from './options.ts';
import {
  type ConnectionAsker,
  type ConnectionOwner,
  connectionOwnerOf,
  isOver,
  type OpenedFor,
  type OpenedOwner,
  ownerKey,
  type OwnershipOptions,
} from './owner.ts';
import { createStartSemaphore, type StartSemaphore } from './start-semaphore.ts';

export interface DedicatedConnectionsOptions
  extends
    OwnershipOptions,
    Pick<
      ConnectionOptions,
      'load' | 'version' | 'connectTimeoutMs' | 'requestTimeoutMs' | 'clean' | 'eras' | 'sessionEnded'
    > {
  /** As a connection has it, with what is this owner's. */
  readonly open: (server: ServerSettings, events: ChannelEvents, opened: OpenedFor) => Channel;
  readonly startsAtOnce: number;
  readonly log: (server: ServerSettings) => Logger;
  /**
   * What server requests the client of a connection owner's session can answer; undefined where it is not known, and
   * then no server request is sent to it.
   */
  readonly abilitiesOf?: (owner: ConnectionOwner) => ClientCapabilities | undefined;
  /** A server sends a server request to one connection owner, and it belongs to none of the owner's calls. */
  readonly asked?: (owner: ConnectionOwner, ask: ServerRequest) => void;
  /** A server said something to one connection owner that belongs to no request. Must be quick. */
  readonly unasked?: (server: string, owner: ConnectionOwner, ...said: Parameters<Unasked>) => void;
  /** As the pool has it. */
  readonly inUse?: (server: string) => boolean;
  /** The state of a connection owner's connection has changed. Called from inside events. */
  readonly changed?: (owner: ConnectionOwner, connection: Connection) => void;
  readonly bounds?: {
    readonly total: number;
    readonly perPrincipal: number;
    readonly idleMs: number;
    readonly sweepMs: number;
  };
}

/**
 * Connections of their own, for sessions that use a server with `perSessionClient` (CONTRACT §4, Tool call): same
 * server, principal and session, same connection; and for users of a server that they sign in to alone
 * (`oauth.perUser`), or use with credentials of their own (`credentialTemplate`): same server and user, same
 * connection, whatever the session; and for callers of whose headers the server gets some (`passthroughHeaders`): same
 * principal and values, same connection. They are made at the first call and end when they are not used for a while,
 * with the session, or when the server's settings or the user's credentials change.
 */
export interface DedicatedConnections {
  /**
   * The connection that calls of this connection owner go through; undefined when the server is not there. Throws
   * HubError `too_many` when the limit is reached and no idle connection can be ended. For a server that each user
   * signs in to alone it throws `oauth_required` for a user who has to sign in, and `unauthenticated` or `forbidden`
   * for a caller that is not a user.
   */
  connection(server: string, asker: ConnectionAsker): Connection | undefined;
  /**
   * The connection for one call in which the server may ask its client something, given the one that calls of this
   * connection owner go through. It is another one, for this connection owner alone, while a server request there could
   * be for a call that another client gave up (decisions/0035); for a call of a client without a session also while it
   * could be for another call on its way there, and then nothing else is on its way through the other one
   * (decisions/0094).
   */
  forAsking(
    connection: Connection,
    owner: ConnectionOwner,
    call: AskableCall,
    request: AskingRequest,
  ): RequestConnection;
  /** HubError `credentials_required` for a caller who has not set theirs at the server, or has taken them back. */
  withoutCredentials(server: string, principal: Principal): HubError | undefined;
  /** Ends what no longer fits the settings. */
  reconcile(): void;
  /** Tries again at once to connect to a server: a user has signed in to it, for all users or only for this user. */
  retry(server: string, user: string | undefined): void;
  /** The roots of a session's client are not what they were. */
  rootsChanged(session: string): void;
  /** Whose a connection is; undefined for one that is there for all. */
  ownerOf(connection: Connection): ConnectionOwner | undefined;
  /** The connections that a session has now. The session may belong to any principal. */
  ofSession(session: string): Connection[];
  /** The connections that all clients of a user share now, where users sign in alone. */
  ofUser(principal: Principal): Connection[];
  /** The session is over. It may have belonged to any principal. */
  endSession(session: string): void;
  readonly size: number;
  close(): Promise<void>;
}

const usual = () => ({
  total: upstreamLimits.dedicated,
  perPrincipal: upstreamLimits.dedicatedPerPrincipal,
  idleMs: upstreamLimits.dedicatedIdleMs,
  sweepMs: upstreamLimits.dedicatedSweepMs,
});

export function createDedicatedConnections(options: DedicatedConnectionsOptions): DedicatedConnections {
  const { settings, shared, bounds = usual() } = options;
  /** In the order of their last use. */
  const dedicated = new Map<string, DedicatedConnection>();
  const entries = new WeakMap<Connection, DedicatedConnection>();
  const slots = createStartSemaphore(options.startsAtOnce);
  const stopping = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function open(
    key: string,
    base: Connection,
    { opened, ...owner }: OpenedOwner,
    beside?: Connection,
  ): DedicatedConnection {
    const oldest = beside ? undefined : pushedOut(dedicated, owner.principal, bounds);
    if (oldest) end(...oldest);
    const connection = connectionOf(options, base, { opened, ...owner }, slots);
    connection.start();
    const entry = { connection, shared: base, owner, opened, beside, lastUsedAt: Date.now(), reservedUntil: 0 };
    entries.set(connection, entry);
    dedicated.set(key, entry);
    timer ??= setInterval(sweep, bounds.sweepMs).unref();
    return entry;
  }

  function end(key: string, { connection }: DedicatedConnection, why?: HubError): void {
    dedicated.delete(key);
    const stopped = connection.stop(why).finally(() => stopping.delete(stopped));
    stopping.add(stopped);
    if (dedicated.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function sweep(): void {
    const now = Date.now();
    for (const [key, entry] of dedicated) {
      if (isSpent(entry)) end(key, entry);
      else if (isBusy(entry.connection)) entry.lastUsedAt = now;
      else if (now - entry.lastUsedAt >= idleMsOf(entry, options, bounds.idleMs)) end(key, entry);
    }
    // What was at work when its user signed out.
    endWhere(isOverNow);
  }

  const isOverNow = (entry: DedicatedConnection): boolean => isOver(entry, { ...options, settings: settings() });

  const isClosed = (): boolean => closed;
  const apart = { ...options, dedicated, entries, open, end, isClosed, total: bounds.total };

  function endWhere(over: (entry: DedicatedConnection) => boolean): void {
    for (const [key, entry] of dedicated) if (over(entry)) end(key, entry);
  }

  return {
    connection(server, asked) {
      const base = shared(server);
      if (!base || closed) return base;
      const owner = connectionOwnerOf(settings().servers.get(server), asked, options);
      if (!owner) return base;
      const key = ownerKey(server, owner);
      let entry = dedicated.get(key);
      if (entry && entry.shared !== base) {
        end(key, entry);
        entry = undefined;
      }
      entry ??= open(key, base, owner);
      entry.lastUsedAt = Date.now();
      dedicated.delete(key);
      dedicated.set(key, entry);
      return entry.connection;
    },
    withoutCredentials: (server, principal) => withoutCredentials(server, principal, options),
    forAsking: askingApart(apart),
    reconcile: () => endWhere(isOverNow),
    retry(server, user) {
      for (const { connection, opened } of dedicated.values())
        if (connection.server.name === server && opened.user === user) connection.retryNow();
    },
    rootsChanged: (session) => tellRootsChanged(dedicated.values(), session),
    ownerOf: (connection) => entries.get(connection)?.owner,
    ofUser: (principal) => ofAccount(dedicated.values(), userOf(settings(), principal)),
    ofSession: (session) =>
      [...dedicated.values()].filter((entry) => entry.owner.session === session).map(({ connection }) => connection),
    endSession: (session) => endWhere((entry) => entry.owner.session === session),
    get size() {
      return dedicated.size;
    },
    async close() {
      closed = true;
      endWhere(() => true);
      await Promise.all(stopping);
    },
  };
}

/** How long one may be idle. A server that starts on demand says it for the connections of its clients too. */
function idleMsOf(
  { beside, shared: { server } }: DedicatedConnection,
  { settings, inUse }: DedicatedConnectionsOptions,
  usualMs: number,
): number {
  if (beside) return upstreamLimits.temporaryIdleMs;
  const own = settings().servers.get(server.name)?.onDemand;
  return own && inUse?.(server.name) !== true ? Math.min(own.idleMs, usualMs) : usualMs;
}

function withoutCredentials(
  name: string,
  principal: Principal,
  { settings, credentials }: DedicatedConnectionsOptions,
): HubError | undefined {
  const server = settings().servers.get(name);
  return server && credentials?.refusal(server, userOf(settings(), principal));
}

function connectionOf(
  options: DedicatedConnectionsOptions,
  base: Connection,
  { opened, ...owner }: OpenedOwner,
  slots: StartSemaphore,
): Connection {
  const { server } = base;
  const openAs: ConnectionOptions['open'] = (wanted, events) => options.open(wanted, events, opened);
  const clean = hiding(valuesOf(opened), options.clean);
  const log = quieter(cleanLog(options.log(server), clean));
  const changed = (): void => options.changed?.(owner, connection);
  const own = {
    ...options,
    open: openAs,
    server,
    slots,
    log,
    clean,
    ...ofConnectionOwner(options, base, owner),
    inUse: undefined,
    changed,
  };
  const connection: Connection = new Connection(own);
  return connection;
}

/** What makes a connection one client's own. */
function ofOneClient(
  owner: ConnectionOwner,
  { asked, abilitiesOf }: DedicatedConnectionsOptions,
): Pick<ConnectionOptions, 'abilities' | 'home'> {
  if (owner.session === '') return {};
  const noClient = { code: rpcErrors.methodNotFound, message: 'There is no client that can be asked.' };
  const home: Home = (ask) => (asked ? asked(owner, ask) : ask.refuse(noClient));
  return { abilities: abilitiesOf?.(owner) ?? noCapabilities, home };
}

function tellRootsChanged(dedicated: Iterable<DedicatedConnection>, session: string): void {
  for (const { owner, connection } of dedicated)
    if (owner.session === session) connection.notify('notifications/roots/list_changed');
}

function ofAccount(dedicated: Iterable<DedicatedConnection>, account: UserSettings | undefined): Connection[] {
  if (!account) return [];
  const id = principalId(principalOf(account));
  const isShared = ({ opened, owner }: DedicatedConnection): boolean =>
    opened.user !== undefined && owner.session === '' && principalId(owner.principal) === id;
  return [...dedicated].filter(isShared).map(({ connection }) => connection);
}

/**
 * The connection that has to end to make room for another one. Connections of another principal are ended only when the
 * limit for all principals is reached. Those beside others count for all principals together: each principal has a
 * number of them besides.
 */
function pushedOut(
  dedicated: ReadonlyMap<string, DedicatedConnection>,
  principal: Principal,
  { total, perPrincipal }: { readonly total: number; readonly perPrincipal: number },
): [string, DedicatedConnection] | undefined {
  const id = principalId(principal);
  const isOwn = ({ owner, beside }: DedicatedConnection): boolean =>
    beside === undefined && principalId(owner.principal) === id;
  const own = [...dedicated].filter(([, entry]) => isOwn(entry));
  const candidates = own.length >= perPrincipal ? own : dedicated.size >= total ? [...dedicated] : undefined;
  if (!candidates) return undefined;
  const oldest = candidates.find(([, entry]) => isFree(entry));
  if (oldest) return oldest;
  const text = `All ${candidates.length} sessions that may be open at once are busy. Try again in a moment, or use fewer sessions.`;
  throw new HubError('too_many', text, { retryAfterMs: 5_000 });
}

/**
 * What makes a connection belong to one connection owner: its messages and server requests are for that owner, and what
 * the server offers is known from the shared connection.
 */
function ofConnectionOwner(options: DedicatedConnectionsOptions, base: Connection, owner: ConnectionOwner) {
  const unasked: Unasked = (...said) => options.unasked?.(base.server.name, owner, ...said);
  return {
    unasked,
    ...ofOneClient(owner, options),
    lists: false,
    knownTools: () => base.offer?.tools ?? [],
    requestHistory: base.requestHistory,
  };
}

/** Sessions begin and end often: that is logged at level debug only. */
function quieter(log: Logger): Logger {
  return { ...log, info: (message, fields) => log.debug(message, fields) };
}

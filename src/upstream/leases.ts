import { type Abilities, noAbilities, type ServerAsk } from '../core/protocol/asks.ts';
import { HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { type Principal, principalId, principalOf } from '../core/access/principal.ts';
import { userOf } from '../core/access/rules.ts';
import { rpcErrors } from '../core/protocol/rpc.ts';
import type { ServerSettings, Settings, UserSettings } from '../core/settings/types.ts';
import type { Channel, ChannelEvents } from './channel.ts';
import { type AskableCall, Connection } from './connection.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { isOver, type SignedInTenant, tenantOf } from './lease-tenant.ts';
import type { Unasked } from './link/options.ts';
import type { Home } from './link/server-asks.ts';
import { createSlots, type Slots } from './slots.ts';
import { type RequestConnection, withFallback } from './with-fallback.ts';

/** For whom a server keeps state: nobody else gets to see it, not even the same principal in another session. */
export interface Tenant {
  readonly principal: Principal;
  /** Names the session among those of the principal. `''`: all that belongs to no session, possibly of several clients. */
  readonly session: string;
}

export interface LeaseOptions extends Pick<
  ConnectionOptions,
  'load' | 'version' | 'connectTimeoutMs' | 'requestTimeoutMs' | 'clean' | 'eras'
> {
  /** As a connection has it; with `user`, as who this user is over there. */
  readonly open: (server: ServerSettings, events: ChannelEvents, user: string | undefined) => Channel;
  /** Why a user cannot use a server yet that users sign in to alone. */
  readonly refusal?: (server: ServerSettings, user: string) => HubError | undefined;
  readonly startsAtOnce: number;
  readonly log: (server: ServerSettings) => Logger;
  readonly settings: () => Settings;
  /** The connection that is there for all. It knows what the server offers, and no lease outlives it. */
  readonly shared: (server: string) => Connection | undefined;
  /** What the client of a tenant's session can be asked; undefined where it is not known, and then it is asked nothing. */
  readonly abilitiesOf?: (tenant: Tenant) => Abilities | undefined;
  /** A server asks something of one tenant, in the middle of none of its calls. */
  readonly asked?: (tenant: Tenant, ask: ServerAsk) => void;
  /** A server said something to one tenant that belongs to no request. Must be quick. */
  readonly unasked?: (server: string, tenant: Tenant, ...said: Parameters<Unasked>) => void;
  /** A tenant's connection is not what it was. Called from inside events. */
  readonly changed?: (tenant: Tenant, connection: Connection) => void;
  readonly bounds?: {
    readonly total: number;
    readonly perPrincipal: number;
    readonly idleMs: number;
    readonly sweepMs: number;
  };
}

/**
 * Connections of their own, for sessions that use a server with `perSessionClient` (CONTRACT §4, Tool call): same server, principal and session, same
 * connection; and for users of a server that they sign in to alone (`oauth.perUser`): same server and user, same connection, whatever the session. They are
 * made at the first call and end when they are not used for a while, with the session, or when the server's settings change.
 */
export interface Leases {
  /**
   * The connection that calls of this tenant go through; undefined when the server is not there. Throws HubError `too_many` when there is no room and
   * nothing idle to make some, and for a server that users sign in to alone `oauth_required` to a user who has to, `unauthenticated` or `forbidden` to who is none.
   */
  connection(server: string, tenant: Tenant): Connection | undefined;
  /**
   * The connection for one call in which the server may ask its client something, given the one that calls of this tenant go through. It is another one, for this tenant alone, while a question there
   * could be for a call that another client gave up (decisions/0035).
   */
  forAsking(connection: Connection, tenant: Tenant, call: AskableCall): RequestConnection;
  /** Ends what no longer fits the settings. */
  reconcile(): void;
  /** Tries again at once to connect to a server: somebody has signed in to it, for everybody or as this user. */
  retry(server: string, user: string | undefined): void;
  /** The roots of a session's client are not what they were. */
  rootsChanged(session: string): void;
  /** Whose a connection is; undefined for one that is there for all. */
  ownerOf(connection: Connection): Tenant | undefined;
  /** The connections that a session has now, whoever's it is. */
  ofSession(session: string): Connection[];
  /** The connections that all clients of a user share now, where users sign in alone. */
  ofUser(principal: Principal): Connection[];
  /** The session is over, whoever's it was. */
  endSession(session: string): void;
  readonly size: number;
  close(): Promise<void>;
}

interface Lease {
  readonly connection: Connection;
  readonly shared: Connection;
  readonly tenant: Tenant;
  /** Who it is signed in as, where users sign in alone. */
  readonly user: string | undefined;
  /** Made by `forAsking`. */
  readonly isTemporary: boolean;
  lastUsedAt: number;
}

const defaults = {
  total: limits.leases,
  perPrincipal: limits.leasesPerPrincipal,
  idleMs: limits.leaseIdleMs,
  sweepMs: limits.leaseSweepMs,
};

export function createLeases(options: LeaseOptions): Leases {
  const { settings, shared, bounds = defaults } = options;
  /** In the order of their last use. */
  const leases = new Map<string, Lease>();
  const owners = new WeakMap<Connection, Tenant>();
  const slots = createSlots(options.startsAtOnce);
  const stopping = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function open(key: string, base: Connection, { user, ...tenant }: SignedInTenant, isTemporary = false): Lease {
    const oldest = isTemporary ? undefined : pushedOut(leases, tenant.principal, bounds);
    if (oldest) end(...oldest);
    const connection = connectionOf(options, base, { user, ...tenant }, slots);
    owners.set(connection, tenant);
    connection.start();
    const lease = { connection, shared: base, tenant, user, isTemporary, lastUsedAt: Date.now() };
    leases.set(key, lease);
    timer ??= setInterval(sweep, bounds.sweepMs).unref();
    return lease;
  }

  function end(key: string, { connection }: Lease): void {
    leases.delete(key);
    const stopped = connection.stop().finally(() => stopping.delete(stopped));
    stopping.add(stopped);
    if (leases.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function sweep(): void {
    const now = Date.now();
    for (const [key, lease] of leases) {
      if (isBusy(lease.connection)) lease.lastUsedAt = now;
      else if (now - lease.lastUsedAt >= (lease.isTemporary ? limits.temporaryIdleMs : bounds.idleMs)) end(key, lease);
    }
    // What was at work when its user signed out.
    endWhere(isOverNow);
  }

  function isOverNow(lease: Lease): boolean {
    return isOver(lease, { settings: settings(), shared, refusal: options.refusal });
  }

  function endWhere(over: (lease: Lease) => boolean): void {
    for (const [key, lease] of leases) if (over(lease)) end(key, lease);
  }

  return {
    connection(server, asked) {
      const base = shared(server);
      if (!base || closed) return base;
      const tenant = tenantOf(settings().servers.get(server), asked, options);
      if (!tenant) return base;
      const key = JSON.stringify([server, principalId(tenant.principal), tenant.session, tenant.user]);
      let lease = leases.get(key);
      if (lease && lease.shared !== base) {
        end(key, lease);
        lease = undefined;
      }
      lease ??= open(key, base, tenant);
      lease.lastUsedAt = Date.now();
      leases.delete(key);
      leases.set(key, lease);
      return lease.connection;
    },
    forAsking: askingApart({ leases, options, bounds, open, end, isClosed: () => closed }),
    reconcile() {
      endWhere(isOverNow);
    },
    retry(server, user) {
      for (const { connection, user: own } of leases.values())
        if (connection.server.name === server && own === user) connection.retryNow();
    },
    rootsChanged: (session) => tellRootsChanged(leases.values(), session),
    ownerOf: (connection) => owners.get(connection),
    ofUser: (principal) => ofAccount(leases.values(), userOf(settings(), principal)),
    ofSession: (session) =>
      [...leases.values()].filter((lease) => lease.tenant.session === session).map(({ connection }) => connection),
    endSession: (session) => endWhere((lease) => lease.tenant.session === session),
    get size() {
      return leases.size;
    },
    async close() {
      closed = true;
      endWhere(() => true);
      await Promise.all(stopping);
    },
  };
}

function connectionOf(
  options: LeaseOptions,
  base: Connection,
  { user, ...tenant }: SignedInTenant,
  slots: Slots,
): Connection {
  const { server } = base;
  const openAs: ConnectionOptions['open'] = (wanted, events) => options.open(wanted, events, user);
  const log = quieter(options.log(server));
  const changed = (): void => options.changed?.(tenant, connection);
  const own = { ...options, open: openAs, server, slots, log, ...ofTenant(options, base, tenant), changed };
  const connection: Connection = new Connection(own);
  return connection;
}

interface Apart {
  readonly leases: ReadonlyMap<string, Lease>;
  readonly options: LeaseOptions;
  readonly bounds: { readonly total: number };
  readonly open: (key: string, base: Connection, tenant: SignedInTenant, isTemporary: boolean) => Lease;
  readonly end: (key: string, lease: Lease) => void;
  readonly isClosed: () => boolean;
}

/** `Leases.forAsking`. */
function askingApart({ leases, options, bounds, open, end, isClosed }: Apart): Leases['forAsking'] {
  function make(key: string, base: Connection, tenant: Tenant): Lease | undefined {
    const all = [...leases].filter(([, { isTemporary }]) => isTemporary);
    if (all.length >= limits.temporaryLeases || leases.size >= bounds.total) {
      const idle = all.find(([, { connection }]) => !isBusy(connection));
      if (!idle) return undefined;
      end(...idle);
    }
    const said = 'a call was given up unanswered; another client that may be asked gets a connection of its own';
    options.log(base.server).info(said);
    return open(key, base, { ...tenant, user: undefined }, true);
  }

  /** One of the tenant's in which a question is certainly for this call. */
  function take(base: Connection, tenant: Tenant, call: AskableCall): Connection | undefined {
    for (let n = 0; ; n++) {
      const key = JSON.stringify([base.server.name, principalId(tenant.principal), tenant.session, 'temporary', n]);
      let lease = leases.get(key);
      if (lease && lease.shared !== base) {
        end(key, lease);
        lease = undefined;
      }
      lease ??= make(key, base, tenant);
      if (lease?.connection.isContested(call)) continue;
      if (lease) lease.lastUsedAt = Date.now();
      return lease?.connection;
    }
  }

  return (connection, tenant, call) => {
    // Not one that is a tenant's own already.
    const isShared = connection === options.shared(connection.server.name);
    if (isClosed() || !isShared || !connection.isContested(call)) return connection;
    const own = take(connection, tenant, call);
    return own ? withFallback(own, connection) : connection;
  };
}

/** What makes a connection one client's own. */
function ofOneClient(
  tenant: Tenant,
  { asked, abilitiesOf }: LeaseOptions,
): Pick<ConnectionOptions, 'abilities' | 'home'> {
  if (tenant.session === '') return {};
  const nobody = { code: rpcErrors.methodNotFound, message: 'Nobody can be asked here.' };
  const home: Home = (ask) => (asked ? asked(tenant, ask) : ask.refuse(nobody));
  return { abilities: abilitiesOf?.(tenant) ?? noAbilities, home };
}

function tellRootsChanged(leases: Iterable<Lease>, session: string): void {
  for (const { tenant, connection } of leases)
    if (tenant.session === session) connection.notify('notifications/roots/list_changed');
}

function ofAccount(leases: Iterable<Lease>, account: UserSettings | undefined): Connection[] {
  if (!account) return [];
  const id = principalId(principalOf(account));
  const isShared = ({ user, tenant }: Lease): boolean =>
    user !== undefined && tenant.session === '' && principalId(tenant.principal) === id;
  return [...leases].filter(isShared).map(({ connection }) => connection);
}

/** What has to end so that there is room. Nobody pushes out another principal's session as long as there is room for all. */
function pushedOut(
  leases: ReadonlyMap<string, Lease>,
  principal: Principal,
  { total, perPrincipal }: { readonly total: number; readonly perPrincipal: number },
): [string, Lease] | undefined {
  const id = principalId(principal);
  const own = [...leases].filter(([, lease]) => principalId(lease.tenant.principal) === id);
  const candidates = own.length >= perPrincipal ? own : leases.size >= total ? [...leases] : undefined;
  if (!candidates) return undefined;
  const oldest = candidates.find(([, lease]) => !isBusy(lease.connection));
  if (oldest) return oldest;
  const text = `All ${candidates.length} sessions that may be open at once are busy. Try again in a moment, or use fewer sessions.`;
  throw new HubError('too_many', text, { retryAfterMs: 5_000 });
}

/** What makes a connection one tenant's: what it says and asks is for that tenant, and what the server offers is known from the shared one. */
function ofTenant(options: LeaseOptions, base: Connection, tenant: Tenant) {
  const unasked: Unasked = (...said) => options.unasked?.(base.server.name, tenant, ...said);
  return {
    unasked,
    ...ofOneClient(tenant, options),
    lists: false,
    knownTools: () => base.offer?.tools ?? [],
    habits: base.habits,
  };
}

function isBusy({ status, inFlight, isWatched }: Connection): boolean {
  return inFlight > 0 || isWatched || status.kind === 'connecting';
}

/** Sessions come and go all day: that they do is no news. */
function quieter(log: Logger): Logger {
  return { ...log, info: (message, fields) => log.debug(message, fields) };
}

import { createHash } from 'node:crypto';
import { isTrusted } from '../../core/access/grants.ts';
import type { Catalogue, Offer } from '../../core/catalogue.ts';
import type { HubError } from '../../core/errors.ts';
import type { ServerState } from '../../core/hub.ts';
import type { Logger } from '../../core/logger.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { SavedOffer } from './saved-catalogue.ts';
import type { Channel, ChannelEvents } from '../channels/channel.ts';
import { Connection } from './connection.ts';
import type { ConnectionStatus } from './status.ts';
import type { ConnectionOptions } from './options.ts';
import { upstreamLimits } from '../limits.ts';
import type { Unasked } from './link/options.ts';
import { createPublishedCatalogue } from './published-catalogue.ts';
import { type RememberedOffers, rememberOffers } from './remembered-offers.ts';
import { createRestarts, type Restarts } from './restarts.ts';
import { createStartSemaphore } from './start-semaphore.ts';

export interface PoolOptions {
  readonly open: (server: ServerSettings, events: ChannelEvents) => Channel;
  readonly version: string;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How many servers may be starting at once. */
  readonly startsAtOnce: number;
  readonly log: (server: ServerSettings) => Logger;
  readonly load?: ConnectionOptions['load'];
  readonly clean?: ConnectionOptions['clean'];
  readonly eras?: ConnectionOptions['eras'];
  readonly sessionEnded?: ConnectionOptions['sessionEnded'];
  readonly requestIds?: ConnectionOptions['requestIds'];
  /** A server is about to be started again because it was asked for. */
  readonly restarting?: ((server: string) => void) | undefined;
  /** The address that a user has to open to sign in to a server that waits for it. */
  readonly authorizationUrl?: (server: string) => string | undefined;
  /** Something about a server is not what it was: raise a flag and return. */
  readonly changed: () => void;
  /** A server said something that belongs to no request. Must be quick. */
  readonly unasked?: (server: string, ...said: Parameters<Unasked>) => void;
  /** A server keeps something that a client still wants, though nothing is under way. */
  readonly inUse?: (server: string) => boolean;
  /** What the servers offered when the hub last ran. */
  readonly saved: readonly SavedOffer[];
}

/** All connections, and what they offer. */
export interface Pool {
  /**
   * Stops at once what no longer fits the settings, and withdraws what it offered: a new server with a name that has
   * just become free must get nothing of the server before it.
   */
  retire(settings: Settings): void;
  /**
   * Makes the connections what the settings say: starts, stops and restarts just those whose own settings differ, then
   * renews the catalogue.
   */
  reconcile(settings: Settings): void;
  /** Shows what is known from the last run, before anything is started. */
  prepare(settings: Settings): void;
  readonly catalogue: Catalogue;
  /**
   * Ends the connection of one server and makes a new one at once, whatever the back-off says; no other server is
   * touched. `isTold`: another worker was asked to, and has told this one. False for one that is not enabled.
   */
  restart(server: string, isTold?: boolean): boolean;
  /**
   * Resolves once the catalogue has what an enabled server offers, after `waitMs` at the latest, also for one that the
   * next `reconcile` starts. Throws as `Connection.available` does.
   */
  listed(server: string, waitMs: number): Promise<void>;
  /** The connection of an enabled server. */
  connection(server: string): Connection | undefined;
  states(): ServerState[];
  /** What to keep for the next start. */
  toSave(): SavedOffer[];
  close(): Promise<void>;
}

interface Entry {
  readonly connection: Connection;
  readonly fingerprint: string;
  /** What it offered before it was restarted or the hub was; shown until it says better, or for the grace period. */
  readonly saved: Offer | undefined;
  /** Since when it is not connected, milliseconds since the epoch. */
  awaySince: number | undefined;
  /** When it was last found connected, milliseconds since the epoch. */
  connectedAt: number | undefined;
  /** The status that fits the catalogue: "connected" must not be shown before the tools are there. */
  status: ConnectionStatus;
}

/** What is known of a server before it is started. */
interface Before {
  readonly offer: Offer | undefined;
  readonly connectedAt?: number | undefined;
  /** Its name then. */
  readonly name?: string;
}

export function createPool(options: PoolOptions): Pool {
  const entries = new Map<string, Entry>();
  const slots = createStartSemaphore(options.startsAtOnce);
  const remembered = rememberOffers(options.saved, fingerprint);
  const ends = createEnds();
  /** Stopped since the last `reconcile`. */
  let stopped: Entry[] = [];
  const restarts = createRestarts();
  let settings: Settings | undefined;
  const shown = createPublishedCatalogue(options.changed);
  let closed = false;

  function start(server: ServerSettings, fingerprint: string, before: Before): void {
    const { offer: saved, connectedAt, name = server.name } = before;
    const own = { server, slots, after: ends.of(server.name, name), known: saved, idleMs: server.onDemand?.idleMs };
    const connection = connectionOf(options, own, () => {
      // What has changed while it slept counts for the calls that woke it, which go on in a moment.
      if (settings?.servers.get(server.name)?.onDemand) renewCatalogue();
    });
    connection.start();
    const now = { status: connection.status, awaySince: Date.now() };
    entries.set(server.name, { connection, fingerprint, saved, connectedAt, ...now });
  }

  function stop(name: string, entry: Entry): void {
    entries.delete(name);
    ends.add(name, entry.connection.stop());
  }

  function fingerprint(server: ServerSettings): string {
    return fingerprintOf(server, settings !== undefined && isTrusted(settings, server));
  }

  function renewCatalogue(): void {
    const offers = offersNow(settings, entries, remembered);
    shown.show(offers, restarts.still(offers, entries, settings), (name) => entries.get(name)?.awaySince !== undefined);
  }

  function retire(next: Settings): void {
    if (closed) return;
    const before = settings;
    settings = next;
    remembered.follow(before, next);
    for (const [name, entry] of entries) {
      const server = next.servers.get(name);
      // A server of another owner, even with equal settings, gets neither what this one holds in memory nor what it
      // offered.
      const isOwners = server?.owner === entry.connection.server.owner;
      if (isOwners && server.enabled && fingerprint(server) === entry.fingerprint) continue;
      if (isOwners) remembered.keep(entry.fingerprint, entry.connection.offer ?? entry.saved);
      else remembered.forget(name);
      stopped.push(entry);
      stop(name, entry);
    }
    restarts.follow(before, next, entries);
    renewCatalogue();
  }

  return {
    retire,
    reconcile(next) {
      if (closed) return;
      retire(next);
      for (const server of next.servers.values()) {
        entries.get(server.name)?.connection.sleepAfter(server.onDemand?.idleMs);
        if (!server.enabled || entries.has(server.name)) continue;
        const print = fingerprint(server);
        start(server, print, renamed(stopped, server, print) ?? { offer: remembered.of(server) });
      }
      stopped = [];
      renewCatalogue();
      restarts.begun();
    },
    // Nothing runs yet.
    prepare: retire,
    get catalogue() {
      return shown.catalogue;
    },
    restart(name, isTold = false) {
      const [entry, server] = [entries.get(name), settings?.servers.get(name)];
      if (closed || !entry || !server?.enabled) return false;
      if (!isTold) options.restarting?.(name);
      stop(name, entry);
      start(server, fingerprint(server), { ...entry, offer: entry.connection.offer ?? entry.saved });
      // Also one that starts on demand.
      entries.get(name)?.connection.retryNow();
      options.changed();
      return true;
    },
    // The loop that renews the catalogue comes a moment after the connection.
    listed: (server, waitMs) => listed(() => entries.get(server), waitMs, restarts).then(renewCatalogue),
    connection: (server) => entries.get(server)?.connection,
    states: () => statesOf(settings, entries, shown.catalogue, options.authorizationUrl),
    // Also of those that are switched off.
    toSave: () => [...offersToSave(shown.catalogue, entries), ...remembered.without(entries)],
    async close() {
      closed = true;
      restarts.close();
      shown.close();
      for (const [name, entry] of entries) stop(name, entry);
      await ends.all();
    },
  };
}

/** `connected` is called before those who wait for it go on. */
function connectionOf(
  options: PoolOptions,
  own: Pick<ConnectionOptions, 'server' | 'slots' | 'after' | 'known' | 'idleMs'>,
  connected: () => void,
): Connection {
  const { name } = own.server;
  const connection: Connection = new Connection({
    ...options,
    ...own,
    log: options.log(own.server),
    unasked: (...said) => options.unasked?.(name, ...said),
    inUse: () => options.inUse?.(name) === true,
    changed() {
      if (connection.status.kind === 'connected') connected();
      options.changed();
    },
  });
  return connection;
}

/** `Pool.listed`, but for the catalogue. */
async function listed(entry: () => Entry | undefined, waitMs: number, restarts: Restarts): Promise<void> {
  // Between a change of the settings and the loop that acts on it there is none.
  if (!entry()) await restarts.next(waitMs);
  await entry()?.connection.available(waitMs);
}

/** The ends of connections that are under way, by server. */
function createEnds() {
  const ends = new Map<string, Promise<void>>();
  return {
    add(server: string, stopping: Promise<void>): void {
      const end = stopping.finally(() => {
        if (ends.get(server) === end) ends.delete(server);
      });
      ends.set(server, end);
    },
    /** Of both, where there are both: two servers may have swapped their names. */
    of(server: string, other: string): Promise<void> | undefined {
      const [first, second] = [ends.get(server), ends.get(other)];
      return first && second ? Promise.all([first, second]).then(() => undefined) : (first ?? second);
    },
    all: () => Promise.all(ends.values()),
  };
}

function offersToSave(catalogue: Catalogue, entries: ReadonlyMap<string, Entry>): SavedOffer[] {
  return [...catalogue.offers.values()].flatMap((offer) => {
    const fingerprint = entries.get(offer.server)?.fingerprint;
    return fingerprint === undefined ? [] : [{ fingerprint, offer }];
  });
}

function offersNow(
  settings: Settings | undefined,
  entries: ReadonlyMap<string, Entry>,
  remembered: RememberedOffers,
): Map<string, Offer> {
  const offers = new Map<string, Offer>();
  for (const server of settings?.servers.values() ?? []) {
    const entry = entries.get(server.name);
    const offer = entry ? offerOf(entry) : remembered.of(server);
    if (offer) offers.set(server.name, offer);
  }
  return offers;
}

/** The last known offer of a server that is away is shown for a while, then withdrawn; one that sleeps keeps it. */
function offerOf(entry: Entry): Offer | undefined {
  const { connection } = entry;
  entry.status = connection.status;
  if (connection.status.kind === 'connected') {
    entry.awaySince = undefined;
    entry.connectedAt = connection.status.sinceMs;
  } else if (connection.status.kind === 'asleep') entry.awaySince = undefined;
  else entry.awaySince ??= Date.now();
  const expired = entry.awaySince !== undefined && Date.now() - entry.awaySince > upstreamLimits.catalogueGraceMs;
  return expired ? undefined : (connection.offer ?? entry.saved);
}

/**
 * What a server was under another name that it had a moment ago: one that stopped now, of the same owner and reached in
 * the same way. Taken out of `stopped`.
 */
function renamed(stopped: Entry[], { name, owner }: ServerSettings, fingerprint: string): Before | undefined {
  const found = stopped.findIndex(
    (entry) => entry.fingerprint === fingerprint && entry.connection.server.owner === owner,
  );
  const [entry] = found === -1 ? [] : stopped.splice(found, 1);
  if (!entry) return undefined;
  const offer = offerOf(entry);
  const { connectedAt } = entry;
  return { offer: offer && { ...offer, server: name }, connectedAt, name: entry.connection.server.name };
}

/**
 * Says whether a running connection still fits the settings of its server: of all that is in them, only this restarts
 * it. `trusted`: see `isTrusted`.
 */
export function fingerprintOf(server: ServerSettings, trusted: boolean): string {
  const {
    era,
    credentialTemplate,
    transport,
    timeoutMs,
    resetTimeoutOnProgress,
    maxTotalTimeoutMs,
    keepAlive,
    keepAliveMs,
    maxMessageBytes,
  } = server;
  const relevant = [
    transport,
    timeoutMs,
    resetTimeoutOnProgress,
    maxTotalTimeoutMs,
    keepAlive,
    keepAliveMs,
    maxMessageBytes,
    trusted,
    // Only where it is set: what hubs saved before they knew of it stays good.
    ...(era === undefined ? [] : [era]),
    ...(credentialTemplate === undefined ? [] : [credentialTemplate.map(({ target, name }) => [target, name])]),
  ];
  return createHash('sha256').update(JSON.stringify(relevant)).digest('hex');
}

function statesOf(
  settings: Settings | undefined,
  entries: ReadonlyMap<string, Entry>,
  catalogue: Catalogue,
  urlOf: PoolOptions['authorizationUrl'],
): ServerState[] {
  return [...(settings?.servers.values() ?? [])].map((server) => {
    const state = stateOf(server, entries.get(server.name), catalogue);
    const authorizationUrl = server.enabled ? urlOf?.(server.name) : undefined;
    return authorizationUrl === undefined ? state : { ...state, oauth: { authorizationUrl } };
  });
}

function stateOf(server: ServerSettings, entry: Entry | undefined, catalogue: Catalogue): ServerState {
  // The catalogue is renewed a moment after a connection has listed; a caller that reads `connected` must also get what
  // the server offers.
  const offer = entry?.connection.offer ?? catalogue.offers.get(server.name);
  const counts = {
    name: server.name,
    tools: offer?.tools.length ?? 0,
    prompts: offer?.prompts.length ?? 0,
    resources: (offer?.resources.length ?? 0) + (offer?.templates.length ?? 0),
    ...historyOf(entry),
  };
  const status = entry?.status;
  switch (status?.kind) {
    case undefined:
    case 'stopped':
      // Enabled and not started yet: the loop gets to it in a moment.
      return { ...counts, status: server.enabled ? 'connecting' : 'disabled' };
    case 'connected':
      return { ...counts, status: 'connected', ms: status.tookMs };
    case 'asleep':
      return { ...counts, status: 'asleep' };
    case 'connecting':
      return {
        ...counts,
        status: 'connecting',
        ...phaseOf(status),
      };
    case 'oauth_required':
      return { ...counts, status: 'oauth_required', ...whyOf(status.error) };
    case 'disconnected':
      return {
        ...counts,
        status: 'disconnected',
        ...whyOf(status.error),
        ...(status.error.unreachable !== undefined && { unreachable: status.error.unreachable }),
        ...nextRetry(status),
      };
  }
}

/** How far an attempt to connect is, and why the last one failed (CONTRACT §4, Servers). */
function phaseOf({ phase, phaseSince, isWaiting, error }: Extract<ConnectionStatus, { kind: 'connecting' }>) {
  return {
    phase,
    phaseSince: new Date(phaseSince).toISOString(),
    ...(isWaiting && { waiting: true as const }),
    ...(error && whyOf(error)),
  };
}

function nextRetry({ waitsForCall, nextRetryAt }: Extract<ConnectionStatus, { kind: 'disconnected' }>) {
  return waitsForCall ? {} : { nextRetryAt: new Date(nextRetryAt).toISOString() };
}

function whyOf({ message, reason, output }: HubError): Pick<ServerState, 'error' | 'reason' | 'output'> {
  return { error: message, ...(reason && { reason }), ...(output && { output }) };
}

function historyOf(entry: Entry | undefined): Pick<ServerState, 'attempts' | 'lastConnectedAt'> {
  if (!entry) return {};
  const { status, connectedAt } = entry;
  return {
    attempts: 'attempts' in status ? status.attempts : 0,
    ...(connectedAt !== undefined && { lastConnectedAt: new Date(connectedAt).toISOString() }),
  };
}

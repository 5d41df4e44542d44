import { HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { principalId } from '../../core/access/principal.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import { upstreamLimits } from '../limits.ts';
import { BackOff } from './back-off.ts';
import type { Connection } from './connection.ts';
import type { AskableCall } from './link/options.ts';
import {
  type ConnectionOwner,
  isOver,
  type OpenedFor,
  type OpenedOwner,
  ownerKey,
  type OwnershipOptions,
} from './owner.ts';

/** A connection that is not there for all. */
export interface DedicatedConnection {
  readonly connection: Connection;
  readonly shared: Connection;
  readonly owner: ConnectionOwner;
  readonly opened: OpenedFor;
  /** The connection whose calls it takes over when they may ask; undefined of one that is no such stand-in. */
  readonly beside: Connection | undefined;
  lastUsedAt: number;
  /** Chosen for a call that is not sent yet, and until when; on the clock of `performance.now()`. */
  reservedUntil: number;
}

/** The part of a connection that one request needs. */
export interface RequestConnection extends Pick<Connection, 'offer' | 'available' | 'takeId' | 'send' | 'cancel'> {
  readonly status: { readonly kind: string; readonly phase?: string };
}

interface Apart extends OwnershipOptions {
  /** In the order of their last use. */
  readonly dedicated: ReadonlyMap<string, DedicatedConnection>;
  readonly entries: WeakMap<Connection, DedicatedConnection>;
  readonly log: (server: ServerSettings) => Logger;
  /** Dedicated connections of all kinds. */
  readonly total: number;
  readonly open: (key: string, base: Connection, owner: OpenedOwner, beside: Connection) => DedicatedConnection;
  readonly end: (key: string, entry: DedicatedConnection, why?: HubError) => void;
  readonly isClosed: () => boolean;
}

type Entry = [string, DedicatedConnection];

/** What is to be known of a request besides the call in it. */
export interface AskingRequest {
  /** It is not sent at once: a person, a limit or a guard decides first. What is contested is looked at again then. */
  readonly waits: boolean;
  /** Called with the other connection before the request is sent through it. Must not block. */
  readonly chosen: (connection: Connection) => void;
}

/** `DedicatedConnections.forAsking`. */
export function askingApart(apart: Apart) {
  const { entries, shared, isClosed } = apart;
  const places = new Places(apart);
  return (
    connection: Connection,
    owner: ConnectionOwner,
    call: AskableCall,
    { waits, chosen }: AskingRequest,
  ): RequestConnection => {
    const isContested = (): boolean => connection.questions?.isContested(call) === true;
    if (isClosed() || !(waits || isContested())) return connection;
    const isShared = connection === shared(connection.server.name);
    const entry = entries.get(connection);
    const base = entry?.shared ?? connection;
    // A connection of one session is no place where calls of several clients meet.
    if (!isShared && (call.asker !== undefined || entry?.owner.session !== '')) return connection;
    const choose = (): Connection | undefined => {
      if (call.asker !== undefined) return places.ofSession(connection, owner, call);
      const { opened = {}, passed }: Partial<OpenedOwner> = entry ? { ...entry.owner, opened: entry.opened } : {};
      const principal = entry?.owner.principal ?? owner.principal;
      return places.alone(connection, base, { principal, session: '', passed, opened });
    };
    // The call may have waited for minutes: a server, its settings or a credential may be others by then.
    const holds = (): boolean =>
      !isClosed() &&
      shared(base.server.name) === base &&
      connection.status.kind !== 'stopped' &&
      !(entry && isOver(entry, { ...apart, settings: apart.settings() }, false));
    return chosenLate(places, connection, {
      isContested,
      choose: () => (holds() ? choose() : undefined),
      chosen,
    });
  };
}

/** Connections beside others, in which a server request is certainly for one call, or one session. */
class Places {
  readonly #apart: Apart;
  /** By the connection beside which they could not be started, and until when none is. */
  readonly #failures = new WeakMap<Connection, { readonly backOff: BackOff; until: number }>();
  #told = -Infinity;

  constructor(apart: Apart) {
    this.#apart = apart;
  }

  /** A connection through which nothing goes, and which is reserved; undefined where there is no room for one more. */
  alone(beside: Connection, base: Connection, owner: OpenedOwner): Connection | undefined {
    const { dedicated, end } = this.#apart;
    const id = principalId(owner.principal);
    const all = this.#temporaries().filter(([, entry]) => isAlone(entry) && principalId(entry.owner.principal) === id);
    for (const [key, entry] of all) if (isSpent(entry)) end(key, entry);
    const own = all.filter(([key]) => dedicated.has(key));
    const here = own.filter(([, entry]) => entry.beside === beside);
    // One that starts slowly, for a call that did not wait for it to the end, is for the next one.
    const free = here.find(([, entry]) => isFree(entry)) ?? here.find(([, entry]) => isStartingUnused(entry));
    const entry = free?.[1] ?? (this.#mayStart(beside) ? this.#openAlone(beside, base, owner, own) : undefined);
    if (!entry) return undefined;
    entry.lastUsedAt = Date.now();
    entry.reservedUntil = Infinity;
    return entry.connection;
  }

  /** The call that it was chosen for is about to be sent, or has been, or is not sent at all. */
  reserve(connection: Connection, forMs: number): void {
    const entry = this.#apart.entries.get(connection);
    if (entry) entry.reservedUntil = performance.now() + forMs;
  }

  /** One that was chosen is connected. */
  started(connection: Connection): void {
    const beside = this.#apart.entries.get(connection)?.beside;
    if (beside) this.#failures.delete(beside);
  }

  /** One that was chosen is not connected. What takes long, or was ended, has not failed. */
  notStarted(connection: Connection): void {
    const entry = this.#apart.entries.get(connection);
    const { kind } = connection.status;
    if (!entry?.beside || !isAlone(entry) || kind === 'connecting' || kind === 'stopped') return;
    const isProgram = connection.server.transport.type === 'stdio';
    const { backOff } = this.#failures.get(entry.beside) ?? { backOff: new BackOff(isProgram) };
    backOff.failed(0);
    this.#failures.set(entry.beside, { backOff, until: performance.now() + backOff.nextMs() });
    this.endSpent(connection);
  }

  /** Ends it if it can take no other call. */
  endSpent(connection: Connection): void {
    const found = this.#temporaries().find(([, entry]) => entry.connection === connection);
    if (found && isSpent(found[1])) this.#apart.end(...found);
  }

  /** After a failure one is tried at a time, and none for a while. */
  #mayStart(beside: Connection): boolean {
    const failure = this.#failures.get(beside);
    if (!failure) return true;
    if (performance.now() < failure.until) return false;
    return !this.#temporaries().some(([, e]) => e.beside === beside && e.connection.status.kind === 'connecting');
  }

  /** One of the connections of a session in which a server request is certainly for this call. */
  ofSession(base: Connection, owner: ConnectionOwner, call: AskableCall): Connection | undefined {
    for (let n = 0; ; n++) {
      const key = JSON.stringify([base.server.name, principalId(owner.principal), owner.session, 'temporary', n]);
      let entry = this.#apart.dedicated.get(key);
      if (entry && entry.shared !== base) {
        this.#apart.end(key, entry);
        entry = undefined;
      }
      entry ??= this.#open(key, base, { ...owner, opened: {} }, base);
      if (entry?.connection.questions?.isContested(call)) continue;
      if (entry) entry.lastUsedAt = Date.now();
      return entry?.connection;
    }
  }

  #openAlone(
    beside: Connection,
    base: Connection,
    owner: OpenedOwner,
    own: readonly Entry[],
  ): DedicatedConnection | undefined {
    const { dedicated, end } = this.#apart;
    if (own.length >= upstreamLimits.temporaryPerCaller) {
      const idle = own.find(([, entry]) => isFree(entry));
      // Where clients do not log in they are all one caller, and a call of one makes no room for that of another.
      const left = idle ?? (owner.principal.kind === 'anonymous' ? undefined : longestLeft(own));
      if (!left) return undefined;
      end(...left, idle ? undefined : givenUp(left[1].connection.server.name));
    }
    for (let n = 0; ; n++) {
      const key = `${ownerKey(base.server.name, owner)} alone ${n}`;
      if (!dedicated.has(key)) return this.#open(key, base, owner, beside);
    }
  }

  #open(key: string, base: Connection, owner: OpenedOwner, beside: Connection): DedicatedConnection | undefined {
    const { dedicated, total, log, end, open } = this.#apart;
    const all = this.#temporaries();
    if (all.length >= upstreamLimits.temporaryConnections || dedicated.size >= total) {
      const idle = all.find(([, entry]) => isFree(entry));
      if (!idle) return undefined;
      end(...idle);
    }
    const now = performance.now();
    const level = now - this.#told < upstreamLimits.temporaryToldMs ? 'debug' : 'info';
    if (level === 'info') this.#told = now;
    log(base.server)[level](
      'a question could be for another call that is on its way, or was given up; a call that may ask gets a connection of its own',
    );
    return open(key, base, owner, beside);
  }

  #temporaries(): Entry[] {
    return [...this.#apart.dedicated].filter(([, { beside }]) => beside !== undefined);
  }
}

/** Made for calls of clients without a session, one at a time. */
function isAlone({ beside, owner }: DedicatedConnection): boolean {
  return beside !== undefined && owner.session === '';
}

/**
 * Whether one for single calls can take no other: it is not connected, or the call that it had was given up, with which
 * its server may go on.
 */
export function isSpent(entry: DedicatedConnection): boolean {
  const { connection } = entry;
  if (!isAlone(entry) || isBusy(connection)) return false;
  return connection.hasGivenUp || connection.status.kind !== 'connected';
}

/** Whether nothing goes through it, and it is not kept for a call that is about to be sent. */
export function isFree({ connection, reservedUntil }: DedicatedConnection): boolean {
  return !isBusy(connection) && reservedUntil <= performance.now();
}

/** Whether it is not connected yet, and no call waits for it. */
function isStartingUnused({ connection, reservedUntil }: DedicatedConnection): boolean {
  return connection.status.kind === 'connecting' && reservedUntil <= performance.now();
}

export function isBusy({ status, inFlight, isWatched }: Connection): boolean {
  return inFlight > 0 || isWatched || status.kind === 'connecting';
}

/** The one whose call has waited longest for its client, and long enough to count as left. */
function longestLeft(held: readonly Entry[]): Entry | undefined {
  const since = ([, { connection }]: Entry): number => connection.questions?.heldSince ?? Infinity;
  const [longest] = held.toSorted((a, b) => since(a) - since(b));
  return longest && performance.now() - since(longest) >= upstreamLimits.temporaryLeftMs ? longest : undefined;
}

function givenUp(server: string): HubError {
  const text =
    `The call at server "${server}" waited for answers, and was given up for a newer one of the same caller: ` +
    `${upstreamLimits.temporaryPerCaller} of them may wait. Make the call again.`;
  return new HubError('too_many', text);
}

interface Choice extends Pick<AskingRequest, 'chosen'> {
  readonly isContested: () => boolean;
  readonly choose: () => Connection | undefined;
}

/**
 * The connection of a request, chosen when the request is about to be sent: until then it may wait for a person's yes,
 * and nothing is kept for it. Where none is chosen, or the chosen one does not come about, it is the other one.
 */
function chosenLate(places: Places, other: Connection, { isContested, choose, chosen }: Choice): RequestConnection {
  let used: Connection | undefined;
  const current = (): Connection => used ?? other;
  return {
    takeId: () => current().takeId(),
    get status() {
      return used === undefined && isContested() ? { kind: 'connecting' } : current().status;
    },
    get offer() {
      return current().offer ?? other.offer;
    },
    async available(waitMs) {
      const taken = used === other ? undefined : used;
      const first = taken ?? (isContested() ? choose() : undefined);
      if (!first) {
        await other.available(waitMs);
        used = other;
        return;
      }
      try {
        used = await connected(first, other, waitMs, places);
      } finally {
        // It is decided once more whether the call is allowed, and then it is sent.
        places.reserve(first, used === first ? upstreamLimits.temporaryReservedMs : 0);
      }
      if (used === first) chosen(first);
    },
    send: (...request) => {
      current().send(...request);
      if (used) places.reserve(used, 0);
    },
    cancel: (...request) => {
      current().cancel(...request);
      // The server may go on with the call.
      if (used) places.endSpent(used);
    },
  };
}

/** Waits for the first, and where it fails for the other. Throws what the other throws. */
async function connected(first: Connection, other: Connection, waitMs: number, places: Places): Promise<Connection> {
  try {
    await first.available(waitMs);
    places.started(first);
    return first;
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    places.notStarted(first);
    await other.available(waitMs);
    return other;
  }
}

import { HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { principalId } from '../../core/access/principal.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import { upstreamLimits } from '../limits.ts';
import type { Connection } from './connection.ts';
import type { AskableCall } from './link/options.ts';
import { type ConnectionOwner, type OpenedFor, type OpenedOwner, ownerKey } from './owner.ts';

/** A connection that is not there for all. */
export interface DedicatedConnection {
  readonly connection: Connection;
  readonly shared: Connection;
  readonly owner: ConnectionOwner;
  readonly opened: OpenedFor;
  /** The connection whose calls it takes over when they may ask; undefined of one that is no such stand-in. */
  readonly beside: Connection | undefined;
  lastUsedAt: number;
}

/** The part of a connection that one request needs. */
export interface RequestConnection extends Pick<Connection, 'offer' | 'available' | 'takeId' | 'send' | 'cancel'> {
  readonly status: { readonly kind: string; readonly phase?: string };
}

interface Apart {
  /** In the order of their last use. */
  readonly dedicated: ReadonlyMap<string, DedicatedConnection>;
  readonly entries: WeakMap<Connection, DedicatedConnection>;
  readonly shared: (server: string) => Connection | undefined;
  readonly log: (server: ServerSettings) => Logger;
  /** Dedicated connections of all kinds. */
  readonly total: number;
  readonly open: (key: string, base: Connection, owner: OpenedOwner, beside: Connection) => DedicatedConnection;
  readonly end: (key: string, entry: DedicatedConnection, why?: HubError) => void;
  readonly isClosed: () => boolean;
}

type Entry = [string, DedicatedConnection];

/** `DedicatedConnections.forAsking`. */
export function askingApart(apart: Apart) {
  const { entries, shared, isClosed } = apart;
  const places = new Places(apart);
  return (connection: Connection, owner: ConnectionOwner, call: AskableCall): RequestConnection => {
    if (isClosed() || connection.questions?.isContested(call) !== true) return connection;
    const isShared = connection === shared(connection.server.name);
    if (call.asker === undefined) {
      // A connection of one session is no place where calls of several clients meet.
      const entry = entries.get(connection);
      if (!isShared && entry?.owner.session !== '') return connection;
      const { opened = {}, passed }: Partial<OpenedOwner> = entry ? { ...entry.owner, opened: entry.opened } : {};
      const alone: OpenedOwner = { principal: entry?.owner.principal ?? owner.principal, session: '', passed, opened };
      return chosenLate(places, connection, () => places.alone(connection, entry?.shared ?? connection, alone));
    }
    const own = isShared ? places.ofSession(connection, owner, call) : undefined;
    return own ? withFallback(own, connection) : connection;
  };
}

/** Connections beside others, in which a server request is certainly for one call, or one session. */
class Places {
  readonly #apart: Apart;
  /** Chosen for a call that is not sent yet, and until when; on the clock of `performance.now()`. */
  readonly #reserved = new WeakMap<Connection, number>();
  #told = -Infinity;

  constructor(apart: Apart) {
    this.#apart = apart;
  }

  /** A connection through which nothing goes, and which is reserved; undefined where there is no room for one more. */
  alone(beside: Connection, base: Connection, owner: OpenedOwner): Connection | undefined {
    const id = principalId(owner.principal);
    const own = this.#temporaries().filter(([, entry]) => isAlone(entry) && principalId(entry.owner.principal) === id);
    for (const [key, entry] of own) if (isSpent(entry)) this.#apart.end(key, entry);
    const free = own.find(([, entry]) => entry.beside === beside && !isSpent(entry) && this.#isFree(entry));
    const entry = free?.[1] ?? this.#openAlone(beside, base, owner, own);
    if (!entry) return undefined;
    entry.lastUsedAt = Date.now();
    this.#reserved.set(entry.connection, Infinity);
    return entry.connection;
  }

  /** The call that it was chosen for is about to be sent, or has been, or is not sent at all. */
  reserve(connection: Connection, forMs: number): void {
    this.#reserved.set(connection, performance.now() + forMs);
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
    const held = own.filter(([key]) => dedicated.has(key));
    if (held.length >= upstreamLimits.temporaryPerCaller) {
      const idle = held.find(([, entry]) => this.#isFree(entry));
      const left = idle ?? longestLeft(held);
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
      const idle = all.find(([, entry]) => this.#isFree(entry));
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

  #isFree({ connection }: DedicatedConnection): boolean {
    return !isBusy(connection) && (this.#reserved.get(connection) ?? 0) <= performance.now();
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

/** Most calls of a request's connection, the moment it is known. */
function through(current: () => Connection): Pick<RequestConnection, 'takeId' | 'send' | 'cancel'> {
  return {
    takeId: () => current().takeId(),
    send: (...request) => current().send(...request),
    cancel: (...request) => current().cancel(...request),
  };
}

/** A request goes through the first connection, or through the other one where the first does not come about. */
function withFallback(first: Connection, other: Connection): RequestConnection {
  let used = first;
  return {
    ...through(() => used),
    get status() {
      return used.status;
    },
    get offer() {
      return used.offer ?? other.offer;
    },
    async available(waitMs) {
      used = await connected(first, other, waitMs);
    },
  };
}

/**
 * The same, where the first one is chosen when the request is about to be sent: until then it may wait for a person's
 * yes, and nothing is kept for it.
 */
function chosenLate(places: Places, other: Connection, choose: () => Connection | undefined): RequestConnection {
  let used: Connection | undefined;
  const rest = through(() => used ?? other);
  return {
    ...rest,
    get status() {
      return used?.status ?? { kind: 'connecting' };
    },
    get offer() {
      return used?.offer ?? other.offer;
    },
    async available(waitMs) {
      const first = used ?? choose();
      if (!first) {
        await other.available(waitMs);
        used = other;
        return;
      }
      try {
        used = await connected(first, other, waitMs);
      } finally {
        // It is decided once more whether the call is allowed, and then it is sent.
        places.reserve(first, used === first ? upstreamLimits.temporaryReservedMs : 0);
      }
    },
    send: (...request) => {
      rest.send(...request);
      if (used) places.reserve(used, 0);
    },
  };
}

/** Waits for the first, and where it fails for the other. Throws what the other throws. */
async function connected(first: Connection, other: Connection, waitMs: number): Promise<Connection> {
  try {
    await first.available(waitMs);
    return first;
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    await other.available(waitMs);
    return other;
  }
}

import { randomUUID } from 'node:crypto';
import { type HubId, idAt, newHubId } from '../core/hub-id.ts';
import { type ClientCapabilities, noCapabilities } from '../core/protocol/server-requests.ts';
import { BusyMap } from '../core/busy-map.ts';
import { type Principal, principalFromId, principalId } from '../core/access/principal.ts';
import { type Scope, scopeFromId, scopeId } from '../core/access/scope.ts';
import type { Sealer } from '../core/seal.ts';
import { putLast } from '../core/put-last.ts';
import type { EventLog } from './event-log.ts';
import { mcpLimits } from './limits.ts';
import type { Reply } from './reply.ts';
import type { Stream } from './stream.ts';

/**
 * What a session of the old era is, whole: it travels sealed in `Mcp-Session-Id`, so any replica and the hub after a
 * restart can read it.
 */
export interface SessionFacts {
  /** Says at which hub it began. */
  readonly sid: string;
  readonly principal: Principal;
  readonly scope: Scope;
  readonly revision: string;
  /** What its client said it can be asked. */
  readonly abilities: ClientCapabilities;
  /** What its client calls itself, as plain text. */
  readonly client?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Something in flight that the client may cancel. */
export interface Cancellable {
  cancel(reason: string): void;
  /** Where its answer goes, and what the server asks in the middle of it. */
  readonly reply?: Reply;
}

/** What a session has going on right now; exists only while there is something. */
export interface LiveSession {
  readonly facts: SessionFacts;
  readonly streams: Set<Stream>;
  /** Calls by the client's request id, as `JSON.stringify` has it: clients may spell the same id in several ways. */
  readonly inFlight: InFlight<Cancellable>;
  /** From which severity on the client wants log messages; undefined = it did not say. Lost with the hub. */
  readonly logLevel: string | undefined;
  setLogLevel(level: string): void;
  /** Set while the session is told of changes; called when it has no stream left for them. */
  stopListening: (() => void) | undefined;
  /** What its last stream carried, for when the client comes back to it. */
  away: EventLog | undefined;
  /** When its client last asked for something, milliseconds since the epoch. */
  touchedAt: number;
  /** What keeps the session without a call or a stream: what to do when it ends, by name. */
  readonly holds: Map<string, () => void>;
  /**
   * Sends a message on one of its streams, never two (2025-11-25, Multiple Connections), or keeps it for one to come
   * back to. False: neither is there.
   */
  send(text: string): boolean;
  /** Takes a call or a stream out; the session is let go with the last of them. */
  settle(gone: { call?: Cancellable; id?: string; stream?: Stream }): void;
}

/** What a client says of itself when it begins. */
export type ClientFacts = Pick<SessionFacts, 'abilities' | 'client'>;

export interface Sessions {
  /** Makes a session and its token (the value of `Mcp-Session-Id`). */
  begin(principal: Principal, scope: Scope, revision: string, about?: Partial<ClientFacts>): string;
  /**
   * The session of a token; undefined when it is not ours, expired, ended, or was made for another principal or
   * endpoint: all look alike.
   */
  find(token: string, principal: Principal, scope: Scope): SessionFacts | undefined;
  /**
   * Ends it: its token opens nothing any more, its streams close, what it has in flight is cancelled. `token`, where it
   * is at hand, is no longer kept ready either.
   */
  end(facts: Pick<SessionFacts, 'sid' | 'expiresAt'>, token?: string): void;
  live(facts: SessionFacts): LiveSession;
  /** Adds a session of legacy SSE, which `byId` finds until the function returned is called. */
  adopt(session: LiveSession): () => void;
  /** The session by its id, as far as it has something going on. */
  byId(sid: string): LiveSession | undefined;
  /**
   * Ends those that expired or whose principal is gone, and lets go of what is held for clients that left long ago.
   * Answers the ids of those that ended.
   */
  sweep(isGone: (principal: Principal) => boolean): string[];
  readonly liveCount: number;
}

/** The stream that was opened last: an older one may be broken without the hub knowing yet. */
export function newest(streams: ReadonlySet<Stream>): Stream | undefined {
  return [...streams].findLast((stream) => stream.open);
}

/** Sends on the newest open stream, or keeps for the one that was there last. */
export function sendOn({ streams, away }: Pick<LiveSession, 'streams' | 'away'>, text: string): boolean {
  const stream = newest(streams);
  if (stream) stream.send(text);
  else away?.add(text);
  return stream !== undefined || away !== undefined;
}

export function createSessions(sealer: Sealer, now: () => number = Date.now, hub: HubId = newHubId()): Sessions {
  const opened = new BusyMap<string, SessionFacts>(randomEnd);
  const ended = new Map<string, number>();
  const live = new BusyMap<string, LiveSession>(randomEnd);
  const logLevels = new Map<string, string>();

  function open(token: string): SessionFacts | undefined {
    const known = opened.get(token);
    if (known) return known;
    const text = sealer.open(token);
    const facts = text === undefined ? undefined : parse(text);
    if (facts) keep(token, facts);
    return facts;
  }

  function keep(token: string, facts: SessionFacts): void {
    if (token.length > mcpLimits.openedTokenChars) return;
    if (opened.size >= mcpLimits.openedSessions) opened.clear();
    opened.set(token, facts);
  }

  function release(session: LiveSession): void {
    const { sid } = session.facts;
    if (live.get(sid) === session) live.delete(sid);
  }

  function end(facts: Pick<SessionFacts, 'sid' | 'expiresAt'>, token?: string): void {
    if (token !== undefined) opened.delete(token);
    if (ended.size >= mcpLimits.endedSessions) forgetExpired(ended, now());
    ended.set(facts.sid, facts.expiresAt);
    logLevels.delete(facts.sid);
    const session = live.get(facts.sid);
    live.delete(facts.sid);
    session?.stopListening?.();
    for (const release of session?.holds.values() ?? []) release();
    for (const stream of session?.streams ?? []) stream.end();
    for (const call of session?.inFlight.values() ?? []) call.cancel('session ended');
  }

  return {
    begin(principal, scope, revision, { abilities = noCapabilities, client } = {}) {
      const expiresAt = now() + mcpLimits.sessionMs;
      const facts = { sid: idAt(hub, randomUUID()), principal, scope, revision, abilities, client, expiresAt };
      const token = sealer.seal(textOf(facts));
      // Its client is about to come with it.
      keep(token, facts);
      return token;
    },
    find(token, principal, scope) {
      const facts = open(token);
      if (!facts || facts.expiresAt <= now() || ended.has(facts.sid)) return undefined;
      const same = principalId(facts.principal) === principalId(principal) && scopeId(facts.scope) === scopeId(scope);
      return same ? facts : undefined;
    },
    end,
    live(facts) {
      const known = live.get(facts.sid);
      if (known) {
        known.touchedAt = now();
        return known;
      }
      const session = new Live(facts, { logLevels, release, now: now() });
      live.set(facts.sid, session);
      return session;
    },
    adopt(session) {
      const { sid } = session.facts;
      live.set(sid, session);
      return () => live.delete(sid);
    },
    byId: (sid) => live.get(sid),
    sweep(isGone) {
      const over: string[] = [];
      for (const session of live.values()) {
        const { facts, streams, inFlight, touchedAt } = session;
        if (facts.expiresAt <= now() || isGone(facts.principal)) {
          end(facts);
          over.push(facts.sid);
        } else if (streams.size + inFlight.size === 0 && touchedAt < now() - mcpLimits.heldSessionMs) {
          for (const release of session.holds.values()) release();
          session.holds.clear();
          session.settle({});
        }
      }
      return over;
    },
    get liveCount() {
      return live.size;
    },
  };
}

/** A class, because one is made for each call of a session that has nothing else going on. */
class Live implements LiveSession {
  readonly facts: SessionFacts;
  readonly inFlight = new InFlight<Cancellable>();
  #streams: Set<Stream> | undefined;
  #holds: Map<string, () => void> | undefined;
  stopListening: (() => void) | undefined;
  away: EventLog | undefined;
  touchedAt: number;
  readonly #logLevels: Map<string, string>;
  readonly #release: (session: Live) => void;

  constructor(
    facts: SessionFacts,
    { logLevels, release, now }: { logLevels: Map<string, string>; release: (session: Live) => void; now: number },
  ) {
    this.facts = facts;
    this.touchedAt = now;
    this.#logLevels = logLevels;
    this.#release = release;
  }

  get logLevel(): string | undefined {
    return this.#logLevels.get(this.facts.sid);
  }

  setLogLevel(level: string): void {
    putLast(this.#logLevels, this.facts.sid, level, mcpLimits.wantedLogLevels);
  }

  /** Made when it is first looked at, like `holds`: most sessions have nothing but a call. */
  get streams(): Set<Stream> {
    return (this.#streams ??= new Set());
  }

  get holds(): Map<string, () => void> {
    return (this.#holds ??= new Map());
  }

  send(text: string): boolean {
    return sendOn(this, text);
  }

  settle({ call, id, stream }: { call?: Cancellable; id?: string; stream?: Stream }): void {
    if (stream) this.#streams?.delete(stream);
    // Another call may have taken the id meanwhile: clients are not always careful with theirs.
    if (id !== undefined && this.inFlight.get(id) === call) this.inFlight.delete(id);
    if (this.#streams && this.#streams.size > 0) return;
    this.stopListening?.();
    this.stopListening = undefined;
    if (this.inFlight.size === 0 && (this.#holds?.size ?? 0) === 0) this.#release(this);
  }
}

/** The ids of sessions and the texts that are sealed end with something random: to hash all of it takes longer. */
const randomEnd = 8;

function textOf({ sid, principal, scope, revision, expiresAt, abilities, client }: SessionFacts): string {
  return JSON.stringify([sid, principalId(principal), scopeId(scope), revision, expiresAt, abilities, client]);
}

function parse(text: string): SessionFacts | undefined {
  const fields: unknown = JSON.parse(text);
  if (!Array.isArray(fields)) return undefined;
  // What a token of an earlier version lacks is left out.
  const [sid, principalText, scopeText, revision, expiresAt, abilities = noCapabilities, client] = fields as unknown[];
  const principal = principalFromId(String(principalText));
  if (!principal || typeof sid !== 'string' || typeof expiresAt !== 'number') return undefined;
  const scope = scopeFromId(String(scopeText));
  const facts = { sid, principal, scope, revision: String(revision), abilities: String(abilities), expiresAt };
  return typeof client === 'string' ? { ...facts, client } : facts;
}

/** Removes entries: first the expired ones, then the oldest. */
function forgetExpired(ended: Map<string, number>, now: number): void {
  for (const [sid, expiresAt] of ended) if (expiresAt <= now) ended.delete(sid);
  for (const sid of ended.keys()) {
    if (ended.size < mcpLimits.endedSessions) return;
    ended.delete(sid);
  }
}

/** What a session has in flight, by request id: nearly always one thing, for which there need be no table. */
export class InFlight<V> {
  #key: string | undefined;
  #value: V | undefined;
  #more: BusyMap<string, V> | undefined;

  get size(): number {
    return (this.#key === undefined ? 0 : 1) + (this.#more?.size ?? 0);
  }

  get(key: string): V | undefined {
    return key === this.#key ? this.#value : this.#more?.get(key);
  }

  set(key: string, value: V): void {
    if (key === this.#key || this.size === 0) {
      this.#key = key;
      this.#value = value;
    } else {
      this.#more ??= new BusyMap();
      this.#more.set(key, value);
    }
  }

  delete(key: string): void {
    if (key === this.#key) {
      this.#key = undefined;
      this.#value = undefined;
    } else {
      this.#more?.delete(key);
    }
  }

  *values(): IterableIterator<V> {
    if (this.#key !== undefined) yield this.#value as V;
    yield* this.#more?.values() ?? [];
  }
}

import { type HubId, isHubId, newHubId } from '../core/hub-id.ts';
import type { LargeText } from '../core/json/large-text.ts';
import type { HttpResponse } from '../wire/http.ts';
import { mcpLimits } from './limits.ts';

/** A message that was sent on a stream, under its place there. */
export interface SentEvent {
  readonly place: number;
  readonly text: string | LargeText;
}

/**
 * Sends on this response the messages after an event (2025-11-25, Resumability and Redelivery), then the rest of the
 * stream.
 */
export type Resume = (res: HttpResponse, headers: Record<string, string>, after: number) => void;

/**
 * What one event stream of a session carried, apart from the connections that carry it. Its ids name the stream and the
 * place in it, and are never given twice, not even by another hub.
 */
export class EventLog {
  readonly sid: string;
  /** Names the stream; part of the id of each of its events. */
  readonly name: string;
  /** Set for the stream of an answer: goes on with it. */
  resume: Resume | undefined;
  /** Set for a stream of a session's own: the connection that carries it. */
  carrier: { end(): void } | undefined;
  /** Of all that is kept of it. */
  chars = 0;
  /** When something was last added, milliseconds since the epoch. */
  touchedAt: number;
  readonly #store: Store;
  /** Made with the first event: most streams never carry one. */
  #kept: SentEvent[] | undefined;
  #place = 0;

  constructor(store: Store, sid: string, name: string) {
    this.#store = store;
    this.sid = sid;
    this.name = name;
    this.touchedAt = store.now();
  }

  /** The id of the last event that was sent, or of the stream's beginning. */
  get id(): string {
    return `${this.name}.${this.#place}`;
  }

  /** Adds a message that is sent now, or would be if the client were connected; returns its id. */
  add(text: SentEvent['text']): string {
    this.skip();
    this.#store.keep(this, { place: this.#place, text });
    return this.id;
  }

  /** The id of an event that need not be kept, because what it says can be found again from the present state. */
  skip(): string {
    this.#place++;
    return this.id;
  }

  get events(): readonly SentEvent[] {
    return this.#kept ?? [];
  }

  /** For the store. */
  push(event: SentEvent): void {
    (this.#kept ??= []).push(event);
  }

  /** For the store. */
  shift(): SentEvent | undefined {
    return this.#kept?.shift();
  }

  after(place: number): readonly SentEvent[] {
    return this.events.filter((event) => event.place > place);
  }
}

/** Whose messages are kept for clients that come back, within `mcpLimits.replay…`. */
export interface EventLogs {
  /** The log of a new stream; `kind` is the first character of its name. */
  begin(sid: string, kind: 'p' | 'g'): EventLog;
  /**
   * The log that an event id belongs to, and the place in it; undefined when it is no id of this session, or not kept
   * any more.
   */
  find(sid: string, eventId: string): { log: EventLog; place: number } | undefined;
  /** Nothing of this stream will be asked for any more. */
  drop(log: EventLog): void;
  /**
   * Waits for a client to come back to its call: `over` comes after `mcpLimits.resumeGraceMs`, or as soon as too many
   * calls of the same owner wait. The function returned ends the waiting.
   */
  wait(owner: string, over: () => void): () => void;
  /** The session is over. */
  endSession(sid: string): void;
  /** Of all that is kept. */
  readonly chars: number;
  close(): void;
}

export function createEventLogs(now: () => number = Date.now, hub: HubId = newHubId()): EventLogs {
  const store = new Store(now, hub);
  const timer = setInterval(() => store.expire(), mcpLimits.replaySweepMs).unref();
  const waiting = new Map<string, Set<() => void>>();
  return {
    begin: (sid, kind) => store.begin(sid, kind),
    find: (sid, eventId) => store.find(sid, eventId),
    drop: (log) => store.drop(log),
    wait(owner, over) {
      const own = waiting.get(owner) ?? new Set();
      waiting.set(owner, own);
      const end = (): void => {
        clearTimeout(grace);
        own.delete(giveUp);
        if (own.size === 0 && waiting.get(owner) === own) waiting.delete(owner);
      };
      const giveUp = (): void => {
        end();
        over();
      };
      const grace = setTimeout(giveUp, mcpLimits.resumeGraceMs).unref();
      own.add(giveUp);
      const [oldest] = own;
      // A client that left so many calls is not expected to come back to them.
      if (own.size > mcpLimits.resumeWaiting) oldest?.();
      return end;
    },
    endSession: (sid) => store.endSession(sid),
    get chars() {
      return store.chars;
    },
    close: () => clearInterval(timer),
  };
}

/** An event's id as its parts; what follows the place has a meaning for the stream alone. */
const idPattern = /^([pg][\w-]{1,40})\.(\d{1,15})(?:\.|$)/;

/** The hub that has the log of an event. It proves nothing. */
export function hubOfEvent(eventId: string): HubId | undefined {
  const [, name = ''] = idPattern.exec(eventId) ?? [];
  const hub = name.slice(1, 9);
  return isHubId(hub) ? hub : undefined;
}

class Store {
  readonly now: () => number;
  chars = 0;
  /** Those with something in them, in the order of their first event. */
  readonly #logs = new Map<string, EventLog>();
  readonly #ofSession = new Map<string, Set<EventLog>>();
  readonly #hub: HubId;
  #count = 0;

  constructor(now: () => number, hub: HubId) {
    this.now = now;
    this.#hub = hub;
  }

  begin(sid: string, kind: 'p' | 'g'): EventLog {
    return new EventLog(this, sid, `${kind}${this.#hub}${(this.#count++).toString(36)}`);
  }

  find(sid: string, eventId: string): { log: EventLog; place: number } | undefined {
    const [, name = '', place] = idPattern.exec(eventId) ?? [];
    const log = this.#logs.get(name);
    return log?.sid === sid ? { log, place: Number(place) } : undefined;
  }

  keep(log: EventLog, event: SentEvent): void {
    const own = this.#ofSession.get(log.sid) ?? new Set();
    this.#ofSession.set(log.sid, own);
    this.#logs.set(log.name, log);
    own.add(log);
    log.push(event);
    log.touchedAt = this.now();
    this.#weigh(log, sizeOf(event));
    if (log.events.length > mcpLimits.replayEvents) this.#forgetOldest(log);
    // The newest event stays, however large it is: it may be the answer.
    while (charsOf(own) > mcpLimits.replaySessionChars && this.#forgetOldest(oldest(own, log))) {}
    for (const other of this.#logs.values()) {
      if (this.chars <= mcpLimits.replayChars) break;
      if (other !== log) this.drop(other);
    }
  }

  drop(log: EventLog): void {
    while (this.#forgetOldest(log)) {}
    this.#logs.delete(log.name);
    const own = this.#ofSession.get(log.sid);
    own?.delete(log);
    if (own?.size === 0) this.#ofSession.delete(log.sid);
  }

  endSession(sid: string): void {
    for (const log of this.#ofSession.get(sid) ?? []) this.drop(log);
  }

  expire(): void {
    const before = this.now() - mcpLimits.replayMs;
    for (const log of this.#logs.values()) if (log.touchedAt < before) this.drop(log);
  }

  /** False when there is nothing more to forget. */
  #forgetOldest(log: EventLog | undefined): boolean {
    if (!log) return false;
    const event = log.shift();
    if (event) this.#weigh(log, -sizeOf(event));
    return event !== undefined;
  }

  #weigh(log: EventLog, chars: number): void {
    log.chars += chars;
    this.chars += chars;
  }
}

function sizeOf({ text }: SentEvent): number {
  return typeof text === 'string' ? text.length : text.bytes;
}

function charsOf(logs: ReadonlySet<EventLog>): number {
  let chars = 0;
  for (const log of logs) chars += log.chars;
  return chars;
}

/** The first log that can spare an event. */
function oldest(logs: ReadonlySet<EventLog>, current: EventLog): EventLog | undefined {
  for (const log of logs) if (log.events.length > (log === current ? 1 : 0)) return log;
  return undefined;
}

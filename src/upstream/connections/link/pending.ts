import { BusyMap } from '../../../core/busy-map.ts';
import { asLost, type HubError } from '../../../core/errors.ts';
import { type Exchange, type RequestTimeouts, ignored } from '../exchange.ts';
import { upstreamLimits } from '../../limits.ts';

/**
 * A request on its way: its text stays until it is answered, so that it can be sent again when the server refused it
 * unread.
 */
export interface Pending {
  readonly exchange: Exchange;
  readonly text: string;
  /** What goes out in headers with it (HTTP, stateless revision), made again each time it is sent. */
  readonly headers: (() => readonly string[]) | undefined;
  readonly timeouts: RequestTimeouts;
  readonly startedAt: number;
  /** Grows with each request. */
  readonly turn: number;
  deadline: number;
  /** It was handed to the channel, and the server has not refused it unread. */
  wasSent: boolean;
  resent: boolean;
  /**
   * Questions of the server that wait for its client's answer; while there are any the deadline does not come nearer.
   */
  serverRequests: number;
  heldSince: number;
  heldMs: number;
  /** The server asked something while it ran that may belong to it; roots do not count. */
  wasAsked: boolean;
}

/**
 * The requests of one connection that wait for an answer, by the connection's own ids. One timer watches all deadlines,
 * and rests soon after nothing waits.
 */
export class PendingTable {
  readonly #waiting = new BusyMap<number, Pending>();
  readonly #expired: (id: number, pending: Pending) => void;
  #timer: NodeJS.Timeout | undefined;
  #turn = 0;
  /** When the timer last rested. */
  #restedAt = 0;

  /** `expired` is called for a request whose deadline passed, after it was taken out. */
  constructor(expired: (id: number, pending: Pending) => void) {
    this.#expired = expired;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** On the clock of `performance.now()`: when a request last ended, or up to `upstreamLimits.deadlineTickMs` later. */
  get lastEndAt(): number {
    return this.#timer ? performance.now() : this.#restedAt;
  }

  /** The client's request that waits when there is exactly one; the hub's own requests do not count. */
  get only(): Pending | undefined {
    let only: Pending | undefined;
    const several = this.#waiting.some((pending) => {
      if (pending.exchange.notified === ignored) return false;
      if (only) return true;
      only = pending;
      return false;
    });
    return several ? undefined : only;
  }

  /** Whether a request of a client waits; the hub's own do not count. */
  get hasCalls(): boolean {
    return this.#waiting.some(({ exchange }) => exchange.asked !== undefined);
  }

  /**
   * On the clock of `performance.now()`: since when all that waits here waits for answers of its clients; undefined
   * where something does not, and where nothing waits.
   */
  get heldSince(): number | undefined {
    let since: number | undefined;
    const works = this.#waiting.some((pending) => {
      since = Math.max(since ?? 0, pending.heldSince);
      return pending.serverRequests === 0;
    });
    return works ? undefined : since;
  }

  add(
    id: number,
    exchange: Exchange,
    { text, headers }: Pick<Pending, 'text' | 'headers'>,
    timeouts: RequestTimeouts,
  ): Pending {
    const startedAt = performance.now();
    const pending: Pending = {
      exchange,
      text,
      headers,
      timeouts,
      startedAt,
      turn: this.#turn++,
      deadline: startedAt + timeouts.timeoutMs,
      wasSent: false,
      resent: false,
      serverRequests: 0,
      heldSince: 0,
      heldMs: 0,
      wasAsked: false,
    };
    this.#waiting.set(id, pending);
    this.#timer ??= setInterval(() => this.#sweep(), upstreamLimits.deadlineTickMs);
    return pending;
  }

  get(id: unknown): Pending | undefined {
    return typeof id === 'number' ? this.#waiting.get(id) : undefined;
  }

  take(id: unknown): Pending | undefined {
    const pending = this.get(id);
    // The timer is left to find that nothing waits any more: to stop it here, and start it for the next call, would
    // cost more than the rest of both.
    if (pending) this.#waiting.delete(id as number);
    return pending;
  }

  /** The server reports progress: the time limit starts again, within the total that is allowed. */
  progressed(pending: Pending): void {
    const { timeoutMs, resetOnProgress, maxTotalMs } = pending.timeouts;
    if (!resetOnProgress || pending.serverRequests > 0) return;
    const latest = maxTotalMs === undefined ? Infinity : pending.startedAt + pending.heldMs + maxTotalMs;
    pending.deadline = Math.min(performance.now() + timeoutMs, latest);
  }

  /** A person is asked, who takes longer than a server may: the deadline is put off for as long as that. */
  hold(id: number): void {
    const pending = this.get(id);
    if (pending && pending.serverRequests++ === 0) pending.heldSince = performance.now();
  }

  /** Undoes one `hold`. */
  release(id: number): void {
    const pending = this.get(id);
    if (!pending || --pending.serverRequests > 0) return;
    const heldMs = performance.now() - pending.heldSince;
    pending.heldMs += heldMs;
    pending.deadline += heldMs;
  }

  /** Oldest first. */
  [Symbol.iterator](): IterableIterator<[number, Pending]> {
    return [...this.#waiting].toSorted(([, a], [, b]) => a.turn - b.turn).values();
  }

  /** Fails everything that waits; what was sent may have been carried out. */
  failAll(error: HubError): void {
    const all = [...this];
    this.#waiting.clear();
    this.#rest();
    for (const [, { exchange, wasSent }] of all) exchange.failed(asLost(error, wasSent));
  }

  #sweep(): void {
    const now = performance.now();
    for (const [id, pending] of this.#waiting) {
      if (pending.deadline > now || pending.serverRequests > 0) continue;
      this.#waiting.delete(id);
      this.#expired(id, pending);
    }
    this.#rest();
  }

  #rest(): void {
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#restedAt = performance.now();
  }
}

/**
 * The requests of one link that were given up unanswered: the server may still be at work on them, and ask or say
 * something for them.
 */
export class AbandonedRequests {
  /** Requests of clients, the oldest first: whose, and when they were given up. */
  readonly #requests = new Map<number, { readonly asker: string | undefined; readonly at: number }>();
  /** The hub's own, for which no client can be asked. */
  readonly #own = new Set<number>();
  readonly #forgetAfterMs: number;
  /** Until when there were more of them than are remembered. */
  #crowdedUntil = -Infinity;

  /** `forgetAfterMs`: how long an unanswered one counts; `Infinity` is until the server has ended. */
  constructor(forgetAfterMs: number) {
    this.#forgetAfterMs = forgetAfterMs;
  }

  get isEmpty(): boolean {
    return this.#requests.size === 0 && this.#crowdedUntil === -Infinity;
  }

  has(id: number): boolean {
    return this.#requests.has(id) || this.#own.has(id);
  }

  add(id: number, exchange: Exchange | undefined): void {
    if (!exchange?.asked) {
      const [oldest] = this.#own;
      if (this.#own.size >= upstreamLimits.abandonedCalls && oldest !== undefined) this.#own.delete(oldest);
      this.#own.add(id);
      return;
    }
    const now = performance.now();
    this.#forgetExpired(now);
    // A client that gives up a thousand calls must not get the server request that belongs to the call before them.
    if (this.#requests.size >= upstreamLimits.abandonedCalls) this.#crowdedUntil = now + this.#forgetAfterMs;
    else this.#requests.set(id, { asker: exchange.asker, at: now });
  }

  /** The server has answered a request that nothing waits for. False: it was not given up either. */
  answered(id: unknown): boolean {
    return typeof id === 'number' && (this.#requests.delete(id) || this.#own.delete(id));
  }

  /**
   * Whether all of them were made by this client, so that a server request can be for no other client. Older ones than
   * `newerThanMs` are passed over.
   */
  areAllOf(asker: string | undefined, newerThanMs = Infinity): boolean {
    const now = performance.now();
    this.#forgetExpired(now);
    return this.#crowdedUntil <= now && !this.#someOther(asker, now - newerThanMs, now);
  }

  /** Whether one of them was made by another client, and the server has had the time to answer it. */
  hasOthers(asker: string | undefined): boolean {
    const now = performance.now();
    this.#forgetExpired(now);
    return this.#crowdedUntil > now || this.#someOther(asker, -Infinity, now - upstreamLimits.givenUpGraceMs);
  }

  clear(): void {
    this.#requests.clear();
    this.#own.clear();
    this.#crowdedUntil = -Infinity;
  }

  #someOther(asker: string | undefined, from: number, to: number): boolean {
    for (const one of this.#requests.values())
      if (one.at >= from && one.at <= to && (asker === undefined || one.asker !== asker)) return true;
    return false;
  }

  #forgetExpired(now: number): void {
    for (const [id, { at }] of this.#requests) {
      if (now - at < this.#forgetAfterMs) return;
      this.#requests.delete(id);
    }
  }
}

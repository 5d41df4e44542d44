import type { Exchange } from '../exchange.ts';
import { upstreamLimits } from '../../limits.ts';

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

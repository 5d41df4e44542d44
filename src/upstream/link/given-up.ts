import { limits } from '../../core/limits.ts';
import type { Exchange } from '../exchange.ts';

interface GivenUpRequest {
  /** Undefined: nothing that the server asks can be about it, because no client made it. */
  readonly by: Pick<Exchange, 'asker'> | undefined;
  readonly until: number;
}

/** The requests of one link that were given up unanswered. The server may still be at work on them, and ask something for them, until it answers them or `limits.abandonedMs` are over. */
export class GivenUp {
  readonly #requests = new Map<number, GivenUpRequest>();
  /** Until when there were more of them than are remembered. */
  #crowdedUntil = 0;

  has(id: number): boolean {
    return this.#requests.has(id);
  }

  add(id: number, exchange: Exchange | undefined): void {
    const now = performance.now();
    const until = now + limits.abandonedMs;
    this.#forgetExpired(now);
    const by = exchange?.asked && exchange;
    if (this.#requests.size < limits.abandonedCalls) this.#requests.set(id, { by, until });
    // A client that gives up a thousand calls must not be asked what the server asks for the one before them.
    else if (by) this.#crowdedUntil = until;
  }

  /** The server has answered a request that nothing waits for. False: it was not given up either. */
  answered(id: unknown): boolean {
    return typeof id === 'number' && this.#requests.delete(id);
  }

  /** Whether all of them were made by the client of this request, so that what the server asks can be for no other. */
  areAllOf({ asker }: Exchange): boolean {
    const now = performance.now();
    if (this.#crowdedUntil > now) return false;
    this.#forgetExpired(now);
    for (const { by } of this.#requests.values()) if (by && (asker === undefined || by.asker !== asker)) return false;
    return true;
  }

  clear(): void {
    this.#requests.clear();
    this.#crowdedUntil = 0;
  }

  /** The oldest are the first. */
  #forgetExpired(now: number): void {
    for (const [id, { until }] of this.#requests) {
      if (until > now) return;
      this.#requests.delete(id);
    }
  }
}

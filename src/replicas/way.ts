import { Pool } from 'undici';
import { replicaLimits } from './limits.ts';

/** Connections to another hub, for requests of one kind, and how many of these are there now. */
export class Way {
  readonly pool: Pool;
  readonly #most: number;
  readonly #perOwner = new Map<string, number>();
  #all = 0;

  constructor(origin: string, most: number) {
    this.#most = most;
    this.pool = new Pool(origin, {
      ...connecting,
      connections: most,
      // A call may take minutes, and a stream hours; each side ends what it began.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  get underWay(): number {
    return this.#all;
  }

  /** Whether there is no place for one more request of this owner. */
  isFull(owner: string): boolean {
    return this.#all >= this.#most || (this.#perOwner.get(owner) ?? 0) >= this.#most * replicaLimits.passedPart;
  }

  add(owner: string, by: 1 | -1): void {
    this.#all += by;
    const own = (this.#perOwner.get(owner) ?? 0) + by;
    if (own > 0) this.#perOwner.set(owner, own);
    else this.#perOwner.delete(owner);
  }

  destroy(): void {
    // What waits for its answer would wait for ever where nothing says that the connection is gone.
    void this.pool.destroy().catch(() => undefined);
  }
}

/** Connections of their own for the question whether a hub is there: it waits for no request that is passed on. */
export function helloPool(origin: string): Pool {
  return new Pool(origin, {
    ...connecting,
    connections: 2,
    maxResponseSize: replicaLimits.helloBytes,
    headersTimeout: replicaLimits.helloMs,
    bodyTimeout: replicaLimits.helloMs,
  });
}

const connecting = {
  pipelining: 1,
  connect: { timeout: replicaLimits.connectMs },
  keepAliveTimeout: replicaLimits.idleMs,
  keepAliveMaxTimeout: replicaLimits.idleMs,
} as const;

/** The origin of an address; undefined for what is none of a hub: the table may have been written by anything. */
export function originOf(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed && /^https?:$/.test(parsed.protocol) && parsed.username === '' ? parsed.origin : undefined;
}

import { upstreamLimits } from '../limits.ts';

/** What decides when a connection may sleep. */
export interface Sleeper {
  /** A request is under way, a resource is watched, or what the server keeps for a client is still wanted. */
  isBusy(): boolean;
  /** On the clock of `performance.now()`: when the last request ended. */
  lastEndAt(): number;
  /** Nothing has used the connection for as long as the settings say. */
  sleep(): void;
}

/**
 * The clock of a connection whose server runs only while it is used (`startOnDemand`). It runs while the server is
 * connected; each look is a comparison of times, so that a call costs one assignment.
 */
export class Sleep {
  readonly #of: Sleeper;
  /** Undefined: the server does not sleep. */
  #idleMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #runs = false;
  #usedAt = 0;
  /** Since when a call may start a server whose last start failed. */
  #callsFrom = 0;

  constructor(of: Sleeper, idleMs: number | undefined) {
    this.#of = of;
    this.#idleMs = idleMs;
  }

  get isOn(): boolean {
    return this.#idleMs !== undefined;
  }

  /** The settings say something else now. */
  set(idleMs: number | undefined): void {
    if (idleMs === this.#idleMs) return;
    this.#idleMs = idleMs;
    if (this.#runs) this.start();
  }

  /** The server is connected. */
  start(): void {
    this.#runs = true;
    this.#usedAt = performance.now();
    this.#lookIn(this.#leastMs());
  }

  stop(): void {
    this.#runs = false;
    clearTimeout(this.#timer);
  }

  /** A request is made or about to be made. */
  used(): void {
    this.#usedAt = performance.now();
  }

  /** A start has failed. Calls until then are told so at once: a broken program is not started again for each. */
  failed(waitMs: number): void {
    this.#callsFrom = performance.now() + Math.min(waitMs, upstreamLimits.onDemandRetryMs);
  }

  /** Whether a call may start the server although its last start failed. */
  get mayTryAgain(): boolean {
    return this.isOn && performance.now() >= this.#callsFrom;
  }

  #leastMs(): number {
    return Math.max(this.#idleMs ?? 0, upstreamLimits.idleLeastMs);
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.isOn) this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    const now = performance.now();
    if (this.#of.isBusy()) this.#usedAt = now;
    const leftMs = Math.max(this.#usedAt, this.#of.lastEndAt()) + this.#leastMs() - now;
    if (leftMs <= 0) return this.#of.sleep();
    // What is busy says nothing when it ends.
    this.#lookIn(this.#usedAt === now ? Math.min(leftMs, upstreamLimits.busyLookMs) : leftMs);
  }
}

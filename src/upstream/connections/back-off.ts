import { coreLimits } from '../../core/limits.ts';
import { upstreamLimits } from '../limits.ts';

/** How long it is waited before a server is tried again, longer with each failure. */
export class BackOff {
  readonly #longestMs: number;
  #failures = 0;
  /** How long it was waited before the last attempt. */
  #lastWaitMs = 0;

  constructor(isProgram: boolean) {
    this.#longestMs = isProgram ? upstreamLimits.backOffProgramMaxMs : upstreamLimits.backOffMaxMs;
  }

  /** Failures since the connection last held for `coreLimits.backOffResetMs`. */
  get failures(): number {
    return this.#failures;
  }

  /** One more, of a connection that had held for so long; says how many there are. */
  failed(heldMs: number): number {
    this.#failures = heldMs > coreLimits.backOffResetMs ? 1 : this.#failures + 1;
    return this.#failures;
  }

  /** Twice as long with each failure, and never shorter than the last time, up to the longest. */
  nextMs(): number {
    const longest = Math.min(this.#longestMs, upstreamLimits.backOffFirstMs * 2 ** Math.min(this.#failures - 1, 20));
    const wait = Math.round(longest * (0.5 + Math.random() / 2));
    this.#lastWaitMs = this.#failures === 1 ? wait : Math.max(wait, this.#lastWaitMs);
    return this.#lastWaitMs;
  }
}

import { HubError } from '../../core/errors.ts';
import { upstreamLimits } from '../limits.ts';

/** How long the start of a server may take: longer, each time that this was too short. */
export class StartClock {
  readonly #server: string;
  readonly #connectTimeoutMs: number;
  /** Attempts in a row that ended because the server took too long. */
  #timeouts = 0;
  /** Ends an attempt whose program runs and does not connect. */
  #timer: NodeJS.Timeout | undefined;

  constructor(server: string, connectTimeoutMs: number) {
    this.#server = server;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** How long handshake and listing may take together. */
  get timeoutMs(): number {
    return this.#connectTimeoutMs * 2 ** Math.min(this.#timeouts, upstreamLimits.connectTimeoutDoublings);
  }

  /** On the clock of `performance.now()`. A server that is still being installed is not late. */
  async deadline(launched: Promise<boolean> | undefined, startedAt: number): Promise<number> {
    if (!launched) return startedAt + this.timeoutMs;
    const isRunning = await launched;
    return performance.now() + this.timeoutMs + (isRunning ? 0 : upstreamLimits.installMs);
  }

  /** A launched program runs; `late` is called when it does not connect in time. */
  begin(late: (error: HubError) => void): void {
    const text = `Server "${this.#server}" did not connect within ${this.timeoutMs / 1_000} s after its program was started.`;
    this.stop();
    this.#timer = setTimeout(() => late(new HubError('timeout', text)), this.timeoutMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  connected(): void {
    this.stop();
    this.#timeouts = 0;
  }

  tookTooLong(): void {
    this.#timeouts++;
  }
}

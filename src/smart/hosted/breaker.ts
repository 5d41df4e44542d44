import { HubError } from '../../core/errors.ts';
import { smartLimits } from '../limits.ts';

/**
 * Prevents searches from waiting for a service that is known to fail: the first failure opens the breaker. From then on
 * only its own trial requests are sent, with longer and longer pauses between them. A user's search is never used as
 * the trial.
 */
export interface Breaker {
  /** Why nothing may be sent now; undefined while it is closed. */
  readonly reason: HubError | undefined;
  /** Since when, in milliseconds since 1970. */
  readonly since: number | undefined;
  /** When the next trial is made. */
  readonly nextTrialAt: number | undefined;
  /** Aborted when it opens: requests that still wait need not go on. There is a new signal after each time. */
  readonly signal: AbortSignal;
  failed(reason: HubError): void;
  /** Something other than a trial succeeded: the next failure is the first again. */
  worked(): void;
  /** Closes it, because what was wrong may have been put right. */
  reset(): void;
  close(): void;
}

export interface BreakerOptions {
  /** One cheap request; rejects with HubError when the service still fails. */
  readonly trial: (signal: AbortSignal) => Promise<void>;
  /** Called after it opened, for another reason than before too, and after it closed. */
  readonly changed: (reason: HubError | undefined) => void;
  /** Pauses before trials; for tests. */
  readonly firstMs?: number;
  readonly mostMs?: number;
}

export function createBreaker({ trial, changed, ...pauses }: BreakerOptions): Breaker {
  const { firstMs = smartLimits.embeddingRetryFirstMs, mostMs = smartLimits.embeddingRetryMostMs } = pauses;
  const stop = new AbortController();
  let opened = new AbortController();
  let open: { reason: HubError; since: number; nextTrialAt: number; timer: NodeJS.Timeout } | undefined;
  let failures = 0;

  function schedule(reason: HubError): void {
    const since = open?.since ?? Date.now();
    clearTimeout(open?.timer);
    const backOff = Math.min(mostMs, firstMs * 2 ** failures);
    failures = Math.min(failures + 1, 30);
    // Jitter: replicas must not all come back in the same moment. A service that names a time means it.
    const waitMs = Math.min(
      smartLimits.embeddingRestMs,
      Math.max(reason.retryAfterMs ?? 0, backOff * (0.5 + Math.random() / 2)),
    );
    const timer = setTimeout(() => void tryOut(), waitMs);
    timer.unref();
    open = { reason, since, nextTrialAt: Date.now() + waitMs, timer };
  }

  async function tryOut(): Promise<void> {
    const tried = open;
    try {
      await trial(stop.signal);
      if (open === tried) shut();
    } catch (error) {
      if (stop.signal.aborted || open !== tried) return;
      const reason =
        error instanceof HubError
          ? error
          : new HubError('upstream_failed', 'the embedding service fails', { cause: error });
      const news = reason.message !== tried?.reason.message;
      schedule(reason);
      if (news) changed(reason);
    }
  }

  function shut(): void {
    if (!open) return;
    clearTimeout(open.timer);
    open = undefined;
    opened = new AbortController();
    changed(undefined);
  }

  return {
    get reason() {
      return open?.reason;
    },
    get since() {
      return open?.since;
    },
    get nextTrialAt() {
      return open?.nextTrialAt;
    },
    get signal() {
      return opened.signal;
    },
    failed(reason) {
      if (open || stop.signal.aborted) return;
      schedule(reason);
      opened.abort();
      changed(reason);
    },
    worked() {
      failures = 0;
    },
    reset() {
      failures = 0;
      shut();
    },
    close() {
      stop.abort();
      opened.abort();
      clearTimeout(open?.timer);
    },
  };
}

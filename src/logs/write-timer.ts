import { logLimits } from './limits.ts';

/**
 * When rows that wait are written: few of them together after a while, many of them soon, and never more often than
 * `logLimits.writeEveryMs`.
 */
export interface WriteTimer {
  /** Rows wait; so long they may. An earlier time that was set before stays. */
  within(delayMs: number): void;
  /** Many rows wait. */
  soon(): void;
  /** A time is set. */
  readonly isSet: boolean;
  /** Writing begins now. */
  began(): void;
  stop(): void;
}

export function createWriteTimer(ring: () => void): WriteTimer {
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Infinity;
  let beganAt = -Infinity;

  function stop(): void {
    clearTimeout(timer);
    timer = undefined;
    dueAt = Infinity;
  }

  function within(delayMs: number): void {
    const at = performance.now() + delayMs;
    if (at >= dueAt) return;
    stop();
    dueAt = at;
    timer = setTimeout(() => {
      stop();
      ring();
    }, delayMs).unref();
  }

  return {
    within,
    soon: () => within(Math.max(0, beganAt + logLimits.writeEveryMs - performance.now())),
    get isSet() {
      return timer !== undefined;
    },
    began() {
      beganAt = performance.now();
    },
    stop,
  };
}

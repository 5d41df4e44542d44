import type { Closers } from '../core/closers.ts';
import type { ServerState } from '../core/hub.ts';

/** Knows when no server is connecting any more. */
export interface ServerReadiness {
  /**
   * Resolves when no server is `connecting` any more, or `remaining` are at most, or after `timeoutMs`; never once the
   * hub closes.
   */
  settled(timeoutMs: number, remaining?: number): Promise<void>;
  /** Call it whenever the state of a server may have changed. */
  look(): void;
}

/** `states` is called only while a caller waits. */
export function createServerReadiness(states: () => readonly ServerState[], closers: Closers): ServerReadiness {
  const waiting = new Set<Waiter>();
  const isBusy = (remaining: number): boolean =>
    states().filter(({ status }) => status === 'connecting').length > remaining;
  closers.add(() => {
    for (const { timer } of waiting) clearTimeout(timer);
    waiting.clear();
  });

  return {
    async settled(timeoutMs, remaining = 0) {
      if (!isBusy(remaining)) return;
      await new Promise<void>((resolve) => {
        const waiter = { resolve, remaining, timer: setTimeout(() => wake(waiter), timeoutMs) };
        waiting.add(waiter);
      });
    },
    look() {
      for (const waiter of waiting) if (!isBusy(waiter.remaining)) wake(waiter);
    },
  };

  function wake(waiter: Waiter): void {
    clearTimeout(waiter.timer);
    waiting.delete(waiter);
    waiter.resolve();
  }
}

interface Waiter {
  readonly resolve: () => void;
  readonly remaining: number;
  readonly timer: NodeJS.Timeout;
}

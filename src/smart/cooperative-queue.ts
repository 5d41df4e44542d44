import { smartLimits } from './limits.ts';

/** Short work for many callers. Only a limited amount is done before other work of the event loop runs. */
export interface CooperativeQueue {
  /** Does the work now or soon, in the order in which it was asked for. Rejects with what it throws. */
  run<T>(work: () => T): Promise<T>;
}

/**
 * As much as fits into `smartLimits.searchTurnMs` is done in one turn of the event loop; one piece of work always is.
 * `now` is in milliseconds.
 */
export function createCooperativeQueue(now: () => number = () => performance.now()): CooperativeQueue {
  let waiting: (() => void)[] = [];
  let isSet = false;

  function set(): void {
    if (isSet || waiting.length === 0) return;
    isSet = true;
    setImmediate(() => {
      isSet = false;
      const end = now() + smartLimits.searchTurnMs;
      let done = 0;
      do waiting[done++]?.();
      while (done < waiting.length && now() < end);
      waiting = waiting.slice(done);
      set();
    });
  }

  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(work());
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
        set();
      }),
  };
}

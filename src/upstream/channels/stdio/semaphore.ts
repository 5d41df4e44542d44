/** Lets only a limited number of callers do something at the same time, in the order in which they asked. */
export interface Semaphore {
  /** Resolves when a place is free, with the function that gives the place back. Idempotent. */
  take(): Promise<() => void>;
}

export function createSemaphore(count: number): Semaphore {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        const next = waiting.shift();
        if (next) next();
        else free++;
      };
    },
  };
}

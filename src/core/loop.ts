/**
 * One loop that brings the actual state in line with the wanted state. Code that notices a change sets the flag; the
 * work runs once for many flags, never twice at a time, and reads the current state instead of the event (DESIGN,
 * sentence 3).
 */
export interface Loop {
  flag(): void;
  close(): Promise<void>;
}

/** `run` must not throw; what it throws goes to `failed` and the loop goes on. */
export function createLoop(options: {
  debounceMs: number;
  /** The first flag after a quiet time is acted on at once; flags that come after it are gathered. */
  eager?: boolean;
  run: () => Promise<void> | void;
  failed: (error: unknown) => void;
}): Loop {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let flagged = false;
  let closed = false;
  let ranAt = -Infinity;

  function schedule(): void {
    if (closed || timer || running) return;
    const waitMs = options.eager ? Math.max(0, ranAt + options.debounceMs - performance.now()) : options.debounceMs;
    timer = setTimeout(() => {
      timer = undefined;
      flagged = false;
      running = once().finally(() => {
        running = undefined;
        if (flagged) schedule();
      });
    }, waitMs);
  }

  async function once(): Promise<void> {
    try {
      await options.run();
    } catch (error) {
      options.failed(error);
    }
    ranAt = performance.now();
  }

  return {
    flag() {
      flagged = true;
      schedule();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

import { smartLimits } from './limits.ts';

/** Long work, done in slices: other work of the event loop runs between two slices. */
export interface CooperativeTask {
  /** Runs the steps for a slice at once and the rest slice by slice; what still runs is given up for it. */
  start(steps: Iterator<void>): void;
  /** Gives up what runs. */
  stop(): void;
  /** Resolves when nothing runs any more. Rejects with what a step threw. */
  done(): Promise<void>;
}

/** Slices of `smartLimits.indexSliceMs`, each as long as what comes in between. `now` is in milliseconds. */
export function createCooperativeTask(now: () => number = () => performance.now()): CooperativeTask {
  let current: Iterator<void> | undefined;
  let finished = Promise.resolve();

  /** True when there is more to do. */
  function slice(steps: Iterator<void>): boolean {
    const end = now() + smartLimits.indexSliceMs;
    while (now() < end) if (steps.next().done) return false;
    return true;
  }

  /** Each slice checks again whether it is still wanted. */
  async function rest(steps: Iterator<void>): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (current !== steps) return;
    current = undefined;
    if (!slice(steps)) return;
    current = steps;
    return rest(steps);
  }

  return {
    start(steps) {
      current = undefined;
      finished = Promise.resolve();
      if (!slice(steps)) return;
      current = steps;
      finished = rest(steps);
      // Callers of `done` get the error; there may be none.
      finished.catch(() => undefined);
    },
    stop: () => void (current = undefined),
    async done() {
      await finished;
      return current && this.done();
    },
  };
}

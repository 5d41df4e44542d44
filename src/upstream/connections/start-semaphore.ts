import { upstreamLimits } from '../limits.ts';

/** Lets only so many servers be in the costly part of their start at once. */
export interface StartSemaphore {
  /**
   * Resolves when a place is free, with the function that gives the place back; after `upstreamLimits.startSlotMs` it
   * is given back anyway.
   */
  take(): Promise<() => void>;
}

/**
 * `count` places, handed out in the order they were asked for, with `upstreamLimits.startPauseMs` between two, but for
 * the first few: starting a process holds the event loop for some milliseconds.
 */
export function createStartSemaphore(count: number): StartSemaphore {
  const waiting: (() => void)[] = [];
  let free = count;
  let begun = 0;
  let paused: Promise<void> = Promise.resolve();

  function give(): void {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }

  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      if (++begun >= upstreamLimits.startsWithoutPause) {
        const before = paused;
        paused = before.then(() => pause());
        await before;
      }
      let held = true;
      const release = (): void => {
        clearTimeout(timer);
        if (held) give();
        held = false;
      };
      const timer = setTimeout(release, upstreamLimits.startSlotMs);
      return release;
    },
  };
}

function pause(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, upstreamLimits.startPauseMs).unref());
}

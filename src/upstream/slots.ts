import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../core/limits.ts';

/** Lets only so many servers be in the costly part of their start at once. */
export interface Slots {
  /** Resolves when there is room, with the function that gives the place back; after `limits.startSlotMs` it is given back anyway. */
  take(): Promise<() => void>;
}

/** `count` places, handed out in the order they were asked for; one in a turn of the event loop, since starting a process holds it for some milliseconds. */
export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  let turns: Promise<void> = Promise.resolve();

  function give(): void {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }

  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      turns = turns.then(() => nextTurn());
      await turns;
      let held = true;
      const release = (): void => {
        clearTimeout(timer);
        if (held) give();
        held = false;
      };
      const timer = setTimeout(release, limits.startSlotMs);
      return release;
    },
  };
}

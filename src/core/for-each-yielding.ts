import { setImmediate as nextTurn } from 'node:timers/promises';

/** Calls `each` for every item in order, and lets other work of the event loop run after every `itemsInATurn` items. */
export async function forEachYielding<T>(
  items: Iterable<T>,
  itemsInATurn: number,
  each: (item: T) => void,
): Promise<void> {
  let done = 0;
  for (const item of items) {
    each(item);
    done += 1;
    if (done % itemsInATurn === 0) await nextTurn();
  }
}

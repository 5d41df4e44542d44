import { queryClient } from './queries.ts';

/** What the hub says of new calls on the stream of changes (`live.ts`), and what is asked again for then. */

/** For queries about recorded calls: asked again at news of them, and not when something has changed. */
export const ofCalls = { live: false, calls: true };

/** Until the stream cannot be opened. */
let isTold = true;

/** Without the stream, calls are asked for at intervals; with it, only so that a span of time goes on to its now. */
export const callsInterval = (): number => (isTold ? 60_000 : 5_000);

/** The hub can, or cannot, tell of new calls. */
export function setTold(next: boolean): void {
  if (next === isTold) return;
  isTold = next;
  // With the answer the other interval begins.
  refreshCalls();
}

let isResting = false;
let isDue = false;

/**
 * Asks again for what is shown of calls; while the page is hidden, once it is shown. It rests three times as long as
 * the answers took: a hub with many calls, and pages that show them, has other work too.
 */
export function refreshCalls(): void {
  if (isResting) {
    isDue = true;
    return;
  }
  const isHidden = document.visibilityState === 'hidden';
  const began = performance.now();
  isResting = !isHidden;
  const asked = queryClient.invalidateQueries({
    predicate: ({ meta }) => meta?.['calls'] === true,
    refetchType: isHidden ? 'none' : 'active',
  });
  if (isHidden) return;
  void asked.finally(() => {
    setTimeout(
      () => {
        isResting = false;
        if (!isDue) return;
        isDue = false;
        refreshCalls();
      },
      3 * (performance.now() - began),
    );
  });
}

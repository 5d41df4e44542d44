import { createStore } from '../lib/store.ts';
import { ApiError } from './client.ts';
import { queryClient } from './queries.ts';
import { follow } from './sse.ts';

/** Whether the hub can be heard: `lost` once a stream that was open has ended and does not open again at once. */
export const connection = createStore<'open' | 'lost'>('open');

const firstWaitMs = 300;
const longestWaitMs = 5_000;

/** Follows `/api/events` until it is stopped: when something has changed, what the page shows is asked for again. */
export function followChanges(): () => void {
  const stop = new AbortController();
  void run(stop.signal);
  return () => stop.abort();
}

async function run(signal: AbortSignal): Promise<void> {
  let waitMs = firstWaitMs;
  let wasOpen = false;
  while (!signal.aborted) {
    try {
      await follow('/events', {
        signal,
        opened() {
          waitMs = firstWaitMs;
          connection.set('open');
          // Whatever happened in between was not heard.
          if (wasOpen) refresh();
          wasOpen = true;
        },
        received: refresh,
      });
    } catch (error) {
      if (signal.aborted) return;
      // The session is over, and whoever ended it has said so.
      if (error instanceof ApiError && error.status === 401) return;
      connection.set('lost');
    }
    if (signal.aborted) return;
    await pause(waitMs, signal);
    waitMs = Math.min(longestWaitMs, waitMs * 2);
  }
}

function refresh(): void {
  void queryClient.invalidateQueries({ predicate: ({ meta }) => meta?.['live'] !== false });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

import { createStore } from '../lib/store.ts';
import { ApiError } from './client.ts';
import { keepFollowing } from './keep-following.ts';
import { refresh } from './queries.ts';

/** Whether the hub can be heard: `lost` once a stream that was open has ended and does not open again at once. */
export const connection = createStore<'open' | 'lost'>('open');

/** Follows `/api/events` until it is stopped: when something has changed, what the page shows is asked for again. */
export function followChanges(): () => void {
  const stop = new AbortController();
  let wasOpen = false;
  void keepFollowing('/events', {
    signal: stop.signal,
    opened() {
      connection.set('open');
      // Changes in between were not heard.
      if (wasOpen) refresh();
      wasOpen = true;
    },
    received: () => refresh(),
    lost(error) {
      // One that only broke may open again at once; one that is refused can be heard.
      if (error instanceof ApiError && (error.status === 0 || error.status >= 500)) connection.set('lost');
    },
  });
  return () => stop.abort();
}

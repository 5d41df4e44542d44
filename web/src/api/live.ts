import { createStore } from '../lib/store.ts';
import { refreshCalls, setTold } from './calls-news.ts';
import { ApiError } from './client.ts';
import { keepFollowing } from './keep-following.ts';
import { refresh } from './queries.ts';
import type { Frame } from './sse.ts';

/** Whether the hub can be heard: `lost` once a stream that was open has ended and does not open again at once. */
export const connection = createStore<'open' | 'lost'>('open');

/**
 * Follows `/api/events` until it is stopped: when something has changed, what the page shows is asked for again, and
 * when there are new calls, what it shows of calls.
 */
export function followChanges(): () => void {
  const stop = new AbortController();
  let wasOpen = false;
  void keepFollowing('/events', {
    signal: stop.signal,
    opened() {
      connection.set('open');
      setTold(true);
      // What happened in between was not heard.
      if (wasOpen) {
        refresh();
        refreshCalls();
      }
      wasOpen = true;
    },
    received: (frame) => (isOfCalls(frame) ? refreshCalls() : refresh()),
    lost(error) {
      // One that ended is opened again at once.
      if (error !== undefined) setTold(false);
      // One that only broke may open again at once; one that is refused can be heard.
      if (error instanceof ApiError && (error.status === 0 || error.status >= 500)) connection.set('lost');
    },
  });
  return () => stop.abort();
}

const isOfCalls = ({ data }: Frame): boolean => data === '{"type":"called"}';

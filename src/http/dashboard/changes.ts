import { HubError } from '../../core/errors.ts';
import { coreLimits } from '../../core/limits.ts';
import { createReader, type Reader } from '../../logs/stream-reader.ts';
import { httpLimits } from '../limits.ts';

/** Tells open pages that something has changed. */
export interface Changes {
  /** Settings, or the state of servers, have changed; may be called as often as needed. */
  announce(): void;
  /**
   * Adds a reader that hears of changes from now on. Throws HubError `too_many` when there are
   * `httpLimits.changeReaders` already.
   */
  follow(sink: Parameters<typeof createReader>[0]): Reader;
  /** Ends all streams. */
  close(): void;
}

/**
 * Server-sent events that say `{type: "changed"}` and nothing else: every reader gets the same event, and then requests
 * what it may see. Several changes within `httpLimits.changesEveryMs` are one event.
 */
export function createChanges(): Changes {
  const readers = new Set<Reader>();
  let timer: NodeJS.Timeout | undefined;
  const heartbeat = setInterval(() => {
    for (const reader of readers) reader.beat();
  }, coreLimits.streamKeepAliveMs).unref();

  return {
    announce() {
      if (readers.size === 0) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const reader of readers) reader.write('data: {"type":"changed"}\n\n');
      }, httpLimits.changesEveryMs).unref();
    },
    follow(sink) {
      if (readers.size >= httpLimits.changeReaders) {
        throw new HubError('too_many', 'Too many pages follow the changes. Close one, or try again later.', {
          retryAfterMs: coreLimits.streamKeepAliveMs,
        });
      }
      const reader = createReader(sink, () => readers.delete(reader));
      readers.add(reader);
      return reader;
    },
    close() {
      clearInterval(heartbeat);
      clearTimeout(timer);
      for (const reader of readers) reader.close();
    },
  };
}

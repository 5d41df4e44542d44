import { coreLimits } from '../../core/limits.ts';
import { saying } from '../../core/sentences.ts';
import { type CallNews, hasOwn } from '../../logs/activity-news.ts';
import { createReader, type Reader } from '../../logs/stream-reader.ts';
import type { Caller } from '../frame/caller.ts';
import { visibleCalls } from '../frame/visible-calls.ts';
import { httpLimits } from '../limits.ts';

/** Tells open pages that something has changed. */
export interface Changes {
  /** Settings, or the state of servers, have changed; may be called as often as needed. */
  announce(): void;
  /** Calls were recorded: those who may see one of them are told, as what they are now. */
  called(news: CallNews): void;
  /**
   * Adds a reader that hears of changes from now on. Throws HubError `too_many` when there are
   * `httpLimits.changeReaders` already.
   */
  follow(sink: Parameters<typeof createReader>[0], caller: PageCaller): Reader;
  /** Ends all streams. */
  close(): void;
}

type PageCaller = Pick<Caller, 'admin' | 'user'>;

/**
 * Server-sent events that say `{type: "changed"}` or `{type: "called"}` and nothing else: a reader requests what it may
 * see then. Of changes every reader is told; several within `httpLimits.changesEveryMs` are one event. Of calls only
 * those are told who may list one of them, since when others call is theirs to know.
 */
export function createChanges(): Changes {
  const readers = new Map<Reader, PageCaller>();
  let timer: NodeJS.Timeout | undefined;
  const heartbeat = setInterval(() => {
    for (const reader of readers.keys()) reader.beat();
  }, coreLimits.streamKeepAliveMs).unref();

  return {
    announce() {
      if (readers.size === 0) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const reader of readers.keys()) reader.write('data: {"type":"changed"}\n\n');
      }, httpLimits.changesEveryMs).unref();
    },
    called(news) {
      for (const [reader, caller] of readers) if (sees(caller, news)) reader.write('data: {"type":"called"}\n\n');
    },
    follow(sink, caller) {
      if (readers.size >= httpLimits.changeReaders) {
        throw saying(
          'too_many',
          'too_many_pages',
          {},
          {
            retryAfterMs: coreLimits.streamKeepAliveMs,
          },
        );
      }
      const reader = createReader(sink, () => readers.delete(reader));
      readers.set(reader, caller);
      return reader;
    },
    close() {
      clearInterval(heartbeat);
      clearTimeout(timer);
      for (const reader of readers.keys()) reader.close();
    },
  };
}

function sees(caller: PageCaller, news: CallNews): boolean {
  const visible = visibleCalls(caller);
  return visible === 'all' || (visible !== 'none' && hasOwn(news, visible));
}

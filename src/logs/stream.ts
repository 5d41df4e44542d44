import { HubError } from '../core/errors.ts';
import { coreLimits } from '../core/limits.ts';
import type { LogEntry, LogFeed } from '../core/log-entry.ts';
import { logLimits } from './limits.ts';
import { asAnswered, matcher } from './log-filter.ts';
import type { LogFilter } from './log-filter.ts';
import type { LogStore } from './log-store.ts';
import { createReader } from './stream-reader.ts';
import type { Reader, Sink } from './stream-reader.ts';

export interface StreamOptions extends LogFilter {
  /** The `Last-Event-ID` header; anything that is not one of our ids means "from the start". */
  readonly lastEventId?: string;
}

/**
 * The readers of GET /api/logs/stream (CONTRACT §4, Logs; SPEC, Events). Knows nothing of HTTP: the route sets the
 * headers and hands over a sink.
 */
export interface LogStream {
  /**
   * Writes `{type:"initial", logs}`, then each new entry as it comes, until the reader is closed. With a last event id,
   * `initial` has only what was missed and says `resumed:true`, unless the log was cleared since then: it has all there
   * is. Throws HubError `too_many` when `logLimits.logReaders` are open, `not_ready` after `close`.
   */
  open(options: StreamOptions, sink: Sink): Reader;
  /** Passes on an entry that another process of this hub has made, and stored. */
  hear(log: LogEntry): void;
  /** Sends another kind of event (`{type:"embedding-sync-progress", progress}`) to all readers. */
  broadcast(event: { readonly type: string }): void;
  /** Called when the first reader comes, and when the last has left. */
  onReaders(changed: (are: boolean) => void): void;
  /** How many read now. */
  readers(): number;
  close(): void;
}

export function createLogStream(feed: LogFeed, store: LogStore): LogStream {
  const readers = new Set<OpenReader>();
  let lastId = feed.entries().at(-1)?.id ?? 0;
  /** The newest entry that was there when the log was cleared. */
  let clearedUpTo = 0;
  let closed = false;
  let readersChanged = (_are: boolean): void => undefined;

  const stopHearing = feed.subscribe((event) => {
    if (event.type === 'clear') {
      clearedUpTo = lastId;
      send(event);
    } else {
      const { log } = event;
      lastId = log.id;
      if (readers.size === 0) return;
      const text = frame(log.id, { type: 'log', log: asAnswered(log) });
      for (const reader of readers) reader.entry(log, text);
    }
  });
  const heartbeat = setInterval(() => {
    for (const { reader } of readers) reader.beat();
  }, coreLimits.streamKeepAliveMs);
  heartbeat.unref();

  function send(event: { readonly type: string }): void {
    const text = frame(lastId, event);
    for (const reader of readers) reader.event(text, event.type === 'clear');
  }

  return {
    open(options, sink) {
      if (closed) throw new HubError('not_ready', 'The hub is stopping.');
      if (readers.size >= logLimits.logReaders) {
        throw new HubError('too_many', 'Too many log streams are open. Close one, or try again later.', {
          retryAfterMs: coreLimits.streamKeepAliveMs,
        });
      }
      const open = openReader(options, sink, () => {
        if (readers.delete(open) && readers.size === 0) readersChanged(false);
      });
      readers.add(open);
      if (readers.size === 1) readersChanged(true);
      begin(open, options).catch(() => open.reader.close());
      return open.reader;
    },
    hear(log) {
      if (readers.size === 0) return;
      const text = frame(lastId, { type: 'log', log: asAnswered(log) });
      for (const reader of readers) reader.entry(log, text);
    },
    broadcast: send,
    onReaders: (changed) => void (readersChanged = changed),
    readers: () => readers.size,
    close() {
      closed = true;
      stopHearing();
      clearInterval(heartbeat);
      for (const { reader } of readers) reader.close();
    },
  };

  /** The reader gets new entries already, so no entry is missed between the history and the new ones. */
  async function begin(open: OpenReader, options: StreamOptions): Promise<void> {
    const after = parseId(options.lastEventId);
    const { lastEventId: _, ...filter } = options;
    const { logs: history, incomplete } = await store.read({ ...filter, ...(after !== undefined && { after }) });
    const logs = history.filter(({ id }) => id > clearedUpTo);
    // What the reader has seen before a clear is gone, and this is all there is.
    const resumed = after !== undefined && after > clearedUpTo;
    const newest = Math.max(logs.at(-1)?.id ?? 0, after ?? 0, clearedUpTo);
    const initial = {
      type: 'initial',
      ...(resumed && { resumed }),
      ...(incomplete && { incomplete }),
      logs,
    };
    open.begin(frame(newest, initial), logs);
  }
}

interface OpenReader {
  readonly reader: Reader;
  entry(log: LogEntry, text: string): void;
  event(text: string, isClear: boolean): void;
  /** Writes the history, then what came meanwhile and is not in it. */
  begin(initial: string, history: readonly LogEntry[]): void;
}

function openReader(filter: LogFilter, sink: Sink, onClose: () => void): OpenReader {
  const reader = createReader(sink, onClose);
  const matches = matcher(filter);
  /** What came before the history was written; undefined afterwards. */
  let early: { id: number | undefined; text: string }[] | undefined = [];

  function pass(id: number | undefined, text: string): void {
    if (early === undefined) reader.write(text);
    else if (early.length < logLimits.logPage) early.push({ id, text });
    else reader.close(); // The history takes too long; the reader comes back and resumes.
  }

  return {
    reader,
    entry(log, text) {
      if (matches(log)) pass(log.id, text);
    },
    event(text, isClear) {
      // The history that is being read will leave out what was cleared.
      if (isClear && early !== undefined) early = [];
      else pass(undefined, text);
    },
    begin(initial, history) {
      const known = new Set(history.map(({ id }) => id));
      reader.write(initial);
      for (const { id, text } of early ?? []) if (id === undefined || !known.has(id)) reader.write(text);
      early = undefined;
    },
  };
}

function frame(id: number, event: object): string {
  return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
}

function parseId(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}

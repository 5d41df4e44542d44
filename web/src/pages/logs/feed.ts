import { get, queryOf } from '../../api/client.ts';
import { keepFollowing } from '../../api/keep-following.ts';
import type { LogEntry } from '../../api/types.ts';
import { createStore, type Store } from '../../lib/store.ts';

/** Which entries are wanted; the hub does the looking, so that a search finds what this page has never loaded. */
export interface LogFilter {
  /** Levels separated by commas; all when empty. */
  readonly level?: string | undefined;
  readonly service?: string | undefined;
  readonly q?: string | undefined;
  /** A stretch of time, ISO 8601: it is read once, and nothing follows. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

type Stretched = Omit<LogFilter, 'from' | 'to'> & {
  readonly startDate: string | undefined;
  readonly endDate: string | undefined;
};

export interface Feed {
  readonly state: 'connecting' | 'open' | 'lost';
  /** Oldest first, `most` at most. */
  readonly entries: readonly LogEntry[];
  readonly paused: boolean;
  /** What came while it was paused. */
  readonly waiting: readonly LogEntry[];
  /** Whether the hub may have entries from before the first one. */
  readonly older: 'maybe' | 'loading' | 'none';
  /** The memory of the hub answered: its database cannot be read. */
  readonly incomplete?: boolean;
  /** Why the stream cannot be opened. */
  readonly error: unknown;
}

export interface LogFeed extends Pick<Store<Feed>, 'get' | 'subscribe'> {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Loads what was before the first entry. Throws ApiError. */
  readonly loadOlder: () => Promise<void>;
}

type StreamEvent =
  | {
      readonly type: 'initial';
      readonly logs: readonly LogEntry[];
      readonly resumed?: boolean;
      readonly incomplete?: true;
    }
  | { readonly type: 'log'; readonly log: LogEntry }
  | { readonly type: 'clear' };

/** As many as the hub keeps. */
const most = 100_000;
/** As many as the hub tells of the past when a stream begins (`limits.logPage` there). */
const page = 1_000;
/** A busy log is shown in steps, not line by line. */
const stepMs = 80;
const nothing: Feed = {
  state: 'connecting',
  entries: [],
  paused: false,
  waiting: [],
  older: 'none',
  error: undefined,
};

/** The log as it goes on, for as long as there is a listener. A stream that breaks is opened again where it ended. */
export function createFeed({ from, to, ...words }: LogFilter): LogFeed {
  const filter: Stretched = { ...words, startDate: from, endDate: to };
  const feed = createStore(nothing);
  const change = (part: Partial<Feed>) => feed.set({ ...feed.get(), ...part });
  let listeners = 0;
  let stop = new AbortController();
  let fresh: LogEntry[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  return {
    get: feed.get,
    subscribe(listener) {
      const unsubscribe = feed.subscribe(listener);
      listeners += 1;
      if (listeners === 1) {
        stop = new AbortController();
        begin(filter, stop.signal, {
          opened: () => change({ state: 'open', error: undefined }),
          received,
          lost: (error) => change({ state: error === undefined ? 'connecting' : 'lost', error }),
        });
      }
      return () => {
        unsubscribe();
        listeners -= 1;
        if (listeners > 0) return;
        stop.abort();
        show();
      };
    },
    pause: () => change({ paused: true }),
    resume() {
      const { entries, waiting, paused } = feed.get();
      if (!paused) return;
      change({ paused: false, waiting: [], entries: newest([...entries, ...waiting]) });
    },
    async loadOlder() {
      const before = feed.get().entries[0]?.id;
      if (before === undefined || feed.get().older !== 'maybe') return;
      change({ older: 'loading' });
      try {
        const limit = page * 5;
        const found = await get<readonly LogEntry[]>(`/logs${queryOf({ ...filter, before, limit })}`, stop.signal);
        const { entries } = feed.get();
        // Cleared meanwhile, or begun again.
        if (entries[0]?.id !== before) return change({ older: entries.length === 0 ? 'none' : 'maybe' });
        const all = [...found, ...entries];
        change({ entries: newest(all), older: found.length < limit || all.length >= most ? 'none' : 'maybe' });
      } catch (error) {
        change({ older: 'maybe' });
        if (!stop.signal.aborted) throw error;
      }
    },
  };

  function received(event: StreamEvent): void {
    if (event.type === 'clear') {
      fresh = [];
      change({ entries: [], waiting: [], older: 'none' });
    } else if (event.type === 'log') {
      fresh.push(event.log);
      timer ??= setTimeout(show, stepMs);
    } else if (event.resumed === true && event.logs.length < page) {
      fresh.push(...event.logs);
      show();
    } else if (event.type === 'initial') {
      // The beginning; or so much was missed that the hub leaves some of it out, and what is here would have a hole.
      fresh = [];
      change({
        entries: event.logs,
        waiting: [],
        older: event.logs.length < page ? 'none' : 'maybe',
        incomplete: event.incomplete === true,
      });
    }
  }

  function show(): void {
    clearTimeout(timer);
    timer = undefined;
    const { paused, entries, waiting } = feed.get();
    if (paused) change({ waiting: newest([...waiting, ...fresh]) });
    else change({ entries: newest([...entries, ...fresh]) });
    fresh = [];
  }
}

interface Hears {
  readonly opened: () => void;
  readonly received: (event: StreamEvent) => void;
  readonly lost: (error: unknown) => void;
}

/** Follows what is written; of a stretch of time what was written, once. */
function begin(filter: Stretched, signal: AbortSignal, { opened, received, lost }: Hears): void {
  if (filter.startDate === undefined && filter.endDate === undefined) {
    const heard = ({ data }: { readonly data: string }) => received(JSON.parse(data) as StreamEvent);
    void keepFollowing(`/logs/stream${queryOf({ ...filter })}`, { signal, opened, lost, received: heard });
    return;
  }
  get<readonly LogEntry[]>(`/logs${queryOf({ ...filter, limit: page })}`, signal).then(
    (logs) => {
      opened();
      received({ type: 'initial', logs });
    },
    (error: unknown) => {
      if (!signal.aborted) lost(error);
    },
  );
}

function newest(entries: readonly LogEntry[]): readonly LogEntry[] {
  return entries.length > most ? entries.slice(-most) : entries;
}

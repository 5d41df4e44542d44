import { randomUUID } from 'node:crypto';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { databaseLimits } from '../database/limits.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type { OwnCalls } from './activity-filter.ts';
import { logLimits } from './limits.ts';

/**
 * The accounts that calls were recorded of, each with when the newest of its calls began, in milliseconds since 1970.
 * Calls of no account count as those of `''`.
 */
export type CallNews = ReadonlyMap<string, number>;

/** Tells that calls were recorded, here or by another hub on the same database. */
export interface ActivityNews {
  /** A call was recorded here. Quick, never throws. */
  recorded(call: RecordedCall): void;
  /** Records of this hub are in the table now: other hubs can list them. */
  written(calls: readonly RecordedCall[]): void;
  /** No more often than each `logLimits.callNewsEveryMs`. `heard` must not throw. */
  subscribe(heard: (news: CallNews) => void): () => void;
  close(): void;
}

interface RecordedCall {
  readonly username?: string | undefined;
  readonly durationMs: number;
  /** When it was over. */
  readonly atMs: number;
}

interface NewsOptions {
  readonly database: Pick<DatabaseHandle, 'current' | 'listen'>;
  readonly log: Logger;
}

const channel = 'calls_recorded';

export function createActivityNews({ database, log }: NewsOptions): ActivityNews {
  const self = randomUUID();
  const hearers = new Set<(news: CallNews) => void>();
  const here = gathered((news) => {
    for (const heard of hearers) heard(news);
    return undefined;
  });
  const elsewhere = gathered((news) => {
    const open = database.current();
    if (open?.kind !== 'postgres') return undefined;
    const { text, rest } = messageOf(self, news);
    open.notify(channel, text).catch((error: unknown) => {
      log.debug('calls not told to other hubs', { error: errorText(error) });
    });
    return rest;
  });
  const stopHearing = database.listen(channel, (message) => {
    // A new connection: calls may have been recorded that this hub was not told of. Who sees all asks again.
    if (message === undefined) return here.add('', Date.now());
    for (const [username, began] of newsIn(message, self)) here.add(username, began);
  });
  return {
    recorded: (call) => here.add(call.username ?? '', beganAt(call)),
    written(calls) {
      if (database.current()?.kind !== 'postgres') return;
      for (const call of calls) elsewhere.add(call.username ?? '', beganAt(call));
    },
    subscribe(heard) {
      hearers.add(heard);
      return () => hearers.delete(heard);
    },
    close() {
      stopHearing();
      here.close();
      elsewhere.close();
    },
  };
}

/** Whether there is a call among the news that is the account's. */
export function hasOwn(news: CallNews, { username, since }: OwnCalls): boolean {
  const began = news.get(username);
  return began !== undefined && (since === undefined || began >= since.getTime());
}

const beganAt = ({ atMs, durationMs }: RecordedCall): number => atMs - durationMs;

/**
 * Tells what was added: soon where it was quiet, and then at intervals. `tell` gives what it leaves for the next time.
 */
function gathered(tell: (news: CallNews) => CallNews | undefined) {
  let news = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let toldAt = -Infinity;
  const wait = (): void => {
    const restMs = toldAt + logLimits.callNewsEveryMs - performance.now();
    timer ??= setTimeout(told, Math.max(logLimits.callNewsMs, restMs)).unref();
  };
  const told = (): void => {
    timer = undefined;
    toldAt = performance.now();
    const all = news;
    news = new Map();
    const rest = tell(all);
    if (rest === undefined || rest.size === 0) return;
    news = new Map(rest);
    wait();
  };
  return {
    add(username: string, began: number): void {
      const before = news.get(username);
      if (before === undefined || before < began) news.set(username, began);
      if (timer === undefined) wait();
    },
    close: () => clearTimeout(timer),
  };
}

/** As many of them as a notification takes, and the others. */
function messageOf(self: string, news: CallNews): { text: string; rest: CallNews } {
  const rest = new Map(news);
  const told: [string, number][] = [];
  const textOf = (calls: readonly [string, number][]) => JSON.stringify({ from: self, calls });
  let bytes = textOf([]).length;
  for (const [username, began] of news) {
    const one: [string, number] = [username, Math.round(began)];
    bytes += Buffer.byteLength(JSON.stringify(one)) + 1;
    if (bytes > databaseLimits.notifyBytes) {
      // One that alone is too long would wait for ever.
      if (told.length === 0) rest.delete(username);
      break;
    }
    told.push(one);
    rest.delete(username);
  }
  return { text: textOf(told), rest };
}

/** What another hub wrote; nothing where it is this one, or of another version. */
function newsIn(message: string, self: string): [string, number][] {
  try {
    const read: unknown = JSON.parse(message);
    if (!isObject(read) || read['from'] === self || !Array.isArray(read['calls'])) return [];
    return read['calls'].filter(
      (one): one is [string, number] => Array.isArray(one) && typeof one[0] === 'string' && typeof one[1] === 'number',
    );
  } catch {
    return [];
  }
}

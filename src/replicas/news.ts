import { errorText } from '../core/errors.ts';
import type { HubId } from '../core/hub-id.ts';
import type { Logger } from '../core/logger.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { replicaLimits } from './limits.ts';

/** What all hubs on a database are told. */
export type News =
  | { readonly kind: 'ended'; readonly sid: string; readonly until: number }
  /** A client gave a call up that the hub which was told does not run. `id`: the request's, as JSON text. */
  | { readonly kind: 'cancelled'; readonly sid: string; readonly id: string; readonly reason: string };

export interface NewsOptions {
  readonly own: HubId;
  readonly database: Pick<DatabaseHandle, 'current' | 'listen'>;
  readonly heard: (news: News) => void;
  readonly log: Logger;
}

const channel = 'session_news';

/** Tells all hubs on the same database; while it is away, what is told waits, and the oldest goes. */
export function createNews({ own, database, heard, log }: NewsOptions) {
  // Apart, so that clients which cancel a lot push out no ended session.
  const ended = new Set<string>();
  const cancelled = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isSending = false;

  async function send(): Promise<void> {
    timer = undefined;
    const open = database.current();
    if (!open || isSending) return;
    const texts: string[] = [];
    let chars = 0;
    for (const text of [...ended, ...cancelled]) {
      if ((chars += text.length + 1) > replicaLimits.newsChars) break;
      texts.push(text);
    }
    if (texts.length === 0) return;
    isSending = true;
    try {
      await open.notify(channel, `{"from":${JSON.stringify(own)},"news":[${texts.join(',')}]}`);
    } finally {
      isSending = false;
    }
    for (const text of texts) if (!ended.delete(text)) cancelled.delete(text);
    if (ended.size + cancelled.size > 0) later();
  }

  function later(): void {
    timer ??= setTimeout(() => {
      send().catch((error: unknown) => log.debug('other hubs not told', { error: errorText(error) }));
    }, replicaLimits.newsMs).unref();
  }

  const stop = database.listen(channel, (payload) => {
    if (payload === undefined) return later();
    for (const news of newsIn(payload, own)) heard(news);
  });

  return {
    tell(news: News): void {
      // An id of a request that its client made very long is told to no other hub.
      if (news.kind === 'cancelled' && news.id.length > replicaLimits.newsIdChars) return;
      const text = asciiText(news);
      // What no notification holds: a reason in characters that take six each.
      if (text.length > replicaLimits.newsChars / 2) return;
      const waiting = news.kind === 'ended' ? ended : cancelled;
      waiting.add(text);
      const [oldest] = waiting;
      if (waiting.size > replicaLimits.newsWaiting && oldest !== undefined) waiting.delete(oldest);
      later();
    },
    close(): void {
      clearTimeout(timer);
      stop();
    },
  };
}

/** A character is a byte then. */
function asciiText(news: News): string {
  return JSON.stringify(news).replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What another hub told; nothing of what this one told itself, or of what is not understood. */
function newsIn(payload: string, own: HubId): News[] {
  try {
    const parsed: unknown = JSON.parse(payload);
    if (!isObject(parsed) || parsed['from'] === own || !Array.isArray(parsed['news'])) return [];
    return parsed['news'].filter(isNews);
  } catch {
    return [];
  }
}

function isNews(news: unknown): news is News {
  if (!isObject(news) || typeof news['sid'] !== 'string') return false;
  if (news['kind'] === 'ended') return typeof news['until'] === 'number';
  return news['kind'] === 'cancelled' && typeof news['id'] === 'string' && typeof news['reason'] === 'string';
}

import type { LogFeed } from '../core/log-entry.ts';
import type { LogLevel } from '../core/logger.ts';

/** Counts the log's entries by level, those included that it has already. Ends with the log. */
export function countLogEntries(feed: Pick<LogFeed, 'entries' | 'subscribe'>): Readonly<Record<LogLevel, number>> {
  const counts = { debug: 0, info: 0, warn: 0, error: 0 };
  for (const { level } of feed.entries()) counts[level] += 1;
  feed.subscribe((event) => {
    if (event.type === 'log') counts[event.log.level] += 1;
  });
  return counts;
}

import type { LogFeed } from '../core/log-entry.ts';
import type { Logger } from '../core/logger.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { type ActivityLog, createActivityLog } from './activity.ts';
import { type ActivityNews, createActivityNews } from './activity-news.ts';
import { createLogStore, type LogStore } from './log-store.ts';
import type { JournalSite } from './journal.ts';
import { createLogStream, type LogStream } from './stream.ts';

/** What was logged and what was called, kept across restarts. */
export interface Records {
  readonly logs: LogStore;
  readonly logStream: LogStream;
  readonly activity: ActivityLog;
  readonly news: Pick<ActivityNews, 'subscribe'>;
  /** Writes what waits, as far as the database takes it; the rest stays in the journal. */
  close(): Promise<void>;
}

export interface RecordsOptions {
  readonly feed: LogFeed;
  readonly database: DatabaseHandle;
  readonly log: Logger;
  /** Where what the database has not taken outlives the process. */
  readonly journal?: JournalSite | undefined;
}

export function openRecords({ feed, database, log, journal }: RecordsOptions): Records {
  const logs = createLogStore({ feed, database, log, journal });
  const logStream = createLogStream(feed, logs);
  const news = createActivityNews({ database, log });
  const activity = createActivityLog({ database, log, journal, news });
  return {
    logs,
    logStream,
    activity,
    news,
    async close() {
      news.close();
      await activity.close();
      logStream.close();
      await logs.close();
    },
  };
}

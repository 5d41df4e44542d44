import type { LogFeed } from '../core/log-entry.ts';
import type { Logger } from '../core/logger.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { type ActivityLog, createActivityLog } from './activity.ts';
import { createLogStore, type LogStore } from './log-store.ts';
import { createLogStream, type LogStream } from './stream.ts';

/** What was logged and what was called, kept across restarts. */
export interface Records {
  readonly logs: LogStore;
  readonly logStream: LogStream;
  readonly activity: ActivityLog;
  /** Writes what waits, as far as the database takes it. */
  close(): Promise<void>;
}

export function openRecords(feed: LogFeed, database: DatabaseHandle, log: Logger): Records {
  const logs = createLogStore({ feed, database, log });
  const logStream = createLogStream(feed, logs);
  const activity = createActivityLog({ database, log });
  return {
    logs,
    logStream,
    activity,
    async close() {
      await activity.close();
      logStream.close();
      await logs.close();
    },
  };
}

import { randomInt } from 'node:crypto';
import type { LogEntry, LogFeed } from '../core/log-entry.ts';
import type { Logger } from '../core/logger.ts';
import { databaseLimits } from '../database/limits.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { logLimits } from './limits.ts';
import { selectEntries } from './log-filter.ts';
import type { LogListing } from './log-filter.ts';
import type { JournalSite } from './journal.ts';
import { logJournal } from './log-journal.ts';
import { type HubEntry, insertLogs, selectLogs } from './log-table.ts';
import { keepPruned } from './prune.ts';
import { createWriter } from './writer.ts';
import type { WriteCounts } from './writer.ts';

/** The log across restarts, in the database; without one, what the log book has in memory. */
export interface LogStore {
  /**
   * The newest matching entries, oldest first. Includes every entry from before the call. Never fails: memory answers
   * while the database cannot.
   */
  list(listing: LogListing): Promise<LogEntry[]>;
  /** The same, and whether memory answered: earlier entries and those of other hubs are not in it then. */
  read(listing: LogListing): Promise<{ readonly logs: LogEntry[]; readonly incomplete?: true }>;
  /**
   * Deletes all entries, stored and in memory, and tells the streams, also of the hubs that share the database.
   * HubError `not_ready` when the database should be there and is not.
   */
  clear(): Promise<void>;
  counts(): WriteCounts;
  close(): Promise<void>;
}

export interface LogStoreOptions {
  readonly feed: LogFeed;
  readonly database: DatabaseHandle;
  readonly log: Logger;
  /** Where entries outlive the process that could not write them to the database. */
  readonly journal?: JournalSite | undefined;
}

/** Begins to keep the entries of the log book, from those it has in memory on. */
export function createLogStore({ feed, database, log, journal }: LogStoreOptions): LogStore {
  const hub = randomInt(2 ** 31);
  const isOff = database.state().state === 'off';
  const writer = createWriter<HubEntry>({
    database,
    log,
    rows: 'log entries',
    limit: logLimits.logQueue,
    journal: isOff ? undefined : journal && { ...journal, name: 'logs', codec: logJournal },
    write: insertLogs,
  });
  if (!isOff) for (const entry of feed.entries()) writer.add({ ...entry, hub });
  const stopHearing = feed.subscribe((event) => {
    if (event.type === 'log' && !isOff) writer.add({ ...event.log, hub });
  });
  // What another hub has cleared must not be read from this one's memory.
  const stopClears = database.listen(cleared, (by) => {
    if (by !== undefined && by !== String(hub)) feed.clear();
  });
  const stopPruning = keepPruned(database, {
    table: 'toolhub.logs',
    rows: logLimits.logRows,
    securityRows: logLimits.securityRows,
    ageMs: logLimits.logAgeMs,
  });

  async function read(listing: LogListing): Promise<{ logs: LogEntry[]; incomplete?: true }> {
    if (!isOff) await database.firstAttempt(logLimits.databaseFirstReadMs);
    const stored = (await writer.flush(databaseLimits.databaseReadMs))
      ? await database.attempt((open) => selectLogs(open, listing))
      : undefined;
    if (stored !== undefined) return { logs: stored };
    return { logs: selectEntries(feed.entries(), listing), ...(!isOff && { incomplete: true }) };
  }

  return {
    list: async (listing) => (await read(listing)).logs,
    read,
    async clear() {
      if (!isOff) {
        const open = await database.whenReady(databaseLimits.databaseReadMs);
        await writer.clear(async () => void (await open.query('delete from toolhub.logs')));
        void database.attempt((open) => open.notify(cleared, String(hub)));
      }
      feed.clear();
    },
    counts: () => writer.counts(),
    async close() {
      stopPruning();
      stopClears();
      await writer.close();
      stopHearing();
    },
  };
}

/** The channel on which hubs tell each other, with the number of the one that did it. */
const cleared = 'logs_cleared';

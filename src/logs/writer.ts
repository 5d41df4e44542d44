import { setTimeout as sleep } from 'node:timers/promises';
import { HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { Database } from '../database/database.ts';
import { reasonOf, sqlState } from '../database/failure.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { createPace } from './pace.ts';

/** How many rows wait, were written, and were lost (queue full, or refused by the database). */
export interface WriteCounts {
  readonly waiting: number;
  readonly written: number;
  readonly dropped: number;
  /** The database is there, and the last attempt to write failed all the same: a full disk, as a rule. */
  readonly failing: boolean;
}

/** Writes rows in batches, behind the back of whoever adds them. */
export interface Writer<T> {
  /** O(1), never throws. While the queue is full, new rows are counted and dropped. */
  add(row: T): void;
  /** Writes now; true when everything added before this call is written, false when that cannot be done within `timeoutMs`. */
  flush(timeoutMs: number): Promise<boolean>;
  /** Runs `work` while nothing is written; when it succeeds, the rows that waited before are forgotten. */
  clear(work: () => Promise<void>): Promise<void>;
  counts(): WriteCounts;
  /** Writes what it can within `limits.databaseCloseMs`. Later rows are dropped. */
  close(): Promise<void>;
}

/** Rows that wait, oldest first. */
export interface RowQueue<T> {
  readonly size: number;
  add(row: T): void;
  /** Up to so many. They stay until they are dropped. */
  oldest(count: number): readonly T[];
  drop(count: number): void;
}

export interface WriterOptions<T> {
  readonly database: DatabaseHandle;
  /** Writes all or nothing. May be called again with the same rows after a failure, so a row that is there already must be left as it is. */
  readonly write: (database: Database, rows: readonly T[]) => Promise<void>;
  /** Rows that may wait. */
  readonly limit: number;
  /** Where they wait; an array as a rule. */
  readonly queue?: RowQueue<T>;
  readonly log: Logger;
  /** What the rows are, for messages: `log entries`. */
  readonly rows: string;
}

export function createWriter<T>(options: WriterOptions<T>): Writer<T> {
  const { database, write, limit, log, rows, queue = arrayQueue<T>() } = options;
  const counts = { written: 0, dropped: 0, failing: false };
  /** All rows ever taken in, all that left (written, refused or cleared), and up to which of them whoever drains has to go. */
  const marks = { entered: 0, left: 0, goal: 0 };
  /** Drops not yet spoken of. */
  let unsaid = 0;
  let closed = false;
  let draining = false;
  const pace = createPace(() => void drain());
  const inTurn = createTurns();
  const canWrite = (): boolean => !closed && database.current() !== undefined;

  /** Writes the rows that are there now, unless they cannot be written now. */
  function drain(): Promise<void> {
    marks.goal = marks.entered;
    // Whoever drains already takes them along; then it is enough to wait for the end of that.
    if (draining) return inTurn(async () => {});
    draining = true;
    return inTurn(async () => {
      pace.began();
      let good = true;
      while (good && marks.left < marks.goal && queue.size > 0) good = await writeBatch();
      draining = false;
      if (good && canWrite() && queue.size >= limits.writeSoonRows) pace.soon();
    });
  }

  /** False when the rest has to wait. */
  async function writeBatch(): Promise<boolean> {
    const open = database.current();
    if (open === undefined) return false; // Its return wakes us.
    const outcome = await writeRows(queue.oldest(limits.writeBatchRows), (batch) => write(open, batch));
    counts.written += outcome.written;
    counts.dropped += outcome.refused;
    leave(outcome.written + outcome.refused);
    if (outcome.refused > 0) log.error(`The database refused some ${rows}`, { refused: outcome.refused });
    counts.failing = outcome.error !== undefined && !(outcome.error instanceof HubError);
    if (counts.failing)
      log.warn(`Cannot write ${rows}; they are kept and tried again`, { error: reasonOf(outcome.error) });
    if (outcome.error !== undefined) {
      if (canWrite()) pace.within(limits.databaseRetryMaxMs);
      return false;
    }
    if (unsaid > 0) log.warn(`Some ${rows} were not kept: the database was away for too long`, { dropped: unsaid });
    unsaid = 0;
    return true;
  }

  function leave(count: number): void {
    queue.drop(count);
    marks.left += count;
  }

  const stopWatching = database.onChange(({ state }) => {
    if (state === 'ready' && queue.size > 0) void drain();
  });

  async function flush(timeoutMs: number): Promise<boolean> {
    const goal = marks.entered;
    if (queue.size === 0) return true;
    if (database.current() === undefined) return false;
    const late = new AbortController();
    const timeout = sleep(timeoutMs, undefined, { signal: late.signal, ref: false }).catch(() => {});
    await Promise.race([drain(), timeout]);
    late.abort();
    return marks.left >= goal;
  }

  return {
    add(row) {
      if (closed || queue.size >= limit) {
        counts.dropped += 1;
        unsaid += 1;
        return;
      }
      queue.add(row);
      marks.entered += 1;
      if (queue.size === limits.writeSoonRows) {
        if (canWrite()) pace.soon();
      } else if (!pace.isSet && canWrite()) pace.within(limits.writeBatchMs);
    },
    flush,
    clear: (work) =>
      inTurn(async () => {
        const before = queue.size;
        await work();
        leave(before);
      }),
    counts: () => ({ waiting: queue.size, ...counts }),
    async close() {
      if (closed) return;
      await flush(limits.databaseCloseMs);
      closed = true;
      pace.stop();
      stopWatching();
    },
  };
}

function arrayQueue<T>(): RowQueue<T> {
  const queue: T[] = [];
  return {
    get size() {
      return queue.length;
    },
    add: (row) => void queue.push(row),
    oldest: (count) => queue.slice(0, count),
    drop: (count) => void queue.splice(0, count),
  };
}

interface Outcome {
  readonly written: number;
  readonly refused: number;
  /** Why the rows after those could not be written. */
  readonly error?: unknown;
}

/** Writes a batch at once; when the database refuses one of its rows, one by one, so that it does not take the others with it. */
async function writeRows<T>(batch: readonly T[], write: (rows: readonly T[]) => Promise<void>): Promise<Outcome> {
  try {
    await write(batch);
    return { written: batch.length, refused: 0 };
  } catch (error) {
    if (!isRefusal(error)) return { written: 0, refused: 0, error };
    if (batch.length === 1) return { written: 0, refused: 1 };
  }
  let written = 0;
  let refused = 0;
  for (const row of batch) {
    const one = await writeRows([row], write);
    written += one.written;
    refused += one.refused;
    if (one.error !== undefined) return { written, refused, error: one.error };
  }
  return { written, refused };
}

/** The row itself is at fault (data exception, integrity violation): trying again would fail for ever. */
function isRefusal(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

/** Runs tasks one after the other, whether the one before failed or not. */
function createTurns(): (task: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (task) => {
    const mine = last.then(task);
    last = mine.catch(() => {});
    return mine;
  };
}

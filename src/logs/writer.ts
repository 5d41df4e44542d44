import { setTimeout as sleep } from 'node:timers/promises';
import { HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Database } from '../database/database.ts';
import { reasonOf, sqlState } from '../database/failure.ts';
import { databaseLimits } from '../database/limits.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { Journal, type JournalPlace } from './journal.ts';
import { logLimits } from './limits.ts';
import { createWriteTimer } from './write-timer.ts';

/**
 * How many rows wait, in memory or in the journal, were written, were lost (no place left, or refused by the database),
 * and were removed unwritten, because the table would have removed them.
 */
export interface WriteCounts {
  readonly waiting: number;
  readonly written: number;
  readonly dropped: number;
  readonly skipped: number;
  /** The database is there, and the last attempt to write failed all the same: a full disk, as a rule. */
  readonly failing: boolean;
}

/** Writes rows in batches, in the background. */
export interface Writer<T> {
  /**
   * O(1), never throws. While the queue is full, new rows wait in the journal alone; without one, they are counted and
   * dropped.
   */
  add(row: T): void;
  /**
   * Calls back when the rows that were added before outlive this process: at once, or at the end of this turn of the
   * event loop.
   */
  readonly afterKeeping: (done: () => void) => void;
  /**
   * Writes now; true when everything added before this call is written, false when that cannot be done within
   * `timeoutMs`.
   */
  flush(timeoutMs: number): Promise<boolean>;
  /** Runs `work` while nothing is written; when it succeeds, the rows that waited before are forgotten. */
  clear(work: () => Promise<void>): Promise<void>;
  counts(): WriteCounts;
  /**
   * Writes what it can within `databaseLimits.databaseCloseMs`, and logs what it could not. Gives what became of the
   * rows: those that wait are in the journal, which the next start writes, and those that are not in it are dropped.
   * Later rows are dropped.
   */
  close(): Promise<WriteCounts>;
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
  /**
   * Writes all or nothing. May be called again with the same rows after a failure, so a row that is there already must
   * be left as it is.
   */
  readonly write: (database: Database, rows: readonly T[]) => Promise<void>;
  /** Rows that may wait. */
  readonly limit: number;
  /** Where they wait; an array as a rule. */
  readonly queue?: RowQueue<T>;
  /** Where they outlive the process. */
  readonly journal?: JournalPlace<T> | undefined;
  /**
   * Whether rows may wait in the journal for as long as many come and none is asked for (decisions/0087). Never when
   * absent.
   */
  readonly mayWait?: (database: Database) => boolean;
  /**
   * Removes from the table what is too much. Called when rows were skipped and the newer ones are written: what
   * is older than the skipped ones would otherwise stay for a while, with a hole behind it.
   */
  readonly trim?: (database: Database) => Promise<unknown>;
  readonly log: Logger;
  /** What the rows are, for messages: `log entries`. */
  readonly rows: string;
}

export function createWriter<T>(options: WriterOptions<T>): Writer<T> {
  return new BatchWriter(options);
}

class BatchWriter<T> implements Writer<T> {
  readonly #options: WriterOptions<T>;
  readonly #queue: RowQueue<T>;
  readonly #journal: Journal<T> | undefined;
  readonly #counts = { written: 0, dropped: 0, failing: false };
  /**
   * All rows ever taken in, all that left (written, refused or cleared), and up to which of them the drain that runs
   * has to go.
   */
  readonly #marks = { entered: 0, left: 0, goal: 0 };
  /** How many rows had been skipped when the table was trimmed. */
  #trimmedAfter = 0;
  /** Drops not yet spoken of. */
  #unsaid = 0;
  #isClosed = false;
  #isDraining = false;
  /** Rows in memory that nothing will write any more. */
  #lostAtEnd = 0;
  /** Rows that came, and when they were counted last. */
  readonly #came = { rows: 0, counted: 0, countedAt: performance.now() };
  /** Rows come too fast to be written as they come. */
  #isBusy = false;
  readonly #pace = createWriteTimer(() => this.#ring());
  readonly #inTurn = createTurns();
  readonly #stopWatching: () => void;

  constructor(options: WriterOptions<T>) {
    const { database, journal, log, rows, queue = arrayQueue<T>() } = options;
    this.#options = options;
    this.#queue = queue;
    const newest = (count: number): readonly T[] => queue.oldest(queue.size).slice(Math.max(0, queue.size - count));
    const takeBack = (back: readonly T[]): number => this.#takeBack(back);
    this.#journal = journal && new Journal({ ...journal, log, rows, newest, takeBack });
    this.#stopWatching = database.onChange(({ state }) => {
      if (state === 'ready' && this.#isWaiting) void this.#drain();
    });
    if (this.#canWrite && this.#isWaiting) this.#pace.soon();
  }

  add(row: T): void {
    if (this.#isClosed) return this.#lose();
    this.#came.rows += 1;
    const { limit } = this.#options;
    // Of a busy writer one half stays free, for when the journal takes no more.
    const hasPlace = this.#queue.size < (this.#isBusy && this.#journal?.isAtEase ? limit / 2 : limit);
    const isKept = this.#journal?.add(row, this.#marks.entered + (hasPlace ? 1 : 0), !hasPlace) ?? false;
    if (!hasPlace && isKept) return;
    if (!hasPlace) {
      if (this.#queue.size >= limit) return this.#lose();
      // The places that were kept free for this.
      this.#journal?.add(row, this.#marks.entered + 1, false);
    }
    if (this.#isBusy && !isKept && this.#canWrite) this.#pace.soon();
    this.#queue.add(row);
    this.#marks.entered += 1;
    if (this.#queue.size === logLimits.writeSoonRows) {
      if (this.#canWrite) this.#pace.soon();
    } else if (!this.#pace.isSet && this.#canWrite) this.#pace.within(logLimits.writeBatchMs);
  }

  /** Bound, so that it is handed on as it is. */
  readonly afterKeeping = (done: () => void): void => {
    if (this.#journal === undefined) done();
    else this.#journal.afterWriting(done);
  };

  async flush(timeoutMs: number): Promise<boolean> {
    const goal = this.#marks.entered;
    const isDone = (): boolean => this.#marks.left >= goal && this.#onlyInJournal === 0 && !this.#hasHole;
    if (!this.#isWaiting) return true;
    if (this.#options.database.current() === undefined) return false;
    const late = new AbortController();
    const timeout = sleep(timeoutMs, undefined, { signal: late.signal, ref: false }).catch(() => {});
    const progress = (): number => this.#marks.left - this.#onlyInJournal;
    // A journal takes several turns; one that changes nothing is the last.
    const work = async (): Promise<void> => {
      for (let before = NaN; !isDone() && !late.signal.aborted && before !== progress();) {
        before = progress();
        await this.#drain();
      }
    };
    await Promise.race([work(), timeout]);
    late.abort();
    return isDone();
  }

  clear(work: () => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      const before = this.#queue.size;
      await (this.#journal === undefined ? work() : this.#journal.clear(work));
      this.#leave(before);
    });
  }

  counts(): WriteCounts {
    return {
      waiting: this.#queue.size - this.#lostAtEnd + this.#onlyInJournal,
      written: this.#counts.written,
      dropped: this.#counts.dropped + (this.#journal?.dropped ?? 0),
      skipped: this.#journal?.skipped ?? 0,
      failing: this.#counts.failing,
    };
  }

  async close(): Promise<WriteCounts> {
    if (this.#isClosed) return this.counts();
    const { log, rows } = this.#options;
    await this.flush(databaseLimits.databaseCloseMs);
    this.#isClosed = true;
    this.#pace.stop();
    this.#stopWatching();
    const lost = Math.min(this.#journal?.close() ?? Infinity, this.#queue.size);
    this.#lostAtEnd = lost;
    this.#counts.dropped += lost;
    const { waiting } = this.counts();
    if (waiting > 0) log.info(`Some ${rows} are not in the database yet; the next start writes them`, { waiting });
    if (lost > 0) log.error(`Some ${rows} are lost: the database could not take them`, { lost });
    return this.counts();
  }

  get #onlyInJournal(): number {
    return this.#journal?.onlyHere ?? 0;
  }

  get #isWaiting(): boolean {
    return this.#queue.size > 0 || this.#onlyInJournal > 0 || this.#hasHole;
  }

  get #hasHole(): boolean {
    return (this.#journal?.skipped ?? 0) > this.#trimmedAfter;
  }

  get #canWrite(): boolean {
    return !this.#isClosed && this.#options.database.current() !== undefined;
  }

  #ring(): void {
    const came = this.#came;
    const now = performance.now();
    const perSecond = ((came.rows - came.counted) / (now - came.countedAt)) * 1_000;
    came.counted = came.rows;
    came.countedAt = now;
    const open = this.#options.database.current();
    const mayWait = open !== undefined && (this.#options.mayWait?.(open) ?? false);
    this.#isBusy = mayWait && perSecond > logLimits.busyRowsPerSecond && (this.#journal?.isAtEase ?? false);
    if (this.#isBusy) this.#pace.within(logLimits.writeBatchMs);
    else void this.#drain();
  }

  /** See `JournalOptions`. */
  #takeBack(rows: readonly T[]): number {
    // One place is that of the row whose coming may be what this is called for.
    const count = Math.min(rows.length, Math.max(0, this.#options.limit - 1 - this.#queue.size));
    for (const row of rows.slice(0, count)) this.#queue.add(row);
    this.#marks.entered += count;
    this.#unsaid += rows.length - count;
    if (count > 0 && this.#canWrite) this.#pace.soon();
    return count;
  }

  #lose(): void {
    this.#counts.dropped += 1;
    this.#unsaid += 1;
  }

  /** Writes the rows that are there now, unless they cannot be written now. */
  #drain(): Promise<void> {
    const marks = this.#marks;
    marks.goal = marks.entered;
    // A drain that runs already writes them too; then it is enough to wait for its end.
    if (this.#isDraining) return this.#inTurn(async () => {});
    this.#isDraining = true;
    return this.#inTurn(async () => {
      this.#pace.began();
      this.#journal?.begin();
      let good = true;
      while (good && marks.left < marks.goal && this.#queue.size > 0) good = await this.#writeBatch();
      // One file at a time: newer rows wait meanwhile.
      if (good && this.#onlyInJournal > 0) good = await this.#replay();
      if (good && this.#onlyInJournal === 0 && this.#hasHole) await this.#trim();
      this.#isDraining = false;
      if (marks.left === marks.entered && this.#onlyInJournal === 0) this.#journal?.empty();
      if (good && this.#canWrite && (this.#queue.size >= logLimits.writeSoonRows || this.#onlyInJournal > 0))
        this.#pace.soon();
    });
  }

  async #trim(): Promise<void> {
    const { database, trim, log, rows } = this.#options;
    const open = database.current();
    const skipped = this.#journal?.skipped ?? 0;
    if (open === undefined) return;
    try {
      await trim?.(open);
      this.#trimmedAfter = skipped;
    } catch (error) {
      log.warn(`Cannot remove old ${rows}; it is tried again`, { error: reasonOf(error) });
      if (this.#canWrite) this.#pace.within(databaseLimits.databaseRetryMaxMs);
    }
  }

  /** Rows of an earlier process, or that memory had no place for. False when they have to be brought again. */
  async #replay(): Promise<boolean> {
    return (
      (await this.#journal?.replay(this.#marks.left, async (found) => {
        for (let from = 0; from < found.length; from += logLimits.writeBatchRows) {
          if (!(await this.#writeSome(found.slice(from, from + logLimits.writeBatchRows))).isDone) return false;
        }
        return true;
      })) ?? true
    );
  }

  /** False when the rest has to wait. */
  async #writeBatch(): Promise<boolean> {
    const { left, isDone } = await this.#writeSome(this.#queue.oldest(logLimits.writeBatchRows));
    this.#leave(left);
    return isDone;
  }

  /** Gives how many were written or refused, and whether that was all. */
  async #writeSome(some: readonly T[]): Promise<{ left: number; isDone: boolean }> {
    const { database, write, log, rows } = this.#options;
    const counts = this.#counts;
    const open = database.current();
    if (open === undefined) return { left: 0, isDone: false }; // This runs again when it is back.
    const outcome = await writeRows(some, (batch) => write(open, batch));
    const left = outcome.written + outcome.refused;
    counts.written += outcome.written;
    counts.dropped += outcome.refused;
    if (outcome.refused > 0) log.error(`The database refused some ${rows}`, { refused: outcome.refused });
    counts.failing = outcome.error !== undefined && !(outcome.error instanceof HubError);
    if (counts.failing)
      log.warn(`Cannot write ${rows}; they are kept and tried again`, { error: reasonOf(outcome.error) });
    if (outcome.error !== undefined) {
      if (this.#canWrite) this.#pace.within(databaseLimits.databaseRetryMaxMs);
      return { left, isDone: false };
    }
    if (this.#unsaid > 0)
      log.warn(`Some ${rows} were not kept: the database was away for too long`, { dropped: this.#unsaid });
    this.#unsaid = 0;
    return { left, isDone: true };
  }

  #leave(count: number): void {
    this.#queue.drop(count);
    this.#marks.left += count;
    this.#journal?.release(this.#marks.left);
  }
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

/**
 * Writes a batch at once; when the database refuses one of its rows, one by one, so that it does not take the others
 * with it.
 */
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

import { closeSync, ftruncateSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { isDiskFull } from '../disk/disk-error.ts';
import type { FullDiskRetry } from '../disk/full-disk-retry.ts';
import { diskLimits } from '../disk/limits.ts';
import {
  findSegments,
  journalHeader,
  numberOf,
  quietly,
  readSegment,
  remove,
  type Segment,
  writeAll,
} from './journal-files.ts';
import { logLimits } from './limits.ts';

/**
 * How rows are written and read, one line each. What a line leaves out may be in the lines before it in the same file.
 */
export interface JournalCodec<T> {
  /** For the rows of one file, in order; gives a line without its line break. */
  encoder(): (row: T) => string;
  /** For the lines of one file, in order; throws on a line that is not one of `encoder`. */
  decoder(): (line: string) => T;
}

/** Where journals are kept. */
export interface JournalSite {
  /** Made when it is not there (0700); for one process at a time. */
  readonly folder: string;
  readonly room: Pick<FullDiskRetry, 'wait'>;
}

/** One journal, and what is in it. */
export interface JournalPlace<T> extends JournalSite {
  /** Names the files: `<name>-<number>.journal`. */
  readonly name: string;
  readonly codec: JournalCodec<T>;
  /** The newest rows that are worth writing: the table would remove those before them. All when absent. */
  readonly worthWriting?: number;
}

export interface JournalOptions<T> extends JournalPlace<T> {
  readonly log: Logger;
  /** What the rows are, for messages: `log entries`. */
  readonly rows: string;
  /** The newest rows that wait in memory, so many at most. */
  readonly newest: (count: number) => readonly T[];
  /** Gets rows into memory that the journal alone had and cannot keep; gives for how many there is a place. */
  readonly takeBack: (rows: readonly T[]) => number;
}

interface OpenSegment<T> extends Segment {
  readonly file: number;
  readonly encode: (row: T) => string;
}

/**
 * Rows on their way to the database, in files of the data folder, so that what was acknowledged outlives a kill and a
 * stop while the database is away. A row is handed to the system at the end of
 * the turn of the event loop in which it came, which survives the end of the process, not that of the machine. Written
 * again to a table that has some of them, rows must change nothing: a file
 * goes when all its rows are in the table, and until then all of them may be replayed.
 */
export class Journal<T> {
  readonly #options: JournalOptions<T>;
  /** Files that take no more rows, oldest first. */
  #sealed: Segment[];
  #current: OpenSegment<T> | undefined;
  #lastFile: number;
  #bytes: number;
  #onlyHere: number;
  #dropped = 0;
  #skipped = 0;
  #isFullSaid = false;
  /** Lines that are not written yet. */
  readonly #pending: { text: string; inMemory: number; onlyHere: T[] } = { text: '', inMemory: 0, onlyHere: [] };
  #callbacks: (() => void)[] = [];
  #isScheduled = false;
  #isClosed = false;
  /** Why rows cannot be kept now. */
  #failure: JournalFailure | undefined;
  #isFailureSaid = false;
  #isInRoom = false;
  /** How many of the newest rows in memory are not kept. */
  #unkept = 0;
  #lastNumber = 0;

  /** What an earlier process left in the folder is `onlyHere`. */
  constructor(options: JournalOptions<T>) {
    const { folder, name, log, rows } = options;
    this.#options = options;
    this.#sealed = findSegments(folder, name, log);
    this.#lastFile = Math.max(0, ...this.#sealed.map(({ path }) => numberOf(path, name) ?? 0));
    this.#bytes = this.#sealed.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#onlyHere = this.#sealed.reduce((sum, { onlyHere }) => sum + onlyHere, 0);
    if (this.#onlyHere > 0) log.info(`Some ${rows} of the last run wait for the database`, { waiting: this.#onlyHere });
  }

  /** Rows that are only in files. */
  get onlyHere(): number {
    return this.#onlyHere;
  }

  /** Rows that were lost: the oldest ones of a journal that is full, and lines that cannot be read. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Rows that were not worth writing: the table would have removed them. */
  get skipped(): number {
    return this.#skipped;
  }

  /** It takes rows, and is far from full. */
  get isAtEase(): boolean {
    return !this.#isClosed && this.#failure === undefined && this.#bytes < logLimits.journalBytes / 2;
  }

  /** Takes a row; never throws. `number` is that of the newest row in memory. False when it cannot be kept now. */
  add(row: T, number: number, isOnlyHere: boolean): boolean {
    this.#lastNumber = number;
    if (this.#isOpen() && this.#put(row, isOnlyHere)) {
      this.#schedule();
      return true;
    }
    if (!isOnlyHere) this.#unkept += 1;
    return false;
  }

  /**
   * Calls back when all rows added before are handed to the system: at once, or at the end of this turn of the event
   * loop.
   */
  afterWriting(done: () => void): void {
    if (this.#pending.text === '') done();
    else this.#callbacks.push(done);
  }

  /** All rows in memory will be written next: the file that has them takes no more, so that it can go. */
  begin(): void {
    this.#writeOut();
    if (this.#sealed.length === 0) this.#seal();
  }

  /** The rows up to this number have left memory for the table. */
  release(number: number): void {
    for (const segment of this.#sealed) {
      if (segment.upTo > number) return;
      if (segment.onlyHere === 0 && !segment.inUse) this.#discard(segment);
    }
  }

  /**
   * Gives `write` the rows of a file that has some that are only there, when none of its rows has a number above this
   * one. True when `write` gave true for them, or there is no such file.
   */
  async replay(number: number, write: (rows: readonly T[]) => Promise<boolean>): Promise<boolean> {
    const segment = this.#next(number);
    if (segment === undefined) return true;
    segment.inUse = true;
    const found = await readSegment(segment.path, this.#options.codec.decoder()).catch((error: unknown) => {
      this.#options.log.error(`Cannot read ${segment.path}: ${errorText(error)}`, { lost: segment.onlyHere });
      return { rows: [], bad: segment.onlyHere };
    });
    const isWritten = await write(found.rows);
    segment.inUse = false;
    if (!isWritten) return false;
    this.#isFullSaid = false;
    this.#dropped += found.bad;
    if (found.bad > 0) this.#setAside(segment, found.bad);
    else this.#discard(segment);
    return true;
  }

  /** All rows are in the table. */
  empty(): void {
    if (this.#current === undefined && this.#sealed.length === 0) return;
    this.#forgetPending();
    this.#seal();
    for (const segment of this.#sealed) this.#discard(segment);
    this.#unkept = 0;
  }

  /** Runs `work`, and forgets what was added before it once it has succeeded. */
  async clear(work: () => Promise<void>): Promise<void> {
    this.#writeOut();
    this.#seal();
    const before = [...this.#sealed];
    const unkeptBefore = this.#unkept;
    await work();
    for (const segment of before) this.#discard(segment);
    this.#unkept = Math.max(0, this.#unkept - unkeptBefore);
  }

  /** Writes what is not written, and gives how many of the newest rows in memory it does not have. */
  close(): number {
    if (this.#failure !== undefined && this.#unkept > 0) this.#attempt(() => this.#resume());
    this.#writeOut();
    this.#seal();
    this.#isClosed = true;
    return this.#unkept;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    this.#isScheduled = false;
    this.#writeOut();
    const waiting = this.#callbacks;
    if (waiting.length === 0) return;
    this.#callbacks = [];
    for (const done of waiting) done();
  }

  #writeOut(): void {
    const { text, inMemory, onlyHere } = this.#pending;
    if (text === '') return;
    this.#forgetPending();
    const segment = this.#current;
    if (segment === undefined) return;
    const bytes = Buffer.from(text);
    try {
      writeAll(segment.file, bytes);
      segment.bytes += bytes.length;
      segment.onlyHere += onlyHere.length;
      this.#bytes += bytes.length;
    } catch (error) {
      const takenBack = this.#options.takeBack(onlyHere);
      this.#onlyHere -= onlyHere.length;
      this.#dropped += onlyHere.length - takenBack;
      this.#unkept += inMemory + takenBack;
      this.#lastNumber += takenBack;
      // What it left of its rows goes, so that the file can be read.
      quietly(() => ftruncateSync(segment.file, segment.bytes));
      this.#seal();
      this.#fail(error);
    }
    this.#dropOldest();
  }

  #forgetPending(): void {
    this.#pending.text = '';
    this.#pending.inMemory = 0;
    this.#pending.onlyHere = [];
  }

  #fail(error: unknown): void {
    const { room, rows, log, folder } = this.#options;
    this.#failure = { error, retryAt: performance.now() + diskLimits.diskRetryMs };
    if (isDiskFull(error)) {
      if (!this.#isInRoom) room.wait(`the journal of ${rows}`, error, () => this.#resumeInRoom());
      this.#isInRoom = true;
    } else if (!this.#isFailureSaid) {
      this.#isFailureSaid = true;
      log.error(`Cannot write the journal of ${rows}; what waits for the database would be lost with this process`, {
        folder,
        error: errorText(error),
      });
    }
  }

  #resumeInRoom(): void {
    try {
      this.#resume();
      this.#isInRoom = false;
    } catch (error) {
      this.#isInRoom = isDiskFull(error);
      this.#fail(error);
      throw error;
    }
  }

  /** Tries again, and keeps what it could not keep before. Throws when it cannot. */
  #resume(): void {
    if (this.#failure === undefined || this.#isClosed) return;
    const missing = this.#options.newest(this.#unkept);
    this.#openSegment();
    this.#failure = undefined;
    this.#unkept = 0;
    for (const row of missing) this.#put(row, false);
    this.#writeOut();
    const failed = this.#failedWith();
    if (failed) {
      this.#unkept = missing.length;
      throw failed.error;
    }
    this.#isFailureSaid = false;
  }

  #failedWith(): JournalFailure | undefined {
    return this.#failure;
  }

  #openSegment(): void {
    const { folder, name, codec } = this.#options;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `${name}-${this.#lastFile + 1}.journal`);
    const file = openSync(path, 'ax', 0o600);
    this.#lastFile += 1;
    const bytes = Buffer.from(journalHeader);
    try {
      writeAll(file, bytes);
    } catch (error) {
      closeSync(file);
      remove(path);
      throw error;
    }
    this.#bytes += bytes.length;
    const encode = codec.encoder();
    this.#current = { path, file, encode, bytes: bytes.length, upTo: 0, onlyHere: 0, inUse: false };
  }

  /** True when there is a file to write to. */
  #isOpen(): boolean {
    if (this.#isClosed) return false;
    if (this.#failure !== undefined) {
      if (performance.now() < this.#failure.retryAt || this.#isInRoom) return false;
      this.#attempt(() => this.#resume());
    } else if (this.#current === undefined) {
      this.#attempt(() => this.#openSegment());
    }
    return this.#current !== undefined;
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** False when it could not be. */
  #put(row: T, isOnlyHere: boolean): boolean {
    const pending = this.#pending;
    if ((this.#current?.bytes ?? 0) + pending.text.length >= logLimits.journalSegmentBytes) {
      this.#writeOut();
      this.#seal();
      if (this.#failure === undefined) this.#attempt(() => this.#openSegment());
    }
    const segment = this.#current;
    if (segment === undefined) return false;
    pending.text += `${segment.encode(row)}\n`;
    segment.upTo = this.#lastNumber;
    if (isOnlyHere) {
      pending.onlyHere.push(row);
      this.#onlyHere += 1;
    } else pending.inMemory += 1;
    const rows = pending.inMemory + pending.onlyHere.length;
    if (pending.text.length >= logLimits.journalTurnChars || rows >= logLimits.journalTurnRows) this.#writeOut();
    return true;
  }

  #seal(): void {
    if (this.#current === undefined) return;
    const { file, encode: _, ...segment } = this.#current;
    this.#current = undefined;
    quietly(() => closeSync(file));
    this.#sealed.push(segment);
  }

  #forget(segment: Segment): void {
    this.#sealed = this.#sealed.filter((one) => one !== segment);
    this.#bytes -= segment.bytes;
    this.#onlyHere -= segment.onlyHere;
    segment.onlyHere = 0;
  }

  #discard(segment: Segment): void {
    this.#forget(segment);
    remove(segment.path);
  }

  /** A file with rows that are only there, and of which none waits in memory any more. */
  #next(number: number): Segment | undefined {
    this.#writeOut();
    const waits = (segment: Segment): boolean => segment.onlyHere > 0 && segment.upTo <= number;
    if (!this.#sealed.some(waits) && this.#current !== undefined && waits(this.#current)) this.#seal();
    return this.#sealed.find(waits);
  }

  /** Its good rows are in the table. */
  #setAside(segment: Segment, lines: number): void {
    const { folder, name, log } = this.#options;
    this.#forget(segment);
    const aside = join(folder, `${name}.corrupt`);
    quietly(() => renameSync(segment.path, aside));
    log.error(`The journal ${segment.path} has lines that cannot be read; it is set aside as ${aside}`, { lines });
  }

  #dropOldest(): void {
    const { rows, log, worthWriting = Infinity } = this.#options;
    while (this.#onlyHere > worthWriting) {
      const oldest = this.#sealed.find(({ inUse, onlyHere }) => !inUse && onlyHere > 0);
      if (oldest === undefined || this.#onlyHere - oldest.onlyHere < worthWriting) break;
      this.#skipped += oldest.onlyHere;
      this.#discard(oldest);
    }
    while (this.#bytes > logLimits.journalBytes) {
      const oldest = this.#sealed.find(({ inUse }) => !inUse);
      if (oldest === undefined) return;
      this.#dropped += oldest.onlyHere;
      this.#discard(oldest);
      if (this.#isFullSaid) continue;
      this.#isFullSaid = true;
      log.error(`The journal of ${rows} is full: the oldest are dropped until the database takes them`, {
        bytes: logLimits.journalBytes,
      });
    }
  }
}

interface JournalFailure {
  readonly error: unknown;
  readonly retryAt: number;
}

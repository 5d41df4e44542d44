import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';

/** One file. */
export interface Segment {
  readonly path: string;
  bytes: number;
  /** The newest row in it that waits in memory too, by its number. */
  upTo: number;
  /** Rows that wait here and not in memory: those of an earlier process, and those that memory had no place for. */
  onlyHere: number;
  /** Its rows are being written to the database. */
  inUse: boolean;
}

/** What a file begins with; another one is of another version. */
export const journalHeader = '{"journal":1}\n';
const lineBreak = 10;

/** The number of a file of the journal, by its name or path; undefined when it is none. */
export function numberOf(file: string, name: string): number | undefined {
  const [, digits] = new RegExp(`(?:^|[/\\\\])${name}-(\\d{1,15})\\.journal$`).exec(file) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** What an earlier process left, oldest first. Rows are counted by their line breaks. */
export function findSegments(folder: string, name: string, log: Logger): Segment[] {
  const found: Segment[] = [];
  for (const file of namesIn(folder).filter((one) => numberOf(one, name) !== undefined)) {
    const path = join(folder, file);
    try {
      const bytes = readFileSync(path);
      let lines = 0;
      for (let at = bytes.indexOf(lineBreak); at !== -1; at = bytes.indexOf(lineBreak, at + 1)) lines += 1;
      if (lines < 2) remove(path);
      else found.push({ path, bytes: bytes.length, upTo: 0, onlyHere: lines - 1, inUse: false });
    } catch (error) {
      log.error(`Cannot read ${path}: ${errorText(error)}. What is in it is not written to the database`);
    }
  }
  return found.sort((a, b) => (numberOf(a.path, name) ?? 0) - (numberOf(b.path, name) ?? 0));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // It is made with the first row.
  }
}

/**
 * Moves all journals of a folder, which no process has open, behind those of another, before that is opened. Gives how
 * many files. Throws errors of the file system; what was moved until then is in the other.
 */
export function moveJournals(from: string, to: string): number {
  const files = namesIn(from).flatMap((file) => {
    const [, name, digits] = /^([a-z]+)-(\d{1,15})\.journal$/.exec(file) ?? [];
    return name === undefined ? [] : [{ file, name, number: Number(digits) }];
  });
  for (const { file, name } of files.sort((a, b) => a.number - b.number)) {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    const last = Math.max(0, ...namesIn(to).map((one) => numberOf(one, name) ?? 0));
    renameSync(join(from, file), join(to, `${name}-${last + 1}.journal`));
  }
  return files.length;
}

export async function readSegment<T>(path: string, decode: (line: string) => T): Promise<{ rows: T[]; bad: number }> {
  const [first, ...lines] = (await readFile(path, 'utf8')).split('\n');
  // Behind the last line break is what a kill cut off.
  lines.pop();
  if (`${first}\n` !== journalHeader) return { rows: [], bad: lines.length };
  const rows: T[] = [];
  let bad = 0;
  for (const line of lines) {
    try {
      rows.push(decode(line));
    } catch {
      bad += 1;
    }
  }
  return { rows, bad };
}

/** The system may take a part. */
export function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}

export function remove(path: string): void {
  quietly(() => rmSync(path, { force: true }));
}

/** What cannot be closed or removed is replayed by the next start, which changes nothing. */
export function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // See above.
  }
}

import { readFileSync } from 'node:fs';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { writeFileAtomic } from '../disk/write-file-atomic.ts';
import { governanceLimits } from './limits.ts';

/** Calls of one day, in days since the epoch (UTC). */
export interface DayCount {
  readonly day: number;
  readonly calls: number;
}

/** Calls of the day by count, of a hub that shares no database: they outlive its process (CONTRACT §9, Limits). */
export interface KeptDays {
  /** How many calls of this day are known; 0 for none. */
  readonly callsOf: (id: string, day: number) => number;
  /** So many were counted up to now. Written down with others later: nothing waits for it. */
  readonly note: (id: string, count: DayCount) => void;
}

/**
 * Which callers without an account a count is of, of whom there may be any number: addresses, or what one trusted
 * issuer names. Undefined for counts of which the settings have a bounded number.
 */
export function unboundedKind(id: string): string | undefined {
  // Only the caller begins behind the first line break (`countsOf`).
  const [, kind] = /^(?:default |group [^\n]*\n)(address|issued [\w-]{43}) /.exec(id) ?? [];
  return kind;
}

/** Counts in the file of a kind that `unboundedKind` gives. */
const keptOf = (kind: string): number =>
  kind === 'address' ? governanceLimits.dayCountsOfAddresses : governanceLimits.dayCountsOfAnIssuer;

/**
 * In a file that is read now. A hub that is killed forgets what it counted in the last `dayCountsWriteMs`. What cannot
 * be written is tried again after the same time. `close` writes what is not written yet.
 */
export function daysInFile(path: string, log: Logger): KeptDays & { close(): Promise<void> } {
  let { day, calls } = readDay(path);
  let kept = countedByKind(calls.keys());
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let noted = 0;
  let written = 0;
  let isFailing = false;

  async function write(): Promise<void> {
    const upTo = noted;
    if (written === upTo) return;
    try {
      await writeFileAtomic(path, JSON.stringify({ day, calls: [...calls] }));
      written = upTo;
      isFailing = false;
    } catch (error) {
      // Once, and not each time that it is tried again.
      if (!isFailing)
        log.warn('calls of the day not written down: a restart would forget them', { error: errorText(error) });
      isFailing = true;
      later();
    }
  }

  function later(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      writing = writing.then(write);
    }, governanceLimits.dayCountsWriteMs).unref();
  }

  return {
    callsOf: (id, of) => (of === day ? (calls.get(id) ?? 0) : 0),
    note(id, count) {
      // The clock was put back over midnight: the day that was begun goes on afterwards.
      if (count.day === day - 1) return;
      if (count.day !== day) [day, calls, kept] = [count.day, new Map(), new Map()];
      const kind = calls.has(id) ? undefined : unboundedKind(id);
      if (kind !== undefined) {
        const already = kept.get(kind) ?? 0;
        if (already >= keptOf(kind)) return;
        kept.set(kind, already + 1);
      }
      calls.set(id, count.calls);
      noted += 1;
      later();
    },
    async close() {
      writing = writing.then(write);
      await writing;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

function countedByKind(ids: Iterable<string>): Map<string, number> {
  const counted = new Map<string, number>();
  for (const id of ids) {
    const kind = unboundedKind(id);
    if (kind !== undefined) counted.set(kind, (counted.get(kind) ?? 0) + 1);
  }
  return counted;
}

/** What is no such file is as none: the hub begins at zero. */
function readDay(path: string): { day: number; calls: Map<string, number> } {
  try {
    const saved: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const { day, calls } = isObject(saved) ? saved : {};
    if (typeof day === 'number' && Array.isArray(calls)) return { day, calls: new Map(calls.filter(isEntry)) };
  } catch {
    // None, or a broken one.
  }
  return { day: -1, calls: new Map() };
}

function isEntry(entry: unknown): entry is [string, number] {
  return Array.isArray(entry) && typeof entry[0] === 'string' && Number.isSafeInteger(entry[1]);
}

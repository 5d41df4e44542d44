import { readFileSync } from 'node:fs';

/**
 * When a process started, in clock ticks after boot: tells it from a later one with the same number. Undefined where
 * there is no `/proc`, and of a process that is gone, or has ended and still waits for its parent to notice.
 */
export function startOf(pid: number): string | undefined {
  try {
    // Fields 3 and 22 of proc(5) stat.
    const fields = statFields(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** The fields of `/proc/<pid>/stat` from the third on; the second, the name, may itself contain blanks and brackets. */
export function statFields(stat: string): string[] {
  const end = stat.lastIndexOf(')');
  return end === -1 ? [] : stat.slice(end + 2).split(' ');
}

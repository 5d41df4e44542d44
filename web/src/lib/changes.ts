import { isObject } from './json.ts';
import type { AuditRecord } from '../api/types.ts';

/** One value that is different; undefined where it was not, or is not there. */
export interface Change {
  /** Like `mcpServers › github › enabled`. */
  readonly path: readonly string[];
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What a record says of before and after, a value at a time, in the order of the record. */
export function changesOf({ before, after }: Pick<AuditRecord, 'before' | 'after'>): Change[] {
  const [was, is] = [leaves(before), leaves(after)];
  const keys = new Set([...was.keys(), ...is.keys()]);
  return [...keys].flatMap((key) => {
    const [old, now] = [was.get(key), is.get(key)];
    return [{ path: JSON.parse(key) as string[], before: old, after: now }];
  });
}

function leaves(value: unknown, path: readonly string[] = [], found = new Map<string, string>()): Map<string, string> {
  if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) leaves(member, [...path, name], found);
    return found;
  }
  if (value !== undefined) found.set(JSON.stringify(path), typeof value === 'string' ? value : JSON.stringify(value));
  return found;
}

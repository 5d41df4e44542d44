import { hash } from 'node:crypto';
import type { AuditRecord } from '../../core/audit.ts';
import { isObject } from '../../core/protocol/rpc.ts';

/** What the first record of a chain has in place of the hash of the one before. */
export const chainStart = '0'.repeat(64);

/**
 * The action of the record that says which records went because of their age: `after` is `{id, hash}` of the last of
 * them, from which the chain goes on.
 */
export const expired = 'audit.expire';
/** What the record is called that says, a day before, that the oldest records will go. */
export const expiring = 'audit.expire-soon';

/** JSON with members in the order of their names (RFC 8785): the same value is the same text, wherever it is made. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((element) => canonicalJson(element ?? null)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  // Sorted by UTF-16 code units, as the RFC says.
  const names = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')}}`;
}

/** A record with what chains it to the one before. */
export function chained(record: Omit<AuditRecord, 'id' | 'prev' | 'hash'>, last: Pick<AuditRecord, 'id' | 'hash'>) {
  const whole = { ...record, id: last.id + 1, prev: last.hash };
  return { ...whole, hash: hashOf(whole) } satisfies AuditRecord;
}

/** The hash that a record has to have. */
export function hashOf(record: Readonly<Record<string, unknown>>): string {
  const { hash: _, ...rest } = record;
  return hash('sha256', canonicalJson(rest));
}

/** The first thing that is wrong. `id` is that of the record, as far as it has one. */
export interface Broken {
  readonly line: number;
  readonly id: number | undefined;
  readonly why: string;
}

/** A chain that holds. */
export interface Whole {
  readonly records: number;
  readonly first: number;
  readonly last: Pick<AuditRecord, 'id' | 'hash' | 'time'> | undefined;
}

/** Checks a chain record by record, in constant memory. */
export function createChainCheck() {
  let lines = 0;
  let first: { readonly id: number; readonly prev: string } | undefined;
  let last: Whole['last'];
  /** Where the chain goes on after what went because of its age, as its newest record says. */
  let anchor: Readonly<Record<string, unknown>> | undefined;
  let broken: Broken | undefined;

  const breaks = (id: unknown, why: string): void => {
    broken ??= { line: lines, id: typeof id === 'number' ? id : undefined, why };
  };

  return {
    /** The next record: what its JSON says. */
    take(record: unknown): void {
      lines += 1;
      if (broken) return;
      if (!isObject(record)) return breaks(undefined, 'is no record');
      const { id, prev, hash, time, action, after } = record;
      if (typeof id !== 'number' || typeof hash !== 'string' || typeof prev !== 'string' || typeof time !== 'string')
        return breaks(id, 'is no record: id, time, prev or hash is missing');
      if (last && id !== last.id + 1) return breaks(id, `follows record ${last.id}: records are missing, or moved`);
      if (last && prev !== last.hash) return breaks(id, `has not the hash of record ${last.id} in "prev"`);
      if (hashOf(record) !== hash) return breaks(id, 'was changed: its content has another hash');
      first ??= { id, prev };
      last = { id, hash, time };
      if (action === expired && isObject(after)) anchor = after;
    },
    get broken() {
      return broken;
    },
    /** To be called after the last record. */
    done(): Broken | Whole {
      if (broken) return broken;
      const lost = first && missingBefore(first, anchor);
      if (first && lost !== undefined) return { line: 1, id: first.id, why: lost };
      return { records: lines, first: first?.id ?? 0, last };
    },
  };
}

/** Why the first record cannot be the first one; undefined where it may be. */
function missingBefore(
  { id, prev }: { readonly id: number; readonly prev: string },
  anchor: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  if (id === 1) return prev === chainStart ? undefined : 'is the first one, and "prev" is not 64 zeros';
  if (anchor?.['id'] === id - 1 && anchor['hash'] === prev) return undefined;
  return `is the first one, and no later record says that those before it went because of their age (${expired})`;
}

import { randomUUID } from 'node:crypto';
import type { AuditEvent, AuditRecord } from '../../core/audit.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { JournalCodec } from '../journal.ts';
import { auditLimits } from './limits.ts';
import { canonicalJson } from './chain.ts';

/** An event as it is kept until it is in the chain. */
export interface KeptEvent {
  /** A UUID. */
  readonly event: string;
  readonly record: Omit<AuditRecord, 'id' | 'prev' | 'hash'>;
}

/** The event with every text bounded, without secrets that are known and without control characters. */
export function keptEvent(event: AuditEvent, count: number, time: Date, clean: (text: string) => string): KeptEvent {
  const { actor, address = '', via, action, target = '', before, after, result = 'success' } = event;
  const short = (text: string) => cut(whole(clean(text)), auditLimits.auditTextChars);
  return {
    event: randomUUID(),
    record: {
      time: time.toISOString(),
      actor: { kind: actor.kind, name: short(actor.name) },
      address: short(address),
      via,
      action: short(action),
      target: short(target),
      ...(before && { before: bounded(before, clean) }),
      ...(after && { after: bounded(after, clean) }),
      result,
      count,
    },
  };
}

function bounded(value: Readonly<Record<string, unknown>>, clean: (text: string) => string) {
  const left = { chars: auditLimits.auditValueChars as number };
  return cleaned(value, clean, left, 0) as Record<string, unknown>;
}

/** What does not fit any more is `…`. */
function cleaned(value: unknown, clean: (text: string) => string, left: { chars: number }, depth: number): unknown {
  left.chars -= 8;
  if (left.chars <= 0 || depth > auditLimits.auditDepth) return '…';
  if (typeof value === 'string') {
    const text = cut(whole(clean(value)), Math.min(auditLimits.auditTextChars, left.chars));
    left.chars -= text.length;
    return text;
  }
  if (Array.isArray(value)) return value.slice(0, left.chars).map((each) => cleaned(each, clean, left, depth + 1));
  if (!isObject(value)) return value ?? null;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    if (left.chars <= 0) {
      members.push(['…', '…']);
      break;
    }
    const shown = cut(whole(clean(name)), auditLimits.auditTextChars);
    left.chars -= shown.length;
    members.push([shown, cleaned(member, clean, left, depth + 1)]);
  }
  return Object.fromEntries(members);
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${whole(text.slice(0, Math.max(0, chars - 1)))}…`;
}

/** Half a character has no place in UTF-8, over which the hash is; NUL has none in PostgreSQL. */
function whole(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd').replaceAll('\0', '');
}

/** Events as lines. */
export const auditJournal: JournalCodec<KeptEvent> = {
  encoder: () => (event) => canonicalJson(event),
  decoder: () => (line) => {
    const parsed: unknown = JSON.parse(line);
    if (!isObject(parsed) || typeof parsed['event'] !== 'string' || !isObject(parsed['record']))
      throw new TypeError('Not an event of the audit log');
    return parsed as unknown as KeptEvent;
  },
};

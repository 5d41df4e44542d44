import type { JsonObject } from '../../api/types.ts';
import { editsOf } from '../../lib/edits.ts';

/** A guard of `systemConfig.guards` as a form has it (docs/guards.md). */
export interface GuardDraft {
  readonly id: string;
  readonly url: string;
  readonly calls: boolean;
  readonly results: boolean;
  /** Names, one a line; empty: all. */
  readonly servers: string;
  readonly timeout: string;
  readonly onFailure: 'refuse' | 'allow';
  /** As the hub shows it: masked. */
  readonly secret: string;
  readonly enabled: boolean;
}

export function draftOf(guard: JsonObject | undefined): GuardDraft {
  const { id, url, on, servers, timeoutMs, onFailure, secret, enabled } = guard ?? {};
  const moments: readonly unknown[] = Array.isArray(on) ? on : ['call'];
  return {
    id: text(id),
    url: text(url),
    calls: moments.includes('call'),
    results: moments.includes('result'),
    servers: Array.isArray(servers) ? servers.map(text).join('\n') : '',
    timeout: typeof timeoutMs === 'number' ? String(timeoutMs) : '',
    onFailure: onFailure === 'allow' ? 'allow' : 'refuse',
    secret: text(secret),
    enabled: enabled !== false,
  };
}

/** What to send; what says nothing is left out. */
export function guardOf({ id, url, calls, results, servers, timeout, onFailure, secret, enabled }: GuardDraft) {
  const names = servers
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return {
    ...(id.trim() !== '' && { id: id.trim() }),
    url: url.trim(),
    on: [...(calls ? ['call'] : []), ...(results ? ['result'] : [])],
    ...(names.length > 0 && { servers: names }),
    ...(timeout !== '' && { timeoutMs: Number(timeout) }),
    ...(onFailure === 'allow' && { onFailure }),
    ...(secret !== '' && { secret }),
    ...(!enabled && { enabled }),
  };
}

/**
 * The list with what a form has changed of a guard, as it was when the form was opened: what others have changed of it
 * meanwhile stays. Undefined: it is gone.
 */
export function edited(
  now: readonly JsonObject[],
  before: JsonObject | undefined,
  draft: GuardDraft,
): { readonly guards: readonly JsonObject[]; readonly place: number } | undefined {
  if (!before) return { guards: [...now, guardOf(draft)], place: now.length };
  const place = placeOf(now, before);
  if (place === -1) return undefined;
  const changes = editsOf(guardOf(draftOf(before)), guardOf(draft));
  return { guards: now.map((one, i) => (i === place ? withChanges(one, changes) : one)), place };
}

/** Where in the list a guard is that was shown before: by all that it has, else by its id. -1: it is gone. */
export function placeOf(now: readonly JsonObject[], shown: JsonObject): number {
  const whole = JSON.stringify(shown);
  const same = now.findIndex((one) => JSON.stringify(one) === whole);
  return same === -1 && text(shown['id']) !== '' ? now.findIndex((one) => one['id'] === shown['id']) : same;
}

function withChanges(guard: JsonObject, changes: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...guard, ...changes }).filter(([, value]) => value !== null));
}

/** What the hub calls it: its id, or its place in the list. */
export function nameOf(guard: JsonObject, index: number): string {
  return text(guard['id']) || String(index + 1);
}

/** The list with one guard a place further up or down. */
export function moved<T>(all: readonly T[], from: number, by: -1 | 1): readonly T[] {
  const [one, other] = [all[from], all[from + by]];
  if (one === undefined || other === undefined) return all;
  return all.map((each, index) => (index === from ? other : index === from + by ? one : each));
}

/** What the hub says of the guard at this place, by the member: it names the place in the list. */
export function memberAt(path: string, index: number): string | undefined {
  const [, place, member] = /guards\D?(\d+)\]?\.?(\w+)?/.exec(path) ?? [];
  return Number(place) === index ? (member ?? '') : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

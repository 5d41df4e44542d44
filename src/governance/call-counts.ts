import type { Counted } from '../core/access/decision.ts';
import type { CallLimits } from '../core/settings/types.ts';
import { governanceLimits } from './limits.ts';

/** Counts calls against their limits (CONTRACT §9, Limits). */
export interface CallCounts {
  /** Counts one call at all of these, or at none of them. */
  take(counted: readonly Counted[]): Taken | Promise<Taken>;
  /** Whether a call would be counted now, without counting it. */
  look(counted: readonly Counted[]): Refused | undefined | Promise<Refused | undefined>;
}

export type Taken =
  /** To be called once when the call is over. */
  { readonly kind: 'taken'; readonly release: () => void } | Refused;

export interface Refused {
  readonly kind: 'refused';
  readonly what: string;
  readonly limit: keyof CallLimits;
  readonly allowed: number;
  /** Because others want their part of what the server can do. */
  readonly isShared: boolean;
  readonly retryAfterMs: number;
}

/** Counts of one hub, in memory: a restart begins again. */
export function createCallCounts(now: () => number = Date.now): CallCounts {
  const ofSettings = new Map<string, Count>();
  const strangers = new Map<string, Count>();

  function countOf(id: string): Count {
    const counts = isStranger(id) ? strangers : ofSettings;
    const found = counts.get(id);
    const count = found ?? newCount();
    if (counts === strangers) {
      // The one that was used last is the last.
      strangers.delete(id);
      const [oldest] = strangers.keys();
      if (strangers.size >= governanceLimits.strangers && oldest !== undefined) strangers.delete(oldest);
    }
    if (!found || counts === strangers) counts.set(id, count);
    return count;
  }

  function refusal(counted: readonly Counted[], at: number): Refused | undefined {
    let worst: Refused | undefined;
    for (const one of counted) {
      const found = refusedBy(one, countOf(one.id), at);
      if (found && (!worst || found.retryAfterMs > worst.retryAfterMs)) worst = found;
    }
    return worst;
  }

  return {
    look: (counted) => refusal(counted, now()),
    take(counted) {
      const at = now();
      for (const { id, caller } of counted) if (caller !== undefined) noteCaller(countOf(id), caller, at);
      const refused = refusal(counted, at);
      if (refused) return refused;
      const counts = counted.map(({ id, caller }) => ({ count: countOf(id), caller }));
      for (const { count, caller } of counts) {
        count.running += 1;
        add(count, at);
        if (caller !== undefined) addFor(count, caller, 1, at);
      }
      let isOver = false;
      const release = (): void => {
        if (isOver) return;
        isOver = true;
        for (const { count, caller } of counts) {
          count.running -= 1;
          if (caller !== undefined) addFor(count, caller, -1, undefined);
        }
      };
      return { kind: 'taken', release };
    },
  };
}

/** An address without an account, of which there may be any number. */
function isStranger(id: string): boolean {
  return /^default address |\naddress /.test(id);
}

interface Count {
  running: number;
  /** Calls of each of the last 61 seconds: the place of a second is its remainder. */
  readonly seconds: Uint32Array;
  second: number;
  day: number;
  today: number;
  /** By caller, where several share it. */
  readonly callers: Map<string, Caller>;
}

interface Caller {
  running: number;
  askedAt: number;
  readonly seconds: Uint32Array;
  second: number;
}

const window = 61;

function newCount(): Count {
  return { running: 0, seconds: new Uint32Array(window), second: 0, day: 0, today: 0, callers: new Map() };
}

function add(count: Count, at: number): void {
  forward(count, at);
  countSecond(count);
  count.today += 1;
}

function countSecond({ seconds, second }: Pick<Count, 'seconds' | 'second'>): void {
  seconds[second % window] = (seconds[second % window] ?? 0) + 1;
}

/** Clears the seconds that have passed since, and the day before. */
function forward(
  count: { readonly seconds: Uint32Array; second: number; day?: number; today?: number },
  at: number,
): void {
  const second = Math.floor(at / 1_000);
  if (second > count.second) {
    const passed = Math.min(window, second - count.second);
    for (let i = 1; i <= passed; i++) count.seconds[(count.second + i) % window] = 0;
    count.second = second;
  }
  const day = Math.floor(at / dayMs);
  if (count.day !== undefined && day > count.day) {
    count.day = day;
    count.today = 0;
  }
}

const dayMs = 86_400_000;

function sum(seconds: Uint32Array): number {
  return seconds.reduce((total, calls) => total + calls, 0);
}

function noteCaller(count: Count, caller: string, at: number): void {
  const known = count.callers.get(caller) ?? { running: 0, askedAt: at, seconds: new Uint32Array(window), second: 0 };
  known.askedAt = at;
  if (!count.callers.has(caller) && count.callers.size >= governanceLimits.sharers) forgetIdle(count, at);
  if (count.callers.has(caller) || count.callers.size < governanceLimits.sharers) count.callers.set(caller, known);
}

function forgetIdle({ callers }: Count, at: number): void {
  for (const [name, { running, askedAt }] of callers)
    if (running === 0 && at - askedAt > governanceLimits.shareMs) callers.delete(name);
}

function addFor({ callers }: Count, name: string, calls: 1 | -1, at: number | undefined): void {
  const caller = callers.get(name);
  if (!caller) return;
  caller.running += calls;
  if (at === undefined) return;
  forward(caller, at);
  countSecond(caller);
}

function refusedBy({ what, limits, caller }: Counted, count: Count, at: number): Refused | undefined {
  forward(count, at);
  const { callsPerMinute, concurrentCalls, callsPerDay } = limits;
  const refuse = (limit: keyof CallLimits, retryAfterMs: number, isShared = false): Refused => ({
    kind: 'refused',
    what,
    limit,
    allowed: limits[limit] ?? 0,
    isShared,
    retryAfterMs,
  });
  if (callsPerDay !== undefined && count.today >= callsPerDay) return refuse('callsPerDay', dayMs - (at % dayMs));
  if (callsPerMinute !== undefined && sum(count.seconds) >= callsPerMinute)
    return refuse('callsPerMinute', untilLess(count, callsPerMinute, at));
  if (concurrentCalls !== undefined && count.running >= concurrentCalls) return refuse('concurrentCalls', waitMs);
  const own = caller === undefined ? undefined : count.callers.get(caller);
  if (!own) return undefined;
  // What a server can do is for all of its callers: while others want it too, none takes more than its part.
  const sharers = [...count.callers.values()].filter(
    ({ running, askedAt }) => running > 0 || at - askedAt < governanceLimits.shareMs,
  ).length;
  if (sharers < 2) return undefined;
  const part = (all: number): number => Math.max(1, Math.ceil(all / sharers));
  forward(own, at);
  if (callsPerMinute !== undefined && sum(own.seconds) >= part(callsPerMinute))
    return refuse('callsPerMinute', untilLess(own, part(callsPerMinute), at), true);
  if (concurrentCalls !== undefined && own.running >= part(concurrentCalls))
    return refuse('concurrentCalls', waitMs, true);
  return undefined;
}

/** When a place among running calls may be free is not known. */
const waitMs = 1_000;

/** Milliseconds until fewer than `allowed` calls are in the window. */
function untilLess({ seconds, second }: Pick<Count, 'seconds' | 'second'>, allowed: number, at: number): number {
  let left = sum(seconds);
  for (let age = window - 1; age >= 0; age--) {
    left -= seconds[(second - age + window * 2) % window] ?? 0;
    if (left < allowed) return Math.max(1, (second - age + window) * 1_000 - at);
  }
  return 60_000;
}

import type { Counted } from '../core/access/decision.ts';
import type { CallLimits } from '../core/settings/governance.ts';
import { type DayCount, type KeptDays, unboundedKind } from './day-counts.ts';
import { governanceLimits } from './limits.ts';

/** Counts calls against their limits (CONTRACT §9, Limits). */
export interface CallCounts {
  /**
   * Counts one call at all of these, or at none of them. Another round of a call that was counted runs like one, and is
   * no other call.
   */
  take(counted: readonly Counted[], round?: Round): Taken | Promise<Taken>;
  /** Whether a call would be counted now, without counting it. */
  look(counted: readonly Counted[]): Refused | undefined | Promise<Refused | undefined>;
}

/** Lets one round of a call pass without counting the call again, once. */
export interface Round {
  readonly use: string;
  /** Until when it may; seconds since the epoch. */
  readonly untilSecond: number;
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

/**
 * Counts of one hub, in memory: a restart begins again, but for days that are kept (`days`). Days are those of the
 * clock; minutes and what callers share go by time that passes (`steady`), since a clock may be set.
 */
export function createCallCounts(
  now: () => number = Date.now,
  steady: () => number = () => performance.now(),
  days?: KeptDays,
): CallCounts {
  const ofSettings = new Map<string, Count>();
  /** Of callers without an account, by kind (`unboundedKind`): each kind pushes out its own alone. */
  const unbounded = new Map<string, Unbounded>();
  const used = new Map<string, Round>();

  function countOf(id: string): Count {
    const kind = unboundedKind(id);
    const among = kind === undefined ? undefined : countsOfKind(kind);
    const found = among ? (among.running.get(id) ?? among.idle.get(id)) : ofSettings.get(id);
    const count = found ?? newCount((day) => days?.callsOf(id, day) ?? 0, among);
    if (!among) ofSettings.set(id, count);
    else if (count.running === 0) setIdle(among, id, count);
    return count;
  }

  function countsOfKind(kind: string): Unbounded {
    const most = kind === 'address' ? governanceLimits.countsOfAddresses : governanceLimits.countsOfAnIssuer;
    const found = unbounded.get(kind) ?? { most, idle: new Map(), running: new Map() };
    unbounded.set(kind, found);
    return found;
  }

  function refusal(counted: readonly Counted[], at: Moment): Denied | undefined {
    let worst: Denied | undefined;
    for (const one of counted) {
      const found = refusedBy(one, countOf(one.id), at);
      if (found && (!worst || found.retryAfterMs > worst.retryAfterMs)) worst = found;
    }
    return worst;
  }

  const moment = (): Moment => ({ clock: now(), passed: steady() });

  return {
    look: (counted) => refusal(counted, moment()),
    take(given, round) {
      const at = moment();
      const isNew = !round || isUsed(used, round, at.clock);
      const counted = isNew ? given : given.map(onlyRunning);
      for (const { id, caller } of counted) if (caller !== undefined) noteCaller(countOf(id), caller, at.passed);
      const refused = refusal(counted, at);
      if (refused) {
        if (refused.waitsFor) noteWaiting(refused, countOf(refused.waitsFor.id), at.passed);
        return refused;
      }
      const counts = counted.map(({ id, caller, limits }) => ({ id, count: countOf(id), caller, limits }));
      for (const { id, count, caller, limits } of counts) {
        begin(id, count);
        if (isNew) add(count, at);
        if (isNew && limits.callsPerDay !== undefined) days?.note(id, count.day);
        if (caller !== undefined) addFor(count, caller, 1, isNew ? at.passed : undefined);
      }
      if (!isNew) used.set(round.use, round);
      let isOver = false;
      const release = (): void => {
        if (isOver) return;
        isOver = true;
        for (const { id, count, caller } of counts) {
          end(id, count);
          if (caller !== undefined) addFor(count, caller, -1, undefined);
        }
      };
      return { kind: 'taken', release };
    },
  };
}

/** What another round of a call is held against: it takes a place while it runs, and the call was counted. */
export function onlyRunning(counted: Counted): Counted {
  return { ...counted, limits: { concurrentCalls: counted.limits.concurrentCalls } };
}

/** Rounds that cannot be remembered are counted as calls: none may pass twice. */
export function isUsed(used: Map<string, Round>, { use }: Round, clock: number): boolean {
  for (const [known, { untilSecond }] of used) {
    // All live equally long, so the oldest are over first.
    if (untilSecond * 1_000 > clock) break;
    used.delete(known);
  }
  return used.has(use) || used.size >= governanceLimits.rounds;
}

/** `clock`: milliseconds since the epoch. `passed`: milliseconds that a steady clock has counted. */
interface Moment {
  readonly clock: number;
  readonly passed: number;
}

/** `waitsFor`: the shared count at which the caller waits for its turn. */
type Denied = Refused & { readonly waitsFor?: Counted };

/** Counts of which there may be any number. Past `most` idle ones are pushed out, the one used longest ago first. */
interface Unbounded {
  readonly most: number;
  readonly idle: Map<string, Count>;
  /** Those with calls that run. */
  readonly running: Map<string, Count>;
}

function setIdle({ most, idle, running }: Unbounded, id: string, count: Count): void {
  // The one that was used last is the last.
  idle.delete(id);
  for (const oldest of idle.keys()) {
    if (idle.size + running.size < most) break;
    idle.delete(oldest);
  }
  idle.set(id, count);
}

function begin(id: string, count: Count): void {
  count.running += 1;
  count.among?.idle.delete(id);
  count.among?.running.set(id, count);
}

function end(id: string, count: Count): void {
  count.running -= 1;
  if (count.running > 0 || !count.among) return;
  count.among.running.delete(id);
  setIdle(count.among, id, count);
}

interface Count extends Seconds {
  running: number;
  /** The counts that it is one of; undefined for one of which the settings have a bounded number. */
  readonly among: Unbounded | undefined;
  day: DayCount;
  /** The day that was counted before: the clock may be put back. */
  otherDay: DayCount;
  /** What is known of a day from before. */
  readonly kept: (day: number) => number;
  /** By caller, where several share it. */
  readonly callers: Map<string, Caller>;
}

/** Calls of each of the last 61 seconds: the place of a second is its remainder. */
interface Seconds {
  readonly seconds: Uint32Array;
  second: number;
}

interface Caller extends Seconds {
  running: number;
  askedAt: number;
  /** When a call of it was last let through. */
  servedAt: number;
  /** It was refused for want of a place, and has its turn until then. */
  waitsUntil: number;
}

const window = 61;
const noDay: DayCount = { day: -1, calls: 0 };

function newSeconds(): Seconds {
  return { seconds: new Uint32Array(window), second: 0 };
}

function newCount(kept: Count['kept'], among: Unbounded | undefined): Count {
  return { ...newSeconds(), running: 0, among, day: noDay, otherDay: noDay, kept, callers: new Map() };
}

function add(count: Count, { clock, passed }: Moment): void {
  countSecond(count, passed);
  const { day, calls } = today(count, clock);
  count.day = { day, calls: calls + 1 };
}

function countSecond(count: Seconds, at: number): void {
  forward(count, at);
  const place = count.second % window;
  count.seconds[place] = (count.seconds[place] ?? 0) + 1;
}

/** Clears the seconds that have passed since. */
function forward(count: Seconds, at: number): void {
  const second = Math.floor(at / 1_000);
  const passed = Math.min(window, second - count.second);
  for (let i = 1; i <= passed; i++) count.seconds[(count.second + i) % window] = 0;
  count.second = Math.max(second, count.second);
}

/** What was counted on the day that the clock says. */
function today(count: Count, clock: number): DayCount {
  const day = Math.floor(clock / dayMs);
  if (day === count.day.day) return count.day;
  const known = count.otherDay.day === day ? count.otherDay : { day, calls: count.kept(day) };
  count.otherDay = count.day;
  count.day = known;
  return known;
}

const dayMs = 86_400_000;

function sum(seconds: Uint32Array): number {
  return seconds.reduce((total, calls) => total + calls, 0);
}

function noteCaller({ callers }: Count, name: string, at: number): void {
  const known = callers.get(name);
  if (known) {
    known.askedAt = at;
    return;
  }
  if (callers.size >= governanceLimits.sharers) forgetIdle(callers, at);
  if (callers.size >= governanceLimits.sharers) return;
  callers.set(name, { ...newSeconds(), running: 0, askedAt: at, servedAt: -Infinity, waitsUntil: -Infinity });
}

/** A place that gets free is kept for a caller without one until it should have asked again. */
function noteWaiting({ waitsFor, retryAfterMs }: Denied, { callers }: Count, at: number): void {
  const caller = callers.get(waitsFor?.caller ?? '');
  if (caller) caller.waitsUntil = at + retryAfterMs + governanceLimits.turnMs;
}

function forgetIdle(callers: Count['callers'], at: number): void {
  for (const [name, { running, askedAt }] of callers)
    if (running === 0 && at - askedAt > governanceLimits.shareMs) callers.delete(name);
}

function addFor({ callers }: Count, name: string, calls: 1 | -1, at: number | undefined): void {
  const caller = callers.get(name);
  if (!caller) return;
  caller.running += calls;
  if (at === undefined) return;
  countSecond(caller, at);
  caller.servedAt = at;
  caller.waitsUntil = -Infinity;
}

function refusedBy(counted: Counted, count: Count, at: Moment): Denied | undefined {
  const { limits, caller } = counted;
  const { callsPerMinute, concurrentCalls, callsPerDay } = limits;
  const waitsFor = caller === undefined ? {} : { waitsFor: counted };
  const refuse = (limit: keyof CallLimits, retryAfterMs: number, more: { isShared?: true; waitsFor?: Counted }) =>
    refusedAt(counted, limit, retryAfterMs, more);
  forward(count, at.passed);
  if (callsPerDay !== undefined && today(count, at.clock).calls >= callsPerDay)
    return refuse('callsPerDay', dayMs - (at.clock % dayMs), {});
  const inMinute = callsPerMinute === undefined ? 0 : sum(count.seconds);
  if (callsPerMinute !== undefined && inMinute >= callsPerMinute)
    return refuse('callsPerMinute', untilLess(count, callsPerMinute, at.passed), waitsFor);
  if (concurrentCalls !== undefined && count.running >= concurrentCalls)
    return refuse('concurrentCalls', waitMs, waitsFor);
  const own = caller === undefined ? undefined : count.callers.get(caller);
  if (!own) return undefined;
  // What a server can do is for all of its callers: while others want it too, none takes more than its part.
  const { sharers, ahead } = othersOf(own, count, at.passed);
  if (sharers === 0) return undefined;
  const part = (all: number): number => Math.ceil(all / (sharers + 1));
  forward(own, at.passed);
  if (callsPerMinute !== undefined && sum(own.seconds) >= part(callsPerMinute))
    return refuse('callsPerMinute', untilLess(own, part(callsPerMinute), at.passed), { isShared: true });
  if (concurrentCalls !== undefined && own.running >= part(concurrentCalls))
    return refuse('concurrentCalls', waitMs, { isShared: true });
  // And those who wait without a place have theirs before who was served after them.
  if (callsPerMinute !== undefined && callsPerMinute - inMinute <= ahead)
    return refuse('callsPerMinute', waitMs, { isShared: true, ...waitsFor });
  if (concurrentCalls !== undefined && concurrentCalls - count.running <= ahead)
    return refuse('concurrentCalls', waitMs, { isShared: true, ...waitsFor });
  return undefined;
}

/** How many others want a part, and how many of them wait for a place and come before this one. */
function othersOf(own: Caller, { callers }: Count, at: number): { sharers: number; ahead: number } {
  let sharers = 0;
  let ahead = 0;
  for (const other of callers.values()) {
    if (other === own) continue;
    const waits = other.waitsUntil > at;
    if (waits || other.running > 0 || at - other.askedAt < governanceLimits.shareMs) sharers += 1;
    if (waits && other.running === 0 && other.servedAt < own.servedAt) ahead += 1;
  }
  return { sharers, ahead };
}

/** The refusal by one limit of a count. */
export function refusedAt<More extends object>(
  { what, limits }: Counted,
  limit: keyof CallLimits,
  retryAfterMs: number,
  more: More,
): Refused & More {
  return { kind: 'refused', what, limit, allowed: limits[limit] ?? 0, isShared: false, retryAfterMs, ...more };
}

/** When a place among running calls may be free is not known. */
export const waitMs = 1_000;

/** Milliseconds until fewer than `allowed` calls are in the window. */
function untilLess({ seconds, second }: Seconds, allowed: number, at: number): number {
  let left = sum(seconds);
  for (let age = window - 1; age >= 0; age--) {
    left -= seconds[(second - age + window * 2) % window] ?? 0;
    if (left < allowed) return Math.max(1, (second - age + window) * 1_000 - at);
  }
  return 60_000;
}

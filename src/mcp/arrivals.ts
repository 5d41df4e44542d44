import { createHash } from 'node:crypto';
import { type Principal, principalFromId, principalId } from '../core/access/principal.ts';
import { type Scope, scopeId } from '../core/access/scope.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { plain } from './client-name.ts';
import { mcpLimits } from './limits.ts';

/** A client that has said who it is. Names are texts of strangers: plain, short, and believed by no part of the hub. */
export interface Arrival {
  /** The same at each of several hubs; says nothing of the caller. */
  readonly id: string;
  readonly principal: Principal;
  readonly name: string;
  readonly version: string;
  /** The endpoint, as text, like `dev`. */
  readonly scope: string;
  /** When it said so last, milliseconds since the epoch. */
  readonly at: number;
  /** A request of its credential has reached a server since it came. */
  readonly hasCalled: boolean;
}

/** The clients that came last, in memory. Its functions need no `this`, are quick and do not throw. */
export interface Arrivals {
  /**
   * A client says who it is; `info` is what it sent as `clientInfo`. `isStart`: it begins, and does not only repeat it
   * with each request.
   */
  readonly note: (
    sender: { readonly principal: Principal; readonly scope: Scope },
    info: unknown,
    isStart: boolean,
  ) => void;
  /** A request of the principal has reached a server. */
  readonly called: (principal: Principal) => void;
  /** Takes over what another hub has told. */
  readonly hear: (told: string) => void;
  /** Newest first. */
  readonly list: () => readonly Arrival[];
  readonly close: () => void;
}

export interface ArrivalOptions {
  /** Called a moment after something has changed, with what other hubs have to hear. Must not throw. */
  readonly changed: (told: readonly string[]) => void;
  readonly now?: () => number;
}

export function createArrivals({ changed, now = Date.now }: ArrivalOptions): Arrivals {
  /** By id, the one that came last at the end. */
  const known = new Map<string, Arrival>();
  /** Principals whose newest client has called nothing yet. There is rarely one, and then calls cost nothing. */
  const waiting = new Set<string>();
  let untold = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  /** By the monotonic clock: when the timer runs out, and when it last did. */
  let due = Infinity;
  let toldAt = -Infinity;

  /** Soon where it was quiet for `restMs`, and then no more often than that. */
  function tell(id: string | undefined, restMs: number): void {
    if (id !== undefined) untold.add(id);
    const now = performance.now();
    const wanted = Math.max(now + mcpLimits.arrivalsToldMs, toldAt + restMs);
    if (wanted >= due) return;
    due = wanted;
    clearTimeout(timer);
    timer = setTimeout(() => {
      due = Infinity;
      toldAt = performance.now();
      const told = [...untold].flatMap((each) => known.get(each) ?? []).slice(-mcpLimits.arrivalsTold);
      untold = new Set();
      changed(told.map((arrival) => JSON.stringify({ ...arrival, principal: principalId(arrival.principal) })));
    }, wanted - now).unref();
  }

  function makeRoom(who: string): void {
    const own = [...known.values()].filter(({ principal }) => principalId(principal) === who);
    if (own.length >= mcpLimits.arrivalsOfOne) drop(own[0]);
    if (known.size >= mcpLimits.arrivals) drop(known.values().next().value);
  }

  function drop(arrival: Arrival | undefined): void {
    if (!arrival) return;
    known.delete(arrival.id);
    const who = principalId(arrival.principal);
    const waits = [...known.values()].some((each) => !each.hasCalled && principalId(each.principal) === who);
    if (!waits) waiting.delete(who);
  }

  function keep(arrival: Arrival): void {
    const who = principalId(arrival.principal);
    // Most have been here before.
    if (!known.delete(arrival.id)) makeRoom(who);
    known.set(arrival.id, arrival);
    if (arrival.hasCalled) waiting.delete(who);
    else waiting.add(who);
  }

  return {
    note({ principal, scope }, info, isStart) {
      const { name, version } = isObject(info) ? info : {};
      const called = plain(name) || 'MCP client';
      const id = idOf(principal, called);
      const old = known.get(id);
      if (old && !isStart) return;
      const hasCalled = old?.hasCalled ?? false;
      keep({
        id,
        principal,
        name: called,
        version: plain(version),
        scope: plain(scopeId(scope)),
        at: now(),
        hasCalled,
      });
      tell(id, old ? mcpLimits.arrivalsAgainMs : mcpLimits.arrivalsRestMs);
    },
    called(principal) {
      if (waiting.size === 0) return;
      const who = principalId(principal);
      if (!waiting.delete(who)) return;
      const newest = [...known.values()].findLast((each) => principalId(each.principal) === who);
      if (!newest) return;
      known.set(newest.id, { ...newest, hasCalled: true });
      tell(newest.id, mcpLimits.arrivalsRestMs);
    },
    hear(told) {
      const arrival = arrivalIn(told);
      if (!arrival) return;
      const old = known.get(arrival.id);
      const hasCalled = arrival.hasCalled || old?.hasCalled === true;
      // A hub hears itself too.
      if (old && old.at >= arrival.at && old.hasCalled === hasCalled) return;
      keep({ ...arrival, hasCalled });
      tell(undefined, mcpLimits.arrivalsRestMs);
    },
    list: () => [...known.values()].reverse(),
    close: () => clearTimeout(timer),
  };
}

function idOf(principal: Principal, name: string): string {
  return createHash('sha256')
    .update(`${principalId(principal)}\n${name}`)
    .digest('hex')
    .slice(0, 16);
}

/** What another hub wrote; undefined for what is none, as of another version. */
function arrivalIn(told: string): Arrival | undefined {
  try {
    const { id, principal, name, version, scope, at, hasCalled } = JSON.parse(told) as Record<string, unknown>;
    const who = typeof principal === 'string' ? principalFromId(principal) : undefined;
    if (!who || typeof id !== 'string' || typeof at !== 'number') return undefined;
    const texts = { name: plain(name), version: plain(version), scope: plain(scope) };
    return { id, principal: who, ...texts, at, hasCalled: hasCalled === true };
  } catch {
    return undefined;
  }
}

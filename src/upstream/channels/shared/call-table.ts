import { upstreamLimits } from '../../limits.ts';

/** A request that is at a program. Its owner is undefined once that is gone. */
interface Call<Owner> {
  owner: Owner | undefined;
  /** It is a client's: in the middle of it the program may ask that client something. */
  readonly mayAsk: boolean;
  /** The task whose result it waits for. */
  readonly task: string | undefined;
  wasGivenUp: boolean;
}

/** What a hub asks on its own. All else that it sends is a client's. */
const ownMethods: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'subscriptions/listen',
  'logging/setLevel',
]);

/**
 * The requests of several owners that are at one program, until it answers: it may still be at work on those that were
 * given up, of which as many are remembered as a link does (`AbandonedRequests`).
 */
export class CallTable<Owner extends object> {
  readonly #calls = new Map<number, Call<Owner>>();
  /** How many requests of each owner may ask; undefined stands for owners that are gone. */
  readonly #asking = new Map<Owner | undefined, number>();
  /** Those of clients that were given up, the oldest first, and when; on the clock of `performance.now()`. */
  readonly #givenUp = new Map<number, { readonly call: Call<Owner>; readonly at: number }>();
  /** Those of hubs that were given up, the oldest first. */
  readonly #ownGivenUp = new Set<number>();
  /** More were given up than are remembered: it is not known any more whose the program is at work on. */
  #isCrowded = false;
  readonly #told = new WeakMap<Owner, boolean>();

  add(id: number, owner: Owner, method: string, task?: string): void {
    const mayAsk = !ownMethods.has(method);
    this.#calls.set(id, { owner, mayAsk, task, wasGivenUp: false });
    if (mayAsk) count(this.#asking, owner, 1);
  }

  get size(): number {
    return this.#calls.size;
  }

  get(id: unknown): { readonly owner: Owner | undefined } | undefined {
    return typeof id === 'number' ? this.#calls.get(id) : undefined;
  }

  /** The owner of the request that waits for the result of a task. */
  ofTask(task: string): Owner | undefined {
    for (const call of this.#calls.values()) if (call.task === task && !call.wasGivenUp) return call.owner;
    return undefined;
  }

  /** It is answered. */
  take(id: unknown): Readonly<Call<Owner>> | undefined {
    const call = typeof id === 'number' ? this.#calls.get(id) : undefined;
    if (!call) return undefined;
    this.#calls.delete(id as number);
    this.#givenUp.delete(id as number);
    this.#ownGivenUp.delete(id as number);
    if (call.mayAsk) count(this.#asking, call.owner, -1);
    return call;
  }

  giveUp(id: number, owner: Owner): void {
    const call = this.#calls.get(id);
    if (!call || call.owner !== owner || call.wasGivenUp) return;
    call.wasGivenUp = true;
    if (!call.mayAsk) {
      const [oldest] = this.#ownGivenUp;
      if (this.#ownGivenUp.size >= upstreamLimits.abandonedCalls) this.take(oldest);
      this.#ownGivenUp.add(id);
    } else if (this.#givenUp.size < upstreamLimits.abandonedCalls) {
      this.#givenUp.set(id, { call, at: performance.now() });
    } else {
      this.#isCrowded = true;
      this.take(id);
    }
  }

  /** The owner is gone. Gives the ids of what it had and did not give up. */
  orphan(owner: Owner): number[] {
    const left: number[] = [];
    for (const [id, call] of this.#calls) {
      if (call.owner !== owner) continue;
      if (!call.wasGivenUp) left.push(id);
      this.giveUp(id, owner);
      call.owner = undefined;
    }
    const own = this.#asking.get(owner) ?? 0;
    this.#asking.delete(owner);
    count(this.#asking, undefined, own);
    return left;
  }

  /** No request that may ask is there. */
  get hasNone(): boolean {
    return this.#asking.size === 0 && !this.#isCrowded;
  }

  /** The owner of all that may ask; undefined where there are several, or none. */
  get onlyAsker(): Owner | undefined {
    const [only] = this.#asking.keys();
    return this.#asking.size === 1 && !this.#isCrowded ? only : undefined;
  }

  /** Whether others gave up requests that may be on, although the program has had the time to answer them. */
  isContested(owner: Owner): boolean {
    if (this.#isCrowded) return true;
    const latest = performance.now() - upstreamLimits.givenUpGraceMs;
    for (const { call, at } of this.#givenUp.values()) if (call.owner !== owner && at <= latest) return true;
    return false;
  }

  /** In how many ms the program will have had the time to answer one more that was given up; undefined of none. */
  get nextContestedMs(): number | undefined {
    const now = performance.now();
    for (const { at } of this.#givenUp.values()) {
      const left = at + upstreamLimits.givenUpGraceMs - now;
      if (left > 0) return left;
    }
    return undefined;
  }

  /** True where that is news for it. */
  noteTold(owner: Owner, isContested: boolean): boolean {
    if ((this.#told.get(owner) ?? false) === isContested) return false;
    this.#told.set(owner, isContested);
    return true;
  }
}

function count<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  const now = (counts.get(key) ?? 0) + by;
  if (now > 0) counts.set(key, now);
  else counts.delete(key);
}

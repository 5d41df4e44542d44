/** A request that is at a program. Its owner is undefined once that is gone. */
interface Call<Owner> {
  owner: Owner | undefined;
  /** In the middle of it the program may ask its client something. */
  readonly mayAsk: boolean;
  wasGivenUp: boolean;
}

/**
 * The requests of several owners that are at one program, until it answers: it may still be at work on those that were
 * given up.
 */
export class CallTable<Owner extends object> {
  readonly #calls = new Map<number, Call<Owner>>();
  /** How many requests of each owner may ask; undefined stands for owners that are gone. */
  readonly #asking = new Map<Owner | undefined, number>();
  /** Those that were given up, of each. */
  readonly #givenUp = new Map<Owner | undefined, number>();
  readonly #told = new WeakMap<Owner, boolean>();

  add(id: number, owner: Owner, method: string): void {
    const mayAsk = method === 'tools/call' || method === 'prompts/get' || method === 'resources/read';
    this.#calls.set(id, { owner, mayAsk, wasGivenUp: false });
    if (mayAsk) count(this.#asking, owner, 1);
  }

  get(id: unknown): { readonly owner: Owner | undefined } | undefined {
    return typeof id === 'number' ? this.#calls.get(id) : undefined;
  }

  /** It is answered. */
  take(id: unknown): Readonly<Call<Owner>> | undefined {
    const call = typeof id === 'number' ? this.#calls.get(id) : undefined;
    if (!call) return undefined;
    this.#calls.delete(id as number);
    if (call.mayAsk) count(this.#asking, call.owner, -1);
    if (call.mayAsk && call.wasGivenUp) count(this.#givenUp, call.owner, -1);
    return call;
  }

  giveUp(id: number, owner: Owner): void {
    const call = this.#calls.get(id);
    if (!call || call.owner !== owner || call.wasGivenUp) return;
    call.wasGivenUp = true;
    if (call.mayAsk) count(this.#givenUp, owner, 1);
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
    for (const counts of [this.#asking, this.#givenUp]) {
      const own = counts.get(owner) ?? 0;
      counts.delete(owner);
      count(counts, undefined, own);
    }
    return left;
  }

  /** No request that may ask is there. */
  get hasNone(): boolean {
    return this.#asking.size === 0;
  }

  /** The owner of all that may ask; undefined where there are several, or none. */
  get onlyAsker(): Owner | undefined {
    const [only] = this.#asking.keys();
    return this.#asking.size === 1 ? only : undefined;
  }

  /** Whether others gave up requests that may be on. */
  isContested(owner: Owner): boolean {
    return [...this.#givenUp.keys()].some((one) => one !== owner);
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

import { coreLimits } from './limits.ts';

/**
 * How much of large messages is worked on in one turn of the event loop, in bytes, by all who read and write them
 * together: what is small must never wait longer than one turn. Work that finds it spent goes on `later`, in the order
 * of the requests.
 */
export class TurnBudget {
  readonly #bytes: number;
  readonly #nextTurn: (act: () => void) => void;
  #spent = 0;
  #isWaiting = false;
  #later: (() => void)[] = [];

  /** `nextTurn` calls back after everything else that is ready has had its turn. */
  constructor(bytes: number, nextTurn: (act: () => void) => void = setImmediate) {
    this.#bytes = bytes;
    this.#nextTurn = nextTurn;
  }

  get isSpent(): boolean {
    return this.#spent >= this.#bytes;
  }

  spend(bytes: number): void {
    this.#spent += bytes;
    this.#wait();
  }

  /** Calls `act` in a turn with something to spend. */
  later(act: () => void): void {
    this.#later.push(act);
    this.#wait();
  }

  #wait(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#nextTurn(() => this.#begin());
  }

  #begin(): void {
    this.#isWaiting = false;
    this.#spent = 0;
    const due = this.#later;
    this.#later = [];
    for (const [i, act] of due.entries()) {
      if (this.isSpent) {
        this.#later = [...due.slice(i), ...this.#later];
        break;
      }
      act();
    }
    if (this.#later.length > 0) this.#wait();
  }
}

/** Of this process. */
export const largeWork = new TurnBudget(coreLimits.largeTurnBytes);

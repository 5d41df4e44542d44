import { giveBack } from '../core/json/large-buffers.ts';
import type { LargeText } from '../core/json/large-text.ts';
import { largeWork, type TurnBudget } from '../core/turn-budget.ts';
import type { HttpResponse } from '../wire/http.ts';
import { mcpLimits } from './limits.ts';

/** What of large messages waits in this process for clients that have not read it, in bytes. */
let unsentBytes = 0;

/** Whether one more large message of this size may wait for its client. */
export function hasRoomFor(bytes: number): boolean {
  return unsentBytes + bytes <= mcpLimits.largeUnsentBytes;
}

/** The bytes that wait, for tests. */
export function unsent(): number {
  return unsentBytes;
}

/**
 * Writes large messages to a response a little at a time: no faster than the client reads, and within the budget of
 * each turn. What is to follow waits behind them. When the client leaves, what it did not read is forgotten.
 */
export class PacedWriter {
  readonly #res: HttpResponse;
  readonly #budget: TurnBudget;
  readonly #isLast: boolean;
  #queue: (string | Buffer)[] = [];
  #at = 0;
  #waiting = 0;
  #waitingChars = 0;
  #isWriting = false;
  /** It goes on when the client has read some of it. */
  #isBehind = false;
  #isEnding = false;
  #isGone = false;

  /** `isLast`: nothing else reads what it writes, nor will; its memory is given back once the client has it. */
  constructor(res: HttpResponse, isLast = false, budget: TurnBudget = largeWork) {
    this.#res = res;
    this.#isLast = isLast;
    this.#budget = budget;
    res.on('close', () => this.#leave());
  }

  /** Characters of short messages that wait behind a large one. */
  get waitingChars(): number {
    return this.#waitingChars;
  }

  /** Nothing waits. */
  get isIdle(): boolean {
    return !this.#isWriting;
  }

  /** Sends `head`, the pieces and `tail`. */
  writeLarge(head: string, { pieces, bytes }: LargeText, tail: string): void {
    if (this.#isGone) return;
    this.#count(bytes);
    this.write(head);
    for (const piece of pieces) this.#queue.push(piece);
    this.write(tail);
    this.#begin();
  }

  write(text: string): void {
    if (this.#isGone || text === '') return;
    this.#queue.push(text);
    this.#waitingChars += text.length;
    this.#begin();
  }

  /** Ends the response behind what waits. */
  end(): void {
    this.#isEnding = true;
    this.#begin();
  }

  #begin(): void {
    if (this.#isWriting || this.#isGone) return;
    this.#isWriting = true;
    this.#budget.later(this.#go);
  }

  /** Writes until the budget of the turn is used, or the client has enough to read. */
  readonly #go = (): void => {
    if (this.#res.destroyed) this.#leave();
    while (!this.#isGone && this.#at < this.#queue.length) {
      if (this.#budget.isSpent) return this.#budget.later(this.#go);
      const part = this.#queue[this.#at] ?? '';
      // Not kept any longer than it has to be.
      this.#queue[this.#at++] = '';
      if (typeof part === 'string') {
        this.#waitingChars -= part.length;
        this.#res.write(part);
        continue;
      }
      this.#budget.spend(part.length);
      this.#count(-part.length);
      if (
        !this.#res.write(part, this.#isLast ? this.#taken(part) : this.#read) &&
        this.#res.writableLength > mcpLimits.largeAheadBytes
      ) {
        this.#isBehind = true;
        return;
      }
    }
    this.#queue = [];
    this.#at = 0;
    this.#isWriting = false;
    if (this.#isEnding && !this.#isGone) this.#res.end();
  };

  /** Where the connection broke off, the system may still have its hands on the piece. */
  #taken(piece: Buffer): (error?: Error | null) => void {
    return (error) => {
      if (!error) giveBack(piece);
      this.#read();
    };
  }

  /** The client, or the kernel for it, has taken a piece. */
  readonly #read = (): void => {
    if (!this.#isBehind || this.#res.writableLength > mcpLimits.largeAheadBytes / 2) return;
    this.#isBehind = false;
    this.#budget.later(this.#go);
  };

  #leave(): void {
    this.#isGone = true;
    this.#queue = [];
    this.#count(-this.#waiting);
  }

  #count(bytes: number): void {
    this.#waiting += bytes;
    unsentBytes += bytes;
  }
}

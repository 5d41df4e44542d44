import type { LargeText } from '../json/large-text.ts';
import type { Span } from '../json/scanner.ts';
import type { RpcMessage } from './rpc.ts';

interface Parts {
  readonly id: number;
  readonly whole: LargeText;
  readonly result: Span;
  /** JSON text of those members of the result that are looked at; long ones are cut. */
  readonly members: ReadonlyMap<string, string>;
}

/** A response with a result that is too large for a text: known are its id and what decides where the result goes. */
export class LargeAnswer {
  /** NaN when it is no number. */
  readonly id: number;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.id = parts.id;
    this.#parts = parts;
  }

  /** The whole message. */
  get whole(): LargeText {
    return this.#parts.whole;
  }

  get result(): LargeText {
    const { whole, result } = this.#parts;
    return whole.slice(result.start, result.end);
  }

  /**
   * JSON text of a member of the result, for `isError`, `resultType`, `ttlMs` and `cacheScope`; undefined when it is
   * not there.
   */
  resultMember(key: string): string | undefined {
    return this.#parts.members.get(key);
  }

  /** The same as text, for those who cannot do without. Holds up everything else. */
  read(): { readonly message: RpcMessage; readonly text: string } {
    const text = this.#parts.whole.toString();
    return { message: JSON.parse(text) as RpcMessage, text };
  }
}

import { constants } from 'node:buffer';
import { HubError } from '../../core/errors.ts';
import { upstreamLimits } from '../limits.ts';
import type { LargeMessage } from './large-message.ts';

/** What is known of a message that was too long to keep: its two ends and its size. */
export interface TooLong {
  readonly head: string;
  readonly tail: string;
  readonly bytes: number;
}

/**
 * Told when a message is about to become large, with its beginning: takes that over and begins a `LargeMessage` with
 * it. Undefined: it is to be text all the same.
 */
export interface LargeMessageReader {
  enlarge(begin: Buffer): LargeMessage | undefined;
}

/** Enough of each end to find a JSON-RPC id there. */
const endBytes = 300;

/** A buffer up to this size is kept for the next message; a larger one would hold memory without use. */
const keptBytes = 64 * 1024;

const nothing = Buffer.alloc(0);

/**
 * The bytes of one message while its pieces arrive. They gather in one buffer that doubles, so that 20 MB cost the same
 * per byte as 20 kB, and a server that sends single bytes cannot make the hub hold one object for each. What is longer
 * than `upstreamLimits.largeMessageBytes` goes on as a `LargeMessage`. Past `maxBytes` only the two ends are kept.
 */
export class MessageBuffer {
  readonly #maxBytes: number;
  readonly #enlarger: LargeMessageReader | undefined;
  #buffer = nothing;
  #bytes = 0;
  #ends: { readonly head: Buffer; tail: Buffer } | undefined;
  #large: LargeMessage | undefined;
  /** It was asked, and this one stays what it is. */
  #isText = false;

  /** Without `enlarger` a message is text, however long. */
  constructor(maxBytes: number, enlarger?: LargeMessageReader) {
    this.#maxBytes = Math.min(maxBytes, constants.MAX_STRING_LENGTH);
    this.#enlarger = enlarger;
  }

  /** Bytes added since the last `take`, kept or not. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The message has become a large one. */
  get isLarge(): boolean {
    return this.#large !== undefined;
  }

  add(chunk: Buffer, from = 0, to = chunk.length): void {
    const start = this.#bytes;
    this.#bytes += to - from;
    if (this.#bytes > this.#maxBytes) {
      this.#skip(chunk.subarray(from, to), start);
      return;
    }
    if (this.#large) {
      this.#large.add(chunk.subarray(from, to));
      return;
    }
    if (this.#bytes > upstreamLimits.largeMessageBytes && this.#enlarger && !this.#isText) {
      this.#large = this.#enlarger.enlarge(this.#buffer.subarray(0, start));
      this.#isText = this.#large === undefined;
      if (this.#large) {
        this.#buffer = nothing;
        this.#large.add(chunk.subarray(from, to));
        return;
      }
    }
    if (this.#bytes > this.#buffer.length) this.#grow(start);
    chunk.copy(this.#buffer, start, from, to);
  }

  /**
   * The message as text (invalid UTF-8 becomes U+FFFD), as a large one, or what is known of it when it was too long.
   * Ready for the next one afterwards.
   */
  take(): string | TooLong | LargeMessage {
    const ends = this.#ends;
    const bytes = this.#bytes;
    const large = this.#large;
    this.#large = undefined;
    this.#isText = false;
    if (large && !ends) {
      this.#bytes = 0;
      return large;
    }
    const taken = ends
      ? { head: ends.head.toString(), tail: ends.tail.toString(), bytes }
      : this.#buffer.toString('utf8', 0, bytes);
    this.#ends = undefined;
    this.#bytes = 0;
    if (this.#buffer.length > keptBytes) this.#buffer = nothing;
    return taken;
  }

  #grow(used: number): void {
    const size = Math.max(this.#bytes, Math.min(this.#maxBytes, this.#buffer.length * 2, 2 ** 30), 4096);
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, used);
    this.#buffer = larger;
  }

  #skip(piece: Buffer, used: number): void {
    if (this.#ends) {
      this.#ends.tail = lastBytes(this.#ends.tail, piece);
      return;
    }
    if (this.#large) {
      const { head, tail } = this.#large;
      this.#ends = { head: Buffer.from(head), tail: lastBytes(Buffer.from(tail), piece) };
      this.#large = undefined;
      return;
    }
    const kept = this.#buffer.subarray(0, used);
    this.#ends = { head: firstBytes(kept, piece), tail: lastBytes(kept, piece) };
    this.#buffer = nothing;
  }
}

function firstBytes(left: Buffer, right: Buffer): Buffer {
  return Buffer.concat([left.subarray(0, endBytes), right.subarray(0, endBytes)]).subarray(0, endBytes);
}

function lastBytes(left: Buffer, right: Buffer): Buffer {
  return Buffer.concat([left.subarray(-endBytes), right.subarray(-endBytes)]).subarray(-endBytes);
}

/** The failure of a request whose answer was too large to take. */
export function oversizeError(server: string, message: TooLong, maxBytes: number): HubError {
  return new HubError(
    'upstream_failed',
    `The answer of server "${server}" has ${megabytes(message.bytes)} and at most ${megabytes(maxBytes)} are taken from it. ` +
      'Ask for less, or raise the server\'s "maxMessageBytes".',
  );
}

/**
 * The id of the request that an over-long message answers, found at its start or its end, where every known server
 * writes it. Undefined when it is not there, or when the message is a request of the server itself.
 */
export function answeredId({ head, tail }: TooLong): number | undefined {
  if (/^\s*\{[^{[]*"method"\s*:/.test(head)) return undefined;
  const found =
    /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,15})\s*,/.exec(head) ??
    /[\]}"\w]\s*,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

function megabytes(bytes: number): string {
  return bytes < 100_000 ? `${bytes} bytes` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

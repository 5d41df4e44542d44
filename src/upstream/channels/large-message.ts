import { isUtf8 } from 'node:buffer';
import { claim } from '../../core/json/large-buffers.ts';
import { LargeText } from '../../core/json/large-text.ts';
import { JsonScanner, type Span } from '../../core/json/scanner.ts';
import { largeWork } from '../../core/turn-budget.ts';

/**
 * A piece of at least this size is kept as it came; smaller ones are gathered, so that a server that sends single bytes
 * cannot make the hub hold an object for each.
 */
const ownPieceBytes = 16 * 1024;
const gatheredBytes = 64 * 1024;
/** Of what is no message after all, for the log. */
const headBytes = 300;

const wanted = {
  outer: new Set(['jsonrpc', 'id', 'method', 'result', 'error']),
  within: 'result',
  inner: new Set(['isError', 'resultType', 'ttlMs', 'cacheScope']),
};

/**
 * A message that is too long for a string, while its bytes arrive: checked and looked through piece by piece, so that
 * nothing is left to do when the last one is there.
 */
export class LargeMessage {
  readonly #scanner = new JsonScanner(wanted);
  #pieces: Buffer[] = [];
  #bytes = 0;
  #gathered: Buffer | undefined;
  #filled = 0;
  /** The beginning of a character whose end has not come. */
  #cut: Buffer | undefined;
  #isJson = true;
  #head: Buffer | undefined;
  readonly #isOnlyReader: boolean;

  /** `isOnlyReader`: what `add` is given is used by no other code, neither before nor after it. */
  constructor(isOnlyReader = false) {
    this.#isOnlyReader = isOnlyReader;
  }

  /** Takes the bytes over: no other code may use them after that. */
  add(bytes: Buffer): void {
    largeWork.spend(bytes.length);
    this.#bytes += bytes.length;
    this.#head ??= Buffer.from(bytes.subarray(0, headBytes));
    if (!this.#isJson) return;
    if (bytes.length >= ownPieceBytes) {
      this.#flush();
      if (this.#isOnlyReader) claim(bytes);
      this.#take(bytes);
      return;
    }
    for (let at = 0; at < bytes.length;) {
      this.#gathered ??= Buffer.allocUnsafeSlow(gatheredBytes);
      const taken = bytes.copy(this.#gathered, this.#filled, at);
      this.#filled += taken;
      at += taken;
      if (this.#filled === gatheredBytes) this.#flush();
    }
  }

  /** Nothing more comes. False: it is not JSON, and nothing of it was kept but its beginning. */
  end(): boolean {
    this.#flush();
    if (this.#cut) this.#keep(this.#cut);
    this.#cut = undefined;
    this.#isJson &&= this.#scanner.end();
    if (!this.#isJson) this.#pieces = [];
    return this.#isJson;
  }

  /** How it begins. */
  get head(): string {
    return this.#head?.toString() ?? '';
  }

  /** How it ends so far; none once it is known to be no JSON. */
  get tail(): string {
    this.#flush();
    const last = this.#pieces.slice(-4);
    return Buffer.concat(last).subarray(-headBytes).toString();
  }

  /** How many have come, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What has come of it, as text; no more than its beginning where that cannot become JSON. */
  get begun(): string {
    this.#flush();
    return this.#isJson ? Buffer.concat(this.#cut ? [...this.#pieces, this.#cut] : this.#pieces).toString() : this.head;
  }

  get text(): LargeText {
    return new LargeText(this.#pieces);
  }

  /** Where a member of the message lies; undefined when it is not there. */
  member(key: string): Span | undefined {
    return this.#scanner.outer.get(key);
  }

  /** A member of its `result`. */
  resultMember(key: string): Span | undefined {
    return this.#scanner.inner.get(key);
  }

  /** Its outermost value is an object. */
  get isObject(): boolean {
    return this.#scanner.kind === 0x7b;
  }

  #flush(): void {
    if (!this.#gathered) return;
    const gathered = this.#gathered.subarray(0, this.#filled);
    claim(gathered);
    this.#gathered = undefined;
    this.#filled = 0;
    this.#take(gathered);
  }

  /** Cuts between characters, since only whole ones can be checked. */
  #take(bytes: Buffer): void {
    const rest = this.#cut ? this.#mend(this.#cut, bytes) : bytes;
    const whole = rest.length - unfinishedBytes(rest);
    if (whole < rest.length) this.#cut = Buffer.from(rest.subarray(whole));
    if (whole > 0) this.#keep(rest.subarray(0, whole));
  }

  /** Puts the character that was cut together; what is left of the piece. */
  #mend(cut: Buffer, bytes: Buffer): Buffer {
    const missing = sequenceBytes(cut[0] ?? 0) - cut.length;
    let taken = 0;
    while (taken < missing && taken < bytes.length && isContinuation(bytes[taken] ?? 0)) taken++;
    const character = Buffer.concat([cut, bytes.subarray(0, taken)]);
    if (taken < missing && taken === bytes.length) {
      this.#cut = character;
      return bytes.subarray(taken);
    }
    this.#cut = undefined;
    this.#keep(character);
    return bytes.subarray(taken);
  }

  #keep(bytes: Buffer): void {
    if (!this.#isJson) return;
    // What is no UTF-8 becomes U+FFFD, as in every other message.
    const piece = isUtf8(bytes) ? bytes : Buffer.from(bytes.toString());
    this.#isJson = this.#scanner.push(piece);
    if (this.#isJson) this.#pieces.push(piece);
    else this.#pieces = [];
  }
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** How many bytes a character has that begins with this one. */
function sequenceBytes(first: number): number {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

/** How many bytes at the end are the beginning of a character. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return sequenceBytes(byte) > back ? back : 0;
  }
  return 0;
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;
const zero = 0x30;
const nine = 0x39;
const minus = 0x2d;
const plus = 0x2b;
const dot = 0x2e;

/** What comes next. Plain numbers: the scanner looks at one for each byte. */
const expects = {
  value: 0,
  valueOrEnd: 1,
  keyOrEnd: 2,
  key: 3,
  colon: 4,
  /** A comma or the end of the container; at the outermost level nothing but white space. */
  after: 5,
  string: 6,
  escape: 7,
  hex: 8,
  literal: 9,
  /** A number may not end in the first four of these. */
  minus: 10,
  point: 11,
  exponent: 12,
  exponentSign: 13,
  zero: 14,
  integer: 15,
  fraction: 16,
  exponentDigits: 17,
} as const;

const trueText = Buffer.from('true');
const falseText = Buffer.from('false');
const nullText = Buffer.from('null');
/** A key with more bytes than this is none that is looked for, however its characters are escaped. */
const keyBytes = 128;

/** Where a value lies in the text, in bytes. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The members whose places are kept. */
export interface Wanted {
  /** Of the outermost object. */
  readonly outer: ReadonlySet<string>;
  /** The member of the outermost object that is looked into, and what in it is looked for. */
  readonly within: string;
  readonly inner: ReadonlySet<string>;
}

/**
 * Checks JSON text in UTF-8 while it arrives in pieces that are cut anywhere, and finds members near its surface. It
 * accepts exactly what `JSON.parse` accepts, and like it takes the last of duplicates. The work is bounded by the bytes
 * of each piece, and what it keeps by the nesting. The bytes themselves may be invalid UTF-8 inside strings: the code
 * that decodes them has to check that.
 *
 * Line breaks outside strings are overwritten with blanks, in place: inside they cannot be, so the text has none
 * afterwards.
 */
export class JsonScanner {
  /** The outermost value's first byte. */
  kind: number | undefined;
  readonly outer = new Map<string, Span>();
  readonly inner = new Map<string, Span>();
  readonly #wanted: Wanted;
  #state: number = expects.value;
  #isValid = true;
  /** Bytes before the current piece. */
  #before = 0;
  #depth = 0;
  /** One bit for each open container: 1 is an object. */
  #objects = new Uint8Array(16);
  #isKey = false;
  #isCaptured = false;
  #key = '';
  #hexLeft = 0;
  #literal: Buffer = nullText;
  #literalAt = 0;
  #outerKey: string | undefined;
  #innerKey: string | undefined;
  #outerStart = 0;
  #innerStart = 0;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** Takes the next piece; false once the text cannot be JSON any more. */
  push(bytes: Buffer): boolean {
    if (!this.#isValid) return false;
    this.#isValid = this.#scan(bytes);
    this.#before += bytes.length;
    return this.#isValid;
  }

  /** Nothing more comes: whether it was JSON. */
  end(): boolean {
    if (this.#isValid && this.#state >= expects.zero) this.#valueEnds(this.#before);
    return this.#isValid && this.#depth === 0 && this.#state === expects.after;
  }

  #scan(bytes: Buffer): boolean {
    const { length } = bytes;
    const base = (4 - (bytes.byteOffset & 3)) & 3;
    const words = length > base ? new Int32Array(bytes.buffer, bytes.byteOffset + base, (length - base) >> 2) : noWords;
    let i = 0;
    while (i < length) {
      if (this.#state === expects.string) {
        const from = i;
        i = plainEnd(bytes, words, base, i);
        if (this.#isCaptured && i > from) this.#capture(bytes, from, i);
        if (i === length) return true;
        const c = bytes[i++] ?? 0;
        if (c === quote) this.#stringEnds(this.#before + i);
        else if (c !== backslash) return false;
        else {
          if (this.#isCaptured) this.#capture(bytes, i - 1, i);
          this.#state = expects.escape;
        }
        continue;
      }
      const c = bytes[i] ?? 0;
      if (this.#state >= expects.zero && !this.#goesOn(c)) {
        this.#valueEnds(this.#before + i);
        continue;
      }
      if (this.#state <= expects.after && (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09)) {
        if (c === 0x0a || c === 0x0d) bytes[i] = 0x20;
        i++;
        continue;
      }
      if (!this.#take(c, this.#before + i, bytes, i)) return false;
      i++;
    }
    return true;
  }

  /** Takes a byte that is not inside a string, nor white space between tokens. */
  #take(c: number, at: number, bytes: Buffer, i: number): boolean {
    switch (this.#state) {
      case expects.valueOrEnd:
        return c === closeBracket ? this.#close(at) : this.#valueBegins(c, at);
      case expects.value:
        return this.#valueBegins(c, at);
      case expects.keyOrEnd:
        if (c === closeBrace) return this.#close(at);
        return c === quote && this.#keyBegins();
      case expects.key:
        return c === quote && this.#keyBegins();
      case expects.colon:
        this.#state = expects.value;
        return c === colon;
      case expects.after:
        return this.#separated(c, at);
      case expects.escape:
        if (this.#isCaptured) this.#capture(bytes, i, i + 1);
        if (c === 0x75) this.#hexLeft = 4;
        this.#state = c === 0x75 ? expects.hex : expects.string;
        return c === 0x75 || isEscape(c);
      case expects.hex:
        if (this.#isCaptured) this.#capture(bytes, i, i + 1);
        if (--this.#hexLeft === 0) this.#state = expects.string;
        return isHex(c);
      case expects.literal:
        if (c !== this.#literal[this.#literalAt++]) return false;
        if (this.#literalAt === this.#literal.length) this.#valueEnds(at + 1);
        return true;
      default:
        return this.#digit(c);
    }
  }

  #separated(c: number, at: number): boolean {
    if (this.#depth === 0) return false;
    const isObject = this.#inObject();
    if (c === comma) {
      this.#state = isObject ? expects.key : expects.value;
      return true;
    }
    return c === (isObject ? closeBrace : closeBracket) && this.#close(at);
  }

  #valueBegins(c: number, at: number): boolean {
    if (this.#depth === 0) this.kind = c;
    else if (this.#depth === 1) {
      this.#outerStart = at;
      if (this.#outerKey === this.#wanted.within) this.inner.clear();
    } else if (this.#depth === 2) this.#innerStart = at;
    switch (c) {
      case quote:
        this.#isKey = false;
        this.#isCaptured = false;
        this.#state = expects.string;
        return true;
      case openBrace:
        this.#open(true);
        this.#state = expects.keyOrEnd;
        return true;
      case openBracket:
        this.#open(false);
        this.#state = expects.valueOrEnd;
        return true;
      case 0x74:
        return this.#literalBegins(trueText);
      case 0x66:
        return this.#literalBegins(falseText);
      case 0x6e:
        return this.#literalBegins(nullText);
      case minus:
        this.#state = expects.minus;
        return true;
      case zero:
        this.#state = expects.zero;
        return true;
      default:
        this.#state = expects.integer;
        return c > zero && c <= nine;
    }
  }

  #literalBegins(text: Buffer): boolean {
    this.#literal = text;
    this.#literalAt = 1;
    this.#state = expects.literal;
    return true;
  }

  #keyBegins(): boolean {
    this.#isKey = true;
    this.#isCaptured = this.#depth === 1 || (this.#depth === 2 && this.#outerKey === this.#wanted.within);
    this.#key = '';
    this.#state = expects.string;
    return true;
  }

  #capture(bytes: Buffer, from: number, to: number): void {
    this.#key += bytes.toString('latin1', from, Math.min(to, from + keyBytes + 1));
    if (this.#key.length > keyBytes) this.#isCaptured = false;
  }

  #stringEnds(at: number): void {
    if (!this.#isKey) return this.#valueEnds(at);
    this.#state = expects.colon;
    if (this.#depth > 2) return;
    const key = this.#isCaptured ? keyOf(this.#key) : undefined;
    if (this.#depth === 1) this.#outerKey = key !== undefined && this.#wanted.outer.has(key) ? key : undefined;
    else this.#innerKey = key !== undefined && this.#wanted.inner.has(key) ? key : undefined;
    this.#isCaptured = false;
  }

  #valueEnds(at: number): void {
    this.#state = expects.after;
    if (this.#depth === 1 && this.#outerKey !== undefined) {
      this.outer.set(this.#outerKey, { start: this.#outerStart, end: at });
      this.#outerKey = undefined;
    } else if (this.#depth === 2 && this.#innerKey !== undefined) {
      this.inner.set(this.#innerKey, { start: this.#innerStart, end: at });
      this.#innerKey = undefined;
    }
  }

  #open(isObject: boolean): void {
    const at = this.#depth++;
    if (at >> 3 >= this.#objects.length) {
      const larger = new Uint8Array(this.#objects.length * 2);
      larger.set(this.#objects);
      this.#objects = larger;
    }
    const bit = 1 << (at & 7);
    const others = (this.#objects[at >> 3] ?? 0) & ~bit;
    this.#objects[at >> 3] = isObject ? others | bit : others;
  }

  #inObject(): boolean {
    const at = this.#depth - 1;
    return ((this.#objects[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
  }

  #close(at: number): boolean {
    this.#depth--;
    this.#valueEnds(at + 1);
    return true;
  }

  /** Whether this byte belongs to the number that could end here. */
  #goesOn(c: number): boolean {
    const isDigit = c >= zero && c <= nine;
    if (this.#state === expects.exponentDigits) return isDigit;
    if (c === 0x65 || c === 0x45) return true;
    if (this.#state === expects.fraction) return isDigit;
    // `01` is not a number: the digit is refused as what follows it.
    return c === dot || (isDigit && this.#state === expects.integer);
  }

  #digit(c: number): boolean {
    const isDigit = c >= zero && c <= nine;
    switch (this.#state) {
      case expects.minus:
        this.#state = c === zero ? expects.zero : expects.integer;
        return isDigit;
      case expects.point:
        this.#state = expects.fraction;
        return isDigit;
      case expects.exponent:
        this.#state = isDigit ? expects.exponentDigits : expects.exponentSign;
        return isDigit || c === plus || c === minus;
      case expects.exponentSign:
        this.#state = expects.exponentDigits;
        return isDigit;
      default:
        // What `#goesOn` let through.
        if (c === dot) this.#state = expects.point;
        else if (!isDigit) this.#state = expects.exponent;
        return true;
    }
  }
}

const noWords = new Int32Array(0);

/**
 * The first place from `i` on where a string ends, escapes, or holds what it may not. Four bytes at a time: nearly all
 * of a long message is in its strings. `words` are the bytes from `base` on.
 */
function plainEnd(bytes: Buffer, words: Int32Array, base: number, i: number): number {
  const { length } = bytes;
  let at = i;
  while (at < length) {
    if (((at - base) & 3) === 0 && at >= base) {
      let word = (at - base) >> 2;
      const end = words.length;
      while (word < end) {
        const v = words[word] ?? 0;
        const q = v ^ 0x22222222;
        const b = v ^ 0x5c5c5c5c;
        // Sets the top bit of a byte below 0x20, of a quote and of a backslash ("Bit Twiddling Hacks", Determine if a
        // word has a byte less than n).
        const found = ((v - 0x20202020) & ~v) | ((q - 0x01010101) & ~q) | ((b - 0x01010101) & ~b);
        if ((found & 0x80808080) !== 0) break;
        word++;
      }
      at = base + (word << 2);
      if (at >= length) return length;
    }
    const c = bytes[at] ?? 0;
    if (c < 0x20 || c === quote || c === backslash) return at;
    at++;
  }
  return length;
}

function isEscape(c: number): boolean {
  return (
    c === quote || c === backslash || c === 0x2f || c === 0x62 || c === 0x66 || c === 0x6e || c === 0x72 || c === 0x74
  );
}

function isHex(c: number): boolean {
  return (c >= zero && c <= nine) || (c >= 0x61 && c <= 0x66) || (c >= 0x41 && c <= 0x46);
}

/** A key as JSON means it: `"na\u006de"` is `name`. */
function keyOf(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

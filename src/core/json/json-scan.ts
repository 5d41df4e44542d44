import { keyAt, type Member } from './text.ts';

/** A member of the outermost object of a text, or of one of its members. */
export interface ScannedMember extends Member {
  start: number;
  end: number;
  /** The members of its value; undefined where that is no object, has too many, or is further inside. */
  inner: ScannedMember[] | undefined;
}

/** The error for a text that is nested too deep, or whose outermost object has too many members. */
export type ScanRefusal = (why: 'deep' | 'wide') => Error;

const [beforeValue, beforeItem, beforeKey, beforeFirstKey, beforeColon, afterValue, inKey, inString] = [
  0, 1, 2, 3, 4, 5, 6, 7,
];
const quote = 0x22;
const backslash = 0x5c;
/** Members that are told, of one object. */
const mostMembers = 1_000;
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Goes through a JSON text in pieces, as `JSON.parse` takes it, and makes nothing of it but the places of the outermost
 * members. Once it has come to the end the text is JSON.
 */
export class JsonScan {
  /** Those of the outermost object; undefined where the text is something else. */
  members: ScannedMember[] | undefined;
  readonly #text: string;
  readonly #most: number;
  readonly #refusal: ScanRefusal;
  #at = 0;
  #state = beforeValue;
  #depth = 0;
  /** Whether it is an object, by depth. */
  readonly #objects: boolean[] = [];
  /** The member that is being read, by depth. */
  readonly #open: (ScannedMember | undefined)[] = [];

  constructor(text: string, most: number, refusal: ScanRefusal) {
    this.#text = text;
    this.#most = most;
    this.#refusal = refusal;
  }

  /** Goes on for so many characters. True at the end of the text. Throws SyntaxError, or what `refusal` gives. */
  advance(chars: number): boolean {
    const text = this.#text;
    const end = Math.min(text.length, this.#at + chars);
    while (this.#at < end) {
      if (this.#state >= inKey) this.#string(end);
      else this.#token(text.charCodeAt(this.#at));
    }
    if (end < text.length) return false;
    if (this.#state !== afterValue || this.#depth > 0) throw new SyntaxError('The text ends in the middle');
    return true;
  }

  #token(code: number): void {
    if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      this.#at++;
      return;
    }
    const isEmpty = this.#state === beforeItem || this.#state === beforeFirstKey;
    if ((code === 0x5d || code === 0x7d) && (isEmpty || this.#state === afterValue)) return this.#close(code === 0x7d);
    switch (this.#state) {
      case beforeValue:
      case beforeItem:
        return this.#value(code);
      case beforeKey:
      case beforeFirstKey:
        if (code !== quote) throw this.#unexpected();
        this.#beginMember();
        this.#state = inKey;
        this.#at++;
        return undefined;
      case beforeColon:
        if (code !== 0x3a) throw this.#unexpected();
        this.#state = beforeValue;
        this.#at++;
        return undefined;
      default:
        if (code !== 0x2c || this.#depth === 0) throw this.#unexpected();
        this.#state = this.#objects[this.#depth] === true ? beforeKey : beforeValue;
        this.#at++;
        return undefined;
    }
  }

  #value(code: number): void {
    const member = this.#open[this.#depth];
    if (member) member.start = this.#at;
    if (code === quote) {
      this.#state = inString;
      this.#at++;
    } else if (code === 0x7b || code === 0x5b) this.#openContainer(code === 0x7b, member);
    else this.#scalar();
  }

  #openContainer(isObject: boolean, member: ScannedMember | undefined): void {
    if (++this.#depth > this.#most) throw this.#refusal('deep');
    this.#objects[this.#depth] = isObject;
    this.#open[this.#depth] = undefined;
    this.#state = isObject ? beforeFirstKey : beforeItem;
    this.#at++;
    if (!isObject) return;
    if (this.#depth === 1) this.members = [];
    else if (this.#depth === 2 && member) member.inner = [];
  }

  #close(isObject: boolean): void {
    if (this.#depth === 0 || this.#objects[this.#depth] !== isObject) throw this.#unexpected();
    this.#depth--;
    this.#at++;
    this.#ended();
  }

  #scalar(): void {
    scalar.lastIndex = this.#at;
    if (!scalar.test(this.#text)) throw this.#unexpected();
    this.#at = scalar.lastIndex;
    this.#ended();
  }

  #string(end: number): void {
    const text = this.#text;
    let at = this.#at;
    while (at < end) {
      const code = text.charCodeAt(at);
      if (code === quote) {
        this.#at = at + 1;
        return this.#state === inKey ? this.#keyEnded() : this.#ended();
      }
      if (code < 0x20) throw this.#unexpected();
      if (code === backslash) {
        escape.lastIndex = at;
        if (!escape.test(text)) throw this.#unexpected();
        at = escape.lastIndex;
      } else at++;
    }
    this.#at = at;
  }

  #beginMember(): void {
    const list = this.#depth === 1 ? this.members : this.#depth === 2 ? this.#open[1]?.inner : undefined;
    if (!list) return;
    if (list.length < mostMembers) {
      const member = { key: '', from: this.#at, start: 0, end: 0, inner: undefined };
      list.push(member);
      this.#open[this.#depth] = member;
      return;
    }
    if (this.#depth === 1) throw this.#refusal('wide');
    const parent = this.#open[1];
    if (parent) parent.inner = undefined;
    this.#open[2] = undefined;
  }

  #keyEnded(): void {
    const member = this.#open[this.#depth];
    if (member) Object.assign(member, { key: keyAt(this.#text, member.from, this.#at) });
    this.#state = beforeColon;
  }

  /** A value. */
  #ended(): void {
    const member = this.#open[this.#depth];
    if (member) member.end = this.#at;
    this.#state = afterValue;
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`Not JSON at character ${this.#at}`);
  }
}

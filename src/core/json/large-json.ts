import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonScan, type ScannedMember, type ScanRefusal } from './json-scan.ts';
import type { Member } from './text.ts';

/** A JSON object that was read without holding up the event loop. */
export interface LargeObject {
  /**
   * What the text says. A long value is parsed when it is first looked at: a member of the object, or of one of its
   * members.
   */
  readonly value: Record<string, unknown>;
  /** A member exactly as it was written, of duplicates the last, and its own members where it is an object. */
  readonly member: (
    key: string,
  ) => { readonly text: string; readonly members: readonly Member[] | undefined } | undefined;
}

/** Characters that are looked at in one turn of the event loop, about a millisecond. */
const turnChars = 128 * 1024;
/** Shorter values are parsed at once, until they are so long together. */
const shortChars = 16 * 1024;
const shortCharsTogether = 64 * 1024;

/** Undefined for JSON that is no object. Throws SyntaxError for what is not JSON, and what `refusal` gives. */
export async function readLargeObject(
  text: string,
  depth: number,
  refusal: ScanRefusal,
): Promise<LargeObject | undefined> {
  const scan = new JsonScan(text, depth, refusal);
  while (!scan.advance(turnChars)) await nextTurn();
  const { members } = scan;
  if (!members) return undefined;
  return {
    value: lazily(text, members, { left: shortCharsTogether }),
    member(key) {
      const found = members.findLast((member) => member.key === key);
      if (!found) return undefined;
      const { start, end, inner } = found;
      const own = inner?.map((one) => ({
        key: one.key,
        from: one.from - start,
        start: one.start - start,
        end: one.end - start,
      }));
      return { text: text.slice(start, end), members: own };
    },
  };
}

function lazily(text: string, members: readonly ScannedMember[], atOnce: { left: number }): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const { key, start, end, inner } of members) {
    const isShort = end - start <= Math.min(shortChars, atOnce.left);
    if (isShort) atOnce.left -= end - start;
    // Defined, not set: a member may be called `__proto__`.
    if (isShort || inner)
      define(value, key, isShort ? (JSON.parse(text.slice(start, end)) as unknown) : lazily(text, inner ?? [], atOnce));
    else defineLate(value, key, () => JSON.parse(text.slice(start, end)) as unknown);
  }
  return value;
}

function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function defineLate(object: object, key: string, parse: () => unknown): void {
  Object.defineProperty(object, key, {
    enumerable: true,
    configurable: true,
    get() {
      const value = parse();
      define(object, key, value);
      return value;
    },
  });
}

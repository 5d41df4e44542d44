import type { Visible } from './words/lexical.ts';
import { maxSlots } from './words/postings.ts';

/** Keys that a search may know of; all when undefined. */
export type Allowed = ReadonlySet<string> | ((key: string) => boolean) | undefined;

/**
 * Which tool has which document id (`slot` in the code), and what is known of it. The id of a removed tool rests (is
 * not given to another tool) until the index has forgotten it.
 */
export interface DocumentIds {
  readonly size: number;
  /** Document ids in use are smaller than this. */
  readonly end: number;
  /** 1 for document ids that have a tool. */
  readonly alive: Uint8Array;
  readonly serverOf: Uint32Array;
  /** Server numbers are smaller than this. */
  readonly servers: number;
  find(key: string): number | undefined;
  key(slot: number): string;
  hash(slot: number): string;
  keys(): IterableIterator<string>;
  take(key: string, hash: string, server: string): number;
  release(slot: number): void;
  /** How many document ids rest. */
  readonly resting: number;
  /** To be called when the index has forgotten all resting document ids. */
  wake(): void;
  /**
   * What is made of a set is remembered until tools come or go: it must not change after it was given, nor must the
   * answer.
   */
  visible(allowed: Allowed): Visible;
}

export function createDocumentIds(): DocumentIds {
  const slotOf = new Map<string, number>();
  const keys: string[] = [];
  const hashes: string[] = [];
  const servers = createNumbers();
  let alive = new Uint8Array(256);
  let serverOf = new Uint32Array(256);
  let resting: number[] = [];
  let free: number[] = [];
  /** What was made of sets since tools last came or went. */
  let masks = new WeakMap<ReadonlySet<string>, Visible>();

  function next(): number {
    const again = free.pop();
    if (again !== undefined) return again;
    const slot = keys.length;
    if (slot === maxSlots) throw new RangeError(`The search index cannot hold more than ${maxSlots} tools.`);
    if (slot === alive.length) {
      alive = copyInto(new Uint8Array(slot * 2), alive);
      serverOf = copyInto(new Uint32Array(slot * 2), serverOf);
    }
    return slot;
  }

  return {
    get size() {
      return slotOf.size;
    },
    get end() {
      return keys.length;
    },
    get alive() {
      return alive;
    },
    get serverOf() {
      return serverOf;
    },
    get servers() {
      return servers.end;
    },
    get resting() {
      return resting.length;
    },
    find: (key) => slotOf.get(key),
    key: (slot) => keys[slot] ?? '',
    hash: (slot) => hashes[slot] ?? '',
    keys: () => slotOf.keys(),
    take(key, hash, server) {
      const slot = next();
      masks = new WeakMap();
      slotOf.set(key, slot);
      keys[slot] = key;
      hashes[slot] = hash;
      alive[slot] = 1;
      serverOf[slot] = servers.take(server);
      return slot;
    },
    release(slot) {
      masks = new WeakMap();
      slotOf.delete(keys[slot] ?? '');
      keys[slot] = '';
      hashes[slot] = '';
      alive[slot] = 0;
      servers.giveBack(serverOf[slot] ?? 0);
      resting.push(slot);
    },
    wake() {
      free = free.concat(resting);
      resting = [];
    },
    visible(allowed) {
      if (!allowed) return { mask: alive.slice(0, keys.length), count: slotOf.size };
      if (typeof allowed === 'function') return maskOf(allowed, slotOf, new Uint8Array(keys.length));
      const known = masks.get(allowed) ?? maskOf(allowed, slotOf, new Uint8Array(keys.length));
      masks.set(allowed, known);
      return known;
    },
  };
}

function maskOf(allowed: Exclude<Allowed, undefined>, slotOf: ReadonlyMap<string, number>, mask: Uint8Array): Visible {
  let count = 0;
  function show(slot: number | undefined): void {
    if (slot === undefined) return;
    mask[slot] = 1;
    count++;
  }
  if (typeof allowed !== 'function' && allowed.size < slotOf.size) {
    for (const key of allowed) show(slotOf.get(key));
  } else {
    const passes = typeof allowed === 'function' ? allowed : (key: string) => allowed.has(key);
    for (const [key, slot] of slotOf) if (passes(key)) show(slot);
  }
  return { mask, count };
}

/** Small numbers for strings. A number that is not used any more is given to another string. */
function createNumbers() {
  const numbers = new Map<string, number>();
  const strings: string[] = [];
  const users: number[] = [];
  const free: number[] = [];
  return {
    get end() {
      return strings.length;
    },
    take(text: string): number {
      let number = numbers.get(text);
      if (number === undefined) {
        number = free.pop() ?? strings.length;
        numbers.set(text, number);
        strings[number] = text;
        users[number] = 0;
      }
      users[number] = (users[number] ?? 0) + 1;
      return number;
    },
    giveBack(number: number): void {
      users[number] = (users[number] ?? 0) - 1;
      if (users[number] !== 0) return;
      numbers.delete(strings[number] ?? '');
      free.push(number);
    },
  };
}

function copyInto<T extends Uint8Array | Uint32Array>(larger: T, from: T): T {
  larger.set(from);
  return larger;
}

import { randomInt } from 'node:crypto';

const smallest = 16;
/** A table that has grown so large is given up when nothing is left in it. */
const large = 1_024;
/** 2^32 divided by the golden ratio: ids that follow one another come to lie far apart. */
const spread = 0x9e3779b1;
/** Ids of requests come from clients, who cannot know which of them get the same place. */
const seed = randomInt(2 ** 32);

/**
 * A map for what comes and goes with every call. A `Map` makes itself a new table each time so many entries were added,
 * and V8 has each table point to the next one; once one of them has grown old, all that follow it stay until the next
 * full collection (decisions/0029). This one, an open table with linear probing, stays in the arrays it has. In no
 * order.
 */
export class BusyMap<K extends string | number, V> {
  #keys: (K | undefined)[] = emptyTable(smallest);
  #values: (V | undefined)[] = emptyTable(smallest);
  #size = 0;
  readonly #hashed: number;

  /**
   * `hashed`: so many characters at the end of a key tell keys apart. Only for keys that end with something random that
   * the hub has made itself.
   */
  constructor(hashed = Infinity) {
    this.#hashed = hashed;
  }

  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    return this.#values[this.#placeOf(key)];
  }

  has(key: K): boolean {
    return this.#keys[this.#placeOf(key)] !== undefined;
  }

  set(key: K, value: V): void {
    const place = this.#placeOf(key);
    if (this.#keys[place] === undefined) {
      // At most half full, so that a free place is never far.
      if (this.#size * 2 >= this.#keys.length) {
        this.#resize(this.#keys.length * 2);
        return this.set(key, value);
      }
      this.#size += 1;
      this.#keys[place] = key;
    }
    this.#values[place] = value;
  }

  delete(key: K): boolean {
    const place = this.#placeOf(key);
    if (this.#keys[place] === undefined) return false;
    this.#size -= 1;
    if (this.#size === 0 && this.#keys.length > large) this.clear();
    else this.#free(place);
    return true;
  }

  clear(): void {
    this.#keys = emptyTable(smallest);
    this.#values = emptyTable(smallest);
    this.#size = 0;
  }

  /** Those that are there now. */
  keys(): K[] {
    return this.#keys.filter((key) => key !== undefined);
  }

  /** Those that are there now, but for what is deleted meanwhile. */
  *entries(): IterableIterator<[K, V]> {
    for (const key of this.keys()) {
      const place = this.#placeOf(key);
      if (this.#keys[place] !== undefined) yield [key, this.#values[place] as V];
    }
  }

  *values(): IterableIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  /** Whether one of the values is like that. `test` must not change the map. */
  some(test: (value: V) => boolean): boolean {
    return this.#keys.some((key, place) => key !== undefined && test(this.#values[place] as V));
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.entries();
  }

  /** Where the key is, or the free place where it would be. */
  #placeOf(key: K): number {
    const mask = this.#keys.length - 1;
    let place = hashOf(key, this.#hashed) & mask;
    for (let there = this.#keys[place]; there !== undefined && there !== key; there = this.#keys[place])
      place = (place + 1) & mask;
    return place;
  }

  /** Leaves no gap between where a key would best be and where it is. */
  #free(gap: number): void {
    const mask = this.#keys.length - 1;
    let free = gap;
    for (let place = (gap + 1) & mask; ; place = (place + 1) & mask) {
      const key = this.#keys[place];
      if (key === undefined) break;
      if (((place - hashOf(key, this.#hashed)) & mask) < ((place - free) & mask)) continue;
      this.#keys[free] = key;
      this.#values[free] = this.#values[place];
      free = place;
    }
    this.#keys[free] = undefined;
    this.#values[free] = undefined;
  }

  #resize(length: number): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#keys = emptyTable(length);
    this.#values = emptyTable(length);
    for (const [i, key] of keys.entries()) {
      if (key === undefined) continue;
      const place = this.#placeOf(key);
      this.#keys[place] = key;
      this.#values[place] = values[i];
    }
  }
}

function emptyTable<T>(length: number): (T | undefined)[] {
  return Array.from<T | undefined>({ length });
}

function hashOf(key: string | number, hashed: number): number {
  if (typeof key === 'number') return mixed(key);
  let hash = seed;
  for (let i = Math.max(0, key.length - hashed); i < key.length; i++) hash = mixed(hash ^ key.charCodeAt(i));
  return hash;
}

function mixed(bits: number): number {
  const product = Math.imul(bits, spread);
  return product ^ (product >>> 15);
}

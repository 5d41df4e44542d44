/**
 * A map for what comes and goes with every call. A `Map` makes itself a new table each time so many entries were added, and V8 has each table point to the next one; once one
 * of them has grown old, all that follow it stay until the next full collection, with whatever was in them: a third of all that calls allocate. Here such tables hold
 * nothing but numbers, the values are in an array beside them. In the order in which keys were first added.
 */
export class BusyMap<K, V> {
  readonly #places = new Map<K, number>();
  readonly #values: (V | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  get(key: K): V | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#values[place];
  }

  has(key: K): boolean {
    return this.#places.has(key);
  }

  set(key: K, value: V): void {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.#free.pop() ?? this.#values.length;
      this.#places.set(key, place);
    }
    this.#values[place] = value;
  }

  delete(key: K): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    this.#values[place] = undefined;
    this.#free.push(place);
    return true;
  }

  clear(): void {
    this.#places.clear();
    this.#values.length = 0;
    this.#free.length = 0;
  }

  keys(): IterableIterator<K> {
    return this.#places.keys();
  }

  /** What is deleted meanwhile is left out, what is added comes last. */
  *entries(): IterableIterator<[K, V]> {
    for (const [key, place] of this.#places) yield [key, this.#values[place] as V];
  }

  *values(): IterableIterator<V> {
    for (const place of this.#places.values()) yield this.#values[place] as V;
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.entries();
  }
}

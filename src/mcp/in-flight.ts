import { BusyMap } from '../core/busy-map.ts';

/** What a session has in flight, by request id: nearly always one thing, for which there need be no table. */
export class InFlight<V> {
  #key: string | undefined;
  #value: V | undefined;
  #more: BusyMap<string, V> | undefined;

  get size(): number {
    return (this.#key === undefined ? 0 : 1) + (this.#more?.size ?? 0);
  }

  get(key: string): V | undefined {
    return key === this.#key ? this.#value : this.#more?.get(key);
  }

  set(key: string, value: V): void {
    if (key === this.#key || this.size === 0) {
      this.#key = key;
      this.#value = value;
    } else {
      this.#more ??= new BusyMap();
      this.#more.set(key, value);
    }
  }

  delete(key: string): void {
    if (key === this.#key) {
      this.#key = undefined;
      this.#value = undefined;
    } else {
      this.#more?.delete(key);
    }
  }

  *values(): IterableIterator<V> {
    if (this.#key !== undefined) yield this.#value as V;
    yield* this.#more?.values() ?? [];
  }
}

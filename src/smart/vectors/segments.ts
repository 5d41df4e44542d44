import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachYielding } from '../../core/for-each-yielding.ts';
import { smartLimits } from '../limits.ts';
import { createVectors, type Vectors } from './memory.ts';

/**
 * Vectors of one space in memory, by hash, as bytes. They are compared segment by segment, and other work of the event
 * loop runs between two segments, so that a search in a large catalogue delays no call.
 */
export interface VectorMemory {
  readonly size: number;
  bytes(): number;
  /** Of the largest vectors; 0 when there are none. */
  readonly dimensions: number;
  /** As `VectorStore.sizes`. */
  sizes(hashes: readonly string[]): Map<string, number>;
  set(hash: string, vector: Float32Array): void;
  /** Forgets all vectors but these. */
  keep(hashes: ReadonlySet<string>): void;
  /** As `VectorStore.similarities`. */
  similarities(query: Float32Array, hashes: readonly string[]): Promise<Map<string, number>>;
}

export function createVectorMemory(rows: number = smartLimits.vectorSegmentRows): VectorMemory {
  const places = new Map<string, Place>();
  const segments: Segment[] = [];

  function roomFor(dimensions: number): Segment {
    const found = segments.find((segment) => segment.vectors.dimensions === dimensions && segment.free.length > 0);
    if (found) return found;
    const free = Array.from({ length: rows }, (_, row) => rows - 1 - row);
    const made = { vectors: createVectors(dimensions), free };
    segments.push(made);
    return made;
  }

  function drop(hash: string): void {
    const place = places.get(hash);
    if (!place) return;
    places.delete(hash);
    place.segment.vectors.clear(place.row);
    place.segment.free.push(place.row);
  }

  return {
    get size() {
      return places.size;
    },
    bytes: () => segments.reduce((sum, { vectors }) => sum + vectors.bytes(), 0),
    get dimensions() {
      return Math.max(0, ...segments.map(({ vectors }) => vectors.dimensions));
    },
    sizes(hashes) {
      const sizes = hashes.map((hash) => [hash, places.get(hash)?.segment.vectors.dimensions ?? 0] as const);
      return new Map(sizes.filter(([, size]) => size > 0));
    },
    set(hash, vector) {
      const known = places.get(hash);
      if (known?.segment.vectors.dimensions === vector.length) return known.segment.vectors.set(known.row, vector);
      const segment = roomFor(vector.length);
      const row = segment.free.at(-1) ?? 0;
      // Throws for a vector that cannot be compared: then nothing has changed.
      segment.vectors.set(row, vector);
      segment.free.pop();
      drop(hash);
      places.set(hash, { segment, row });
    },
    keep(hashes) {
      for (const hash of places.keys()) if (!hashes.has(hash)) drop(hash);
      for (let i = segments.length - 1; i >= 0; i--) if (segments[i]?.free.length === rows) segments.splice(i, 1);
    },
    async similarities(query, hashes) {
      const wanted = new Map<Segment, string[]>();
      await forEachYielding(hashes, smartLimits.itemsInATurn, (hash) => {
        const segment = places.get(hash)?.segment;
        if (segment?.vectors.dimensions !== query.length) return;
        const of = wanted.get(segment);
        if (of) of.push(hash);
        else wanted.set(segment, [hash]);
      });
      const found = new Map<string, number>();
      for (const [segment, hashes] of wanted) {
        if (found.size > 0) await nextTurn();
        compare(segment, query, hashes, found);
      }
      return found;
    },
  };

  function compare(segment: Segment, query: Float32Array, hashes: readonly string[], found: Map<string, number>): void {
    const mask = new Uint8Array(rows);
    const cosines = new Float32Array(rows);
    // Looked up again: vectors may have moved while others had their turn.
    const here = hashes.flatMap((hash) => {
      const place = places.get(hash);
      return place?.segment === segment ? [{ hash, row: place.row }] : [];
    });
    for (const { row } of here) mask[row] = 1;
    segment.vectors.similarities(query, mask, cosines);
    for (const { hash, row } of here) found.set(hash, Math.max(-1, Math.min(1, cosines[row] ?? 0)));
  }
}

interface Segment {
  readonly vectors: Vectors;
  /** Rows without a vector. */
  readonly free: number[];
}

interface Place {
  readonly segment: Segment;
  readonly row: number;
}

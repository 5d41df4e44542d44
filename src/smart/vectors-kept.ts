import { randomUUID } from 'node:crypto';
import { HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { type VectorRows, vectorRows } from './vector-rows.ts';
import type { SpaceContents, VectorStore } from './vector-store.ts';
import { createVectorMemory, type VectorMemory } from './vectors-segments.ts';

/**
 * `hub` tells this hub's claims from those of others, `mostBytes` is what vectors in memory may take.
 *
 * The vectors of this hub: kept and compared in the database where it has the `vector` extension; where it has not, kept there and compared in
 * memory; with `DB_URL=off` in memory only.
 */
export function createVectorStore(
  database: Pick<DatabaseHandle, 'current' | 'state'>,
  hub: string = randomUUID(),
  mostBytes: number = limits.vectorMemoryBytes,
): VectorStore {
  const spaces = new Map<string, VectorMemory>();
  let full = false;

  /** Undefined with `DB_URL=off`. */
  function rows(): { rows: VectorRows; compares: boolean } | undefined {
    const open = database.current();
    if (open) return { rows: vectorRows(open, hub), compares: open.hasVector };
    if (database.state().state === 'off') return undefined;
    throw new HubError('not_ready', 'the database with the vectors cannot be reached right now');
  }

  function memoryOf(space: string): VectorMemory {
    const known = spaces.get(space) ?? createVectorMemory();
    spaces.set(space, known);
    return known;
  }

  /** As many as there is room for. */
  function remember(space: string, vectors: ReadonlyMap<string, Float32Array>): void {
    const memory = memoryOf(space);
    for (const [hash, vector] of vectors) {
      const used = Array.from(spaces.values()).reduce((sum, one) => sum + one.bytes(), 0);
      full = used + vector.length > mostBytes;
      if (full) return;
      memory.set(hash, vector);
    }
  }

  /** Reads into memory what is in the database and not there yet. */
  async function load(space: string, hashes: readonly string[], from: VectorRows): Promise<void> {
    const memory = memoryOf(space);
    const missing = hashes.filter((hash) => !memory.has(hash));
    for (const page of pages(missing)) {
      if (full) return;
      remember(space, await from.read(space, page));
    }
  }

  return {
    get place() {
      return database.current()?.hasVector === true ? 'database' : 'memory';
    },
    get problem() {
      const most = mostBytes / 1024 ** 2;
      return full ? `vectors past the ${most} MB that they may have in memory are not compared` : undefined;
    },
    async sizes(space, hashes) {
      const kept = rows();
      if (kept) {
        const sizes = await kept.rows.sizes(space, hashes);
        if (!kept.compares) await load(space, [...sizes.keys()], kept.rows);
        return sizes;
      }
      return memoryOf(space).sizes(hashes);
    },
    async claim(space, hashes, again) {
      const kept = rows();
      return kept ? kept.rows.claim(space, hashes, again) : new Set(hashes);
    },
    async release(space, hashes) {
      await rows()?.rows.release(space, hashes);
    },
    async save(space, vectors) {
      const kept = rows();
      const all = [...vectors];
      for (const page of pages(all)) await kept?.rows.save(space, new Map(page));
      if (!kept?.compares) remember(space, vectors);
    },
    async similarities(space, query, hashes) {
      const open = database.current();
      if (open?.hasVector) return vectorRows(open, hub).similarities(space, query, hashes);
      const memory = spaces.get(space);
      // What is in memory can be compared whatever became of the database.
      if (memory && memory.size > 0) return memory.similarities(query, hashes);
      rows();
      return new Map();
    },
    async tend(space, hashes) {
      const kept = rows();
      await kept?.rows.tend(space, hashes);
      if (kept?.compares) return;
      spaces.get(space)?.keep(new Set(hashes));
      full = false;
    },
    forget(space) {
      spaces.delete(space);
      full = false;
    },
    async contents() {
      const kept = rows();
      return kept ? kept.rows.contents() : Array.from(spaces, inMemory);
    },
  };
}

function inMemory([space, memory]: [string, VectorMemory]): SpaceContents {
  return { space, vectors: memory.size, dimensions: memory.dimensions, oldest: undefined, newest: undefined };
}

function* pages<T>(items: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < items.length; at += limits.vectorRows) yield items.slice(at, at + limits.vectorRows);
}

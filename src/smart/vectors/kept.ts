import { randomUUID } from 'node:crypto';
import { HubError } from '../../core/errors.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import { smartLimits } from '../limits.ts';
import { type VectorRows, vectorRows } from './rows.ts';
import type { SpaceContents, VectorStore } from '../vector-store.ts';
import { createVectorSpaces } from './spaces.ts';
import type { VectorMemory } from './segments.ts';

/**
 * The vectors of this hub: kept and compared in the database where it has the `vector` extension; where it has not,
 * kept there and compared in memory; with `DB_URL=off` in memory only. `hub` tells this hub's claims from those of
 * others, `mostBytes` is what vectors in memory may take.
 */
export function createVectorStore(
  database: Pick<DatabaseHandle, 'current' | 'state'>,
  hub: string = randomUUID(),
  mostBytes: number = smartLimits.vectorMemoryBytes,
): VectorStore {
  const memory = createVectorSpaces(mostBytes);
  /** As of the last time that the database was there. */
  let place: VectorStore['place'] | undefined;

  /** Undefined with `DB_URL=off`. */
  function rows(): { rows: VectorRows; compares: boolean } | undefined {
    const open = database.current();
    if (open) return { rows: vectorRows(open, hub), compares: open.hasVector };
    if (database.state().state === 'off') return undefined;
    throw new HubError('not_ready', 'the database with the vectors cannot be reached right now');
  }

  /**
   * Reads into memory what is in the database and not there yet, or there in another size: another hub has embedded it
   * again.
   */
  async function load(space: string, sizes: ReadonlyMap<string, number>, from: VectorRows): Promise<void> {
    const here = memory.of(space).sizes([...sizes.keys()]);
    const missing = [...sizes.keys()].filter((hash) => here.get(hash) !== sizes.get(hash));
    for (const page of pages(missing)) {
      if (memory.full) return;
      memory.remember(space, await from.read(space, page));
    }
  }

  return {
    get place() {
      const open = database.current();
      if (open) place = open.hasVector ? 'database' : 'memory';
      return place ?? (database.state().state === 'off' ? 'memory' : 'database');
    },
    get problem() {
      const most = mostBytes / 1024 ** 2;
      return memory.full ? `vectors past the ${most} MB that they may have in memory are not compared` : undefined;
    },
    async sizes(space, hashes) {
      const kept = rows();
      if (kept) {
        const sizes = await kept.rows.sizes(space, hashes);
        if (!kept.compares) await load(space, sizes, kept.rows);
        return sizes;
      }
      return memory.of(space).sizes(hashes);
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
      if (!kept?.compares) memory.remember(space, vectors);
    },
    async similarities(space, query, hashes) {
      const open = database.current();
      if (open?.hasVector) return vectorRows(open, hub).similarities(space, query, hashes);
      // What is in memory can be compared whatever became of the database.
      if (memory.of(space).size > 0) return memory.of(space).similarities(query, hashes);
      rows();
      return new Map();
    },
    async tend(space, hashes) {
      const kept = rows();
      await kept?.rows.tend(space, hashes);
      if (!kept?.compares) memory.keep(space, new Set(hashes));
    },
    forget: (space) => memory.forget(space),
    async contents() {
      const kept = rows();
      return kept ? kept.rows.contents() : memory.all().map(inMemory);
    },
  };
}

function inMemory([space, memory]: readonly [string, VectorMemory]): SpaceContents {
  return { space, vectors: memory.size, dimensions: memory.dimensions, oldest: undefined, newest: undefined };
}

function* pages<T>(items: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < items.length; at += smartLimits.vectorRows) yield items.slice(at, at + smartLimits.vectorRows);
}

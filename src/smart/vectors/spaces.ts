import { createVectorMemory, type VectorMemory } from './segments.ts';

/** The vectors of all spaces that are in memory, within one bound. */
export interface VectorSpaces {
  /** Some vectors did not fit into memory. */
  readonly full: boolean;
  of(space: string): VectorMemory;
  /** As many as fit into memory. */
  remember(space: string, vectors: ReadonlyMap<string, Float32Array>): void;
  /** Forgets the vectors of a space but these. */
  keep(space: string, hashes: ReadonlySet<string>): void;
  forget(space: string): void;
  all(): readonly (readonly [space: string, memory: VectorMemory])[];
}

export function createVectorSpaces(mostBytes: number): VectorSpaces {
  const spaces = new Map<string, VectorMemory>();
  let full = false;

  function memoryOf(space: string): VectorMemory {
    const memory = spaces.get(space) ?? createVectorMemory();
    spaces.set(space, memory);
    return memory;
  }

  return {
    get full() {
      return full;
    },
    of: memoryOf,
    remember(space, vectors) {
      const memory = memoryOf(space);
      for (const [hash, vector] of vectors) {
        const used = Array.from(spaces.values()).reduce((sum, one) => sum + one.bytes(), 0);
        full = used + vector.length > mostBytes;
        if (full) return;
        memory.set(hash, vector);
      }
    },
    keep(space, hashes) {
      spaces.get(space)?.keep(hashes);
      full = false;
    },
    forget(space) {
      spaces.delete(space);
      full = false;
    },
    all: () => [...spaces],
  };
}

import { type ByteMemory, growingMemory, pageBytes } from '../growing-memory.ts';

/**
 * For each of many lists, the document ids (`slot`) on it with a weight each, all in one array: a list is a range of
 * it, and moves to a range of twice the size when full. An entry is 22 bits of document id and 10 of weight. Reading is
 * a plain loop over `entries` from `start` to `end`.
 */
export interface Postings {
  /** Replaced by a longer one when it is full: read this property again for each query. */
  readonly entries: Uint32Array;
  /** A new empty list; its number. */
  open(): number;
  /** `weight` is in 0..1 and is kept with an error below 0.1 %. */
  add(list: number, slot: number, weight: number): void;
  start(list: number): number;
  end(list: number): number;
  /** The number and the range of the list may be given to another list. */
  close(list: number): void;
  /** Drops the entries of document ids whose `alive` is 0. */
  purge(alive: Uint8Array): void;
  bytes(): number;
}

/** The most document ids there can be. */
export const maxSlots = 2 ** 22;

export const slotShift = 10;
export const weightMask = 2 ** slotShift - 1;

/** The weight of an entry by its low bits. Small weights are finer: they are the most frequent. */
export const weights = Float32Array.from({ length: weightMask + 1 }, (_, code) => (code / weightMask) ** 2);

export function createPostings(memory: ByteMemory = growingMemory()): Postings {
  // At 50 000 tools this is the largest thing in memory.
  let entries = new Uint32Array(memory.buffer);
  let used = 0;
  let starts = new Uint32Array(1_024);
  let counts = new Uint32Array(1_024);
  /** log2 of the size of the range that each list has; 0 when it has none yet. */
  let rooms = new Uint8Array(1_024);
  let lists = 0;
  const closed: number[] = [];
  /** Ranges that lists have moved out of, by log2 of their size. */
  const free: number[][] = Array.from({ length: 32 }, () => []);

  function take(room: number): number {
    const again = free[room]?.pop();
    if (again !== undefined) return again;
    const start = used;
    const end = start + 2 ** room;
    if (end > entries.length) {
      const wanted = Math.max(end, entries.length * growth) * Uint32Array.BYTES_PER_ELEMENT;
      memory.grow(Math.ceil(wanted / pageBytes) - memory.buffer.byteLength / pageBytes);
      entries = new Uint32Array(memory.buffer);
    }
    // Not before: where memory cannot grow, shorter lists still find room.
    used = end;
    return start;
  }

  function makeRoom(list: number): void {
    const room = rooms[list] ?? 0;
    const next = room === 0 ? firstRoom : room + 1;
    const start = take(next);
    const old = starts[list] ?? 0;
    entries.copyWithin(start, old, old + (counts[list] ?? 0));
    if (room !== 0) free[room]?.push(old);
    starts[list] = start;
    rooms[list] = next;
  }

  return {
    get entries() {
      return entries;
    },
    open() {
      const again = closed.pop();
      if (again !== undefined) return again;
      if (lists === starts.length) {
        starts = longer(starts, lists + 1);
        counts = longer(counts, lists + 1);
        const roomsNow = rooms;
        rooms = new Uint8Array(starts.length);
        rooms.set(roomsNow);
      }
      return lists++;
    },
    add(list, slot, weight) {
      const count = counts[list] ?? 0;
      const room = rooms[list] ?? 0;
      if (room === 0 || count === 2 ** room) makeRoom(list);
      const code = Math.round(Math.sqrt(weight) * weightMask);
      entries[(starts[list] ?? 0) + count] = (slot << slotShift) | code;
      counts[list] = count + 1;
    },
    start: (list) => starts[list] ?? 0,
    end: (list) => (starts[list] ?? 0) + (counts[list] ?? 0),
    close(list) {
      const room = rooms[list] ?? 0;
      if (room !== 0) free[room]?.push(starts[list] ?? 0);
      rooms[list] = 0;
      counts[list] = 0;
      closed.push(list);
    },
    purge(alive) {
      for (let list = 0; list < lists; list++) {
        const start = starts[list] ?? 0;
        const end = start + (counts[list] ?? 0);
        let to = start;
        for (let from = start; from < end; from++) {
          const entry = entries[from] ?? 0;
          if (alive[entry >>> slotShift] !== 0) entries[to++] = entry;
        }
        counts[list] = to - start;
      }
    },
    bytes: () => entries.byteLength + starts.byteLength + counts.byteLength + rooms.byteLength,
  };
}

/** Most lists stay short: log2 of their first size. */
const firstRoom = 1;

const growth = 1.2;

function longer(array: Uint32Array<ArrayBuffer>, needed: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(needed, Math.ceil(array.length * growth)));
  larger.set(array);
  return larger;
}

import { randomFillSync } from 'node:crypto';

/**
 * The moment of a record, and what makes its id: kept as numbers, because most records are removed before their texts
 * are read.
 */
export interface Stamp {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /**
   * The time in the id. Never less than that of an earlier one, so that ids sort in the order of the records even when
   * the clock is set back.
   */
  readonly idMs: number;
  /** Tells ids of one millisecond apart, in order: 12 bits. */
  readonly count: number;
  /**
   * 62 random bits, as the two halves of the end of the id: the same for all records of a millisecond, which their
   * counter tells apart. They are for records of other hubs and other runs.
   */
  readonly high: number;
  readonly low: number;
}

const randomNumbers = 512;

/** Gives stamps. It is one object, whose numbers are others after the next call. */
export function createStamps(now: () => number): () => Stamp {
  const stamp = { atMs: 0, idMs: 0, count: 0, high: 0, low: 0 };
  const random = new Int32Array(randomNumbers);
  let used = randomNumbers;
  const draw = (): void => {
    if (used === randomNumbers) {
      randomFillSync(random);
      used = 0;
    }
    stamp.high = random[used] ?? 0;
    stamp.low = random[used + 1] ?? 0;
    used += 2;
  };
  draw();
  return () => {
    const ms = now();
    stamp.atMs = ms;
    if (ms <= stamp.idMs && stamp.count < 0xfff) {
      stamp.count += 1;
      return stamp;
    }
    stamp.idMs = Math.max(ms, stamp.idMs + 1);
    stamp.count = 0;
    draw();
    return stamp;
  };
}

/** The id of a stamp: a UUID version 7, the time in front, then the counter. */
export function idOf({ idMs, count, high, low }: Stamp): string {
  const time = idMs.toString(16).padStart(12, '0');
  // The two highest bits are the variant of the UUID.
  const end = hex((high & 0x3fffffff) | 0x80000000);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, '0')}-${end.slice(0, 4)}-${end.slice(4)}${hex(low)}`;
}

/** The lowest id that a record of this moment, or of a later one, can have. */
export function lowestId(atMs: number): string {
  const time = Math.min(Math.max(Math.floor(atMs), 0), 0xffff_ffff_ffff)
    .toString(16)
    .padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

function hex(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, '0');
}

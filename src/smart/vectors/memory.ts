import { pageBytes } from '../growing-memory.ts';
import { createDotKernel, type DotKernel } from './dot-kernel.ts';

/**
 * Vectors by document id (`slot`), kept as bytes with a scale each, and compared exactly: every row asked for is looked
 * at. Costs `dimensions` + 4 bytes per document id. Rounding to bytes moves a cosine by about 0.001.
 */
export interface Vectors {
  readonly dimensions: number;
  /** The vector need not be of unit length. Throws RangeError when it is of the wrong size, not finite, or all zero. */
  set(slot: number, vector: Float32Array): void;
  /** The document id has no vector from now on; its similarity is 0. */
  clear(slot: number): void;
  /**
   * Cosines with `query` for all document ids below `wanted.length` whose `wanted` is not 0, into `out`; the others
   * become 0.
   */
  similarities(query: Float32Array, wanted: Uint8Array, out: Float32Array): void;
  bytes(): number;
}

/** `createKernel` is there for the tests: it may give none. */
export function createVectors(
  dimensions: number,
  createKernel: (pages: number) => DotKernel | undefined = createDotKernel,
): Vectors {
  const width = Math.ceil(dimensions / lane) * lane;
  const rowsAt = width * 2 + blockRows * 4;
  const kernel = createKernel(Math.ceil(rowsAt / pageBytes));
  let memory = kernel ? kernel.memory.buffer : new ArrayBuffer(rowsAt);
  let sums = new Int32Array(memory, width * 2, blockRows);
  let scales = new Float32Array(0);

  function reserve(slots: number): void {
    if (slots <= scales.length) return;
    const capacity = Math.max(slots, Math.ceil(scales.length * 1.25), 256);
    scales = grown(scales, capacity);
    const bytes = rowsAt + capacity * width;
    if (kernel) {
      kernel.memory.grow(Math.max(0, Math.ceil(bytes / pageBytes) - kernel.memory.buffer.byteLength / pageBytes));
      memory = kernel.memory.buffer;
    } else {
      const larger = new ArrayBuffer(bytes);
      new Uint8Array(larger).set(new Uint8Array(memory));
      memory = larger;
    }
    sums = new Int32Array(memory, width * 2, blockRows);
  }

  function block(first: number, count: number, out: Float32Array, scale: number): void {
    if (kernel) kernel.run(rowsAt + first * width, 0, width * 2, count, width);
    else dotsInJavaScript(new Int8Array(memory, rowsAt + first * width), new Int16Array(memory, 0, width), sums, count);
    for (let i = 0; i < count; i++) out[first + i] = (sums[i] ?? 0) * scale * (scales[first + i] ?? 0);
  }

  return {
    dimensions,
    set(slot, vector) {
      checkVector(vector, dimensions);
      reserve(slot + 1);
      scales[slot] = quantize(vector, new Int8Array(memory, rowsAt + slot * width, width), 127);
    },
    clear(slot) {
      if (slot < scales.length) scales[slot] = 0;
    },
    similarities(query, wanted, out) {
      checkVector(query, dimensions);
      const scale = quantize(query, new Int16Array(memory, 0, width), 4095);
      const end = Math.min(wanted.length, scales.length);
      out.fill(0);
      for (let first = nextWanted(wanted, 0, end); first < end;) {
        const last = endOfRun(wanted, first, Math.min(end, first + blockRows));
        block(first, last - first, out, scale);
        first = nextWanted(wanted, last, end);
      }
      for (let i = 0; i < end; i++) if (wanted[i] === 0) out[i] = 0;
    },
    bytes: () => memory.byteLength + scales.byteLength,
  };
}

const lane = 16;
/** Rows compared at a time; their sums stay in the first-level cache. */
const blockRows = 1_024;
/** Unwanted rows between two wanted ones that are cheaper to compare than to jump over. */
const gap = 64;

function checkVector(vector: Float32Array, dimensions: number): void {
  if (vector.length !== dimensions) {
    throw new RangeError(`A vector of ${vector.length} numbers cannot be used where vectors have ${dimensions}.`);
  }
  let length = 0;
  for (const value of vector) length += value * value;
  if (!Number.isFinite(length)) throw new RangeError('A vector with numbers that are not finite cannot be compared.');
  if (length === 0) throw new RangeError('A vector of zeros has no direction and cannot be compared.');
}

/**
 * Writes the vector in whole numbers up to `range`; returns what to multiply them with so that the vector has length 1.
 */
function quantize(vector: Float32Array, into: Int8Array | Int16Array, range: number): number {
  let largest = 0;
  let squares = 0;
  for (const value of vector) {
    largest = Math.max(largest, Math.abs(value));
    squares += value * value;
  }
  // By index: each pair of `entries()` would be an array of its own, 30 KB for one query.
  for (let i = 0; i < vector.length; i++) into[i] = Math.round(((vector[i] ?? 0) / largest) * range);
  return largest / range / Math.sqrt(squares);
}

function dotsInJavaScript(rows: Int8Array, query: Int16Array, sums: Int32Array, count: number): void {
  for (let row = 0, at = 0; row < count; row++) {
    let sum = 0;
    for (let i = 0; i < query.length; i++, at++) sum = (sum + Math.imul(rows[at] ?? 0, query[i] ?? 0)) | 0;
    sums[row] = sum;
  }
}

function nextWanted(wanted: Uint8Array, from: number, end: number): number {
  const found = wanted.indexOf(1, from);
  return found === -1 ? end : found;
}

/** Where the run of wanted rows that starts at `first` ends, short gaps included. */
function endOfRun(wanted: Uint8Array, first: number, end: number): number {
  let last = first + 1;
  for (let i = last; i < end && i - last < gap; i++) if (wanted[i] !== 0) last = i + 1;
  return last;
}

function grown(array: Float32Array<ArrayBuffer>, length: number): Float32Array<ArrayBuffer> {
  const larger = new Float32Array(length);
  larger.set(array);
  return larger;
}

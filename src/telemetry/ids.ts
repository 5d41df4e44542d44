import { randomFillSync } from 'node:crypto';
import { telemetryLimits } from './limits.ts';
import type { TraceParent } from './trace-parent.ts';

const pool = Buffer.alloc(telemetryLimits.randomBytes);
const words = new DataView(pool.buffer, pool.byteOffset, pool.length);
/** The same as hexadecimal digits. */
let digits = '';
let at = pool.length;

/**
 * Where the next so many bytes of the pool are. They are made, and written out, many at once, which is ten times
 * cheaper.
 */
function taken(bytes: number): number {
  if (at + bytes > pool.length) {
    randomFillSync(pool);
    digits = pool.toString('hex');
    at = 0;
  }
  at += bytes;
  return at - bytes;
}

function hexOf(from: number, bytes: number): string {
  return digits.slice(from * 2, (from + bytes) * 2);
}

/**
 * All zeros would be none. Others that begin with 32 of them are passed over too, once in 2^32, which costs nothing.
 */
export function newSpanId(): string {
  const from = taken(8);
  return words.getUint32(from) === 0 ? newSpanId() : hexOf(from, 8);
}

export function newTraceId(): string {
  const from = taken(16);
  return words.getUint32(from) === 0 ? newTraceId() : hexOf(from, 16);
}

/** What a request that is in no trace yet gets: its place in one of which nothing is recorded. */
export interface NewIds extends TraceParent {
  /** `signOf` of the trace's id. */
  readonly sign: number;
}

/** Made for each request, in one piece. */
export function newIds(): NewIds {
  const from = taken(24);
  if (words.getUint32(from) === 0 || words.getUint32(from + 16) === 0) return newIds();
  const word = (i: number): number => words.getUint32(from + i * 4);
  const sign = (word(0) ^ word(1) ^ word(2) ^ word(3)) >>> 0;
  return {
    traceId: hexOf(from, 16),
    spanId: hexOf(from + 16, 8),
    sign,
    isSampled: false,
    tracestate: undefined,
    isRemote: false,
  };
}

/** What decides whether a part of all traces has this one, in 32 bits: as the samplers of OpenTelemetry for Node do. */
export function signOf(traceId: string): number {
  let sign = 0;
  for (let i = 0; i < 32; i += 8) sign ^= Number.parseInt(traceId.slice(i, i + 8), 16);
  return sign >>> 0;
}

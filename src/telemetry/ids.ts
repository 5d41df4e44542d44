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

function randomHex(bytes: number): string {
  const from = taken(bytes);
  return digits.slice(from * 2, (from + bytes) * 2);
}

/** All zeros would be none: once in 2^64. */
export function newSpanId(): string {
  const id = randomHex(8);
  return /[^0]/.test(id) ? id : newSpanId();
}

export function newTraceId(): string {
  const id = randomHex(16);
  return /[^0]/.test(id) ? id : newTraceId();
}

/** What a request that is in no trace yet gets: its place in one of which nothing is recorded. */
export interface NewIds extends TraceParent {
  /** `signOf` of the trace's id. */
  readonly sign: number;
}

/** Made for each request, in one piece. */
export function newIds(): NewIds {
  const from = taken(24);
  // Once in 2^31 for others than zeros, which costs nothing.
  if (words.getUint32(from) === 0 || words.getUint32(from + 16) === 0) return newIds();
  const word = (i: number): number => words.getUint32(from + i * 4);
  const sign = (word(0) ^ word(1) ^ word(2) ^ word(3)) >>> 0;
  const traceId = digits.slice(from * 2, from * 2 + 32);
  const spanId = digits.slice(from * 2 + 32, from * 2 + 48);
  return { traceId, spanId, sign, isSampled: false, tracestate: undefined, isRemote: false };
}

/** What decides whether a part of all traces has this one, in 32 bits: as the samplers of OpenTelemetry for Node do. */
export function signOf(traceId: string): number {
  let sign = 0;
  for (let i = 0; i < 32; i += 8) sign ^= Number.parseInt(traceId.slice(i, i + 8), 16);
  return sign >>> 0;
}

import { randomFillSync } from 'node:crypto';
import { telemetryLimits } from './limits.ts';

const pool = Buffer.alloc(telemetryLimits.randomBytes);
/** The same as hexadecimal digits. */
let digits = '';
let at = pool.length;

/** Ids for each request: random bytes are made, and written out, many at once, which is ten times cheaper. */
function randomHex(bytes: number): string {
  if (at + bytes > pool.length) {
    randomFillSync(pool);
    digits = pool.toString('hex');
    at = 0;
  }
  at += bytes;
  return digits.slice((at - bytes) * 2, at * 2);
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

/** What a request that is in no trace yet gets. */
export interface NewIds {
  readonly traceId: string;
  readonly spanId: string;
  /** `signOf` of the trace's id. */
  readonly sign: number;
}

export function newIds(): NewIds {
  const ids = randomHex(24);
  // Once in 2^31 for others than zeros, which costs nothing.
  if (ids.startsWith('00000000') || ids.startsWith('00000000', 32)) return newIds();
  const from = at - 24;
  const word = (i: number): number => pool.readUInt32BE(from + i * 4);
  const sign = (word(0) ^ word(1) ^ word(2) ^ word(3)) >>> 0;
  return { traceId: ids.slice(0, 32), spanId: ids.slice(32), sign };
}

/** What decides whether a part of all traces has this one, in 32 bits: as the samplers of OpenTelemetry for Node do. */
export function signOf(traceId: string): number {
  let sign = 0;
  for (let i = 0; i < 32; i += 8) sign ^= Number.parseInt(traceId.slice(i, i + 8), 16);
  return sign >>> 0;
}

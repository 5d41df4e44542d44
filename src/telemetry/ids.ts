import { randomFillSync } from 'node:crypto';
import { telemetryLimits } from './limits.ts';

const pool = Buffer.alloc(telemetryLimits.randomBytes);
let at = pool.length;

/** Ids for each request: random bytes are made many at once, which is ten times cheaper. */
function randomHex(bytes: number): string {
  if (at + bytes > pool.length) {
    randomFillSync(pool);
    at = 0;
  }
  at += bytes;
  return pool.toString('hex', at - bytes, at);
}

/** All zeros would be none: once in 2^64. */
export function newSpanId(): string {
  const id = randomHex(8);
  return /[^0]/.test(id) ? id : newSpanId();
}

/** The id of a trace, and behind it that of a span: both at once, for requests that are not recorded. */
export function newIds(): string {
  const ids = randomHex(24);
  return /^0{32}|0{16}$/.test(ids) ? newIds() : ids;
}

export function newTraceId(): string {
  const id = randomHex(16);
  return /[^0]/.test(id) ? id : newTraceId();
}

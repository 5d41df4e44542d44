import { telemetryLimits } from './limits.ts';

/** Where a trace came from, checked (W3C Trace Context, level 2). */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  readonly tracestate: string | undefined;
  /** It is a span of another program. */
  readonly isRemote: boolean;
}

const form =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]{0,200})?$/;

/** Undefined for what is none: the request then begins a trace, and what its sender said of another is not used. */
export function readTraceParent(parent: unknown, state: unknown): TraceParent | undefined {
  if (typeof parent !== 'string') return undefined;
  const [, version, traceId, spanId, flags = '0', rest] = form.exec(parent) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && rest !== undefined)) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, isSampled, tracestate: stateOf(state), isRemote: true };
}

function stateOf(state: unknown): string | undefined {
  const { traceStateChars } = telemetryLimits;
  return typeof state === 'string' && state.length <= traceStateChars && /^[\x20-\x7e]+$/.test(state)
    ? state
    : undefined;
}

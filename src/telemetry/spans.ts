import type { Attributes, HrTime, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api';
import { createTraceState, SpanStatusCode } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Failure, SpanAttributes } from '../core/tracing.ts';
import { newSpanId } from './ids.ts';
import { telemetryLimits } from './limits.ts';
import type { TraceParent } from './trace-parent.ts';

/** Of whom all spans of a hub are. */
export interface SpanOrigin {
  readonly resource: Resource;
  readonly instrumentationScope: ReadableSpan['instrumentationScope'];
  /** Takes a span that has ended. */
  readonly ended: (span: ReadableSpan) => void;
}

/** How a span begins. The span keeps `attributes`, and adds to them. */
export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly traceId: string;
  readonly parent: TraceParent | undefined;
  readonly attributes: Attributes;
}

/**
 * A span that is recorded, in the form that the library exports. The library's own looks at its sampler, copies and
 * checks all attributes and reads several clocks, which costs more than all else that is done for a call.
 */
export class RecordedSpan implements ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly resource: Resource;
  readonly instrumentationScope: ReadableSpan['instrumentationScope'];
  readonly startTime: HrTime;
  readonly links = none;
  readonly events = none;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly #context: SpanContext;
  readonly #parent: TraceParent | undefined;
  readonly #startedAt: number;
  readonly #done: SpanOrigin['ended'];
  endTime: HrTime = unset;
  status: SpanStatus = fine;
  ended = false;

  constructor({ name, kind, traceId, parent, attributes }: SpanStart, origin: SpanOrigin) {
    const { resource, instrumentationScope } = origin;
    this.name = name;
    this.kind = kind;
    this.attributes = attributes;
    this.resource = resource;
    this.instrumentationScope = instrumentationScope;
    this.#done = origin.ended;
    this.#parent = parent;
    this.#context = { traceId, spanId: newSpanId(), traceFlags: 1, ...stateOf(parent) };
    this.#startedAt = performance.now();
    this.startTime = hrTime(wallClock(this.#startedAt));
  }

  get traceId(): string {
    return this.#context.traceId;
  }

  get spanId(): string {
    return this.#context.spanId;
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  get parentSpanContext(): SpanContext {
    return (this.#parent && { ...parentContext(this.#parent), ...stateOf(this.#parent) }) as SpanContext;
  }

  get duration(): HrTime {
    const [seconds, nanos] = [this.endTime[0] - this.startTime[0], this.endTime[1] - this.startTime[1]];
    return nanos < 0 ? [seconds - 1, nanos + 1e9] : [seconds, nanos];
  }

  /**
   * Later calls do nothing. Without the message of an error, which may quote arguments. `more` is added to what it
   * began with.
   */
  end(failure?: Failure, more?: SpanAttributes): void {
    if (this.ended) return;
    this.ended = true;
    const took = performance.now() - this.#startedAt;
    const [seconds, nanos] = this.startTime;
    this.endTime = hrTime(seconds * 1_000 + nanos / 1e6 + took);
    if (more) Object.assign(this.attributes, more);
    if (failure) this.#failed(failure);
    this.#done(this);
  }

  #failed({ type, code, reason }: Failure): void {
    const { attributes } = this;
    attributes['error.type'] = type;
    if (code !== undefined) attributes['rpc.response.status_code'] = String(code);
    if (reason !== undefined) attributes['toolhub.error'] = reason;
    this.status = failing;
  }
}

const none: never[] = [];
const unset: HrTime = [0, 0];
const fine: SpanStatus = { code: SpanStatusCode.UNSET };
const failing: SpanStatus = { code: SpanStatusCode.ERROR };

function parentContext({ traceId, spanId, isSampled, isRemote }: TraceParent): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? 1 : 0, isRemote };
}

function stateOf(parent: TraceParent | undefined): Pick<SpanContext, 'traceState'> | undefined {
  return parent?.tracestate === undefined ? undefined : { traceState: createTraceState(parent.tracestate) };
}

let offsetMs = Date.now() - performance.now();
let lookedAt = 0;

/**
 * Milliseconds since 1970 of a moment of the monotonic clock. The clocks are compared once a second, and what differs
 * less than the wall clock's own precision stays: spans of one trace are to stay in their order.
 */
function wallClock(at: number): number {
  if (at - lookedAt > telemetryLimits.compareClocksMs) {
    lookedAt = at;
    const now = Date.now() - at;
    if (Math.abs(now - offsetMs) > telemetryLimits.clockPrecisionMs) offsetMs = now;
  }
  return offsetMs + at;
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  // Past 1e9 nanoseconds only by rounding.
  return [seconds, Math.min(Math.round((ms - seconds * 1_000) * 1e6), 999_999_999)];
}

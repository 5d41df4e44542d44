import type { Attributes, HrTime, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api';
import { createTraceState, SpanStatusCode } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Failure, SpanAttributes } from '../core/tracing.ts';
import { newSpanId } from './ids.ts';
import { telemetryLimits } from './limits.ts';
import { attributeBytes, nameBytes, type SentSpan } from './span-bytes.ts';
import type { TraceParent } from './trace-parent.ts';

/** Of whom all spans of a hub are. */
export interface SpanOrigin {
  readonly resource: Resource;
  readonly instrumentationScope: ReadableSpan['instrumentationScope'];
  /** Takes a span that has ended. */
  readonly ended: (span: ReadableSpan) => void;
}

/** What spans have alike, such as those of all calls of one tool. Its bytes are made once, for all of them. */
export class SpanForm {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  #nameBytes: Uint8Array | undefined;
  #attributeBytes: Uint8Array | undefined;

  constructor(name: string, kind: SpanKind, attributes: Attributes) {
    this.name = name;
    this.kind = kind;
    this.attributes = attributes;
  }

  /** As they are sent (`span-bytes`). */
  get nameBytes(): Uint8Array {
    return (this.#nameBytes ??= nameBytes(this.name, this.kind));
  }

  get attributeBytes(): Uint8Array {
    return (this.#attributeBytes ??= attributeBytes(this.attributes));
  }
}

/** How a span begins. The span keeps `own`, its attributes besides those of its form, and adds to them. */
export interface SpanStart {
  readonly form: SpanForm;
  readonly traceId: string;
  readonly parent: TraceParent | undefined;
  readonly own?: Attributes;
}

/**
 * A span that is recorded, in the form that the library exports. The library's own looks at its sampler, copies and
 * checks all attributes and reads several clocks, which costs more than all else that is done for a call. What all
 * spans have alike, and what can be computed when it is sent, is not kept in each: hundreds of them wait for that.
 */
export class RecordedSpan implements SentSpan, TraceParent {
  readonly form: SpanForm;
  /** Undefined while it has none. */
  own: Attributes | undefined;
  readonly parentSpanContext?: SpanContext;
  readonly tracestate: string | undefined;
  readonly #origin: SpanOrigin;
  readonly #context: SpanContext;
  /** On the clock of `performance.now()`. */
  readonly #startedAt: number;
  /** Both in milliseconds since 1970. */
  readonly #startMs: number;
  #endMs = 0;
  #failed = false;
  #isOver = false;

  constructor({ form, traceId, parent, own }: SpanStart, origin: SpanOrigin) {
    this.form = form;
    this.own = own;
    this.#origin = origin;
    this.tracestate = parent?.tracestate;
    this.#context = newContext(traceId, this.tracestate);
    if (parent) this.parentSpanContext = parent instanceof RecordedSpan ? parent.#context : parentContext(parent);
    this.#startedAt = performance.now();
    this.#startMs = wallClock(this.#startedAt);
  }

  get name(): string {
    return this.form.name;
  }

  get kind(): SpanKind {
    return this.form.kind;
  }

  get attributes(): Attributes {
    return { ...this.form.attributes, ...this.own };
  }

  get traceId(): string {
    return this.#context.traceId;
  }

  get spanId(): string {
    return this.#context.spanId;
  }

  get isSampled(): boolean {
    return true;
  }

  get isRemote(): boolean {
    return false;
  }

  get resource(): Resource {
    return this.#origin.resource;
  }

  get instrumentationScope(): ReadableSpan['instrumentationScope'] {
    return this.#origin.instrumentationScope;
  }

  get links(): never[] {
    return none;
  }

  get events(): never[] {
    return none;
  }

  get droppedAttributesCount(): number {
    return 0;
  }

  get droppedEventsCount(): number {
    return 0;
  }

  get droppedLinksCount(): number {
    return 0;
  }

  get status(): SpanStatus {
    return this.#failed ? failing : fine;
  }

  get ended(): boolean {
    return this.#isOver;
  }

  get startTime(): HrTime {
    return hrTime(this.#startMs);
  }

  get endTime(): HrTime {
    return hrTime(this.#endMs);
  }

  get duration(): HrTime {
    return hrTime(Math.max(0, this.#endMs - this.#startMs));
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  /**
   * Later calls do nothing. Without the message of an error, which may quote arguments. `more` is added to what it
   * began with.
   */
  end(failure?: Failure, more?: SpanAttributes): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#endMs = this.#startMs + performance.now() - this.#startedAt;
    if (more) this.own = { ...this.own, ...more };
    if (failure) this.#fail(failure);
    this.#origin.ended(this);
  }

  #fail({ type, code, reason }: Failure): void {
    const own = (this.own ??= {});
    own['error.type'] = type;
    if (code !== undefined) own['rpc.response.status_code'] = String(code);
    if (reason !== undefined) own['toolhub.error'] = reason;
    this.#failed = true;
  }
}

const none: never[] = [];
const fine: SpanStatus = { code: SpanStatusCode.UNSET };
const failing: SpanStatus = { code: SpanStatusCode.ERROR };

function newContext(traceId: string, tracestate: string | undefined): SpanContext {
  const spanId = newSpanId();
  if (tracestate === undefined) return { traceId, spanId, traceFlags: 1 };
  return { traceId, spanId, traceFlags: 1, traceState: createTraceState(tracestate) };
}

function parentContext({ traceId, spanId, isSampled, isRemote, tracestate }: TraceParent): SpanContext {
  const context = { traceId, spanId, traceFlags: isSampled ? 1 : 0, isRemote };
  return tracestate === undefined ? context : { ...context, traceState: createTraceState(tracestate) };
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

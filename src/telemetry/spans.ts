import type { Attributes, SpanKind } from '@opentelemetry/api';
import type { Failure, SpanAttributes } from '../core/tracing.ts';
import { newSpanId } from './ids.ts';
import { telemetryLimits } from './limits.ts';
import { attributeBytes, nameBytes, type SentSpan } from './span-bytes.ts';
import type { TraceParent } from './trace-parent.ts';

/** Takes a span that has ended. Must not keep it: nothing that a call leaves behind is to live longer than the call. */
export type SpanEnded = (span: RecordedSpan) => void;

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
 * A span that is recorded. The library's own looks at its sampler, copies and checks all attributes and reads several
 * clocks, which costs more than all else that is done for a call.
 */
export class RecordedSpan implements SentSpan, TraceParent {
  readonly form: SpanForm;
  readonly traceId: string;
  readonly spanId = newSpanId();
  readonly parent: TraceParent | undefined;
  readonly tracestate: string | undefined;
  readonly isSampled = true;
  readonly isRemote = false;
  /** Undefined while it has none. */
  own: Attributes | undefined;
  readonly startMs: number;
  endMs = 0;
  isFailed = false;
  readonly #ended: SpanEnded;
  /** On the clock of `performance.now()`. */
  readonly #startedAt = performance.now();
  #isOver = false;

  constructor({ form, traceId, parent, own }: SpanStart, ended: SpanEnded) {
    this.form = form;
    this.traceId = traceId;
    this.parent = parent;
    this.tracestate = parent?.tracestate;
    this.own = own;
    this.#ended = ended;
    this.startMs = wallClock(this.#startedAt);
  }

  /**
   * Later calls do nothing. Without the message of an error, which may quote arguments. `more` is added to what it
   * began with.
   */
  end(failure?: Failure, more?: SpanAttributes): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.endMs = this.startMs + performance.now() - this.#startedAt;
    if (more) this.own = { ...this.own, ...more };
    if (failure) this.#fail(failure);
    this.#ended(this);
  }

  #fail({ type, code, reason }: Failure): void {
    const own = (this.own ??= {});
    own['error.type'] = type;
    if (code !== undefined) own['rpc.response.status_code'] = String(code);
    if (reason !== undefined) own['toolhub.error'] = reason;
    this.isFailed = true;
  }
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

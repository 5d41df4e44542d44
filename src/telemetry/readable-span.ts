import { createTraceState, type HrTime, type SpanContext, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { SpanOrigin } from './span-bytes.ts';
import type { RecordedSpan } from './spans.ts';
import type { TraceParent } from './trace-parent.ts';

/** A span that has ended, as the library takes it. */
export function readableSpan(span: RecordedSpan, { resource, instrumentationScope }: SpanOrigin): ReadableSpan {
  const { form, own, parent, startMs, endMs, isFailed } = span;
  const context = contextOf(span);
  return {
    name: form.name,
    kind: form.kind,
    attributes: { ...form.attributes, ...own },
    spanContext: () => context,
    ...(parent && { parentSpanContext: contextOf(parent) }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(Math.max(0, endMs - startMs)),
    status: { code: isFailed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    ended: true,
    resource,
    instrumentationScope,
    links: [],
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf({ traceId, spanId, isSampled, isRemote, tracestate }: TraceParent): SpanContext {
  const context = { traceId, spanId, traceFlags: isSampled ? 1 : 0, isRemote };
  return tracestate === undefined ? context : { ...context, traceState: createTraceState(tracestate) };
}

/** Of milliseconds since 1970. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  // Past 1e9 nanoseconds only by rounding.
  return [seconds, Math.min(Math.round((ms - seconds * 1_000) * 1e6), 999_999_999)];
}

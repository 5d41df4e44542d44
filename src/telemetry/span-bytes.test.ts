import { SpanKind } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Failure } from '../core/tracing.ts';
import { newSpanId, newTraceId } from './ids.ts';
import { spanBytes } from './span-bytes.ts';
import { RecordedSpan, type SpanOrigin } from './spans.ts';
import { readTraceParent } from './trace-parent.ts';

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.integer({ min: 100, max: 20_000 }).map((length) => 'x'.repeat(length)),
);
const value = fc.oneof(text, fc.boolean(), fc.maxSafeInteger(), fc.double());
const attributes = fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), value, { maxKeys: 8 });
const parent = fc.constantFrom(
  undefined,
  `00-${newTraceId()}-${newSpanId()}-01`,
  `00-${newTraceId()}-${newSpanId()}-00`,
);
const failure: fc.Arbitrary<Failure | undefined> = fc.constantFrom(
  undefined,
  { type: '_OTHER' },
  { type: '-32000', code: -32000, reason: 'policy' },
);
const state = fc.constantFrom(undefined, 'vendor=1', 'a=1,b=2');
const described = fc.record({ name: text, attributes, parent, state, failure, hasChild: fc.boolean() });

test('spans are sent as the bytes that the library makes of them', () => {
  fc.assert(
    fc.property(fc.array(described, { maxLength: 5 }), attributes, fc.option(fc.string()), (all, about, version) => {
      const ended: ReadableSpan[] = [];
      const origin: SpanOrigin = {
        resource: resourceFromAttributes(about),
        instrumentationScope: { name: 'toolhub', ...(version !== null && { version }) },
        ended: (span) => void ended.push(span),
      };
      for (const { name, attributes, parent, state, failure, hasChild } of all) {
        const remote = readTraceParent(parent, state);
        const traceId = remote?.traceId ?? newTraceId();
        const start = { name, attributes: { ...attributes }, traceId };
        const span = new RecordedSpan({ ...start, kind: SpanKind.SERVER, parent: remote }, origin);
        if (hasChild) new RecordedSpan({ ...start, kind: SpanKind.CLIENT, parent: span }, origin).end(failure);
        span.end(failure);
      }
      const expected = ProtobufTraceSerializer.serializeRequest(ended);
      expect(Buffer.from(spanBytes(ended)).toString('hex')).toBe(Buffer.from(expected ?? []).toString('hex'));
    }),
  );
});

test.each([
  [0, 0],
  [1, 1],
  [2_147_483_647, 999_999_999],
  [4_294_967_295, 999_999_999],
  [1_795_000_000, 4_294],
])('a moment of %i s and %i ns is the same number', (...time) => {
  const origin = { resource: resourceFromAttributes({}), instrumentationScope: { name: 'x' }, ended: () => undefined };
  const start = { name: 'x', kind: SpanKind.SERVER, traceId: newTraceId(), parent: undefined, attributes: {} };
  const span = Object.defineProperties(new RecordedSpan(start, origin), {
    startTime: { value: time },
    endTime: { value: time },
  });
  expect(Buffer.from(spanBytes([span]))).toEqual(Buffer.from(ProtobufTraceSerializer.serializeRequest([span]) ?? []));
});

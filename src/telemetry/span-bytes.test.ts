import { SpanKind } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Failure } from '../core/tracing.ts';
import { newSpanId, newTraceId } from './ids.ts';
import { spanBytes } from './span-bytes.ts';
import { RecordedSpan, SpanForm, type SpanOrigin } from './spans.ts';
import { readTraceParent } from './trace-parent.ts';
import { codePoints } from '../../test/kit/code-points.ts';

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: codePoints, maxLength: 40 }),
  fc.integer({ min: 100, max: 20_000 }).map((length) => 'x'.repeat(length)),
);
const value = fc.oneof(text, fc.boolean(), fc.maxSafeInteger(), fc.double());
/** No names that are numbers: JavaScript puts those in front of others. */
const attributesOf = (prefix: string) =>
  fc.dictionary(
    fc.string({ maxLength: 20 }).map((one) => `${prefix}.${one}`),
    value,
    { maxKeys: 6 },
  );
const attributes = attributesOf('form');
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
const state = fc.constantFrom(undefined, 'vendor=1', 'a=1, b=2');
const described = fc.record({
  name: text,
  attributes,
  own: attributesOf('own'),
  parent,
  state,
  failure,
  hasChild: fc.boolean(),
});

test('spans are sent as the bytes that the library makes of them', () => {
  fc.assert(
    fc.property(fc.array(described, { maxLength: 5 }), attributes, fc.option(text), (all, about, version) => {
      const ended: RecordedSpan[] = [];
      const origin: SpanOrigin = {
        resource: resourceFromAttributes(about),
        instrumentationScope: { name: 'toolhub', ...(version !== null && { version }) },
        ended: () => undefined,
      };
      for (const { name, attributes, own, parent, state, failure, hasChild } of all) {
        const remote = readTraceParent(parent, state);
        const traceId = remote?.traceId ?? newTraceId();
        const form = new SpanForm(name, SpanKind.SERVER, attributes);
        const span = new RecordedSpan({ form, traceId, parent: remote, own: { ...own } }, origin);
        const child = new SpanForm(name, SpanKind.CLIENT, {});
        if (hasChild) ended.push(new RecordedSpan({ form: child, traceId, parent: span }, origin));
        ended.push(span);
        for (const one of ended) one.end(failure, own);
      }
      const expected = Buffer.from(ProtobufTraceSerializer.serializeRequest(ended) ?? []);
      expect(Buffer.from(spanBytes(ended)).toString('hex')).toBe(expected.toString('hex'));
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
  const form = new SpanForm('x', SpanKind.SERVER, {});
  const span = new RecordedSpan({ form, traceId: newTraceId(), parent: undefined }, origin);
  Object.defineProperties(span, { startTime: { value: time }, endTime: { value: time } });
  expect(Buffer.from(spanBytes([span]))).toEqual(Buffer.from(ProtobufTraceSerializer.serializeRequest([span]) ?? []));
});

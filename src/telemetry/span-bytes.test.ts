import { type Attributes, SpanKind } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Failure } from '../core/tracing.ts';
import { newSpanId, newTraceId } from './ids.ts';
import { telemetryLimits } from './limits.ts';
import { readableSpan } from './readable-span.ts';
import { frontOf, SpanBytes, type SpanOrigin } from './span-bytes.ts';
import { RecordedSpan, SpanForm } from './spans.ts';
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

/** Both ways of making the body of a request. */
function bodies(ended: readonly RecordedSpan[], origin: SpanOrigin) {
  const batch = new SpanBytes(frontOf(origin));
  for (const span of ended) expect(batch.add(span)).toBe(true);
  const readable = ended.map((span) => readableSpan(span, origin));
  const expected = ProtobufTraceSerializer.serializeRequest(readable) ?? [];
  return { made: Buffer.from(batch.body).toString('hex'), expected: Buffer.from(expected).toString('hex') };
}

test('spans are sent as the bytes that the library makes of them', () => {
  fc.assert(
    fc.property(fc.array(described, { maxLength: 5 }), attributes, fc.option(text), (all, about, version) => {
      const ended: RecordedSpan[] = [];
      const origin: SpanOrigin = {
        resource: resourceFromAttributes(about),
        instrumentationScope: { name: 'toolhub', ...(version !== null && { version }) },
      };
      for (const { name, attributes, own, parent, state, failure, hasChild } of all) {
        const remote = readTraceParent(parent, state);
        const traceId = remote?.traceId ?? newTraceId();
        const form = new SpanForm(name, SpanKind.SERVER, attributes);
        const span = new RecordedSpan({ form, traceId, parent: remote, own: { ...own } }, () => undefined);
        const child = new SpanForm(name, SpanKind.CLIENT, {});
        if (hasChild) ended.push(new RecordedSpan({ form: child, traceId, parent: span }, () => undefined));
        ended.push(span);
        for (const one of ended) one.end(failure, own);
      }
      const { made, expected } = bodies(ended, origin);
      expect(made).toBe(expected);
    }),
  );
});

const origin: SpanOrigin = { resource: resourceFromAttributes({}), instrumentationScope: { name: 'x' } };
const form = new SpanForm('x', SpanKind.SERVER, {});
const spanOf = (own: Attributes = {}) =>
  new RecordedSpan({ form, traceId: newTraceId(), parent: undefined, own }, () => undefined);

test.each([0, 999.999_999_9, 1_001, 2_147_483_647_999.999, 4_294_967_295_999.999, 1_795_000_000_000.004])(
  'a moment of %f ms is the same number',
  (ms) => {
    const span = spanOf();
    Object.defineProperty(span, 'startMs', { value: ms });
    span.endMs = ms;
    const { made, expected } = bodies([span], origin);
    expect(made).toBe(expected);
  },
);

test('a batch takes as many spans as its request may have bytes, and one that is longer alone', () => {
  const long = { 'own.text': 'x'.repeat(telemetryLimits.batchBytes) };
  const half = { 'own.text': 'x'.repeat(telemetryLimits.batchBytes / 8) };
  const batch = () => new SpanBytes(frontOf(origin));
  const one = batch();
  expect([one.add(spanOf(long)), one.add(spanOf(long)), one.count]).toEqual([true, false, 1]);
  expect(one.body.length).toBeGreaterThan(telemetryLimits.batchBytes);
  const several = batch();
  let taken = 0;
  while (several.add(spanOf(half))) taken++;
  expect(taken).toBe(several.count);
  expect(taken).toBeGreaterThan(1);
  expect(several.body.length).toBeLessThanOrEqual(telemetryLimits.batchBytes);
  expect(batch().body.length).toBe(0);
});

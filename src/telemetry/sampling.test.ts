import { ROOT_CONTEXT } from '@opentelemetry/api';
import { SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { newIds, newSpanId, newTraceId, signOf } from './ids.ts';
import { telemetryLimits } from './limits.ts';
import { createSampling } from './sampling.ts';
import { readTraceParent } from './trace-parent.ts';

const parent = (flags: string) => readTraceParent(`00-${newTraceId()}-${newSpanId()}-${flags}`, undefined);
const samplers = {
  on: { root: 'on', ratio: 1, parentBased: true },
  off: { root: 'off', ratio: 1, parentBased: true },
  tenth: { root: 'ratio', ratio: 0.1, parentBased: true },
} as const;

test('a request without a parent is recorded as the operator said, a tenth of them by their ids', () => {
  const ids = Array.from({ length: 20_000 }, newTraceId);
  const share = (name: keyof typeof samplers) => {
    const sampling = createSampling(samplers[name]);
    return ids.filter((id) => sampling(id, undefined)).length / ids.length;
  };
  expect([share('on'), share('off')]).toEqual([1, 0]);
  expect(share('tenth')).toBeGreaterThan(0.08);
  expect(share('tenth')).toBeLessThan(0.12);
  const [first, second] = [createSampling(samplers.tenth), createSampling(samplers.tenth)];
  expect(ids.every((id) => first(id, undefined) === second(id, undefined))).toBe(true);
});

test('the same traces are recorded as by the samplers of others, and a sign is that of its id', () => {
  const made = Array.from({ length: 5_000 }, newIds);
  for (const { traceId, spanId, sign } of made) {
    expect([traceId.length, spanId.length]).toEqual([32, 16]);
    expect(signOf(traceId)).toBe(sign);
  }
  for (const ratio of [0, 0.001, 0.1, 0.5, 1]) {
    const own = createSampling({ root: 'ratio', ratio, parentBased: true });
    const library = new TraceIdRatioBasedSampler(ratio);
    const wanted = made.map(({ traceId }) => library.shouldSample(ROOT_CONTEXT, traceId).decision);
    const isRecorded = wanted.map((one) => one === SamplingDecision.RECORD_AND_SAMPLED);
    expect(made.map(({ traceId, sign }) => own(traceId, undefined, sign))).toEqual(isRecorded);
    expect(made.map(({ traceId }) => own(traceId, undefined))).toEqual(isRecorded);
  }
});

test('clients decide about their own traces, up to a bound where the hub records only some', () => {
  let now = 0;
  const sampling = createSampling(samplers.tenth, () => now);
  const wanted = () => sampling(newTraceId(), parent('01'));
  const most = telemetryLimits.sampledByClientsPerSecond;
  expect(Array.from({ length: most + 50 }, wanted).filter(Boolean)).toHaveLength(most);
  now = 1_000;
  expect(wanted()).toBe(true);
  expect(sampling(newTraceId(), parent('00'))).toBe(false);
  const all = createSampling(samplers.on, () => now);
  expect(Array.from({ length: most + 50 }, () => all(newTraceId(), parent('01'))).every(Boolean)).toBe(true);
});

test('a trace context is matched whole', () => {
  const [traceId, spanId] = ['a'.repeat(32), 'b'.repeat(16)];
  const read = (text: unknown, state?: unknown) => readTraceParent(text, state);
  expect(read(`00-${traceId}-${spanId}-01`, 'a=1')).toEqual({
    traceId,
    spanId,
    isSampled: true,
    tracestate: 'a=1',
    isRemote: true,
  });
  expect(read(`01-${traceId}-${spanId}-03-more`)).toMatchObject({ traceId, isSampled: true });
  const bad = [
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}-01\n`,
    `00-${traceId}-${spanId}`,
    17,
    null,
  ];
  expect(bad.map((one) => read(one))).toEqual(bad.map(() => undefined));
  const state = (text: string) => read(`00-${traceId}-${spanId}-01`, text)?.tracestate;
  expect([state('x'.repeat(513)), state('a=1\r\nb: c'), state('ä=1'), state('')]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

import { ROOT_CONTEXT } from '@opentelemetry/api';
import { SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import type { TraceSampler } from '../core/telemetry.ts';
import { telemetryLimits } from './limits.ts';
import type { TraceParent } from './trace-parent.ts';

/** Whether a trace is recorded; decided once for each request. */
export type Sampling = (traceId: string, parent: TraceParent | undefined) => boolean;

/** `now` is a monotonic clock in milliseconds. */
export function createSampling({ root, ratio, parentBased }: TraceSampler, now = () => performance.now()): Sampling {
  const byId = new TraceIdRatioBasedSampler(ratio);
  const allowed = allowance(now);

  function atRoot(traceId: string): boolean {
    if (root !== 'ratio') return root === 'on';
    const { decision } = byId.shouldSample(ROOT_CONTEXT, traceId);
    return decision === SamplingDecision.RECORD_AND_SAMPLED;
  }

  return (traceId, parent) => {
    const wanted = parentBased && parent ? parent.isSampled : atRoot(traceId);
    // The id of a trace is its client's choice too.
    return wanted && (!parent || root === 'on' || allowed());
  };
}

function allowance(now: () => number): () => boolean {
  let second = -1;
  let taken = 0;
  return () => {
    const current = Math.floor(now() / 1_000);
    if (current !== second) [second, taken] = [current, 0];
    return taken++ < telemetryLimits.sampledByClientsPerSecond;
  };
}

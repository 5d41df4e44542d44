import type { TraceSampler } from '../core/telemetry.ts';
import { signOf } from './ids.ts';
import { telemetryLimits } from './limits.ts';
import type { TraceParent } from './trace-parent.ts';

/** Whether a trace is recorded; decided once for each request. `sign` is `signOf` of its id, where that is at hand. */
export type Sampling = (traceId: string, parent: TraceParent | undefined, sign?: number) => boolean;

/** `now` is a monotonic clock in milliseconds. */
export function createSampling({ root, ratio, parentBased }: TraceSampler, now = () => performance.now()): Sampling {
  // Those of the library's own sampler, which takes longer to decide than all else for a request that is not recorded.
  const signs = ratio >= 1 ? 2 ** 32 : Math.floor(ratio * 0xffffffff);
  const allowed = allowance(now);

  function atRoot(traceId: string, sign = signOf(traceId)): boolean {
    return root === 'ratio' ? sign < signs : root === 'on';
  }

  return (traceId, parent, sign) => {
    const wanted = parentBased && parent ? parent.isSampled : atRoot(traceId, sign);
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

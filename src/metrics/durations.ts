/**
 * Upper bounds in seconds. A call over stdio takes less than one millisecond, the longest wait is a minute unless the
 * settings say more.
 */
const callBounds: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** One of those that were counted, in a trace that is recorded. */
export interface Exemplar {
  readonly traceId: string;
  readonly spanId: string;
  readonly seconds: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** How long something took, how often: numbers alone, because it is counted on the way of every call. */
export class Durations {
  readonly bounds: readonly number[];
  /** By bucket, each without those below it; the last is for what took longer than every bound. */
  readonly counts: Float64Array;
  /** The newest by bucket; undefined while there was none. */
  exemplars: (Exemplar | undefined)[] | undefined;
  sumSeconds = 0;

  constructor(bounds = callBounds) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** `span`: what it took is recorded there. */
  add(ms: number, span?: Pick<Exemplar, 'traceId' | 'spanId'>): void {
    const { bounds, counts } = this;
    const seconds = ms / 1000;
    let bucket = 0;
    while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket++;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
    this.sumSeconds += seconds;
    if (!span) return;
    const { traceId, spanId } = span;
    (this.exemplars ??= [])[bucket] = { traceId, spanId, seconds, at: Date.now() };
  }
}

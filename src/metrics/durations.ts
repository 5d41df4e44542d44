/**
 * Upper bounds in seconds. A call over stdio takes less than one millisecond, the longest wait is a minute unless the
 * settings say more.
 */
export const bounds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/** How long something took, how often: numbers alone, because it is counted on the way of every call. */
export class Durations {
  /** By bucket, each without those below it; the last is for what took longer than every bound. */
  readonly counts = new Float64Array(bounds.length + 1);
  sumSeconds = 0;

  add(ms: number): void {
    const seconds = ms / 1000;
    let bucket = 0;
    while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sumSeconds += seconds;
  }
}

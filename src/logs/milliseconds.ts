/** Two decimals: more would say nothing, and table and memory would differ in the last one. */
export function roundMs(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** Between two neighbours in proportion, as `percentile_cont` of SQL has it. */
export function percentile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const [low = 0, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}

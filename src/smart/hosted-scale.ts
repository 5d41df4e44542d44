/**
 * The best cosine of a hosted embedder on the scale of the built-in one, where texts that have nothing to do with each other have 0: what it is above
 * the background. That differs from model to model and from catalogue to catalogue, and `prior` is what is known of the model; the visible
 * tools tell more the more there are, since most of them are not what was asked for. Only visible ones: others must not change a score.
 */
export function aboveBackground(best: number, cosines: Iterable<number>, prior: number): number {
  const sorted = Float64Array.from(cosines).sort();
  const median = sorted[sorted.length >> 1] ?? prior;
  const background = (sorted.length * median + priorWeight * prior) / (sorted.length + priorWeight);
  return Math.min(1, Math.max(0, (best - background) / Math.max(1 - background, smallest)));
}

/** As much as the model's own background counts: so many tools. In a group of a few all may well fit. */
const priorWeight = 20;
const smallest = 0.05;

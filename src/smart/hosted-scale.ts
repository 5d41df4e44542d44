/**
 * The scale of a hosted embedder's cosines, brought to that of the built-in one, where texts that have nothing to do
 * with each other have 0. Where that is on the scale of the hosted one, its background, differs from model to model and
 * from catalogue to catalogue: `prior` is what is known of the model, and the visible tools tell more the more there
 * are, since most of them are not what was asked for. Only visible ones: others must not change a score.
 */
export function backgroundOf(cosines: Iterable<number>, prior: number): number {
  const sorted = Float64Array.from(cosines).sort();
  const median = sorted[sorted.length >> 1] ?? prior;
  return (sorted.length * median + priorWeight * prior) / (sorted.length + priorWeight);
}

/** How far a cosine is above the background, in 0..1. */
export function above(background: number, cosine: number): number {
  return Math.min(1, Math.max(0, (cosine - background) / Math.max(1 - background, smallest)));
}

/** The model's own background counts like so many tools. In a group of a few all may well fit. */
const priorWeight = 20;
const smallest = 0.05;

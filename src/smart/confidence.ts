/** What there is to say that the best tool is really meant. */
export interface Evidence {
  /** Cosine of the best tool; undefined without an embedder. */
  readonly meaning: number | undefined;
  /** BM25F score of the best tool as a share of what a perfect one would have. */
  readonly words: number;
  readonly grams: number;
  /** Terms of the query. */
  readonly terms: number;
}

/** About how likely the best tool is what was meant, in 0..1. */
export function confidenceOf(evidence: Evidence): number {
  const { meaning = 0, words, grams, terms } = evidence;
  const z = -3 + 4 * meaning + 3 * words + 2 * grams + 0.2 * Math.log(1 + terms);
  return 1 / (1 + Math.exp(-z));
}

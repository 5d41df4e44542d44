/** What there is to say that the best tool is really meant. */
export interface Evidence {
  /** Cosine of the best tool with the query; 0 without an embedder. */
  readonly meaning: number;
  /** Its BM25F score as a share of what a tool named exactly like the query would have. */
  readonly words: number;
  readonly grams: number;
  /** How many terms the query has: much of a long one is never about the tool. */
  readonly terms: number;
  /** How far the next three tools are behind, as a share of the best one's score. */
  readonly lead: number;
}

/**
 * About how likely the best tool is what was meant, in 0..1: a logistic regression over queries whose tool was in the
 * catalogue and others whose tool was not (models/MODEL_CARD.md, "Confidence").
 */
export function confidenceOf({ meaning, words, grams, terms, lead }: Evidence, semantic: boolean): number {
  const w = semantic ? withMeaning : byWords;
  const length = Math.min(Math.log(1 + terms), longest);
  const z = w.bias + w.meaning * meaning + w.words * words + w.grams * grams + w.length * length + w.lead * lead;
  return 1 / (1 + Math.exp(-z));
}

/** Below this the best tool is more likely not what was meant, and the answer says so. */
export const confidentFrom = 0.2;

const withMeaning = { bias: -6.3, meaning: 5.5, words: 1.7, grams: 0.2, length: 1, lead: 2 };
const byWords = { bias: -5, meaning: 0, words: 4, grams: 2, length: 1, lead: 2 };
/** The logarithm of some fifty terms. */
const longest = 4;

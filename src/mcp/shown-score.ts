/** A score as answers show it: three digits are more than the ranking knows. */
export function shownScore(score: number): number {
  return Math.round(score * 1_000) / 1_000;
}

/**
 * About how many tokens a text costs a language model. Each model counts in its own way; four bytes of JSON are one
 * token within a fifth for all that were looked at, and the sum is for comparing, not for billing.
 */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

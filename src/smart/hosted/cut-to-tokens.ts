/**
 * The beginning of `text` that has at most about `most` tokens. Every model counts differently and none of their
 * tokenizers is small, so this is an estimate that is rather too high: four letters, one digit or one other character
 * to a token, two tokens to a character outside ASCII. Text of a kind where that is still too low is refused by the
 * service, and sent again shorter.
 */
export function cutToTokens(text: string, most: number): string {
  // No character counts more than two; most texts are far from the limit.
  if (text.length * 2 <= most) return text;
  let tokens = 0;
  for (const { 0: piece, index } of text.matchAll(pieces)) {
    tokens += tokensOf(piece);
    if (tokens > most) return text.slice(0, index);
  }
  return text;
}

/** Runs of up to four ASCII letters, a space with them; anything else alone, and never half a surrogate pair. */
const pieces = / ?[A-Za-z]{1,4}|[^A-Za-z]/gsu;

function tokensOf(piece: string): number {
  return (piece.codePointAt(0) ?? 0) > 0x7f ? 2 : 1;
}

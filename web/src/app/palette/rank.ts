/** Something that is found by its name; `more` is searched too, and counts less. */
export interface Findable {
  readonly name: string;
  readonly more: string;
}

/**
 * Of `entries` those that fit what was typed, the best first, `most` at the most: the very name, then names that begin
 * with it, that have a word that begins with it, that have it, those with all its words, and at last those with its
 * letters in this order. Of equals the shorter name comes first, then the earlier entry.
 */
export function best<T extends Findable>(entries: readonly T[], typed: string, most: number): readonly T[] {
  const q = typed.trim().toLowerCase();
  if (q === '') return entries.slice(0, most);
  const words = q.split(/\s+/);
  const found: { readonly entry: T; readonly rank: number; readonly at: number }[] = [];
  for (const [at, entry] of entries.entries()) {
    const rank = rankOf(entry, q, words);
    if (rank !== undefined) found.push({ entry, rank, at });
  }
  found.sort((a, b) => a.rank - b.rank || a.entry.name.length - b.entry.name.length || a.at - b.at);
  return found.slice(0, most).map(({ entry }) => entry);
}

/** Letters that lie further apart than this, of each letter, are in a name by chance. */
const widest = 3;

/** Smaller is better; undefined: it does not fit. */
function rankOf({ name, more }: Findable, q: string, words: readonly string[]): number | undefined {
  const text = name.toLowerCase();
  if (text === q) return 0;
  const at = text.indexOf(q);
  if (at === 0) return 1;
  if (at > 0) return beginsWord(text, q, at) ? 2 : 3;
  const whole = `${text} ${more.toLowerCase()}`;
  if (words.every((word) => whole.includes(word))) return 4;
  const letters = words.join('');
  const span = letters.length > 1 ? spanOf(text, letters) : undefined;
  if (span === undefined || span > widest * letters.length) return undefined;
  // Letters that lie close together come first; all of these come last.
  return 5 + span - letters.length;
}

function beginsWord(text: string, q: string, first: number): boolean {
  for (let at = first; at >= 0; at = text.indexOf(q, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return true;
  }
  return false;
}

/** How many characters of the text the letters take that occur in it in this order. */
function spanOf(text: string, letters: string): number | undefined {
  let from = -1;
  let at = -1;
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return undefined;
    if (from === -1) from = at;
  }
  return at - from + 1;
}

/**
 * The parts of a long request that may each call for a tool of its own: sentences, lines, and what "and then" joins.
 * Empty when there is only one. At most `most`; what is left over counts with the request as a whole only.
 */
export function clausesOf(query: string, most: number): string[] {
  const parts = query
    .split(/(?<=[.!?;:])\s+|\n+|,\s+(?:and|then|also)\s+|\s+(?:and then|then|and also)\s+/)
    .map((part) => part.trim())
    .filter((part) => part.length > shortest);
  return parts.length > 1 ? parts.slice(0, most) : [];
}

/** Shorter parts are greetings and abbreviations. */
const shortest = 8;

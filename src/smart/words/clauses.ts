/**
 * The steps of a request that may each call for a tool of its own: what punctuation and conjunctions part. Empty when
 * there is only one. Of more than `most` the longest, in their order: short ones are greetings and asides.
 */
export function clausesOf(query: string, most: number): string[] {
  const parts = query
    .split(borders)
    .map((part) => part.trim())
    .filter((part) => weightOf(part) > shortest);
  if (parts.length < 2) return [];
  if (parts.length <= most) return parts;
  const weighed = parts.map((part, place) => ({ part, place, weight: weightOf(part) }));
  const longest = weighed.toSorted((a, b) => b.weight - a.weight).slice(0, most);
  return longest.toSorted((a, b) => a.place - b.place).map(({ part }) => part);
}

const joining = 'and then|and also|and|then|as well as|plus|but|while|before|after|so that|und|sowie|et|puis|y|luego';
const borders = new RegExp(
  `(?<=[.!?;:])\\s|[\\n。！？；，、]|,\\s(?:(?:and|then|also|or)\\s)?|\\s(?:${joining})\\s|\\s[–-]\\s|—|[()]`,
);

/** Letters of scripts without spaces say as much as two or three of others. */
function weightOf(part: string): number {
  return (
    part.length +
    2 * (part.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0)
  );
}

/** Shorter parts are greetings and abbreviations. */
const shortest = 8;

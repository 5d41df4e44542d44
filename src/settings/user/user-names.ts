/** Names of users and groups are told apart by this: without regard to case, and to how an accent is written. */
export function nameKey(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** True for names that stand for callers without an account (CONTRACT §4, Users). */
export function isReservedUser(name: string): boolean {
  return reserved.has(name.toLowerCase());
}

const reserved = new Set(['anonymous', 'system', 'guest']);

/**
 * A name as the hub takes it from elsewhere: in the plain form of each character (NFKC), without what is not seen.
 * Undefined where letters of several scripts are mixed (UTS 39, highly restrictive): such a name can look like another
 * one.
 */
export function plainName(name: string): string | undefined {
  const plain = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}+/gu, '');
  const letters = plain.replace(/[\p{Script=Common}\p{Script=Inherited}]+/gu, '');
  return scripts.some((script) => script.test(letters)) ? plain : undefined;
}

/** Names that look alike have the same one. */
export function lookKey(name: string): string {
  const plain = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}+/gu, '');
  return nameKey(plain).replace(/\P{ASCII}/gu, (letter) => latin.get(letter) ?? letter);
}

/** Each script with those that are written together with it. */
const scripts = [
  /^\p{Script=Latin}*$/u,
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]*$/u,
  /^[\p{Script=Han}\p{Script=Bopomofo}]*$/u,
  /^[\p{Script=Han}\p{Script=Hangul}]*$/u,
  ...'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew Kannada Khmer Lao Malayalam Myanmar Sinhala Tamil Telugu Thai Tibetan'
    .split(' ')
    .map((script) => new RegExp(`^\\p{Script=${script}}*$`, 'u')),
];

/** Letters that look like one of ASCII, so that whole words of another script can look Latin (UTS 39, confusables). */
const latin: ReadonlyMap<string, string> = new Map(
  'аa сc ԁd еe һh іi јj кk ӏl мm оo рp ԛq ѕs тt ѵv ԝw хx уy αa εe ηn ιi κk νv οo ρp τt υu χx γy ɑa ɡg ıi օo ոn սu հh'
    .split(' ')
    .map((pair) => [pair.slice(0, -1), pair.slice(-1)]),
);

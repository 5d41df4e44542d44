import { limits } from '../../core/limits.ts';

/**
 * The stem of an English word in lower case (Porter, "An algorithm for suffix stripping", 1980): `searching`,
 * `searches` and `searched` all become `search`. Words of other scripts come back unchanged. Differs from the paper in
 * one thing: three-letter plurals lose their `s` (`prs`, `ids`).
 */
export function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const result = word.length < 4 ? shortWord(word) : longWord(word);
  // Names of a catalogue repeat; hostile text does not, and must not grow this without end.
  if (stems.size >= limits.stems) stems.clear();
  stems.set(word, result);
  return result;
}

const stems = new Map<string, string>();

function shortWord(word: string): string {
  return word.length === 3 && /^[a-z]+(?<![sui])s$/.test(word) ? word.slice(0, -1) : word;
}

function longWord(word: string): string {
  if (word.length > 40 || !/^[a-z]+$/.test(word)) return word;
  let w = plural(word);
  w = pastOrGerund(w);
  if (w.endsWith('y') && hasVowel(w.slice(0, -1))) w = `${w.slice(0, -1)}i`;
  w = replaceSuffix(w, doubleSuffixes);
  w = replaceSuffix(w, adjectiveSuffixes);
  w = dropSuffix(w);
  return tidyEnd(w);
}

/** Step 1a. */
function plural(w: string): string {
  if (w.endsWith('sses') || w.endsWith('ies')) return w.slice(0, -2);
  return w.endsWith('s') && !w.endsWith('ss') ? w.slice(0, -1) : w;
}

/** Step 1b. */
function pastOrGerund(w: string): string {
  if (w.endsWith('eed')) return measure(w.slice(0, -3)) > 0 ? w.slice(0, -1) : w;
  const cut = w.endsWith('ed') ? 2 : w.endsWith('ing') ? 3 : 0;
  if (cut === 0) return w;
  const base = w.slice(0, -cut);
  if (!hasVowel(base)) return w;
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`;
  if (doubleConsonant(base) && !/[lsz]$/.test(base)) return base.slice(0, -1);
  return measure(base) === 1 && endsShort(base) ? `${base}e` : base;
}

/** Step 2. */
const doubleSuffixes: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
];

/** Step 3. */
const adjectiveSuffixes: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];

function replaceSuffix(w: string, suffixes: readonly (readonly [string, string])[]): string {
  const found = suffixes.find(([suffix]) => w.endsWith(suffix));
  if (!found) return w;
  const base = w.slice(0, -found[0].length);
  return measure(base) > 0 ? base + found[1] : w;
}

const droppable = 'ement ance ence able ible ment ant ent ism ate iti ous ive ize ion al er ic ou'.split(' ');

/** Step 4. */
function dropSuffix(w: string): string {
  const suffix = droppable.find((candidate) => w.endsWith(candidate));
  if (suffix === undefined) return w;
  const base = w.slice(0, -suffix.length);
  return measure(base) > 1 && (suffix !== 'ion' || /[st]$/.test(base)) ? base : w;
}

/** Step 5. */
function tidyEnd(word: string): string {
  let w = word;
  if (w.endsWith('e')) {
    const base = w.slice(0, -1);
    const m = measure(base);
    if (m > 1 || (m === 1 && !endsShort(base))) w = base;
  }
  return w.endsWith('ll') && measure(w) > 1 ? w.slice(0, -1) : w;
}

function isConsonant(w: string, i: number): boolean {
  const letter = w[i];
  if (letter === 'a' || letter === 'e' || letter === 'i' || letter === 'o' || letter === 'u') return false;
  return letter !== 'y' || i === 0 || !isConsonant(w, i - 1);
}

/** How often a vowel run is followed by a consonant run: the m of the paper. */
function measure(w: string): number {
  let count = 0;
  let afterVowel = false;
  for (let i = 0; i < w.length; i++) {
    const consonant = isConsonant(w, i);
    if (consonant && afterVowel) count++;
    afterVowel = !consonant;
  }
  return count;
}

function hasVowel(w: string): boolean {
  for (let i = 0; i < w.length; i++) if (!isConsonant(w, i)) return true;
  return false;
}

function doubleConsonant(w: string): boolean {
  return w.length > 1 && w.at(-1) === w.at(-2) && isConsonant(w, w.length - 1);
}

/** Consonant, vowel, consonant that is not w, x or y: the *o of the paper. */
function endsShort(w: string): boolean {
  const n = w.length;
  return n >= 3 && isConsonant(w, n - 1) && !isConsonant(w, n - 2) && isConsonant(w, n - 3) && !/[wxy]$/.test(w);
}

import { stemmer } from 'stemmer';
import { smartLimits } from '../limits.ts';

/**
 * The stem of an English word in lower case (Porter, "An algorithm for suffix stripping", 1980, as the library
 * has it): `searching`, `searches` and `searched` all become `search`. Words of other scripts come back unchanged. One
 * thing is added: three-letter plurals lose their `s` (`prs`, `ids`).
 */
export function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const result = word.length < 4 ? shortWord(word) : longWord(word);
  // Names of a catalogue repeat; hostile text does not, and must not grow this without end.
  if (stems.size >= smartLimits.stems) stems.clear();
  stems.set(word, result);
  return result;
}

const stems = new Map<string, string>();

function shortWord(word: string): string {
  return word.length === 3 && /^[a-z]+(?<![sui])s$/.test(word) ? word.slice(0, -1) : word;
}

function longWord(word: string): string {
  return word.length > 40 || !/^[a-z]+$/.test(word) ? word : stemmer(word);
}

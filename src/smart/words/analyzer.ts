import { stem } from './stem.ts';
import { stopWords } from './stop-words.ts';

/**
 * The pieces of a text in lower case: `getUserByID`, `get_user-by id` and `GetUserById` all give get, user, by, id.
 * Letters and digits part (`v2` → v, 2), and short mixtures of both come once more as a whole, at the end (`s3`, `k8s`,
 * `h264`). Scripts that write no spaces give pairs of neighbouring characters; Latin letters lose their diacritics.
 * What is neither letter nor digit only separates.
 */
export function words(text: string): string[] {
  // Most texts are ASCII, and a hub that starts reads thousands of them: these patterns take a third of the time.
  const isAscii = ascii.test(text);
  const parted = isAscii
    ? text.replaceAll("'", '').replace(asciiWordStart, ' ')
    : text.normalize('NFKC').replace(apostrophes, '').replace(wordStart, ' ');
  const plain = parted.toLowerCase();
  const found = isAscii || ascii.test(plain) ? (plain.match(asciiPieces) ?? []) : piecesOfAnyScript(plain);
  if (digit.test(plain)) for (const [mixture] of plain.matchAll(mixtures)) found.push(mixture);
  return found;
}

/**
 * What a text is found by: its words without stop words and long numbers, stemmed. A text of nothing but those keeps
 * them.
 */
export function terms(text: string): string[] {
  const all = words(text);
  const telling = all.filter((word) => !stopWords.has(word) && !longNumber.test(word));
  return (telling.length > 0 ? telling : all).map(stem);
}

const apostrophes = /['’]/g;
/**
 * The inner places of `getUser`, `v2Beta` and `HTMLDocument`. Looks around instead of matching: runs of capitals would
 * take quadratic time.
 */
const wordStart = /(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu;
const ascii = /^[\0-\x7f]*$/;
const asciiWordStart = /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g;
const digit = /[0-9]/;
const asciiPieces = /[a-z]+|[0-9]+/g;
const mixtures = /(?<![a-z0-9])(?:[a-z]{1,5}[0-9]{1,4}[a-z]{0,3}|[0-9]{1,2}[a-z]{1,2})(?![a-z0-9])/g;
const pieces = /\p{L}[\p{L}\p{M}]*|\p{Nd}+/gu;
const latinMarks = /(?<=[a-z])\p{M}+/gu;
const unspacedScripts = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script=${script}}`)
  .join('');
const unspacedRun = new RegExp(`([${unspacedScripts}ー]+)`, 'u');
/** Ids and timestamps: each occurs once and helps no search. */
const longNumber = /^\d{5,}$/;

function piecesOfAnyScript(text: string): string[] {
  const found: string[] = [];
  for (const [piece] of text.matchAll(pieces)) {
    // With one capturing group, the odd parts of a split are the matches.
    for (const [i, part] of piece.split(unspacedRun).entries()) {
      if (i % 2 === 1) addPairs(part, found);
      else if (part !== '') found.push(part.normalize('NFD').replace(latinMarks, '').normalize('NFC'));
    }
  }
  return found;
}

function addPairs(run: string, found: string[]): void {
  const characters = Array.from(run);
  if (characters.length === 1) found.push(run);
  for (let i = 0; i + 1 < characters.length; i++) found.push(`${characters[i]}${characters[i + 1]}`);
}

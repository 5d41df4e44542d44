/**
 * A step that a task calls for without naming it. A request that ends with "and a report in /tmp/summary.md" needs a
 * tool that writes files, though nearly all of its words are about the report; a tool that takes a latitude needs
 * another one that finds the place, where the request names that in words.
 */
export interface ImpliedStep {
  /** What the tool for the step is searched by. */
  readonly text: string;
  /** The share of `text` by words that a tool must have at least: most hubs have no such tool. */
  readonly words: number;
  /** What the best tool for the step has at least, of the best score of all. */
  readonly score: number;
}

export const writeFile: ImpliedStep = { text: 'write file', words: 0.5, score: 0.95 };
export const findPlace: ImpliedStep = { text: 'geocode address coordinates', words: 0.3, score: 0.9 };

export const tellDate: ImpliedStep = { text: 'get current time date', words: 0.5, score: 0.8 };

/**
 * Whether the query names a file of text that is to be written. Files of office programs and pictures are left out: the
 * tools that make them save them, too.
 */
export function namesFileToWrite(query: string): boolean {
  for (const match of query.matchAll(textFile)) {
    const [file, kind = ''] = match;
    if (address.test(file) || (code.test(kind) && !folder.test(file))) continue;
    const before = query.slice(Math.max(0, match.index - beforeChars), match.index);
    const sentence = before.split(sentenceEnd).at(-1) ?? '';
    if (writes.test(sentence) && !reads.test(sentence)) return true;
  }
  return false;
}

/** Whether the query names a day to come as seen from today: who looks for trains of tomorrow must know the date. */
export function namesDayToCome(query: string): boolean {
  return dayToCome.test(query);
}

/** Whether the query has coordinates already, as numbers with two decimals or more. */
export function hasCoordinates(query: string): boolean {
  return /\d\.\d\d/.test(query);
}

/** Whether a tool takes coordinates, by the terms of the names of its parameters. */
export function takesCoordinates(parameterNames: readonly string[]): boolean {
  return parameterNames.some((term) => term === 'lat' || term === 'latitud');
}

/** The whole of a name or path that ends like a file of text, up to a length that names have. */
const textFile =
  /(?<![\w.~/\\:-])[\w.~/\\:-]{0,256}\w\.(md|txt|html?|csv|json|ya?ml|xml|log|sql|ts|js|py)(?![\w/\\-]|\.\w)/gi;
const address = /^(?:https?:|www\.|[\w-]+\.[a-z]{2,}\/)/i;
/** Libraries are named like files of code ("Node.js"). */
const code = /^(?:ts|js|py)$/i;
const folder = /[/\\]/;
const beforeChars = 80;
const sentenceEnd = /[.!?]\s|[\n。！？]/;
const writes =
  /\b(?:sav(?:e[sd]?|ing)|writ(?:e|ing|ten)|exports?|store|put|drafts?|outputs?|generate|produce|create|report|summary|speicher\w*|schreib\w*|enregistr\w*|guarda\w*|escrib\w*)\b|écri|保存|写入|書き/iu;
const dayToCome =
  /\b(?:tomorrow|tonight|next (?:week|month|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|morgen|demain|mañana)\b|明天|明日/i;
/** The last verb before the file: "open the list in a.csv" names what is there. */
const reads = /\b(?:read|open|load)\b[^,]*$/i;

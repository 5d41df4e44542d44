import { terms, words } from './analyzer.ts';
import { stopWords } from './stop-words.ts';
import type { ToolDocument } from '../document.ts';
import type { ToolTerms } from './tool-terms.ts';
import { createPostings, slotShift, weightMask, weights, type Postings } from './postings.ts';

/**
 * Finds tools by the words (BM25F) and by the parts of words (3- and 4-grams of characters) that they share with a
 * query. Tools are known by document ids (`slot`), which the caller gives out and takes back.
 *
 * How rare a word is gets counted again for each query, among the tools visible to it; lengths are compared with fixed
 * averages. So a score depends on the query, the tool and the other visible tools, and nothing hidden can be measured
 * through it.
 */
export interface Lexical {
  /** Adds a tool under a document id that has none. */
  add(slot: number, tool: ToolDocument, found: ToolTerms): void;
  /**
   * Forgets the tools of all document ids whose `alive` is 0. Until then they cost time, but `visible` keeps them out
   * of every result.
   */
  purge(alive: Uint8Array): void;
  /**
   * Adds BM25F scores to `out`. No tool can have more than `reachable`: that takes every one of the query's `terms` as
   * its name.
   */
  scoreWords(query: string, visible: Visible, out: Float32Array): { reachable: number; terms: number };
  /** Adds scores in 0..1 or a little above to `out`, in the manner of a cosine. */
  scoreGrams(query: string, visible: Visible, out: Float32Array): void;
  bytes(): number;
}

/** Which document ids a query may know of: `mask[slot]` is 1 for those, and `count` says how many they are. */
export interface Visible {
  readonly mask: Uint8Array;
  readonly count: number;
}

export function createLexical(): Lexical {
  const byTerm = createChannel<string>();
  const byGram = createChannel<string | number>();

  return {
    add(slot, tool, found) {
      for (const [term, mass] of fieldMasses(found)) byTerm.add(term, slot, mass / (mass + saturation));
      const grams = gramsOf(gramText(tool));
      let squares = 0;
      for (const count of grams.values()) squares += damped(count) ** 2;
      for (const [gram, count] of grams) byGram.add(gram, slot, damped(count) / Math.sqrt(squares));
    },
    purge(alive) {
      byTerm.purge(alive);
      byGram.purge(alive);
    },
    scoreWords(query, visible, out) {
      const rarest = termRarity(0, visible.count);
      let reachable = 0;
      const asked = counted(terms(query));
      for (const [term, count] of asked) {
        const found = byTerm.count(term, visible);
        const weight = count ** repetition * (found === 0 ? rarest : termRarity(found, visible.count));
        reachable += weight;
        if (found > 0) byTerm.accumulate(term, weight, visible, out);
      }
      return { reachable, terms: asked.size };
    },
    scoreGrams(query, visible, out) {
      const most = usefulFew + usefulShare * visible.count;
      const found: [gram: string | number, weight: number][] = [];
      let squares = 0;
      for (const [gram, count] of gramsOf(query)) {
        const tools = byGram.count(gram, visible, most);
        if (tools === 0 || tools > most) continue;
        const rarity = Math.log((visible.count + 1) / (tools + 1));
        found.push([gram, damped(count) * rarity * rarity]);
        squares += (damped(count) * rarity) ** 2;
      }
      if (squares === 0) return;
      found.sort((a, b) => b[1] - a[1]);
      for (const [gram, weight] of found.slice(0, mostGrams))
        byGram.accumulate(gram, weight / Math.sqrt(squares), visible, out);
    },
    bytes: () => byTerm.bytes() + byGram.bytes(),
  };
}

/** Chosen on the development halves of the benchmark (MODEL_CARD.md, "Numbers chosen"), as everything below. */
const saturation = 1.2;
const repetition = 0.25;
/** Grams of more tools than these say nothing and take the most time. */
const usefulShare = 0.1;
const usefulFew = 3;
/** Of a long text, the rarest grams say enough. */
const mostGrams = 200;

interface Field {
  readonly of: keyof ToolTerms;
  readonly weight: number;
  /** How much a longer field than `averageTerms` takes away from each of its words: 0 nothing, 1 in proportion. */
  readonly lengthPenalty: number;
  readonly averageTerms: number;
}

const fields: readonly Field[] = [
  { of: 'name', weight: 5, lengthPenalty: 0.1, averageTerms: 3 },
  { of: 'description', weight: 1, lengthPenalty: 0.9, averageTerms: 20 },
  { of: 'parameterNames', weight: 1, lengthPenalty: 0.2, averageTerms: 4 },
  { of: 'parameterTexts', weight: 0.8, lengthPenalty: 0.3, averageTerms: 20 },
  { of: 'server', weight: 1.5, lengthPenalty: 0, averageTerms: 2 },
  { of: 'serverDescription', weight: 0.5, lengthPenalty: 0.3, averageTerms: 20 },
];

/** How much of each term a tool has: its weighted and length-normalized occurrences over all fields. */
function fieldMasses(tool: ToolTerms): Map<string, number> {
  const masses = new Map<string, number>();
  for (const { of, weight, lengthPenalty, averageTerms } of fields) {
    const found = tool[of];
    const mass = weight / (1 - lengthPenalty + (lengthPenalty * found.length) / averageTerms);
    for (const term of found) masses.set(term, (masses.get(term) ?? 0) + mass);
  }
  return masses;
}

const gramDescriptionChars = 300;
const gramParameterChars = 600;
const nameChars = 256;

function gramText(tool: ToolDocument): string {
  const name = tool.name.slice(0, nameChars);
  const server = tool.server.slice(0, nameChars);
  const description = tool.description.slice(0, gramDescriptionChars);
  // The name counts three times.
  return `${name} ${name} ${name} ${server} ${description} ${tool.parameterNames.slice(0, gramParameterChars)}`;
}

/** The 3- and 4-grams of the words of a text, begin and end of a word included, and how often each occurs. */
function gramsOf(text: string): Map<string | number, number> {
  const grams = new Map<string | number, number>();
  const count = (gram: string | number): void => void grams.set(gram, (grams.get(gram) ?? 0) + 1);
  for (const word of words(text)) {
    if (stopWords.has(word)) continue;
    const bounded = `<${word}>`;
    if (plainWord.test(word)) countNumbered(bounded, count);
    else
      for (let size = 3; size <= 4; size++)
        for (let i = 0; i + size <= bounded.length; i++) count(gramOf(bounded.slice(i, i + size)));
  }
  return grams;
}

const plainWord = /^[a-z0-9]+$/;

/**
 * A gram of ASCII letters and digits is a number, which a map finds several times as fast as a string: its characters
 * are the digits of it, none of which is 0, so that those of 3 and of 4 differ.
 */
function countNumbered(bounded: string, count: (gram: number) => void): void {
  let three = 0;
  for (let i = 0; i < bounded.length; i++) {
    const code = bounded.charCodeAt(i) - firstCode;
    const four = three * codes + code;
    if (i >= 3) count(four);
    three = four % codes ** 3;
    if (i >= 2) count(three);
  }
}

/** The same for one gram of a word that has other characters too. A gram in which there are such stays a string. */
function gramOf(text: string): string | number {
  let number = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i) - firstCode;
    if (code <= 0 || code >= codes) return text;
    number = number * codes + code;
  }
  return number;
}

/** From before "0" to "z". */
const firstCode = 47;
const codes = 76;

function counted(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

function damped(count: number): number {
  return 1 + Math.log(count);
}

function termRarity(tools: number, of: number): number {
  return Math.log(1 + (of - tools + 0.5) / (tools + 0.5));
}

/** Posting lists by what they are of. */
interface Channel<T> {
  add(item: T, slot: number, weight: number): void;
  /** How many visible tools have the item; some number above `most` if there are more. */
  count(item: T, visible: Visible, most?: number): number;
  accumulate(item: T, weight: number, visible: Visible, out: Float32Array): void;
  purge(alive: Uint8Array): void;
  bytes(): number;
}

function createChannel<T>(): Channel<T> {
  const lists = new Map<T, number>();
  const postings: Postings = createPostings();

  return {
    add(item, slot, weight) {
      let list = lists.get(item);
      if (list === undefined) {
        list = postings.open();
        lists.set(item, list);
      }
      postings.add(list, slot, weight);
    },
    count(item, visible, most = Number.POSITIVE_INFINITY) {
      const list = lists.get(item);
      if (list === undefined) return 0;
      const { entries } = postings;
      const { mask } = visible;
      let count = 0;
      for (let i = postings.start(list), end = postings.end(list); i < end && count <= most; i++) {
        count += mask[(entries[i] ?? 0) >>> slotShift] ?? 0;
      }
      return count;
    },
    accumulate(item, weight, visible, out) {
      const list = lists.get(item);
      if (list === undefined) return;
      const { entries } = postings;
      const { mask } = visible;
      for (let i = postings.start(list), end = postings.end(list); i < end; i++) {
        const entry = entries[i] ?? 0;
        const slot = entry >>> slotShift;
        if (mask[slot] === 1) out[slot] = (out[slot] ?? 0) + weight * (weights[entry & weightMask] ?? 0);
      }
    },
    purge(alive) {
      postings.purge(alive);
      for (const [item, list] of lists) {
        if (postings.start(list) < postings.end(list)) continue;
        postings.close(list);
        lists.delete(item);
      }
    },
    bytes: () => postings.bytes() + lists.size * bytesPerList,
  };
}

/** What an entry of the map with its short string takes, about. */
const bytesPerList = 80;

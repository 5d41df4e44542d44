import { fileURLToPath } from 'node:url';
import { shipped } from '../core/shipped.ts';
import { terms } from './words/analyzer.ts';
import type { ToolTerms } from './words/tool-terms.ts';
import { readWordTable, type WordTable } from './vectors/word-table.ts';

/**
 * Turns texts into vectors with a table of one vector per word stem: the vector of a text is the sum of those of its
 * terms. Words that are not in the table have no part in it: where they match exactly, the other channels see it.
 * Deterministic, needs no key, no network and no dependency; a query takes about 10 µs. What the table was made of is
 * in models/MODEL_CARD.md.
 */
export interface LocalEmbedder {
  readonly dimensions: number;
  /** A vector of length 1; undefined when the text has no terms. */
  query(text: string): Float32Array | undefined;
  /** A vector of length at most 1 for what the tool is and does. */
  tool(tool: ToolTerms): Float32Array | undefined;
  bytes(): number;
}

/**
 * Reads the table that is shipped with the hub, or the one at `path`. The shipped one is read once in a process, for
 * all hubs in it. Throws HubError `misconfigured` when it cannot be read.
 */
export async function loadLocalEmbedder(path?: string): Promise<LocalEmbedder> {
  if (path !== undefined) return createEmbedder(await readWordTable(path));
  return (ofTheHub ??= createEmbedder(await readWordTable(shippedTable)));
}

const shippedTable = fileURLToPath(shipped('models/words.bin'));
let ofTheHub: LocalEmbedder | undefined;

function createEmbedder(table: WordTable): LocalEmbedder {
  const { dimensions } = table;

  function addWord(word: string, weight: number, into: Float32Array): void {
    const row = table.rows.get(word);
    if (row === undefined) return;
    const scale = weight * (table.scales[row] ?? 0);
    const at = row * dimensions;
    for (let i = 0; i < dimensions; i++) into[i] = (into[i] ?? 0) + scale * (table.bytes[at + i] ?? 0);
  }

  /** The direction of a bag of words, times `weight`, added to `into`. False when there is none. */
  function addBag(bag: readonly string[], weight: number, into: Float32Array): boolean {
    const sum = new Float32Array(dimensions);
    const counts = new Map<string, number>();
    for (const word of bag) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) addWord(word, Math.sqrt(count), sum);
    let squares = 0;
    for (let i = 0; i < dimensions; i++) squares += (sum[i] ?? 0) ** 2;
    if (squares === 0) return false;
    const factor = weight / Math.sqrt(squares);
    for (let i = 0; i < dimensions; i++) into[i] = (into[i] ?? 0) + factor * (sum[i] ?? 0);
    return true;
  }

  return {
    dimensions,
    query(text) {
      const vector = new Float32Array(dimensions);
      return addBag(terms(text), 1, vector) ? vector : undefined;
    },
    tool(tool) {
      const vector = new Float32Array(dimensions);
      let found = false;
      for (const { bag, weight } of toolBags(tool)) found = addBag(bag, weight, vector) || found;
      return found ? vector : undefined;
    },
    bytes: () => table.bytes.byteLength + table.scales.byteLength + table.rows.size * bytesPerWord,
  };
}

/**
 * A tool is the mean of three bags: all of it, what it does, and where it belongs. Long descriptions alone would drown
 * the name.
 */
export function toolBags(tool: ToolTerms): { bag: string[]; weight: number }[] {
  const { name, server, description, firstSentence, parameterNames } = tool;
  return [
    { bag: [...name, ...name, ...server, ...description, ...parameterNames.slice(0, bagParameters)], weight: 2 },
    { bag: [...name, ...firstSentence], weight: 1 },
    { bag: [...name, ...server], weight: 1 },
  ];
}

const bagParameters = 20;
/** What an entry of the vocabulary takes in memory, about. */
const bytesPerWord = 64;

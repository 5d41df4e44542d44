import type { LocalEmbedder } from './embedder-local.ts';
import type { Visible } from './lexical.ts';
import { fuse, type Ranking } from './rank.ts';
import type { ToolIndex } from './tool-index.ts';

/** How well each slot answers one text. Slots that are not visible have 0 everywhere. */
export interface TextScores {
  /** All channels together; the best slot has 1, or all have 0. */
  readonly scores: Float32Array;
  /** BM25F. No tool can have more than `reachable`. */
  readonly words: Float32Array;
  readonly reachable: number;
  readonly grams: Float32Array;
  /** Cosines; all 0 without an embedder. */
  readonly meaning: Float32Array;
}

/** Scores texts into arrays of its own: what it returns holds until its next call. */
export function createTextScorer(index: ToolIndex, embedder: LocalEmbedder | undefined, ranking: Ranking) {
  let room = new Float32Array(0);

  return (text: string, visible: Visible): TextScores => {
    const slots = visible.mask.length;
    if (room.length < 4 * slots) room = new Float32Array(5 * slots);
    const array = (number: number): Float32Array => room.subarray(number * slots, (number + 1) * slots).fill(0);
    const [words, grams, meaning, scores] = [array(0), array(1), array(2), array(3)];
    const reachable = index.lexical.scoreWords(text, visible, words);
    if (ranking.grams > 0) index.lexical.scoreGrams(text, visible, grams);
    const vector = ranking.meaning > 0 ? embedder?.query(text) : undefined;
    if (vector) index.vectors?.similarities(vector, visible.mask, meaning);
    const channels = [
      { values: words, share: ranking.words, floor: ranking.wordsFloor },
      { values: grams, share: ranking.grams, floor: ranking.gramsFloor },
      { values: meaning, share: ranking.meaning, floor: ranking.meaningFloor },
    ];
    fuse(channels, scores);
    return { scores, words, reachable, grams, meaning };
  };
}

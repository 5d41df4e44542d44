import { actionAsked } from './words/actions.ts';
import type { LocalEmbedder } from './embedder-local.ts';
import type { Visible } from './words/lexical.ts';
import { bestOf, fuse, normalize, weighActions, type Ranking } from './rank.ts';
import type { ToolIndex } from './tool-index.ts';

/** How well the tool of each document id fits one text. Tools that are not visible have 0 everywhere. */
export interface TextScores {
  /** All channels together; the best tool has 1, or all have 0. */
  readonly scores: Float32Array;
  /** BM25F. No tool can have more than `reachable`. */
  readonly words: Float32Array;
  readonly reachable: number;
  /** How many different terms the text has. */
  readonly terms: number;
  readonly grams: Float32Array;
  /** Cosines; all 0 without an embedder. */
  readonly meaning: Float32Array;
}

/** Cosines of tools with the query by another embedder, by key. */
export type Similarities = ReadonlyMap<string, number>;

export interface TextScorer {
  /** What it returns holds until its next call. Channels whose share is 0 are not computed. */
  score(text: string, visible: Visible, ranking: Ranking, hosted?: Similarities): TextScores;
}

export function createTextScorer(index: ToolIndex, embedder: LocalEmbedder | undefined): TextScorer {
  let room = new Float32Array(0);

  /**
   * Tools that the other embedder has not seen yet take part with what the built-in one says of them, on the other's
   * scale but behind.
   */
  function preferHosted(hosted: Similarities, visible: Visible, meaning: Float32Array): void {
    const seen = Array.from(meaning, (_, slot) =>
      visible.mask[slot] === 1 ? hosted.get(index.slots.key(slot)) : undefined,
    );
    const best = seen.reduce<number>((most, similarity) => Math.max(most, similarity ?? 0), 0);
    const factor = (unseenShare * best) / Math.max(bestOf(meaning), Number.EPSILON);
    for (let slot = 0; slot < meaning.length; slot++) meaning[slot] = seen[slot] ?? factor * (meaning[slot] ?? 0);
  }

  return {
    score(text, visible, ranking, hosted) {
      const slots = visible.mask.length;
      if (room.length < 4 * slots) room = new Float32Array(5 * slots);
      const array = (number: number): Float32Array => room.subarray(number * slots, (number + 1) * slots).fill(0);
      const [words, grams, meaning, scores] = [array(0), array(1), array(2), array(3)];
      const { reachable, terms } = index.lexical.scoreWords(text, visible, words);
      if (ranking.grams > 0) index.lexical.scoreGrams(text, visible, grams);
      const vector = ranking.meaning > 0 ? embedder?.query(text) : undefined;
      if (vector) index.vectors?.similarities(vector, visible.mask, meaning);
      if (hosted) preferHosted(hosted, visible, meaning);
      const channels = [
        { values: words, share: ranking.words, floor: ranking.wordsFloor },
        { values: grams, share: ranking.grams, floor: ranking.gramsFloor },
        { values: meaning, share: ranking.meaning, floor: ranking.meaningFloor },
      ];
      fuse(channels, scores);
      const asked = actionAsked(text);
      if (asked) weighActions(scores, index.actions, asked, ranking);
      normalize(scores);
      return { scores, words, reachable, terms, grams, meaning };
    },
  };
}

const unseenShare = 0.9;

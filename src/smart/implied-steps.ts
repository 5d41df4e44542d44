import { bestOf, topSlots } from './rank.ts';
import type { TextScores } from './score-text.ts';
import type { ToolIndex } from './tool-index.ts';
import {
  findPlace,
  hasCoordinates,
  namesDayToCome,
  namesFileToWrite,
  tellDate,
  writeFile,
  type ImpliedStep,
} from './words/implied.ts';
import type { Visible } from './words/lexical.ts';

/**
 * Raises in `scores` the tools for steps that the query implies nearly to the best score, so that they are among the
 * first. `scoresOf` says how well the visible tools fit another text.
 */
export function raiseImplied(
  index: Pick<ToolIndex, 'slots' | 'placed'>,
  query: string,
  scores: Float32Array,
  visible: Visible,
  scoresOf: (text: string) => TextScores,
): void {
  const best = bestOf(scores);
  const first = topSlots(scores, visible, placeDepth, index.slots);
  const takesPlace = first.some((slot) => index.placed[slot] === 1 && (scores[slot] ?? 0) >= placeFrom * best);
  const steps: ImpliedStep[] = [];
  if (namesFileToWrite(query)) steps.push(writeFile);
  if (namesDayToCome(query)) steps.push(tellDate);
  if (takesPlace && !hasCoordinates(query)) steps.push(findPlace);
  for (const step of steps) {
    const found = scoresOf(step.text);
    const [slot] = topSlots(found.scores, visible, 1, index.slots);
    const score = step.score * best;
    if (slot === undefined || (found.words[slot] ?? 0) < step.words * found.reachable) continue;
    scores[slot] = Math.max(scores[slot] ?? 0, score);
  }
}

/** So many of the first tools are asked whether they take coordinates, if they have so much of the best score. */
const placeDepth = 5;
const placeFrom = 0.8;

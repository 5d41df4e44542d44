import type { Asked } from './words/actions.ts';
import type { Visible } from './words/lexical.ts';
import type { DocumentIds } from './document-ids.ts';

/** Every number of the ranking. Chosen on the development halves of the benchmark, see models/MODEL_CARD.md. */
export const ranking = {
  /** Shares of the channels in the score of a text. */
  words: 1,
  grams: 0.3,
  meaning: 1.2,
  /** What the best tool of a channel must have for the channel to get its whole share. */
  wordsFloor: 6,
  gramsFloor: 0.5,
  meaningFloor: 0.3,
  /**
   * What is left of the score of a tool that does something else than is asked for, and of one that does nearly that.
   */
  otherAction: 0.8,
  nearAction: 0.95,
  /** Share of the clauses against the request as a whole, and how many count. */
  clauses: 0.6,
  mostClauses: 12,
  /** What a tool gains when its server has other good answers: this times their mean, over so many tools at most. */
  server: 0.5,
  serverTools: 20,
  /** By how much that grows with each clause beyond so many: a task that is told at length is about one subject. */
  serverPerClause: 0.2,
  serverClauses: 4,
  /** Share of the conversation so far. */
  context: 0.2,
  /** 1 looks for the tools of steps that a task implies (words/implied.ts), 0 does not. */
  implied: 1,
};

/** The same with other values: how the benchmark switches channels off. */
export type Ranking = Readonly<typeof ranking>;

/**
 * With the similarities of a strong hosted embedder: those, and a light bonus for words. More of these, or clauses, for
 * which there are no similarities, would make such an answer worse.
 */
export const hostedRanking: Ranking = {
  ...ranking,
  words: 0.08,
  grams: 0.04,
  meaning: 1,
  clauses: 0,
  server: 0,
  implied: 0,
};

/** How well the tool of each document id fits one text, as one channel sees it; 0 for tools that are not visible. */
export interface Channel {
  readonly values: Float32Array;
  readonly share: number;
  /** A channel whose best value is below this gets less than its share. */
  readonly floor: number;
}

export function bestOf(values: Float32Array): number {
  let best = 0;
  for (let slot = 0; slot < values.length; slot++) best = Math.max(best, values[slot] ?? 0);
  return best;
}

/**
 * Fills `out` with the weighted sum of the channels, each relative to its best. Relative, because what a channel can
 * reach differs from text to text; with a floor, because the best of nothing is nothing.
 */
export function fuse(channels: readonly Channel[], out: Float32Array): void {
  out.fill(0);
  for (const { values, share, floor } of channels) {
    const best = bestOf(values);
    if (best === 0 || share === 0) continue;
    const factor = share / Math.max(best, floor);
    for (let slot = 0; slot < out.length; slot++)
      out[slot] = (out[slot] ?? 0) + factor * Math.max(0, values[slot] ?? 0);
  }
}

/** Takes from each tool that does not do what is asked for. A tool whose actions are not known keeps its score. */
export function weighActions(scores: Float32Array, actions: Uint32Array, asked: Asked, ranking: Ranking): void {
  for (let slot = 0; slot < scores.length; slot++) {
    const does = actions[slot] ?? 0;
    if (does === 0 || (does & asked.same) !== 0) continue;
    scores[slot] = (scores[slot] ?? 0) * ((does & asked.near) === 0 ? ranking.otherAction : ranking.nearAction);
  }
}

/** Sets the greatest score to 1 and the others in proportion. */
export function normalize(scores: Float32Array): void {
  const best = bestOf(scores);
  if (best > 0) for (let slot = 0; slot < scores.length; slot++) scores[slot] = (scores[slot] ?? 0) / best;
}

/**
 * Adds the scores of one clause to `powers`. The sixteenth power lets the best clause of a tool decide, and others help
 * a little; what is less than a tenth of the best would be lost in it anyway.
 */
export function addClause(scores: Float32Array, powers: Float32Array): void {
  for (let slot = 0; slot < powers.length; slot++)
    powers[slot] = (powers[slot] ?? 0) + square(square(square(square(scores[slot] ?? 0))));
}

/** Mixes what the clauses say into the scores of the request as a whole. */
export function mixClauses(whole: Float32Array, powers: Float32Array, share: number): void {
  const { sqrt } = Math;
  for (let slot = 0; slot < powers.length; slot++)
    if (powers[slot] !== 0) powers[slot] = sqrt(sqrt(sqrt(sqrt(powers[slot] ?? 0))));
  const best = bestOf(powers);
  if (best > 0) addShare(whole, 1 - share, powers, share / best);
}

/** Sets `a` to `shareA` × a + `shareB` × b. */
export function addShare(a: Float32Array, shareA: number, b: Float32Array, shareB: number): void {
  for (let slot = 0; slot < a.length; slot++) a[slot] = shareA * (a[slot] ?? 0) + shareB * (b[slot] ?? 0);
}

/**
 * Adds to each score what the tool's server has to offer: the mean of the best visible scores of that server, which is
 * returned per server. Who needs one tool of a server often needs another, and the words of a request often name what
 * the server is about.
 */
export function addServers(
  scores: Float32Array,
  slots: Pick<DocumentIds, 'serverOf' | 'servers'>,
  visible: Visible,
  ranking: Ranking,
  clauses: number,
): Float32Array {
  const { serverOf } = slots;
  const { mask } = visible;
  const room = ranking.serverTools;
  const tops = new Float32Array(slots.servers * room);
  const counts = new Uint8Array(slots.servers);
  for (let slot = 0; slot < mask.length; slot++) {
    if (mask[slot] === 0) continue;
    const server = serverOf[slot] ?? 0;
    counts[server] = insertTop(tops, server * room, counts[server] ?? 0, room, scores[slot] ?? 0);
  }
  const means = new Float32Array(slots.servers);
  for (let server = 0; server < means.length; server++) {
    const count = counts[server] ?? 0;
    for (let i = 0; i < count; i++) means[server] = (means[server] ?? 0) + (tops[server * room + i] ?? 0) / count;
  }
  const share = ranking.server * (1 + ranking.serverPerClause * Math.max(0, clauses - ranking.serverClauses));
  for (let slot = 0; slot < mask.length; slot++) {
    scores[slot] = (scores[slot] ?? 0) + share * (means[serverOf[slot] ?? 0] ?? 0);
  }
  return means;
}

/** Keeps `top[at..at+room]` sorted from the greatest down. Returns how many there are now. */
function insertTop(top: Float32Array, at: number, count: number, room: number, value: number): number {
  if (count === room && value <= (top[at + room - 1] ?? 0)) return count;
  let i = count === room ? room - 1 : count;
  for (; i > 0 && (top[at + i - 1] ?? 0) < value; i--) top[at + i] = top[at + i - 1] ?? 0;
  top[at + i] = value;
  return Math.min(count + 1, room);
}

/** The document ids of the visible tools with the greatest scores, best first, equal ones by key; at most `limit`. */
export function topSlots(
  scores: Float32Array,
  visible: Visible,
  limit: number,
  slots: Pick<DocumentIds, 'key'>,
): number[] {
  const before = (a: number, b: number): boolean => {
    const difference = (scores[a] ?? 0) - (scores[b] ?? 0);
    return difference > 0 || (difference === 0 && slots.key(a) < slots.key(b));
  };
  const { mask } = visible;
  const top: number[] = [];
  // The score that a tool must reach, so that most tools take one comparison.
  let least = 0;
  for (let slot = 0; slot < mask.length; slot++) {
    const score = scores[slot] ?? 0;
    if (score < least || score <= 0 || mask[slot] === 0) continue;
    const last = top[limit - 1];
    if (last !== undefined && !before(slot, last)) continue;
    let low = 0;
    let high = top.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (before(slot, top[middle] ?? slot)) high = middle;
      else low = middle + 1;
    }
    top.splice(low, 0, slot);
    if (top.length > limit) top.pop();
    least = scores[top[limit - 1] ?? -1] ?? 0;
  }
  return top;
}

function square(value: number): number {
  return value * value;
}

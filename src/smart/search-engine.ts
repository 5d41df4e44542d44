import { smartLimits } from './limits.ts';
import { clausesOf } from './words/clauses.ts';
import { raiseImplied } from './implied-steps.ts';
import { confidenceOf, confidentFrom, type Evidence } from './confidence.ts';
import type { LocalEmbedder } from './embedder-local.ts';
import { above, backgroundOf } from './hosted-scale.ts';
import type { Visible } from './words/lexical.ts';
import {
  addClause,
  addServers,
  addShare,
  mixClauses,
  topSlots,
  hostedRanking,
  ranking as shipped,
  type Ranking,
} from './rank.ts';
import { createTextScorer, type Similarities, type TextScores } from './score-text.ts';
import type { Allowed } from './document-ids.ts';
import { createToolIndex, type ToolIndex } from './tool-index.ts';

export interface SearchRequest {
  readonly query: string;
  /** Free text about the conversation so far: a second, lighter query. */
  readonly context?: string;
  /** How many results at most. */
  readonly limit: number;
  /**
   * Keys that may be found; all when absent. What it leaves out has no influence whatever on the answer. A set must not
   * change after it was given.
   */
  readonly allowed?: Allowed;
  /** Results below this share of the best score are left out; 0.6 when absent, 0.85 with `similarities`. */
  readonly threshold?: number;
  /** Cosines by a hosted embedder, used in place of the built-in one's; tools it has not seen may be missing. */
  readonly similarities?: Similarities;
  /** The cosine that the hosted embedder gives to texts which have nothing to do with each other. */
  readonly background?: number;
  /** Adds to each result where its score comes from, and lists what the threshold cut off. */
  readonly explain?: boolean;
}

export interface SearchAnswer {
  /** Best first; equal scores by key. */
  readonly results: readonly SearchResult[];
  /** What the limit would have let through but the threshold did not. Empty without `explain`. */
  readonly dropped: readonly SearchResult[];
  /** False when even the best result may well have nothing to do with the query. */
  readonly confident: boolean;
  /** The score that results had to reach. */
  readonly threshold: number;
  /** How many tools took part: those that were allowed and are in the index. */
  readonly searched: number;
  /** With `explain`: what speaks for the best result. */
  readonly evidence?: Evidence;
}

export interface SearchResult {
  readonly key: string;
  /** In 0..1, comparable across queries: about how likely the result is what was meant. */
  readonly score: number;
  readonly explanation?: Explanation;
}

export interface Explanation {
  /** BM25F for the whole query, as a share of what a tool named exactly like it would have. */
  readonly words: number;
  /** Likeness of the character n-grams. */
  readonly grams: number;
  /** Cosine of the vectors; 0 without an embedder. */
  readonly meaning: number;
  /** What the best tools of the same server have, on average, of the best tool's score. */
  readonly server: number;
}

export interface SearchEngine extends Pick<ToolIndex, 'hashOf' | 'put' | 'remove' | 'keep' | 'sync' | 'bytes'> {
  readonly size: number;
  search(request: SearchRequest): SearchAnswer;
}

/**
 * An index that is kept equal to a set of tools, and the search over it; everything is in memory and synchronous.
 * Without an embedder it searches by words alone.
 */
export function createSearchEngine(embedder?: LocalEmbedder, ranking: Ranking = shipped): SearchEngine {
  const index = createToolIndex(embedder);
  const { slots } = index;

  const whole = createTextScorer(index, embedder);
  const part = createTextScorer(index, embedder);

  function search(request: SearchRequest): SearchAnswer {
    const numbers = request.similarities ? hostedRanking : ranking;
    // Parts and context make do without n-grams: the whole has them already, and they take most of the time.
    const lighter = { ...ranking, grams: 0 };
    const query = request.query.slice(0, smartLimits.searchChars);
    const visible = slots.visible(request.allowed);
    const found = whole.score(query, visible, numbers, request.similarities);
    const clauses = numbers.clauses > 0 ? clausesOf(query, numbers.mostClauses) : [];
    if (clauses.length > 0) {
      const powers = new Float32Array(found.scores.length);
      for (const clause of clauses) addClause(part.score(clause, visible, lighter).scores, powers);
      mixClauses(found.scores, powers, numbers.clauses);
    }
    const context = request.context?.slice(-smartLimits.searchChars) ?? '';
    if (context !== '') addShare(found.scores, 1, part.score(context, visible, lighter).scores, numbers.context);
    const servers = addServers(found.scores, slots, visible, numbers, clauses.length);
    // Before steps that are only implied: they say nothing about how likely the best tool is meant.
    const lead = leadOf(topSlots(found.scores, visible, 4, slots).map((slot) => found.scores[slot] ?? 0));
    const scoresOf = (text: string): TextScores => part.score(text, visible, lighter);
    if (numbers.implied > 0) raiseImplied(index, query, found.scores, visible, scoresOf);
    return answer(request, found, servers, visible, lead);
  }

  function answer(
    request: SearchRequest,
    found: TextScores,
    servers: Float32Array,
    visible: Visible,
    lead: number,
  ): SearchAnswer {
    const { scores } = found;
    const searched = visible.count;
    const top = topSlots(scores, visible, Math.max(request.limit, 4), slots);
    const ranked = top.slice(0, request.limit);
    const first = ranked[0];
    const best = first === undefined ? 0 : (scores[first] ?? 0);
    if (first === undefined || best <= 0) return { results: [], dropped: [], confident: false, threshold: 0, searched };
    const evidence = {
      meaning: found.meaning[first] ?? 0,
      words: (found.words[first] ?? 0) / found.reachable,
      grams: found.grams[first] ?? 0,
      terms: found.terms,
      lead,
      ...(request.similarities && hostedEvidence(found.meaning, top, visible, request.background)),
    };
    const confidence = confidenceOf(evidence, embedder !== undefined || request.similarities !== undefined);
    const threshold = confidence * (request.threshold ?? (request.similarities ? 0.85 : 0.6));
    const all = ranked.map((slot): SearchResult => {
      const score = confidence * ((scores[slot] ?? 0) / best);
      if (!request.explain) return { key: slots.key(slot), score };
      const explanation = {
        words: (found.words[slot] ?? 0) / found.reachable,
        grams: found.grams[slot] ?? 0,
        meaning: found.meaning[slot] ?? 0,
        server: servers[slots.serverOf[slot] ?? 0] ?? 0,
      };
      return { key: slots.key(slot), score, explanation };
    });
    return {
      results: all.filter((result) => result.score >= threshold),
      dropped: request.explain ? all.filter((result) => result.score < threshold) : [],
      confident: confidence >= confidentFrom,
      threshold,
      searched,
      ...(request.explain && { evidence }),
    };
  }

  return {
    get size() {
      return slots.size;
    },
    hashOf: (key) => index.hashOf(key),
    put: (documents) => index.put(documents),
    remove: (keys) => index.remove(keys),
    keep: (keys) => index.keep(keys),
    sync: (documents) => index.sync(documents),
    bytes: () => index.bytes(),
    search,
  };
}

/** What speaks for the best tool by the cosines of a hosted embedder, on the scale of the built-in one. */
function hostedEvidence(
  cosines: Float32Array,
  top: readonly number[],
  { mask }: Visible,
  prior = usualBackground,
): Pick<Evidence, 'meaning' | 'lead'> {
  const visible = cosines.slice(0, mask.length).filter((_, slot) => mask[slot] === 1);
  const background = backgroundOf(visible, prior);
  const best = top.slice(0, 4).map((slot) => above(background, cosines[slot] ?? 0));
  const [meaning = 0] = best;
  return { meaning, lead: meaning === 0 ? 0 : Math.max(0, leadOf(best)) };
}

const usualBackground = 0.25;

/** How far the scores after the first are behind it, on average and as a share of it. */
function leadOf([first = 0, ...others]: readonly number[]): number {
  if (others.length === 0) return 1;
  const mean = others.reduce((sum, score) => sum + score, 0) / others.length;
  return 1 - mean / first;
}

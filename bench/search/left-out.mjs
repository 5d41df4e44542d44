// node bench/search/left-out.mjs <data folder> [--model file]
// Whether the numbers of the ranking fit sets that did not choose them: for each set of macro6 the numbers are chosen
// on the five others, and the set is scored with those. README.md, "Left out".
import { parseArgs } from 'node:util';
import { createSearchEngine, loadLocalEmbedder, ranking } from '../../.built-bench/hub.js';
import { dataFolder, macroSets, readSet } from './data.mjs';
import { mean, scoreQuery } from './score.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { model: { type: 'string' } },
});
const folder = dataFolder(positionals[0]);
if (!folder) process.exit(2);

const embedder = await loadLocalEmbedder(options.model);
const sets = macroSets.map((name) => readSet(folder, name));

/** What is chosen: each number with the values it may have. */
const choices = { clauses: [0.5, 0.6, 0.7], serverPerClause: [0, 0.1, 0.2], grams: [0.15, 0.3], words: [0.8, 1] };
const candidates = Object.entries(choices).reduce(
  (all, [name, values]) => all.flatMap((numbers) => values.map((value) => ({ ...numbers, [name]: value }))),
  [{}],
);
const scored = candidates.map((numbers) => ({ numbers, scores: sets.map((set) => scoreSet(set, numbers)) }));

const shipped = sets.map((set) => scoreSet(set, {}));
const leftOut = sets.map((set, i) => {
  const { numbers, scores } = scored.reduce((best, next) => (others(next, i) > others(best, i) ? next : best));
  console.log(set.name.padEnd(14), cell(shipped[i]), cell(scores[i]), JSON.stringify(numbers));
  return scores[i];
});
console.log('macro6'.padEnd(14), cell(mean(shipped)), cell(mean(leftOut)));

function others({ scores }, without) {
  const { recall5, ndcg5 } = mean(scores.filter((_, i) => i !== without));
  return recall5 + ndcg5;
}

function scoreSet({ tools, queries }, numbers) {
  const engine = createSearchEngine(embedder, { ...ranking, ...numbers });
  engine.put(tools);
  return mean(
    queries.map(({ query, gold, alt }) => {
      const { results } = engine.search({ query, limit: 10, threshold: 0 });
      return scoreQuery(
        results.map(({ key }) => key),
        gold,
        alt,
      );
    }),
  );
}

function cell({ recall5, ndcg5 }) {
  return `${(100 * recall5).toFixed(1)}/${(100 * ndcg5).toFixed(1)}`.padStart(12);
}

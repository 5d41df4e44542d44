// node bench/search/calibrate.mjs <data folder> <training text> <table trained on the first half>
// Fits the numbers of src/smart/confidence.ts, how likely the best tool is the one that was meant, and prints them.
//
// The queries are the paraphrases of tools that the table has not seen (second half), asked of catalogues of a few
// servers which have the tool or do not, and the development queries of three sets that nothing was trained on, with
// some that these sets have no tool for.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createSearchEngine, loadLocalEmbedder } from '../../.built-bench/hub.js';
import { readSet } from './data.mjs';
import { inSecondHalf, random } from './halves.mjs';

const [data, texts, table] = process.argv.slice(2);
if (!table) {
  console.error(
    'Usage: node bench/search/calibrate.mjs <data folder> <training text> <table trained on the first half>',
  );
  process.exit(2);
}
const { tools } = readSet(data, 'toucan-corpus');
const byId = new Map(tools.map((tool) => [tool.key, tool]));
const questions = gunzipSync(readFileSync(join(texts, 'paraphrases.jsonl.gz')))
  .toString()
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line))
  .filter(({ id }) => byId.has(id) && inSecondHalf(byId.get(id)))
  .flatMap(({ id, q }) => q.map((query) => ({ query, tool: byId.get(id) })));

for (const semantic of [true, false]) {
  const embedder = semantic ? await loadLocalEmbedder(table) : undefined;
  const samples = [...fromCatalogues(embedder), ...fromSets(embedder)];
  const right = samples.filter(({ right }) => right).length;
  console.log(
    semantic ? 'with the embedder' : 'by words alone',
    `${samples.length} queries, ${right} answered rightly`,
  );
  console.log(fit(samples, semantic));
}

function fromCatalogues(embedder) {
  const servers = [...new Set(tools.map(({ server }) => server))].sort((a, b) => (a < b ? -1 : 1));
  const samples = [];
  for (const [size, times] of [
    [3, 12],
    [10, 12],
    [40, 8],
    [150, 3],
  ]) {
    for (let i = 0; i < times; i++) {
      const chosen = new Set(shuffled(servers).slice(0, size));
      const engine = engineOf(
        tools.filter(({ server }) => chosen.has(server)),
        embedder,
      );
      const inside = questions.filter(({ tool }) => chosen.has(tool.server)).slice(0, 150);
      const outside = shuffled(questions.filter(({ tool }) => !chosen.has(tool.server))).slice(0, 80);
      for (const { query, tool } of [...inside, ...outside]) {
        samples.push(sample(engine, query, (key) => key === tool.key || byId.get(key).name === tool.name));
      }
    }
  }
  return samples;
}

function fromSets(embedder) {
  return ['sealtools', 'bfcl', 'toollinkos'].flatMap((name) => {
    const set = readSet(data, name, { most: 300 });
    const engine = engineOf(set.tools, embedder);
    const inside = set.queries.map(({ query, gold, alt }) =>
      sample(engine, query, (key) => gold.some((id) => id === key || alt?.[id]?.includes(key))),
    );
    return [
      ...inside,
      ...shuffled(questions)
        .slice(0, 150)
        .map(({ query }) => sample(engine, query, () => false)),
    ];
  });
}

function engineOf(documents, embedder) {
  const engine = createSearchEngine(embedder);
  engine.put(documents);
  return engine;
}

function sample(engine, query, isRight) {
  const { results, evidence } = engine.search({ query, limit: 1, explain: true });
  return { evidence, right: results.length > 0 && isRight(results[0].key) };
}

/** Logistic regression by Newton's method. */
function fit(samples, semantic) {
  const known = samples.filter(({ evidence }) => evidence);
  const rows = known.map(({ evidence: { meaning, words, grams, terms, lead } }) => [
    1,
    semantic ? meaning : 0,
    words,
    grams,
    Math.min(Math.log(1 + terms), 4),
    lead,
  ]);
  const weights = [0, 0, 0, 0, 0, 0];
  for (let round = 0; round < 30; round++) {
    const slope = weights.map((weight) => -1e-3 * weight);
    const curve = weights.map((_, i) => weights.map((_, j) => (i === j ? 1e-3 : 0)));
    for (const [n, row] of rows.entries()) {
      const likely = 1 / (1 + Math.exp(-row.reduce((sum, value, i) => sum + value * weights[i], 0)));
      for (const [i, value] of row.entries()) {
        slope[i] += value * (Number(known[n].right) - likely);
        for (const [j, other] of row.entries()) curve[i][j] += value * other * likely * (1 - likely);
      }
    }
    for (const [i, step] of solve(curve, slope).entries()) weights[i] += step;
  }
  const names = ['bias', 'meaning', 'words', 'grams', 'length', 'lead'];
  return Object.fromEntries(names.map((name, i) => [name, Number(weights[i].toFixed(2))]));
}

/** Gauss-Jordan. */
function solve(matrix, vector) {
  const rows = matrix.map((row, i) => [...row, vector[i]]);
  for (const [i, row] of rows.entries()) {
    const pivot = row[i];
    for (const [k] of row.entries()) row[k] /= pivot;
    for (const other of rows) {
      if (other === row) continue;
      const factor = other[i];
      for (const [k] of other.entries()) other[k] -= factor * row[k];
    }
  }
  return rows.map((row) => row.at(-1));
}

function shuffled(items) {
  return items
    .map((item) => [random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

// npm run bench:search -- <data folder> [--sets a,b] [--speed-only | --no-speed] [--brief] [--model file]
//   [--runs folder]
// How well the search finds tools, with its channels switched off one by one, and how fast it is. README.md explains
// the figures.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createSearchEngine, loadLocalEmbedder, ranking } from '../../.built-bench/hub.js';
import { allSets, dataFolder, hasSet, macroSets, readSet } from './data.mjs';
import { mean, scoreQuery } from './score.mjs';
import { measureSpeed } from './speed.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sets: { type: 'string' },
    model: { type: 'string' },
    runs: { type: 'string' },
    brief: { type: 'boolean' },
    'no-speed': { type: 'boolean' },
    'speed-only': { type: 'boolean' },
  },
});
const folder = dataFolder(positionals[0]);
if (!folder) process.exit(2);

const before = process.cpuUsage();
const embedder = await loadLocalEmbedder(options.model);
const { user, system } = process.cpuUsage(before);

const variants = [
  ['all channels', {}],
  ['without words', { words: 0 }],
  ['without grams', { grams: 0 }],
  ['without meaning', { meaning: 0 }],
  ['without clauses', { clauses: 0 }],
  ['without servers', { server: 0 }],
  ['without steps', { implied: 0 }],
  ['only words', { grams: 0, meaning: 0, clauses: 0, server: 0, implied: 0 }],
  ['only grams', { words: 0, meaning: 0, clauses: 0, server: 0, implied: 0 }],
  ['only meaning', { words: 0, grams: 0, clauses: 0, server: 0, implied: 0 }],
];

if (!options['speed-only']) printQuality();
if (!options['no-speed']) await measureSpeed(readSet(folder, 'mcp-union'), embedder, (user + system) / 1_000);

function printQuality() {
  const names = (options.sets?.split(',') ?? allSets).filter((name) => hasSet(folder, name));
  const sets = names.map((name) => readSet(folder, name));
  const inMacro = macroSets.every((name) => names.includes(name));
  console.log('Recall@5 / nDCG@5 in percent, development halves, built-in embedder\n');
  console.log(row('', [...sets.map(({ name }) => name), ...(inMacro ? ['macro6'] : [])]));
  console.log(
    row(
      'tools',
      sets.map(({ tools }) => String(tools.length)),
    ),
  );
  console.log(
    row(
      'queries',
      sets.map(({ queries }) => String(queries.length)),
    ),
  );
  for (const [label, changes] of options.brief ? variants.slice(0, 1) : variants) {
    const results = sets.map((set) => scoreSet(set, changes, label));
    const macro = inMacro ? [mean(macroSets.map((name) => results[names.indexOf(name)]))] : [];
    console.log(
      row(
        label,
        [...results, ...macro].map(({ recall5, ndcg5 }) => `${percent(recall5)}/${percent(ndcg5)}`),
      ),
    );
  }
  console.log();
}

function scoreSet(set, changes, label) {
  const engine = createSearchEngine(embedder, { ...ranking, ...changes });
  engine.put(set.tools);
  const ranked = set.queries.map(({ query }) =>
    engine.search({ query, limit: 10, threshold: 0 }).results.map((result) => result.key),
  );
  if (options.runs && label === 'all channels') writeRun(set, ranked);
  return mean(set.queries.map(({ gold, alt }, i) => scoreQuery(ranked[i], gold, alt)));
}

/** The rankings, one `{"id", "ranked"}` per line, for another scorer. */
function writeRun(set, ranked) {
  mkdirSync(options.runs, { recursive: true });
  const lines = set.queries.map(({ id }, i) => JSON.stringify({ id, ranked: ranked[i] }));
  writeFileSync(join(options.runs, `${set.name}.jsonl`), `${lines.join('\n')}\n`);
}

function row(label, cells) {
  return label.padEnd(16) + cells.map((cell) => cell.padStart(14)).join('');
}

function percent(value) {
  return (100 * value).toFixed(1);
}

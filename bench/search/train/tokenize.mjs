// node bench/search/train/tokenize.mjs <training text> <benchmark data> <output folder> [first-half]
// Turns the training text into one file per source with a line per pair: terms of a, tab, terms of b. README.md says
// what the text is.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { terms, toolBags, toolTerms } from '../../../.built-bench/hub.js';
import { macroSets, readSet } from '../data.mjs';
import { inSecondHalf, random } from '../halves.mjs';

const [texts, data, output, part] = process.argv.slice(2);
if (!texts || !data || !output) {
  console.error(
    'Usage: node bench/search/train/tokenize.mjs <training text> <benchmark data> <output folder> [first-half]',
  );
  process.exit(2);
}
/** Sets whose queries must never be trained on: they are the exam. */
const exam = [...macroSets, 'mcp-union'];
/**
 * What the tools of those sets say of themselves: public servers are in several collections. The others of mcp-union
 * are those of toucan-corpus.
 */
const examined = new Set(
  macroSets
    .flatMap((name) => readSet(data, name).tools.map(({ description }) => plain(description)))
    .filter((text) => text.length > 25),
);
/**
 * Sets whose development queries are training text. Those of bfcl, sealtools and toollinkos stay out, to check and
 * calibrate with.
 */
const trained = ['metatool'];

mkdirSync(output, { recursive: true });
for (const file of readdirSync(texts)
  .filter((name) => name.endsWith('.jsonl.gz'))
  .sort()) {
  const source = basename(file, '.jsonl.gz');
  const rows = gunzipSync(readFileSync(join(texts, file)))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  write(
    source,
    source === 'paraphrases'
      ? paraphrased(rows)
      : rows
          .filter(({ a, b }) => !isExamined(a) && !isExamined(b))
          .map(({ a, b }) => [terms(a).slice(0, 80), terms(b).slice(0, 90)]),
  );
}
for (const name of trained) {
  if (exam.includes(name)) throw new Error(`${name} is an exam set.`);
  const { tools, queries } = readSet(data, name, { most: Number.POSITIVE_INFINITY });
  const byId = new Map(tools.map((tool) => [tool.key, tool]));
  write(
    name,
    queries.flatMap(({ query, gold }) => gold.slice(0, 6).flatMap((id) => pairsOf(query, byId.get(id)))),
  );
}

function isExamined(text) {
  return examined.has(plain(text));
}

function plain(text) {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, ' ')
    .trim();
}

function paraphrased(rows) {
  const { tools } = readSet(data, 'toucan-corpus');
  const byId = new Map(
    tools
      .filter((tool) => !isExamined(tool.description) && (part !== 'first-half' || !inSecondHalf(tool)))
      .map((tool) => [tool.key, tool]),
  );
  // By server: train.py takes neighbours into one batch.
  return rows
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .flatMap(({ id, q }) => q.flatMap((query) => pairsOf(query, byId.get(id)).map((pair) => [...pair, id])));
}

/** A query with all of its tool, and mostly once more with a part of it, as the vector of a tool is a mean of those. */
function pairsOf(query, tool) {
  if (!tool) return [];
  const asked = terms(query).slice(0, 80);
  const [all, does, belongs] = toolBags(toolTerms(tool)).map(({ bag }) => bag);
  const chance = random();
  const part = chance < 0.5 ? [does] : chance < 0.8 ? [belongs] : [];
  return [all, ...part].map((bag) => [asked, bag]);
}

function write(source, pairs) {
  const lines = pairs
    .map(([a, b, tool = '']) => [a.join(' '), b.join(' '), tool])
    .filter(([a, b]) => a !== '' && b !== '' && a !== b);
  writeFileSync(join(output, `${source}.txt`), lines.map((line) => line.join('\t')).join('\n'));
  console.log(source.padEnd(14), String(lines.length).padStart(8), 'pairs');
}

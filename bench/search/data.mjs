// Reads the benchmark's sets: a folder per set with corpus.jsonl and queries.jsonl, see README.md.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolDocument } from '../../.built-bench/hub.js';

/** The sets of macro6: five of real MCP servers, one in their manner. */
export const macroSets = ['azmcp', 'livemcp-step', 'livemcp-task', 'mcpbench', 'mcpproxy', 'semtooldisc'];
export const allSets = [...macroSets, 'mcp-union', 'sealtools', 'bfcl', 'toollinkos', 'metatool'];

/**
 * The folder with the sets, from the command line or the environment; undefined, with a word on how to get it, when
 * there is none.
 */
export function dataFolder(argument) {
  const folder = argument ?? process.env.TOOLHUB_SEARCH_DATA;
  if (folder && existsSync(join(folder, macroSets[0], 'corpus.jsonl'))) return folder;
  console.error(
    folder
      ? `There are no sets of the search benchmark in ${folder}.`
      : 'The search benchmark needs its data, which is not part of this repository.',
  );
  console.error(
    'Run: npm run bench:search -- <folder>   or set TOOLHUB_SEARCH_DATA. bench/search/README.md says what belongs into it.',
  );
  return undefined;
}

export function hasSet(folder, name) {
  return existsSync(join(folder, name, 'corpus.jsonl'));
}

/**
 * Tools as search documents, and queries `{id, query, gold, alt}` of the split, at most `most` of them, evenly taken.
 */
export function readSet(folder, name, { split = 'dev', most = 1_000 } = {}) {
  const tools = lines(join(folder, name, 'corpus.jsonl')).map((tool) =>
    toolDocument(tool.id, { name: tool.server ?? '' }, tool),
  );
  const queries = lines(join(folder, name, 'queries.jsonl')).filter((query) => query.split === split);
  const step = Math.max(1, queries.length / most);
  const taken = Array.from({ length: Math.min(most, queries.length) }, (_, i) => queries[Math.floor(i * step)]);
  return { name, tools, queries: taken };
}

function lines(path) {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

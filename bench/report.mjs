// BENCHMARKS.md, of the runs that were recorded last: node bench/report.mjs. The words of the document stay, what is
// between its marks is made again.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { aimsLine, aimsTable } from './aims.mjs';

const document = new URL('../BENCHMARKS.md', import.meta.url);
const readme = new URL('../README.md', import.meta.url);
const results = new URL('./results/', import.meta.url);
/** Other documents that show the same tables, by scenario. */
export const quoted = { 'docs/code-mode.md': ['context'] };

/** How each figure is headed. */
const heads = {
  at: 'in flight',
  by: 'searched by',
  over: 'server over',
  contender: 'who',
  perSecond: 'per s',
  p50: 'p50 ms',
  p99: 'p99 ms',
  aloneP50: 'p50 ms alone',
  aloneP99: 'p99 ms alone',
  atOnce: 'large at once',
  worst: 'worst ms',
  aloneLateP99: 'main thread late, p99 ms alone',
  lateP99: 'main thread late, p99 ms',
  lateWorst: 'main thread late, worst ms',
  hugeCpuMs: 'CPU ms of a large one, with the calls beside it',
  p99Ratio: 'p99 to alone',
  cpuUs: 'CPU µs',
  toKey: 'to that with a key',
  toPlain: 'to that without',
  toPlainLeast: 'least',
  toPlainMost: 'most',
  toKeyLeast: 'least',
  toKeyMost: 'most',
  cpuMs: 'CPU ms',
  toMinimal: 'CPU to the minimal hub',
  toProxy: 'per s to the proxy',
  perSecondToMinimal: 'per s to the minimal hub',
  growing: 'what grows',
  count: 'how many',
  left: 'clients that left',
  liveMbBefore: 'live MB before',
  liveMb: 'live MB after',
  noise: 'cores busy elsewhere',
  liveKb: 'live KB each',
  rssMb: 'RSS MB',
  restedMb: 'RSS MB after a rest of two minutes',
  freshMb: 'RSS MB before',
  allMs: 'all answered ms',
  healthMs: '/health ms',
  listedMs: 'all listed ms',
  searchedMs: 'all searched ms',
  databaseMs: 'database open ms',
  busy: 'core busy',
  startCpuMs: 'CPU ms to /health',
  besideP50: 'p50 ms of calls beside',
  besideP99: 'p99 ms of calls beside',
  leftKb: 'live KB left by each',
  callsLeft: 'calls left',
  way: 'tools',
  toolCalls: 'calls',
  toolTokens: 'tokens of listed tools',
  contextTokens: 'tokens at the end',
  readTokens: 'tokens read over all turns',
  addedP50: 'added p50 ms',
  addedP99: 'added p99 ms',
  missedThatWork: 'missed that work',
  lastAfterS: 'last connected after s',
  plainAfterS: 'those without installation after s',
  neededSecondAttempt: 'of those that work, needed another attempt',
  brokenCaches: 'broken caches',
  framesPerSecond: 'frames per second',
  frameP99: 'frame p99 ms',
  scriptMs: 'script ms of a frame',
  layoutMs: 'layout ms of a frame',
  busiestUs: 'CPU µs of the busiest process',
  ownCores: 'per s with two cores of its own',
  mb: 'MB on disk',
};

export function readResults() {
  const files = readdirSync(results).filter((name) => name.endsWith('.json'));
  return files.map((name) => JSON.parse(readFileSync(new URL(name, results), 'utf8')));
}

/** The recorded run as a table. */
export function tableOf({ on, machine, rounds, rows }) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'rounds');
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const table = [line(names.map((name) => heads[name] ?? name)), line(names.map(() => '---'))];
  for (const row of rows) table.push(line(names.map((name) => shown(row[name]))));
  const where = `${on}, Node ${machine.node.slice(1)}, ${machine.platform}, ${machine.cores} cores${machine.cpu ? ` (${machine.cpu})` : ''}, median of ${rounds} rounds.`;
  return `${where}\n\n${table.join('\n')}`;
}

function shown(value) {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === undefined || value === null ? '–' : String(value);
}

/** The document with the tables of these runs in place of those it has. */
export function withTables(text, runs) {
  const withAims = text.replace(
    /(<!-- aims -->\n)[\s\S]*?(\n<!-- end -->)/,
    (_, begin, end) => `${begin}\n${aimsTable(runs)}\n${end}`,
  );
  return runs.reduce((whole, run) => {
    const mark = new RegExp(`(<!-- ${run.scenario} -->\\n)[\\s\\S]*?(\\n<!-- end -->)`);
    if (!mark.test(whole)) throw new Error(`BENCHMARKS.md has no place for ${run.scenario}`);
    return whole.replace(mark, (_, begin, end) => `${begin}\n${tableOf(run)}\n${end}`);
  }, withAims);
}

/** The README with the line that these runs make. */
export function withLine(text, runs) {
  return text.replace(/^Against the smallest relay .*BENCHMARKS\.md\)\)\.$/m, () => aimsLine(runs));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const runs = readResults();
  writeFileSync(document, withTables(readFileSync(document, 'utf8'), runs));
  writeFileSync(readme, withLine(readFileSync(readme, 'utf8'), runs));
  for (const [file, names] of Object.entries(quoted)) {
    const quoting = new URL(`../${file}`, import.meta.url);
    const own = runs.filter(({ scenario }) => names.includes(scenario));
    writeFileSync(quoting, withTables(readFileSync(quoting, 'utf8'), own));
  }
}

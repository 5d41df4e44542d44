// Mutation testing of the decision about calls: whatever is changed in its code, a test beside it has to fail.
//   npm run mutate [-- [--survivors] <part of a path>…]      for example: npm run mutate -- access/decision policies/
//
// Stryker writes all changes of a file into one text, each behind a switch; one run of Vitest tries many of them in one
// process (`tries.mjs`). A run for each change would take five times as long, for starting and loading alone.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installLocked } from '../conformance/suite.mjs';

const home = fileURLToPath(new URL('.', import.meta.url));
process.chdir(join(home, '../..'));

/** What decides about calls, and what decides who sees what. */
const access = ['decision', 'explain', 'grants', 'identity', 'rules', 'view', 'view-lists', 'view-uris'];
const files = [
  ...access.map((name) => `src/core/access/${name}.ts`),
  ...['policies', 'pins'].flatMap((name) =>
    readdirSync(`src/core/${name}`)
      .filter((file) => !file.endsWith('.test.ts'))
      .map((file) => `src/core/${name}/${file}`),
  ),
  ...['admission', 'still-allowed'].map((name) => `src/mcp/relay/${name}.ts`),
];
const asked = process.argv.slice(2).filter((one) => !one.startsWith('--'));
const mutate = files.filter((file) => asked.length === 0 || asked.some((part) => file.includes(part)));

/** Files whose tests are about each other too. */
const together = [
  ['rules', 'grants', 'identity', 'issued'],
  ['view', 'view-lists', 'view-uris'],
  ['baseline', 'pin-item', 'pin-risk', 'pin-states'],
];

/** Changes that one process tries: each keeps what its code has loaded. */
const atOnce = 50;
/** A process that says nothing for so long runs without end: the longest change takes some seconds. */
const silentMs = 120_000;

/**
 * The tests beside a file that are about it, by their names: those of its neighbours would take most of the time. The
 * one with just its name first: the first test that fails ends the try. What tries random values takes longer than all
 * others, and finds little that they do not.
 */
function testsOf(file) {
  const name = basename(file, '.ts');
  const names = together.find((all) => all.includes(name)) ?? [name];
  return readdirSync(dirname(file))
    .filter((one) => names.some((each) => one === `${each}.test.ts` || one.startsWith(`${each}-`)))
    .filter((one) => one.endsWith('.test.ts') && !one.endsWith('.property.test.ts'))
    .sort((a, b) => Number(b === `${name}.test.ts`) - Number(a === `${name}.test.ts`))
    .map((one) => resolve(dirname(file), one));
}

// Apart from the project's own dependencies: few need it.
const installed = join(home, 'node_modules/.locked');
const lock = readFileSync(join(home, 'package-lock.json'), 'utf8');
if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
  const failure = installLocked(home);
  if (failure !== undefined) throw new Error(`Stryker cannot be installed: ${failure}`);
  writeFileSync(installed, lock);
}
const { Instrumenter } = await import('@stryker-mutator/instrumenter');

/** Of this run alone: two may go on at once. */
const folder = resolve(`.mutation.tmp/${process.pid}`);

/** The changes of one file, each with what became of it: `killed`, `survived` or `endless`. */
async function changesOf(file) {
  const logger = { debug() {}, info() {}, warn: console.warn, isDebugEnabled: () => false };
  const content = readFileSync(file, 'utf8');
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const { files, mutants } = await new Instrumenter(logger).instrument(
    [{ name: file, mutate: true, content }],
    options,
  );
  const instrumented = join(folder, basename(file));
  writeFileSync(instrumented, files[0].content);
  const given = { file: resolve(file), instrumented, tests: testsOf(file) };
  const found = new Map();
  // Without a change all tests pass; otherwise the figures would say nothing.
  await tryAll({ ...given, ids: ['unchanged'] }, found);
  if (found.get('unchanged') !== 'survived') throw new Error(`The tests of ${file} fail without a change.`);
  const left = mutants.map(({ id }) => id);
  const several = Number(process.env['MUTATE_CONCURRENCY'] ?? 2);
  const part = Math.max(1, Math.min(atOnce, Math.ceil(left.length / several)));
  const one = async () => {
    while (left.length > 0) await tryAll({ ...given, ids: left.splice(0, part) }, found);
  };
  await Promise.all(Array.from({ length: several }, one));
  return mutants.map((mutant) => ({ ...mutant, result: found.get(mutant.id) }));
}

/** Tries changes; one that runs without end costs its process, and the rest gets the next. */
async function tryAll({ ids, ...given }, found) {
  for (let left = ids; left.length > 0; left = left.filter((id) => !found.has(id))) {
    const last = await tried({ ...given, ids: left }, found);
    if (left.some((id) => !found.has(id)) && last !== undefined) found.set(last, 'endless');
    else if (left.every((id) => !found.has(id))) throw new Error(`No change was tried: ${left.join(', ')}`);
  }
}

/** The runs of Vitest now. Each is a process group of its own, which Ctrl-C in a terminal does not reach. */
const running = new Set();

function endGroup(child) {
  try {
    process.kill(-Number(child.pid), 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** However it ends, nothing runs on, and the tree is as it was. */
function leave() {
  for (const child of running) endGroup(child);
  rmSync(folder, { recursive: true, force: true });
}

/** The change that was being tried when the process ended. */
async function tried(given, found) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/mutation/vitest.config.mts'];
  const child = spawn(process.execPath, vitest, {
    env: { ...process.env, MUTATE: JSON.stringify(given) },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  running.add(child);
  let last;
  let text = '';
  const watch = setTimeout(() => endGroup(child), silentMs);
  child.stdout.setEncoding('utf8').on('data', (more) => {
    const lines = (text + more).split('\n');
    text = lines.pop();
    for (const line of lines) {
      const [, id, result] = /^mutant (\S+) (\S+)/.exec(line) ?? [];
      if (id === undefined) continue;
      watch.refresh();
      last = id;
      if (result !== 'begins') found.set(id, result);
    }
  });
  await new Promise((resolved) => child.on('close', resolved));
  clearTimeout(watch);
  running.delete(child);
  return last;
}

/** A change that makes the code run without end is noticed too. */
const isKilled = ({ result }) => result !== 'survived';

function row(name, mutants) {
  const killed = mutants.filter(isKilled).length;
  const share = ((100 * killed) / Math.max(1, mutants.length)).toFixed(1);
  return `${name.padEnd(36)} ${String(killed).padStart(4)} of ${String(mutants.length).padStart(4)}  ${share.padStart(5)} %`;
}

async function run() {
  const all = [];
  for (const file of mutate) {
    const changes = await changesOf(file);
    all.push(...changes);
    const lines = readFileSync(file, 'utf8').split('\n');
    for (const { location, replacement } of changes.filter((one) => !isKilled(one))) {
      const { line, column } = location.start;
      const after = replacement.replace(/\s+/g, ' ').slice(0, 160);
      if (process.argv.includes('--survivors'))
        console.log(`${file}:${line + 1}:${column + 1}\n  ${(lines[line] ?? '').trim()}\n  → ${after}`);
    }
    console.log(row(file, changes));
  }
  console.log(row('all', all));
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    leave();
    process.exit(1);
  });
mkdirSync(folder, { recursive: true });
try {
  await run();
} finally {
  leave();
}

// Everything that must hold, in one command: formatting, lint, types, build, tests. Ends with a line that counts tests.
// `--fast`: what takes a minute, before a commit: without the build, the lint rules that need types, and the tests that
// start programs, databases, hubs or a browser.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';

rmSync('.test-results', { recursive: true, force: true });
mkdirSync('.test-results', { recursive: true });

const fast = process.argv.includes('--fast');
const bin = (name) => `node_modules/.bin/${name}`;
const folders = ['src', 'web', 'test', 'scripts', 'bench'];
/** Lint and types are programs in Go: collecting garbage less often saves a fifth of their work. */
const env = { GOGC: '300' };
const lint = { name: 'lint', command: bin('oxlint'), args: ['--deny-warnings', ...folders], env };
/** One thread each, since several check the same types over again, and all cores have other checks to run. */
const typesOf = (name, ...project) => ({
  name,
  command: bin('tsc'),
  args: ['--noEmit', '--singleThreaded', ...project],
  env,
});
const types = [typesOf('types'), typesOf('types of the dashboard', '-p', 'web')];
const format = { name: 'format', command: bin('oxfmt'), args: ['--check', ...folders] };
/**
 * None needs another, so they run side by side, and each says what it has to say when it has ended. The tests need the
 * build alone, and begin after it: for their first seconds they use one core, while one process prepares the code for
 * all others.
 */
const checks = fast
  ? [lint, ...types, format]
  : [
      { ...lint, args: ['--type-aware', ...lint.args] },
      ...types,
      typesOf('types of its tests', '-p', 'test/browser'),
      format,
    ];
const build = { name: 'build', command: process.execPath, args: ['scripts/build.mjs'] };
const tests = {
  name: 'tests',
  command: bin('vitest'),
  args: [
    'run',
    '--silent=passed-only',
    '--reporter=default',
    '--reporter=json',
    '--outputFile.json=.test-results/tests.json',
    ...(fast ? ['--project', 'modules'] : []),
  ],
  // `each`: without a database, in a browser, and again on each kind of database (vitest.config.ts).
  env: fast ? { TEST_FAST: 'yes' } : { TEST_DATABASE: 'each' },
};
/**
 * Beside the tests, since it waits half of its time. Ends with 77 where the suite cannot be had, which is said and is
 * no failure: it is not a part of the project.
 */
const conformance = {
  name: 'conformance',
  command: process.execPath,
  args: ['test/conformance/run.mjs'],
  mayBeMissing: 77,
};

let failedStep = '';
const took = [];
const checked = Promise.all(checks.map((check) => runAndReport(check)));
if (!fast) await runAndReport(build);
if (failedStep === '') {
  console.log(`\n== ${tests.name}`);
  const ran = run(tests, 'inherit');
  await Promise.all(fast ? [ran] : [ran, runAndReport(conformance, ran)]);
}
await checked;

const counts = readCounts();
console.log(`\nTook: ${took.join(', ')}`);
if (failedStep !== '') console.log(`\nFailed at: ${failedStep}`);
const failed = counts.failed + (failedStep !== '' && counts.failed === 0 ? 1 : 0);
console.log(`\n${counts.passed} passed, ${failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`);
process.exit(failedStep === '' && counts.passed > 0 ? 0 : 1);

/** Runs one to its end, and prints what it said when `after` has ended too. */
async function runAndReport(step, after) {
  let output = '';
  await run(step, 'pipe', (text) => (output += text));
  await after;
  console.log(`\n== ${step.name}\n${output.trimEnd()}`);
}

/** Runs one to its end and keeps how it went; `said` gets what it prints, unless that is inherited. */
async function run({ name, command, args, env, mayBeMissing }, stdio, said) {
  const startedAt = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', stdio, stdio], env: { ...process.env, ...env } });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', said);
  const status = await new Promise((ended) => {
    child.once('error', (error) => {
      console.log(`${name}: ${error.message}`);
      ended(-1);
    });
    child.once('close', ended);
  });
  took.push(`${name} ${Math.round((performance.now() - startedAt) / 1000)} s`);
  if (status !== 0 && status === mayBeMissing) took.push(`${name} not run`);
  else if (status !== 0) failedStep ||= name;
}

/** Of all runs together; one that ended before its report is a failed step. */
function readCounts() {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const file of readdirSync('.test-results').filter((name) => name.endsWith('.json'))) {
    try {
      const result = JSON.parse(readFileSync(`.test-results/${file}`, 'utf8'));
      sum.passed += result.numPassedTests;
      sum.failed += result.numFailedTests;
      sum.skipped += result.numPendingTests;
    } catch {
      failedStep ||= file;
    }
  }
  return sum;
}

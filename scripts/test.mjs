// Everything that must hold, in one command: formatting, lint, types, build, tests. Ends with a line that counts tests.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';

rmSync('.test-results', { recursive: true, force: true });
mkdirSync('.test-results', { recursive: true });

const bin = (name) => `node_modules/.bin/${name}`;
/** What keeps anything, through the whole hub: runs on each kind of database. The rooms' own tests open both kinds by themselves. */
const onDatabases = ['test/e2e/api-', 'test/e2e/surfaces', 'test/property/api-fuzz'];
/** `database` as in test/kit/hub-database.ts; each run leaves a report, by default under its name. */
const tests = (name, database, files, report = database) => ({
  name,
  command: bin('vitest'),
  args: ['run', ...files, '--reporter=default', '--reporter=json', `--outputFile.json=.test-results/${report}.json`],
  env: { TEST_DATABASE: database },
});
const folders = ['src', 'web', 'test', 'scripts'];
const steps = [
  { name: 'format', command: bin('oxfmt'), args: ['--check', ...folders] },
  { name: 'lint', command: bin('oxlint'), args: ['--type-aware', '--deny-warnings', ...folders] },
  { name: 'types', command: bin('tsc'), args: ['--noEmit'] },
  { name: 'types of the dashboard', command: bin('tsc'), args: ['--noEmit', '-p', 'web'] },
  { name: 'types of its tests', command: bin('tsc'), args: ['--noEmit', '-p', 'test/browser'] },
  { name: 'build', command: process.execPath, args: ['scripts/build.mjs'] },
  tests('tests', 'off', ['--exclude', 'test/browser/**']),
  tests('tests in a browser', 'off', ['test/browser/'], 'browser'),
  tests('tests on PostgreSQL', 'postgres', onDatabases),
  tests('tests on the embedded database', 'embedded', onDatabases),
  // Ends with 77 where the suite cannot be had, which is said and is no failure: it is not a part of the project.
  { name: 'conformance', command: process.execPath, args: ['test/conformance/run.mjs'], mayBeMissing: 77 },
];

let failedStep = '';
const took = [];
for (const { name, command, args, env, mayBeMissing } of steps) {
  console.log(`\n== ${name}`);
  const startedAt = performance.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  took.push(`${name} ${Math.round((performance.now() - startedAt) / 1000)} s`);
  if (status !== 0 && status === mayBeMissing) took.push(`${name} not run`);
  else if (status !== 0) {
    failedStep = name;
    break;
  }
}

const counts = readCounts();
console.log(`\nTook: ${took.join(', ')}`);
if (failedStep !== '') console.log(`\nFailed at: ${failedStep}`);
const failed = counts.failed + (failedStep !== '' && counts.failed === 0 ? 1 : 0);
console.log(`\n${counts.passed} passed, ${failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`);
process.exit(failedStep === '' && counts.passed > 0 ? 0 : 1);

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

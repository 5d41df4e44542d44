// Everything that must hold, in one command: formatting, lint, types, build, tests. Ends with a line that counts tests.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';

const report = '.test-results/vitest.json';
rmSync('.test-results', { recursive: true, force: true });
mkdirSync('.test-results', { recursive: true });

const bin = (name) => `node_modules/.bin/${name}`;
const steps = [
  ['format', bin('oxfmt'), ['--check', 'src', 'test', 'scripts']],
  ['lint', bin('oxlint'), ['--type-aware', '--deny-warnings', 'src', 'test', 'scripts']],
  ['types', bin('tsc'), ['--noEmit']],
  ['build', process.execPath, ['scripts/build.mjs']],
  ['tests', bin('vitest'), ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]],
];

let failedStep = '';
for (const [name, command, args] of steps) {
  console.log(`\n== ${name}`);
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) {
    failedStep = name;
    break;
  }
}

const counts = readCounts();
if (failedStep !== '') console.log(`\nFailed at: ${failedStep}`);
const failed = counts.failed + (failedStep !== '' && counts.failed === 0 ? 1 : 0);
console.log(`\n${counts.passed} passed, ${failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`);
process.exit(failedStep === '' && counts.passed > 0 ? 0 : 1);

function readCounts() {
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'));
    return { passed: result.numPassedTests, failed: result.numFailedTests, skipped: result.numPendingTests };
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
}

// Mutation testing of the decision about calls: whatever is changed in its code, a test beside it has to fail.
//   npm run mutate [-- [--survivors] <part of a path>…]      for example: npm run mutate -- access/decision policies/
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installLocked } from '../conformance/suite.mjs';

const home = fileURLToPath(new URL('.', import.meta.url));
process.chdir(join(home, '../..'));

/** What decides about calls, and what decides who sees what. */
const files = [
  ...['decision', 'explain', 'grants', 'identity', 'rules', 'view'].map((name) => `src/core/access/${name}.ts`),
  ...['policies', 'pins'].flatMap((name) =>
    readdirSync(`src/core/${name}`)
      .filter((file) => !file.endsWith('.test.ts'))
      .map((file) => `src/core/${name}/${file}`),
  ),
  'src/mcp/relay/admission.ts',
];
const asked = process.argv.slice(2).filter((one) => !one.startsWith('--'));
const mutate = files.filter((file) => asked.length === 0 || asked.some((part) => file.includes(part)));

// Apart from the project's own dependencies: few need these 64 MB.
const installed = join(home, 'node_modules/.locked');
const lock = readFileSync(join(home, 'package-lock.json'), 'utf8');
if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
  const failure = installLocked(home);
  if (failure !== undefined) throw new Error(`Stryker cannot be installed: ${failure}`);
  writeFileSync(installed, lock);
}

const { default: Stryker } = await import('@stryker-mutator/core');
const results = await new Stryker({
  mutate,
  plugins: ['@stryker-mutator/vitest-runner'].map((name) => import.meta.resolve(name)),
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.mts' },
  coverageAnalysis: 'perTest',
  concurrency: Number(process.env['MUTATE_CONCURRENCY'] ?? 2),
  tempDirName: '.mutation.tmp',
  ignorePatterns: ['dist', 'web', 'docs', 'bench', 'models', 'data', '.built', '.built-bench'],
  reporters: ['progress-append-only'],
  timeoutMS: 20_000,
  logLevel: 'warn',
  // It would be rewritten with the API of TypeScript 6, and the tests do not need it.
  tsconfigFile: 'none',
}).runMutationTest();

/** A change that makes the code run without end is noticed too. */
const isKilled = ({ status }) => status === 'Killed' || status === 'Timeout';
const counted = results.filter(({ status }) => status !== 'Ignored' && !status.endsWith('Error'));

function row(name, mutants) {
  const killed = mutants.filter(isKilled).length;
  const share = ((100 * killed) / Math.max(1, mutants.length)).toFixed(1);
  return `${name.padEnd(36)} ${String(killed).padStart(4)} of ${String(mutants.length).padStart(4)}  ${share.padStart(5)} %`;
}

for (const { fileName, location, status, replacement } of counted.filter((one) => !isKilled(one))) {
  const line = readFileSync(fileName, 'utf8').split('\n')[location.start.line - 1] ?? '';
  const place = `${relative('.', fileName)}:${location.start.line}:${location.start.column}`;
  const after = (replacement ?? '').replace(/\s+/g, ' ').slice(0, 160);
  if (process.argv.includes('--survivors')) console.log(`${place} ${status}\n  ${line.trim()}\n  → ${after}`);
}
for (const file of mutate)
  console.log(
    row(
      file,
      counted.filter(({ fileName }) => relative('.', fileName) === file),
    ),
  );
console.log(row('all', counted));

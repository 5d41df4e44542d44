// Runs the end-to-end tests, with the built hub, on the oldest Node that the hub promises and on the newer ones.
//   npm run test:nodes [-- <20|22|24>…] [<part of a file's name>…]      for example: npm run test:nodes -- 24 process
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installLocked } from '../conformance/suite.mjs';

const home = fileURLToPath(new URL('.', import.meta.url));
const installed = join(home, 'node_modules/.locked');
const all = ['20', '22', '24'];
const asked = process.argv.slice(2);
const nodes = all.filter((node) => asked.includes(node));
const files = asked.filter((one) => !all.includes(one));

// Apart from the project's own dependencies, like the conformance suite: nobody else needs 500 MB.
const lock = readFileSync(join(home, 'package-lock.json'), 'utf8');
if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
  console.log('Installing the versions of Node…');
  const failure = installLocked(home);
  if (failure !== undefined) throw new Error(`The versions of Node cannot be installed: ${failure}`);
  writeFileSync(installed, lock);
}

const failed = (nodes.length > 0 ? nodes : all).filter((node) => {
  const folder = join(home, `node_modules/node${node}/bin`);
  const options = ['run', '--silent=passed-only', '--project', 'hub'];
  const where = files.length > 0 ? files.map((name) => `test/e2e/${name}`) : ['test/e2e'];
  console.log(`\n== Node ${node}`);
  const { status } = spawnSync(join(folder, 'node'), ['node_modules/vitest/vitest.mjs', ...options, ...where], {
    stdio: 'inherit',
    // For what starts `node` or `npx` by name.
    env: { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` },
  });
  return status !== 0;
});
console.log(failed.length === 0 ? '\nAll passed' : `\nFailed on Node ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);

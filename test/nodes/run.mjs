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

// Apart from the project's own dependencies, like the conformance suite: nothing else needs 500 MB.
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
  // The path is for what starts `node` or `npx` by name.
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` };
  const runs = (...args) => spawnSync(join(folder, 'node'), args, { stdio: 'inherit', env }).status === 0;
  // Built by each: what is compiled ahead fits the V8 that did it.
  return !(runs('scripts/build.mjs') && runs('node_modules/vitest/vitest.mjs', ...options, ...where));
});
// For what is started next.
spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
console.log(failed.length === 0 ? '\nAll passed' : `\nFailed on Node ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);

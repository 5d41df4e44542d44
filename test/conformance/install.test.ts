import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../kit/hostile.ts';

const suite = new URL('suite.mjs', import.meta.url).href;

test('the suite is installed by npm run on a Node that is too old for it, since it brings its own', () => {
  const folder = temporaryFolder();
  const write = (path: string, content: object): void => writeFileSync(join(folder, path), JSON.stringify(content));
  const needsAnother = { name: 'newer', version: '1.0.0', engines: { node: '>=99' } };
  mkdirSync(join(folder, 'newer'));
  write('newer/package.json', needsAnother);
  const root = { name: 'suite', version: '1.0.0', dependencies: { newer: 'file:newer' } };
  write('package.json', root);
  const packages = { '': root, newer: needsAnother, 'node_modules/newer': { resolved: 'newer', link: true } };
  write('package-lock.json', { ...root, lockfileVersion: 3, requires: true, packages });

  const install = `import { installLocked } from ${JSON.stringify(suite)};
    console.log(installLocked(${JSON.stringify(folder)}) ?? 'installed');`;
  // As npm run hands the project's own .npmrc on.
  const env = { ...process.env, npm_config_engine_strict: 'true' };
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', install], { env });
  expect(stdout.toString()).toMatch(/^installed$/m);
  expect(existsSync(join(folder, 'node_modules/newer/package.json'))).toBe(true);
});

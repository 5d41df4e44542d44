// npm run release:files: what is published with a release, in release/: the package, its bill of materials, their
// hashes, and what they were made of. docs/releasing.md says what becomes of them.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { billOfMaterials } from './sbom.mjs';

const folder = 'release';
const run = (command, ...args) => execFileSync(command, args, { encoding: 'utf8' }).trim();
const hash = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

const changed = run('git', 'status', '--porcelain');
if (changed !== '') {
  console.error(`A release is made of a commit, and these files differ from it:\n${changed}`);
  process.exit(1);
}
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
run('npm', 'pack', '--pack-destination', folder);
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync(join(folder, `${name}-${version}.cdx.json`), `${JSON.stringify(billOfMaterials(), null, 2)}\n`);
const provenance = {
  name,
  version,
  commit: run('git', 'rev-parse', 'HEAD'),
  command: 'npm ci && npm run release:files',
  lockFile: { 'package-lock.json': hash('package-lock.json') },
  made: { at: new Date().toISOString(), node: process.version, npm: run('npm', '--version'), on: process.platform },
  files: Object.fromEntries(readdirSync(folder).map((file) => [file, hash(join(folder, file))])),
};
writeFileSync(join(folder, 'provenance.json'), `${JSON.stringify(provenance, null, 2)}\n`);
const sums = readdirSync(folder).map((file) => `${hash(join(folder, file))}  ${file}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
console.log(run('ls', '-l', folder));

// The dashboard: web/ → dist/web, each file with a gzipped twin beside it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const target = 'dist/web';
const mark = `${target}/.sources`;

/** Builds unless what was built last is made of the same bytes. */
export async function buildWeb() {
  const others = ['package-lock.json', 'scripts/build-web.mjs', 'scripts/licences.mjs'];
  const sources = hashOf([...filesIn('web'), ...filesIn('src/core'), ...others]);
  if (existsSync(mark) && readFileSync(mark, 'utf8') === sources) return;
  // Tests build too, and what they look at is to be what users get.
  process.env['NODE_ENV'] = 'production';
  const { build } = await import('vite');
  await build({ configFile: 'web/vite.config.ts', logLevel: 'error' });
  for (const path of filesIn(target)) {
    if (/\.(?:js|css|svg)$/.test(path)) writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  }
  writeFileSync(mark, sources);
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function hashOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(path)).update('\0');
  return hash.digest('hex');
}

// The database that a new hub begins with: dist/embedded-database.gz, made with what is built before.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const target = 'dist/embedded-database.gz';
const cache = 'node_modules/.cache/toolhub';

/** Where it fails, hubs make their databases from nothing, which takes seconds, and still do what they do. */
export async function buildDatabase() {
  try {
    copyFileSync(await makeOrReuse(), target);
  } catch (error) {
    process.stderr.write(`No database was made ahead (${error.message}); a first start takes longer for it.\n`);
  }
}

/** The path of the archive. Making one takes seconds: it is kept until something changes that it is made with. */
async function makeOrReuse() {
  const { engineVersions, makeArchive } = createRequire(import.meta.url)('../dist/make-archive.js');
  const key = createHash('sha256').update(JSON.stringify(engineVersions()));
  for (const path of [...filesIn('src/database/migrations'), ...madeBy]) key.update(readFileSync(path));
  const kept = join(cache, `database-${key.digest('hex').slice(0, 16)}.gz`);
  if (existsSync(kept)) return kept;
  mkdirSync(cache, { recursive: true });
  const made = `${kept}.${process.pid}`;
  await makeArchive(made);
  renameSync(made, kept);
  return kept;
}

/** What decides about the form of the archive. */
const madeBy = ['archive.ts', 'make-archive.ts', 'make-embedded.ts', 'embedded-maker.ts'].map(
  (name) => `src/database/${name}`,
);

function filesIn(folder) {
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
}

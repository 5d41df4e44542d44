import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../../scripts/bundle.mjs';

/**
 * Before any test, once, ahead of the workers: `dist/` is built from `src/`, so that tests may start the real program,
 * and so is `.built/parts.js`.
 */
export default async function build(): Promise<void> {
  if (!existsSync('dist/cli.js') || Math.max(newest('src'), newest('web')) > statSync('dist/cli.js').mtimeMs) {
    spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
  }
  await bundle({ parts: 'test/kit/parts.ts' }, '.built');
}

function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return Math.max(0, ...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs));
}

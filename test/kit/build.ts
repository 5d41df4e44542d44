import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Before any test: `dist/` is what `src/` says, so that tests may start the real program. Runs once, ahead of the workers, and does nothing
 * after a build (as in `npm test`). Type errors are printed but stop nobody: another step reports them.
 */
export default function build(): void {
  if (!existsSync('dist/cli.js') || newest('src') > statSync('dist/cli.js').mtimeMs) {
    spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
  }
}

function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return Math.max(0, ...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs));
}

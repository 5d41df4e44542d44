import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Takes out of `built` what nothing in `sources` makes any more: a migration that was renamed would be run beside the one it became. Leaves alone
 * `web/`, which knows by itself what it is made of, and all that is going to be overwritten, so that a hub that runs from there keeps its modules.
 */
export function pruneDist(built, sources) {
  if (!existsSync(built)) return;
  for (const entry of readdirSync(built, { recursive: true, withFileTypes: true })) {
    const path = join(relative(built, entry.parentPath), entry.name);
    if (path === 'web' || path.startsWith(join('web', '/')) || isMade(path, entry.isDirectory(), sources)) continue;
    rmSync(join(built, path), { recursive: true, force: true });
  }
}

function isMade(path, isFolder, sources) {
  if (isFolder) return existsSync(join(sources, path));
  if (path.endsWith('.sql')) return existsSync(join(sources, path));
  const source = path.replace(/\.js(?:\.map)?$/, '.ts');
  return source !== path && !source.endsWith('.test.ts') && existsSync(join(sources, source));
}

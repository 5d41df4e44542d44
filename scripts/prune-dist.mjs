import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Takes out of `built` what the last build did not make: a migration that was renamed would be run beside the one it
 * became. `made` are the paths of files below `built`. Leaves alone `web/`, which knows by itself what it is made of.
 */
export function pruneDist(built, made) {
  if (!existsSync(built)) return;
  for (const entry of readdirSync(built, { recursive: true, withFileTypes: true })) {
    const path = join(relative(built, entry.parentPath), entry.name);
    if (path === 'web' || path.startsWith('web/') || made.some((file) => file === path || file.startsWith(`${path}/`)))
      continue;
    rmSync(join(built, path), { recursive: true, force: true });
  }
}

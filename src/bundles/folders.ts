import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HubError } from '../core/errors.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';
import { bundleLimits } from './limits.ts';

/** Unpacking and removing happen under names that begin like this: an incomplete bundle never has the final name. */
export const unfinished = '.unfinished-';

/** The folder of unpacked bundles. */
export function bundlesFolder(dataDir: string): string {
  return join(dataDir, 'bundles');
}

/**
 * Gives an unpacked folder its name, `<name>-<version>`; `-2`, `-3`, … is added while that is taken: a server may still
 * run from the folder it replaces. Returns the name.
 */
export async function keepFolder(folder: string, parent: string, wanted: string): Promise<string> {
  for (let copy = 1; copy <= bundleLimits.bundleCopies; copy++) {
    const name = copy === 1 ? wanted : `${wanted}-${copy}`;
    try {
      await rename(folder, join(parent, name));
      return name;
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM'].includes(errnoOf(error) ?? ''))
        throw diskError(error, 'Cannot keep the bundle', parent);
    }
  }
  throw new HubError(
    'conflict',
    `Cannot keep the bundle: ${parent} has ${bundleLimits.bundleCopies} folders for "${wanted}". Remove some.`,
  );
}

/** Removes a folder below `parent`. One that is not there is fine. */
export async function removeFolder(parent: string, name: string): Promise<void> {
  const doomed = join(parent, `${unfinished}${randomBytes(6).toString('hex')}`);
  try {
    await rename(join(parent, name), doomed);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw diskError(error, `Cannot remove the bundle folder "${name}"`, parent);
  }
  await removeTree(doomed);
}

/** Removes what a stopped hub left unfinished, once it is so old that no hub works on it any more. */
export async function removeLeftovers(parent: string, now = Date.now()): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((name) => name.startsWith(unfinished))) {
    const path = join(parent, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && now - found.mtimeMs > bundleLimits.bundleLeftoverMs) await removeTree(path);
  }
}

export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

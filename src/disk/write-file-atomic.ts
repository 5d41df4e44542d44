import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, readlink, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errnoOf } from './disk-error.ts';
import { diskLimits } from './limits.ts';

export interface AtomicWrite {
  /** Mode of a file that is new; one that exists keeps its own. Default 0600: what the hub writes holds secrets. */
  readonly mode?: number;
  /**
   * Runs when all new bytes are on the disk, right before they take the old ones' place; throwing leaves the old file
   * as it was. Synchronous, so that nothing of this process and next to nothing of others can happen in between.
   */
  readonly beforeSwap?: () => void;
}

/**
 * Replaces a file so that readers, and a crash at any moment, find the old content or the new, never a part. Written to
 * a temporary file in the same folder, flushed, renamed over the target; a symbolic link is followed and stays. Throws
 * the system's error; the temporary file is gone then. Parts of a text are asked for one after the other.
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array | Iterable<string>,
  options: AtomicWrite = {},
): Promise<void> {
  const target = await linkTarget(path);
  const old = await stat(target).catch(() => undefined);
  const temporary = temporaryName(target);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      // The types do not know that it takes parts.
      await file.writeFile(data as string);
      await dressLike(file, old, options.mode ?? 0o600);
      await file.sync();
    } finally {
      await file.close();
    }
    options.beforeSwap?.();
    renameSync(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(target));
}

/** Where a path leads when every symbolic link is followed, also to a file that does not exist yet. */
export async function linkTarget(path: string): Promise<string> {
  let at = resolve(path);
  // As many links as Linux follows before it gives up with ELOOP.
  for (let hops = 0; hops < 40; hops++) {
    const next = await readlink(at).catch(() => undefined);
    if (next === undefined) return at;
    at = resolve(dirname(at), next);
  }
  return at;
}

/** A name in the target's folder that nothing else uses, for a file that will be renamed over it. */
export function temporaryName(target: string): string {
  return join(dirname(target), `.${basename(target)}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`);
}

const temporaryPattern = /^\.(.+)\.\d+\.[0-9a-f]{12}\.tmp$/;

/**
 * Removes files of `temporaryName` that their process did not come to rename: those of this user that are too old to be
 * written right now, for any target in the folder or for one. As far as it can: what stays does no harm.
 */
export function removeTemporaryFiles(folder: string, target?: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const [, of] = temporaryPattern.exec(name) ?? [];
      if (of === undefined || (target !== undefined && of !== target)) continue;
      const path = join(folder, name);
      const found = lstatSync(path, { throwIfNoEntry: false });
      const isOurs = found?.isFile() === true && found.uid === (process.getuid?.() ?? found.uid);
      if (isOurs && Date.now() - found.mtimeMs > diskLimits.temporaryFileMs) rmSync(path, { force: true });
    }
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

async function dressLike(
  file: FileHandle,
  old: { mode: number; uid: number; gid: number } | undefined,
  mode: number,
): Promise<void> {
  const uid = process.getuid?.();
  // Only root may give a file away. A hub run as root once must not take the file from the user who edits it.
  if (old && uid === 0 && (old.uid !== 0 || old.gid !== 0)) await file.chown(old.uid, old.gid);
  await file.chmod(old ? old.mode & 0o7777 : mode);
}

/**
 * Makes the rename itself survive a power cut. Some file systems cannot; then the old content may come back, still
 * whole.
 */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

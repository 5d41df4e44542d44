import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { errnoOf } from './disk-error.ts';
import { temporaryName } from './write-file-atomic.ts';

/** The error codes of a file system without hard links (FAT, some network and desktop mounts). */
const noLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES']);

/**
 * Makes a file (0600) only if it is not there, in one step: other processes never see a part of it. False when another
 * process was first. Synchronous, because what it makes (locks, secrets) comes before anything else runs. Throws the
 * system's error.
 */
export function createFile(path: string, text: string): boolean {
  const temporary = temporaryName(path);
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600, flush: true });
    linkSync(temporary, path);
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EEXIST') return false;
    if (code === undefined || !noLinks.has(code)) throw error;
    return createPlainly(path, text);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function createPlainly(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600, flush: true });
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../disk/disk-error.ts';

/** Names of what a restore has in the data folder while it runs, and of what was there before. */
export const restoreNames = {
  /** Where a backup is unpacked. */
  staging: 'restore-unfinished',
  /** Says that files are being exchanged. */
  state: 'restore.json',
  /** Begins the name of the folder with what was there before. */
  aside: 'before-restore-',
} as const;

/** Whether something directly in the data folder is of a process that runs, or of a restore, and no data. */
export function isPassing(name: string): boolean {
  return (
    /\.(?:lock|sock|takeover)$/.test(name) ||
    /^\..*\.tmp$/.test(name) ||
    name.startsWith('.doctor-') ||
    name.startsWith('database.unfinished-') ||
    name === 'lost+found' ||
    name === restoreNames.staging ||
    name === restoreNames.state ||
    name.startsWith(restoreNames.aside)
  );
}

/** What is directly in a data folder, as far as it is data. Empty where there is no folder. */
export function dataNames(dataDir: string): string[] {
  try {
    return readdirSync(dataDir).filter((name) => !isPassing(name));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

export interface DataFile {
  /** Below the data folder, with `/`. */
  readonly path: string;
  readonly isProgram: boolean;
}

/**
 * The files of a data folder that a backup has: all but the embedded database, whose rows are in it, and what a server
 * has fetched and can fetch again. Links are none: they could lead anywhere.
 */
export function dataFiles(dataDir: string): DataFile[] {
  const walk = (folder: string): DataFile[] =>
    listed(join(dataDir, folder))
      .filter((name) => folder !== '' || (!isPassing(name) && name !== 'database'))
      .flatMap((name) => {
        const path = folder === '' ? name : `${folder}/${name}`;
        const found = lstatSync(join(dataDir, path), { throwIfNoEntry: false });
        if (found?.isDirectory() === true) return isCache.test(path) ? [] : walk(path);
        return found?.isFile() === true ? [{ path, isProgram: (found.mode & 0o111) !== 0 }] : [];
      });
  return walk('');
}

/** Of servers in sandboxes: what `npx` and `uvx` have fetched. */
const isCache = /^sandbox\/[^/]+\/\.(?:npm|cache)$/;

function listed(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    // Removed since it was listed.
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

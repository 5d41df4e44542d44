import { readdirSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HubError } from '../core/errors.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';
import { backupLimits } from './limits.ts';

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
 * Not in a backup: the embedded database, whose rows are in it, and the homes of servers in sandboxes. What is there
 * the programs choose: folders that cannot be read, millions of files, and files of terabytes that take no room.
 */
export const leftOut = ['sandbox'] as const;
const isLeftOut = new Set<string>(['database', ...leftOut]);

/**
 * The files of a data folder that a backup has. Links are none: they could lead anywhere. Throws HubError
 * `misconfigured` where that is more than a backup can have.
 */
export async function dataFiles(
  dataDir: string,
  limits: Readonly<Record<'backupEntries' | 'backupDataBytes', number>> = backupLimits,
): Promise<DataFile[]> {
  const files: DataFile[] = [];
  let bytes = 0;
  const walk = async (folder: string): Promise<void> => {
    for (const name of await listed(join(dataDir, folder))) {
      if (folder === '' && (isPassing(name) || isLeftOut.has(name))) continue;
      const path = folder === '' ? name : `${folder}/${name}`;
      const found = await ifThere(() => lstat(join(dataDir, path)));
      if (found?.isDirectory() === true) await walk(path);
      if (found?.isFile() !== true) continue;
      files.push({ path, isProgram: (found.mode & 0o111) !== 0 });
      bytes += found.size;
      // Beside them are the tables, the settings and the manifest.
      if (files.length > limits.backupEntries - entriesBeside) throw tooMuch(dataDir, path, `${files.length} files`);
      if (bytes > limits.backupDataBytes) throw tooMuch(dataDir, path, `${Math.round(bytes / 2 ** 20)} MB`);
    }
  };
  try {
    await walk('');
  } catch (error) {
    throw error instanceof HubError || errnoOf(error) === undefined
      ? error
      : diskError(error, 'Cannot make a backup', dataDir);
  }
  return files;
}

const entriesBeside = 100;

function tooMuch(dataDir: string, path: string, much: string): HubError {
  return new HubError(
    'misconfigured',
    `Cannot make a backup: with ${path} there are already ${much} in ${dataDir}, and a backup cannot have more. Remove what does not belong there.`,
  );
}

/** Undefined for what was removed since it was listed. */
async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function listed(folder: string): Promise<string[]> {
  return ((await ifThere(() => readdir(folder))) ?? []).toSorted();
}

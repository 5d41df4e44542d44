import { randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const folderOf = (dataDir: string) => join(dataDir, 'sandbox');

/** The folder in which a server in a sandbox keeps what it writes at home. */
export function homeOf(dataDir: string, server: string): string {
  return join(folderOf(dataDir), server);
}

/**
 * Moves the home of a server that has another name, or removes that of one that is gone (`to` undefined). A server that
 * gets a name later may be another one, so no home stays under the name, also where its files cannot be removed.
 */
export async function moveHome(dataDir: string, from: string, to: string | undefined, remove = removed): Promise<void> {
  await giveUp(dataDir, to ?? from, remove);
  if (to !== undefined) await tried(rename(homeOf(dataDir, from), homeOf(dataDir, to)));
}

const removed = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 });

async function giveUp(dataDir: string, server: string, remove: typeof removed): Promise<void> {
  const folder = folderOf(dataDir);
  await tried(rename(homeOf(dataDir, server), join(folder, `${gone}${randomUUID()}`)));
  const names = (await tried(readdir(folder))) ?? [];
  for (const name of names) if (name.startsWith(gone)) await tried(remove(join(folder, name)));
}

/** Begins what no server has as its name. */
const gone = '.gone-';

/** There may be none, or something of it still runs. Nothing else depends on it. */
async function tried<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch {
    return undefined;
  }
}

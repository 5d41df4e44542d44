import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder in which a server in a sandbox keeps what it writes at home. */
export function homeOf(dataDir: string, server: string): string {
  return join(dataDir, 'sandbox', server);
}

/**
 * Moves the home of a server that has another name, or removes that of one that is gone (`to` undefined): a server that
 * gets the name later may be another one. As far as it can, since nothing else depends on it.
 */
export async function moveHome(dataDir: string, from: string, to: string | undefined): Promise<void> {
  try {
    if (to === undefined) await rm(homeOf(dataDir, from), { recursive: true, force: true, maxRetries: 3 });
    else await rename(homeOf(dataDir, from), homeOf(dataDir, to));
  } catch {
    // It has none, or something of it still runs.
  }
}

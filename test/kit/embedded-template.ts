import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../src/core/logger.ts';
import { unpack } from '../../src/database/archive.ts';
import { shippedArchive } from '../../src/database/embedded.ts';
import { engineVersions } from '../../src/database/engine.ts';

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Puts an empty embedded database into a data folder, and gives that. */
export async function copyOfEmbedded(dataDir: string): Promise<string> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  unpack(shippedArchive, join(dataDir, 'database'), engineVersions());
  return dataDir;
}

import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../src/core/logger.ts';
import { readMigrations } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open.ts';

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Making an embedded database takes seconds, so one is made for all runs until PGlite or the migrations change, and
 * tests get copies.
 */
export async function embeddedTemplate(): Promise<string> {
  const key = createHash('sha256').update(readFileSync('package-lock.json')).update(JSON.stringify(readMigrations()));
  const cache = 'node_modules/.cache/toolhub';
  const template = join(cache, `embedded-${key.digest('hex').slice(0, 16)}`);
  if (existsSync(template)) return template;
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, 'making-'));
  await (await openDatabase({ url: undefined, dataDir: made, log: silent })).close();
  try {
    renameSync(made, template);
  } catch {
    rmSync(made, { recursive: true }); // Another test file was quicker.
  }
  return template;
}

/** Puts an empty embedded database into a data folder, and gives that. */
export async function copyOfEmbedded(dataDir: string): Promise<string> {
  cpSync(await embeddedTemplate(), dataDir, { recursive: true });
  return dataDir;
}

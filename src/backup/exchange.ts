import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { HubError } from '../core/errors.ts';
import { writeFileAtomic } from '../disk/write-file-atomic.ts';
import { dataNames, restoreNames } from './data-files.ts';

const stateShape = z.strictObject({
  version: z.literal(1),
  /** The folder, directly in the data folder, with what was there before. */
  aside: z.string().regex(/^before-restore-[0-9TZ-]+$/),
  /** What was directly in the data folder before. */
  old: z.array(z.string()),
  settingsPath: z.string(),
  /** What happens to the settings file: one is replaced, made, or none is touched. */
  settings: z.enum(['replaced', 'made', 'kept']),
  /** What happens to the schema of PostgreSQL; `none` is for a restore without PostgreSQL. */
  database: z.enum(['replaced', 'made', 'none']).default('none'),
});

/** What a restore is about to do, on the disk before it does it, so that it can be undone after a crash. */
export type Exchange = z.output<typeof stateShape>;

/** The exchange that was interrupted in this data folder. Throws HubError `misconfigured` where that cannot be read. */
export function interruptedExchange(dataDir: string): Exchange | undefined {
  const path = join(dataDir, restoreNames.state);
  if (!existsSync(path)) return undefined;
  try {
    return stateShape.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw new HubError(
      'misconfigured',
      `A restore of ${dataDir} was interrupted, and ${path}, which says how far it was, cannot be read. What was there before is in the folder ${restoreNames.aside}… there: move it back by hand.`,
      { cause: error },
    );
  }
}

/** Name of the folder for what a restore finds. */
export function asideName(now = new Date()): string {
  return `${restoreNames.aside}${now.toISOString().replaceAll(/[:.]/g, '-')}`;
}

/**
 * Puts what is in `staging` in the place of what is in the data folder, and `settings` in that of the settings file.
 * When it throws, `undoExchange` brings back what was there.
 */
export async function exchange(
  dataDir: string,
  {
    aside,
    settingsPath,
    settings,
    database,
  }: Pick<Exchange, 'aside' | 'settingsPath' | 'database'> & {
    readonly settings: string | undefined;
  },
): Promise<Exchange> {
  const staging = join(dataDir, restoreNames.staging);
  const change = settings === undefined ? 'kept' : existsSync(settingsPath) ? 'replaced' : 'made';
  const plan: Exchange = { version: 1, aside, old: dataNames(dataDir), settingsPath, settings: change, database };
  await mkdir(join(dataDir, aside), { mode: 0o700 });
  if (change === 'replaced') await copyFile(settingsPath, join(dataDir, aside, settingsCopy));
  await writeFileAtomic(join(dataDir, restoreNames.state), JSON.stringify(plan));
  for (const name of plan.old) await rename(join(dataDir, name), join(dataDir, aside, name));
  for (const name of dataNames(staging)) await rename(join(staging, name), join(dataDir, name));
  if (settings !== undefined) await writeFileAtomic(settingsPath, settings);
  return plan;
}

/** In the folder of what was there before; no file of a data folder has the name. */
const settingsCopy = 'settings-file-before.json';

/** The restore is whole. */
export async function finishExchange(dataDir: string, { aside, old, settings }: Exchange): Promise<void> {
  await rm(join(dataDir, restoreNames.staging), { recursive: true, force: true });
  // Nothing was there.
  if (old.length === 0 && settings !== 'replaced') await rm(join(dataDir, aside), { recursive: true, force: true });
  await rm(join(dataDir, restoreNames.state));
}

/** Brings back what was there before. May be called again after a crash of its own. */
export async function undoExchange(dataDir: string, plan: Exchange): Promise<void> {
  const { aside, old, settingsPath, settings } = plan;
  const place = join(dataDir, aside);
  const isAside = (name: string) => existsSync(join(place, name));
  // What is not aside was not moved yet, and is the old one, where there was an old one.
  for (const name of dataNames(dataDir))
    if (!old.includes(name) || isAside(name)) await rm(join(dataDir, name), { recursive: true, force: true });
  for (const name of old) if (isAside(name)) await rename(join(place, name), join(dataDir, name));
  if (settings === 'replaced') await writeFileAtomic(settingsPath, await readFile(join(place, settingsCopy)));
  if (settings === 'made') await rm(settingsPath, { force: true });
  await rm(join(dataDir, restoreNames.staging), { recursive: true, force: true });
  await rm(join(dataDir, restoreNames.state), { force: true });
  await rm(place, { recursive: true, force: true });
}

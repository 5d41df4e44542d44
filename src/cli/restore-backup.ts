import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Restored, restoreBackup, undoRestore } from '../backup/restore.ts';
import { newClosers } from '../core/closers.ts';
import { HubError } from '../core/errors.ts';
import { createFullDiskRetry } from '../disk/full-disk-retry.ts';
import { readProcessEnv } from '../env/env.ts';
import { openDataDir } from '../settings/data-dir.ts';
import { type Flags, variablesFrom } from './command.ts';
import { noLog } from './probe.ts';
import { say } from './terminal.ts';

/** Restores a backup; without a file, undoes a restore that was interrupted. Throws HubError. */
export async function restoreInto(file: string | undefined, flags: Flags): Promise<void> {
  const env = readProcessEnv(variablesFrom(flags));
  const dataDir = resolve(env.dataDir);
  if (file !== undefined && !existsSync(file))
    throw new HubError('misconfigured', `Cannot restore: there is no file ${resolve(file)}.`);
  const isNew = !existsSync(dataDir);
  const closers = newClosers();
  try {
    const room = createFullDiskRetry(noLog);
    closers.add(() => room.close());
    // Refused while a hub has it, and none starts meanwhile.
    const folder = await openDataDir(dataDir, noLog, room);
    closers.add(() => folder.close());
    const { database, jwtSecret } = env;
    const place = { dataDir, settingsPath: resolve(env.settingsPath), database, jwtSecret };
    if (file !== undefined) return tell(await restoreBackup(resolve(file), place, flags['replace'] === true), dataDir);
    const wasUndone = await undoRestore(place);
    say(wasUndone ? 'What was there before the restore is back.' : `No restore of ${dataDir} was interrupted.`);
  } finally {
    await closers.close();
    // A restore that was refused leaves no folder where there was none.
    if (isNew && existsSync(dataDir) && readdirSync(dataDir).length === 0) rmdirSync(dataDir);
  }
}

function tell({ manifest, aside, schemaAside, notes }: Restored, dataDir: string): void {
  say(`Restored into ${dataDir}: the backup of ${manifest.createdAt}, made by Tool Hub ${manifest.version}.`);
  for (const note of notes) say(`! ${note}`);
  if (manifest.gone.length > 0) say(`! ${manifest.gone.length} files went while the backup was made.`);
  say('Logins, keys and consents that were ended since the backup was made hold again: end them once more.');
  if (aside !== undefined) say(`What was there before is in ${aside}: remove it once all is as it should be.`);
  if (schemaAside !== undefined)
    say(`The tables of before are in the schema ${schemaAside}: drop schema ${schemaAside} cascade;`);
  say('Now start the hub.');
}

import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { backupLimits } from '../backup/limits.ts';
import type { Env } from '../env/env.ts';
import type { Storage } from './open-storage.ts';

/** Backups of a hub that runs. */
export function openBackup(env: Env, { dataDir, hubDir, database, audit }: Storage) {
  return {
    async ready(): Promise<void> {
      if (env.database.kind === 'off') return;
      await database.whenReady(backupLimits.backupDatabaseMs);
      // Writes what waits. Of the log and the activity it is in the journal, which a backup has.
      await audit.head();
    },
    async write(out: Writable, begun: () => void): Promise<unknown> {
      // Not part of a start.
      const { writeBackup } = await import('../backup/write-backup.ts');
      return writeBackup(
        {
          dataDir: hubDir,
          settingsPath: resolve(env.settingsPath),
          databaseKind: env.database.kind,
          database: env.database.kind === 'off' ? undefined : await database.whenReady(backupLimits.backupDatabaseMs),
          jwtSecret:
            env.jwtSecret === undefined
              ? { from: 'data folder', value: dataDir.secret('jwt', 32).toString('hex') }
              : { from: 'environment', value: env.jwtSecret },
        },
        out,
        begun,
      );
    },
  };
}

import { join } from 'node:path';
import type { Closers } from '../core/closers.ts';
import type { LoggerFor } from '../core/logger.ts';
import { createSealer } from '../core/seal.ts';
import { sharedSealer } from '../database/shared-sealer.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type { Env } from '../env/env.ts';
import type { DataDir } from '../settings/data-dir.ts';
import type { SettingsStore } from '../settings/store.ts';
import { openFileBindings } from '../upstream/user-credentials/bindings-in-file.ts';
import { openTableBindings } from '../upstream/user-credentials/bindings-in-table.ts';
import {
  createUserCredentials,
  type UserCredentials,
  type UserCredentialsOptions,
} from '../upstream/user-credentials/user-credentials.ts';

interface CredentialStorage {
  readonly dataDir: DataDir;
  readonly database: DatabaseHandle;
  readonly settings: SettingsStore;
  readonly log: LoggerFor;
}

/**
 * What users set for themselves at servers: in a sealed file of the data folder, or sealed in the database for all hubs
 * that share it.
 */
export async function openUserCredentials(
  env: Env,
  { dataDir, database, settings, log }: CredentialStorage,
  closers: Closers,
  needs: Pick<UserCredentialsOptions, 'page' | 'changed'>,
): Promise<UserCredentials> {
  let opened: UserCredentials | undefined;
  settings.subscribe(() => opened?.reconcile());
  const bindings =
    env.database.kind === 'postgres'
      ? await openTableBindings({
          database,
          sealer: sharedSealer(env.jwtSecret, 'user credentials'),
          log: log('hub'),
          changed: (servers) => opened?.changedElsewhere(servers),
        })
      : await openFileBindings(
          join(dataDir.path, 'credentials.sealed'),
          createSealer(dataDir.secret('hub', 32), 'user credentials'),
          log('hub'),
        );
  closers.add(() => bindings.close());
  const credentials = createUserCredentials({ ...needs, bindings, settings: () => settings.current, log });
  opened = credentials;
  return credentials;
}

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { createFile } from '../../disk/create-file.ts';
import type { SettingsStore } from '../store.ts';

/** Where the first password is kept when it cannot be shown on a terminal: a log is read by many, and for years. */
export interface FirstPassword {
  readonly path: string;
  /** Writes it (0600), in place of one that another first start has left. Throws the system's error. */
  readonly keep: (password: string) => void;
}

/** The file is removed once no user has the first password any more, no matter who changed it and how. */
export function firstPasswordFile(dataDir: string, settings: SettingsStore, log: Logger): FirstPassword {
  const path = join(dataDir, 'first-admin-password');
  let making = false;
  const remove = (): void => {
    if (making || settings.current.users.some(({ passwordIsInitial }) => passwordIsInitial) || !existsSync(path))
      return;
    try {
      rmSync(path, { force: true });
      log.info('The first password is used no more; its file was removed', { path });
    } catch (error) {
      log.warn('The file of the first password cannot be removed. Remove it', { path, error: errorText(error) });
    }
  };
  remove();
  settings.subscribe(() => {
    making = false;
    remove();
  });
  return {
    path,
    keep(password) {
      // Its user is made after it.
      making = true;
      rmSync(path, { force: true });
      createFile(path, `${password}\n`);
    },
  };
}

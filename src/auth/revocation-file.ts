import { readFile } from 'node:fs/promises';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { diskError } from '../disk/disk-error.ts';
import { writeFileAtomic } from '../disk/write-file-atomic.ts';
import type { RevocationStore } from './revocations.ts';

const formatVersion = 1;

/**
 * Keeps revocations in a file of `DATA_DIR`, for a hub without replicas. A file that cannot be used does not stop the
 * hub, because only the hub writes it, as a whole; the log then says how to end every token instead. `save` throws
 * HubError `misconfigured` when the disk refuses; `isTriedAgain`: its message says that who called saves it later.
 */
export function revocationFile(path: string, log: Logger, isTriedAgain = false): RevocationStore {
  return {
    async load() {
      try {
        const saved: unknown = JSON.parse(await readFile(path, 'utf8'));
        if (isObject(saved) && saved['version'] === formatVersion) return saved['revocations'];
        throw new Error('unknown format');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        log.warn(
          'Cannot read which access tokens were ended: those younger than a day may work again. To end all of them, remove jwt.secret from the data folder (or change JWT_SECRET) and restart.',
          { path, error: errorText(error) },
        );
        return undefined;
      }
    },
    async save(revocations) {
      try {
        await writeFileAtomic(path, JSON.stringify({ version: formatVersion, revocations }));
      } catch (error) {
        throw diskError(
          error,
          isTriedAgain
            ? 'The access token has ended. That is not written down yet, and is tried again; a restart before that brings the token back. Cannot write it'
            : 'Cannot write down which access tokens have ended',
          path,
        );
      }
    },
  };
}

import { readFile } from 'node:fs/promises';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Sealer } from '../../core/seal.ts';
import { errnoOf } from '../../disk/disk-error.ts';
import { writeFileAtomic } from '../../disk/write-file-atomic.ts';
import type { Grant } from './grant.ts';

/** Grants as a file has them. */
export interface KeptGrants {
  readonly grants: readonly Grant[];
  /** They are a copy of what hubs share in a database. */
  readonly isCopy: boolean;
}

/** One sealed file of grants (0600) in the data folder. */
export interface GrantFile {
  /** What cannot be opened, because the hub's secret is another one now, is lost and said so: people sign in again. */
  load(): Promise<KeptGrants>;
  /**
   * Resolves when what `kept` gives is on the disk, or the log says why it is not. Changes that come while the disk is
   * busy are written together.
   */
  save(kept: () => KeptGrants): Promise<void>;
  /** Waits for what is being written. */
  close(): Promise<void>;
}

export function grantFile(path: string, sealer: Sealer, log: Logger): GrantFile {
  let writing: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;
  return {
    load: () => load(path, sealer, log),
    save(kept) {
      waiting ??= writing.then(async () => {
        waiting = undefined;
        try {
          await writeFileAtomic(path, sealer.seal(JSON.stringify(kept())));
        } catch (error) {
          log.error('sign-ins not saved; after a restart people have to sign in again', { error: errorText(error) });
        }
      });
      writing = waiting;
      return waiting;
    },
    close: () => writing,
  };
}

const nothing: KeptGrants = { grants: [], isCopy: false };

async function load(path: string, sealer: Sealer, log: Logger): Promise<KeptGrants> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') log.error('kept sign-ins cannot be read', { path, error: errorText(error) });
    return nothing;
  }
  const opened = sealer.open(text.trim());
  if (opened === undefined) {
    log.warn('kept sign-ins cannot be opened with the secret of this hub; people have to sign in again', { path });
    return nothing;
  }
  // A hub with this secret wrote it: without the secret it cannot be sealed.
  const content: unknown = JSON.parse(opened);
  if (!isObject(content) || !Array.isArray(content['grants'])) return nothing;
  return { grants: content['grants'] as Grant[], isCopy: content['isCopy'] === true };
}

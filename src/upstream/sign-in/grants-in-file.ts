import { readFile } from 'node:fs/promises';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Sealer } from '../../core/seal.ts';
import { errnoOf } from '../../disk/disk-error.ts';
import { writeFileAtomic } from '../../disk/write-file-atomic.ts';
import { createGrantMemory, type Grant, grantId, type Grants } from './grants.ts';

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

/** Grants of a hub without replicas, in a file of its data folder. `changed` is called after each change. */
export async function openFileGrants(file: GrantFile, changed: () => void = () => undefined): Promise<Grants> {
  const { grants } = await file.load();
  const memory = createGrantMemory(grants, changed);
  /** The last replacement of each grant. */
  const replacing = new Map<string, Promise<unknown>>();
  const save = () => file.save(() => ({ grants: memory.all(), isCopy: false }));

  async function set(grant: Grant): Promise<void> {
    memory.put(grant);
    await save();
  }

  async function replace(old: Grant, work: (old: Grant) => Promise<Grant>): Promise<Grant | undefined> {
    const before = memory.get(old);
    if (before !== undefined && before !== old) return before;
    const next = await work(old);
    // Meanwhile a user signed in again or signed out: that counts.
    if (memory.get(old) !== before) return memory.get(old);
    await set(next);
    return next;
  }

  return {
    ...memory,
    set,
    async delete(key) {
      if (memory.get(key) === undefined) return;
      memory.remove(key);
      await save();
    },
    replace(old, work) {
      const id = grantId(old);
      const earlier = replacing.get(id) ?? Promise.resolve();
      const replaced = earlier
        .catch(() => undefined)
        .then(() => replace(old, work))
        .finally(() => {
          if (replacing.get(id) === replaced) replacing.delete(id);
        });
      replacing.set(id, replaced);
      return replaced;
    },
    close: () => file.close(),
  };
}

import { readFile } from 'node:fs/promises';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { isObject } from '../../core/rpc.ts';
import type { Sealer } from '../../core/seal.ts';
import { errnoOf } from '../../disk/disk-error.ts';
import { writeFileAtomic } from '../../disk/write-file-atomic.ts';
import type { Grant } from './grant.ts';

/** The grants of all servers, one each, kept across restarts. */
export interface Grants {
  get(server: string): Grant | undefined;
  all(): readonly Grant[];
  /** Resolves when it is on the disk, or the log says why it is not: the hub goes on with what it has in memory. */
  set(grant: Grant): Promise<void>;
  delete(server: string): Promise<void>;
  /** Everything in it that must never be shown. */
  secrets(): string[];
  /** Waits for what is being written. */
  close(): Promise<void>;
}

/** Grants in one sealed file (0600). What cannot be opened, because the hub's secret is another one now, is lost and said so: people sign in again. */
export async function openGrants(path: string, sealer: Sealer, log: Logger): Promise<Grants> {
  const grants = new Map((await load(path, sealer, log)).map((grant) => [grant.server, grant]));
  let writing: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;

  /** All changes that come while the disk is busy are written together. */
  function save(): Promise<void> {
    waiting ??= writing.then(async () => {
      waiting = undefined;
      try {
        await writeFileAtomic(path, sealer.seal(JSON.stringify({ grants: [...grants.values()] })));
      } catch (error) {
        log.error('sign-ins not saved; after a restart people have to sign in again', { error: errorText(error) });
      }
    });
    writing = waiting;
    return waiting;
  }

  return {
    get: (server) => grants.get(server),
    all: () => [...grants.values()],
    set(grant) {
      grants.set(grant.server, grant);
      return save();
    },
    async delete(server) {
      if (grants.delete(server)) await save();
    },
    secrets: () =>
      [...grants.values()]
        .flatMap(({ client, tokens }) => [client?.secret, tokens?.access, tokens?.refresh])
        .filter((secret) => secret !== undefined),
    close: () => writing,
  };
}

async function load(path: string, sealer: Sealer, log: Logger): Promise<Grant[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') log.error('kept sign-ins cannot be read', { path, error: errorText(error) });
    return [];
  }
  const opened = sealer.open(text.trim());
  if (opened === undefined) {
    log.warn('kept sign-ins cannot be opened with the secret of this hub; people have to sign in again', { path });
    return [];
  }
  // We wrote it: nobody else can seal.
  const content: unknown = JSON.parse(opened);
  return isObject(content) && Array.isArray(content['grants']) ? (content['grants'] as Grant[]) : [];
}

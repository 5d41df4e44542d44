import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { shipped } from '../core/shipped.ts';
import { takeLock } from '../disk/folder-lock.ts';
import { checkChannel, checkPayload } from './channel-name.ts';
import type { Connection, Parameter, Transaction } from './database.ts';
import { databaseLimits } from './limits.ts';
import { makeEmbedded, unfinishedFolder } from './make-embedded.ts';
import { linkTo } from './worker-link.ts';
import type { WorkerLink } from './worker-link.ts';
import type { WorkerTask } from './worker-messages.ts';

/**
 * Node 20 runs no TypeScript: where the sources run themselves (under the test runner), the worker comes from the
 * build.
 */
const workerFile = shipped('dist/embedded-worker.js');

/** A database with all migrations applied, which the build makes (make-archive.ts). */
export const shippedArchive = fileURLToPath(shipped('dist/embedded-database.gz'));

export interface EmbeddedPlace {
  readonly folder: string;
  /** The packed database that a new folder begins with. Where it is missing or of no use, one is made from nothing. */
  readonly archive?: string;
  readonly log: Logger;
}

/**
 * Opens the embedded PostgreSQL (PGlite) in `folder`, in a thread of its own. One process at a time: a second one gets
 * HubError `conflict` with the holder's process id, for PGlite takes no lock itself and two writers silently lose each
 * other's rows. `stop` breaks off the making of one.
 */
export async function openEmbedded(place: EmbeddedPlace, stop?: AbortSignal): Promise<Connection> {
  const { folder } = place;
  stop?.throwIfAborted();
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  const lock = await takeLock({
    path: `${folder}.lock`,
    cannot: `Cannot open the database in ${folder}`,
    instead: 'give this one another DATA_DIR, or have both use PostgreSQL (DB_URL)',
  });
  const unlock = (): void => lock.release();
  try {
    if (!existsSync(folder)) {
      const unpacked = await openUnpacked(place, unlock);
      if (unpacked !== undefined) return unpacked;
      await makeEmbedded(folder, stop);
    }
    return await startWorker({ folder }, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Undefined when no folder came of the archive. */
async function openUnpacked(
  { folder, archive = shippedArchive, log }: EmbeddedPlace,
  unlock: () => void,
): Promise<Connection | undefined> {
  if (!existsSync(archive)) return undefined;
  try {
    return await startWorker({ folder, unpack: { archive, temporary: unfinishedFolder(folder) } }, unlock);
  } catch (error) {
    if (existsSync(folder)) throw error;
    const text =
      'The database that comes with the hub cannot be used. It is made from nothing, which takes some seconds';
    log.warn(text, { error: errorText(error) });
    return undefined;
  }
}

/** `unlock` is called when the thread of an open database has ended. */
async function startWorker(task: WorkerTask, unlock: () => void): Promise<Connection> {
  const resourceLimits = { maxYoungGenerationSizeMb: databaseLimits.databaseYoungMb };
  const worker = new Worker(workerFile, { workerData: task, execArgv: [], resourceLimits });
  const link = linkTo(worker);
  await link.opened;
  worker.once('exit', unlock);
  let lastTx = 0;
  let closed: Promise<void> | undefined;

  async function query<T>(sql: string, parameters: readonly Parameter[] = []): Promise<T[]> {
    return (await link.ask({ op: 'query', sql, parameters })) as T[];
  }

  async function close(): Promise<void> {
    await Promise.race([link.end(), sleep(databaseLimits.databaseCloseMs, undefined, { ref: false })]);
    await worker.terminate();
  }

  return {
    kind: 'embedded',
    lost: link.lost,
    query,
    copy: async (into, rows) => void (await link.ask({ op: 'copy', into, rows })),
    async tx(work) {
      lastTx += 1;
      return inTransaction(link, lastTx, work);
    },
    listen: (channel, heard) => link.listen(checkChannel(channel), heard),
    async notify(channel, payload) {
      await query('select pg_notify($1, $2)', [checkChannel(channel), checkPayload(payload)]);
    },
    close: () => (closed ??= close()),
  };
}

async function inTransaction<T>(link: WorkerLink, tx: number, work: (tx: Transaction) => Promise<T>): Promise<T> {
  await link.ask({ op: 'begin', tx });
  try {
    const result = await work({
      query: async <R>(sql: string, parameters: readonly Parameter[] = []) =>
        (await link.ask({ op: 'query', sql, parameters, tx })) as R[],
      script: async (sql) => void (await link.ask({ op: 'script', sql, tx })),
    });
    await link.ask({ op: 'commit', tx });
    return result;
  } catch (error) {
    await link.ask({ op: 'rollback', tx }).catch(() => {});
    throw error;
  }
}

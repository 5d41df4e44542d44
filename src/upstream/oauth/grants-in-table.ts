import { limits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Database } from '../../database/database.ts';
import { reasonOf } from '../../database/failure.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import { createGrantMemory, type GrantKey, type Grants } from './grants.ts';
import type { GrantFile } from './grants-in-file.ts';
import { replaceOnce } from './grant-replacing.ts';
import { grantRows, type GrantRows } from './grant-rows.ts';
import { createGrantSync, grantsChannel } from './grant-sync.ts';
import type { SharedSealer } from '../../database/shared-sealer.ts';

export interface SharedGrantsOptions {
  readonly database: DatabaseHandle;
  readonly sealer: SharedSealer;
  /**
   * A copy on this hub's own disk, so that it can serve while the database is away. One that is no copy is taken over
   * into the table, once.
   */
  readonly file: GrantFile;
  readonly log: Logger;
  /** Called after each change, by whichever hub. */
  readonly changed: () => void;
}

/**
 * Grants that all hubs on one database share: one sign-in counts for all of them, and each token is renewed by one of
 * them.
 */
export async function openSharedGrants({ database, sealer, file, log, changed }: SharedGrantsOptions): Promise<Grants> {
  const kept = await file.load();
  const memory = createGrantMemory(kept.grants, changed);
  const rows = grantRows(sealer, log);
  const toTakeOver = kept.isCopy ? [] : kept.grants;
  const sync = createGrantSync({ database, rows, memory, file, toTakeOver, log });
  let closed = false;

  function notRead(error: unknown): void {
    log.warn('sign-ins not read from the database', { error: reasonOf(error) });
  }

  const replace = replaceOnce({
    database,
    rows,
    inTurn: sync.inTurn,
    async adopted(open, key) {
      await sync.read(open, key);
      return memory.get(key);
    },
    async keep(grant) {
      memory.put(grant);
      await sync.store(grant);
    },
    written: sync.written,
    isClosed: () => closed,
    log,
  });

  const stopWatching = watch(database, rows, {
    heard: (open, key) => void sync.read(open, key).catch(notRead),
    catchUp(open) {
      if (!closed) sync.catchUp(open).catch(notRead);
    },
    isBehind: () => sync.isBehind,
  });
  await database.attempt((open) => sync.catchUp(open));

  return {
    ...memory,
    async set(grant) {
      memory.put(grant);
      await sync.store(grant);
    },
    async delete(key) {
      memory.remove(key);
      await sync.store(key);
    },
    replace,
    async close() {
      closed = true;
      stopWatching();
      await sync.settled();
      await file.close();
    },
  };
}

interface Watcher {
  /** Another hub has written this grant. */
  readonly heard: (open: Database, key: GrantKey) => void;
  /** Something may have been missed. */
  readonly catchUp: (open: Database) => void;
  readonly isBehind: () => boolean;
}

/** Hears of changes, and looks for them too: notifications do not come through every pooler. */
function watch(database: DatabaseHandle, rows: GrantRows, { heard, catchUp, isBehind }: Watcher): () => void {
  const stopHearing = database.listen(grantsChannel, (payload) => {
    const open = database.current();
    const key = payload === undefined ? undefined : keyOf(payload);
    if (!open) return;
    if (key) heard(open, key);
    else catchUp(open);
  });
  const timer = setInterval(() => {
    const open = database.current();
    if (!open) return;
    rows.isChanged(open).then(
      (changed) => (changed || isBehind() ? catchUp(open) : undefined),
      () => undefined,
    );
  }, limits.settingsVersionMs).unref();
  return () => {
    clearInterval(timer);
    stopHearing();
  };
}

/** Text from the database is not trusted: other programs may write to it. */
function keyOf(payload: string): GrantKey | undefined {
  try {
    const parts: unknown = JSON.parse(payload);
    if (!Array.isArray(parts)) return undefined;
    const [server, holder] = parts as unknown[];
    if (typeof server !== 'string') return undefined;
    return typeof holder === 'string' ? { server, holder } : { server };
  } catch {
    return undefined;
  }
}

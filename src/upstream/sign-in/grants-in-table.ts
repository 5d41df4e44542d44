import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { coreLimits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Database } from '../../database/database.ts';
import { reasonOf } from '../../database/failure.ts';
import { databaseLimits } from '../../database/limits.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import type { SharedSealer } from '../../database/shared-sealer.ts';
import { HubError } from '../../core/errors.ts';
import { upstreamLimits } from '../limits.ts';
import { type GrantRow, grantRows, type GrantRows } from './grant-rows.ts';
import type { GrantFile } from './grants-in-file.ts';
import { createGrantMemory, type Grant, grantId, type GrantKey, type GrantMemory, type Grants } from './grants.ts';

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
  }, coreLimits.settingsVersionMs).unref();
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

const grantsChannel = 'oauth_tokens';

interface GrantSyncOptions {
  readonly database: DatabaseHandle;
  readonly rows: GrantRows;
  readonly memory: GrantMemory;
  readonly file: GrantFile;
  /** What the table does not have, unless it has other grants in their place. */
  readonly toTakeOver: readonly Grant[];
  readonly log: Logger;
}

/** Keeps what this hub has in memory, and in the copy on its disk, equal to the table. */
interface GrantSync {
  /** One at a time: what was read before a change was written must not undo it. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Takes what the table has of one grant. Throws what the database throws. */
  read(open: Database, key: GrantKey): Promise<void>;
  /** Writes everything that is not written yet, and reads all. */
  catchUp(open: Database): Promise<void>;
  /** A change of this hub, in memory already. What cannot be written is as soon as it can. */
  store(key: GrantKey): Promise<void>;
  /** This hub has written the grant already. */
  readonly written: (open: Database, grant: Grant) => Promise<void>;
  readonly isBehind: boolean;
  /** Waits for what is under way. */
  settled(): Promise<void>;
}

function createGrantSync({ database, rows, memory, file, log, ...options }: GrantSyncOptions): GrantSync {
  let { toTakeOver } = options;
  /** Changes of this hub that the table does not have yet. */
  const unwritten = new Map<string, GrantKey>();
  let last: Promise<unknown> = Promise.resolve();

  const saveCopy = () => file.save(() => ({ grants: memory.all(), isCopy: true }));

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = last.then(work, work);
    last = run.catch(() => undefined);
    return run;
  }

  async function write(open: Database): Promise<void> {
    for (const [id, key] of unwritten) {
      const grant = memory.get(key);
      if (grant) await rows.put(open, grant);
      else await rows.remove(open, key);
      if (memory.get(key) === grant) unwritten.delete(id);
      await tell(open, id);
    }
  }

  async function read(open: Database, key?: GrantKey): Promise<void> {
    const found = await rows.read(open, key);
    const present = new Set(found.map(({ id }) => id));
    for (const row of found) take(row);
    for (const known of key ? [key] : memory.all())
      if (!present.has(grantId(known)) && !unwritten.has(grantId(known))) memory.remove(known);
    await saveCopy();
  }

  function take({ id, key, grant, isNew }: GrantRow): void {
    if (unwritten.has(id)) return;
    if (grant === undefined) memory.remove(key);
    else if (isNew || memory.get(key) === undefined) memory.put(grant);
  }

  return {
    inTurn,
    read: (open, key) => inTurn(() => read(open, key)),
    catchUp: (open) =>
      inTurn(async () => {
        for (const grant of toTakeOver) await rows.insert(open, grant);
        toTakeOver = [];
        await write(open);
        await read(open);
      }),
    async store(key) {
      unwritten.set(grantId(key), key);
      try {
        await inTurn(async () => write(await database.whenReady(0)));
      } catch (error) {
        log.warn('sign-in not written to the database; tried again when it is back', { error: reasonOf(error) });
      }
      await saveCopy();
    },
    async written(open, grant) {
      memory.put(grant);
      await saveCopy();
      await tell(open, grantId(grant));
    },
    get isBehind() {
      return unwritten.size > 0 || toTakeOver.length > 0;
    },
    async settled() {
      await last;
    },
  };
}

/** Says which grant changed; a name too long to be sent means: look at all. */
async function tell(open: Database, id: string): Promise<void> {
  await open.notify(grantsChannel, Buffer.byteLength(id) < databaseLimits.notifyBytes ? id : '');
}

interface ReplacingOptions {
  readonly database: DatabaseHandle;
  readonly rows: GrantRows;
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Takes over what the table has, and gives it. */
  readonly adopted: (open: Database, key: GrantKey) => Promise<Grant | undefined>;
  /** Keeps what could not be written until it can. */
  readonly keep: (grant: Grant) => Promise<void>;
  /** It is in the table. */
  readonly written: (open: Database, grant: Grant) => Promise<void>;
  readonly isClosed: () => boolean;
  readonly log: Logger;
}

/**
 * `Grants.replace` for hubs that share a table. A claim in the row, not a lock, keeps the others away: the answer of a
 * stranger's server is waited for meanwhile, and no connection to the database may hang on that. A hub that dies with a
 * claim delays the others by `upstreamLimits.tokenClaimMs`.
 */
function replaceOnce(options: ReplacingOptions): Grants['replace'] {
  const { database, rows, inTurn, adopted, log } = options;

  async function replaced(open: Database, old: Grant, by: string, work: (old: Grant) => Promise<Grant>) {
    let next: Grant;
    try {
      next = await work(old);
    } catch (error) {
      await rows.release(open, old, by).catch(() => undefined);
      throw error;
    }
    try {
      // Meanwhile a user signed in again or signed out, at this or another hub: that counts.
      if (!(await inTurn(() => rows.finish(open, next, by)))) return await adopted(open, old);
      await options.written(open, next);
    } catch (error) {
      // The old tokens are used up: these must not be lost with the database.
      log.warn('renewed sign-in not written to the database', { error: reasonOf(error) });
      await options.keep(next);
    }
    return next;
  }

  return async (old, work) => {
    const open = await database.whenReady(upstreamLimits.tokenRetryMs);
    await inTurn(() => rows.insert(open, old));
    const by = randomUUID();
    const end = Date.now() + upstreamLimits.tokenClaimMs;
    const isStill = (found: Grant | undefined) => found?.tokens?.refresh === old.tokens?.refresh;
    while (Date.now() < end && !options.isClosed()) {
      const claimed = await rows.claim(open, old, by);
      if (claimed === 'gone') return adopted(open, old);
      if (claimed !== 'taken') {
        if (claimed && isStill(claimed)) return replaced(open, claimed, by, work);
        // Another hub was faster, or it is sealed with a secret this hub does not have.
        await rows.release(open, old, by);
        return adopted(open, old);
      }
      if (!isStill(await rows.current(open, old))) return adopted(open, old);
      await sleep(upstreamLimits.tokenClaimPollMs);
    }
    throw new HubError('timeout', `Another hub is renewing the sign-in to server "${old.server}". Try again.`);
  };
}

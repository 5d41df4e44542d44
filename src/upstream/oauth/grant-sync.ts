import type { Logger } from '../../core/logger.ts';
import { limits } from '../../core/limits.ts';
import type { Database } from '../../database/database.ts';
import { reasonOf } from '../../database/failure.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import { type Grant, grantId, type GrantKey, type GrantMemory } from './grants.ts';
import type { GrantFile } from './grants-in-file.ts';
import type { GrantRow, GrantRows } from './grant-rows.ts';

export const grantsChannel = 'oauth_tokens';

export interface GrantSyncOptions {
  readonly database: DatabaseHandle;
  readonly rows: GrantRows;
  readonly memory: GrantMemory;
  readonly file: GrantFile;
  /** What the table does not have, unless it has other grants in their place. */
  readonly toTakeOver: readonly Grant[];
  readonly log: Logger;
}

/** Keeps what this hub has in memory, and in the copy on its disk, equal to the table. */
export interface GrantSync {
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

export function createGrantSync({ database, rows, memory, file, log, ...options }: GrantSyncOptions): GrantSync {
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
  await open.notify(grantsChannel, Buffer.byteLength(id) < limits.notifyBytes ? id : '');
}

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { HubError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Database } from '../../database/database.ts';
import { reasonOf } from '../../database/failure.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import type { Grant, GrantKey, Grants } from './grants.ts';
import type { GrantRows } from './grant-rows.ts';

export interface ReplacingOptions {
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
 * claim delays the others by `limits.tokenClaimMs`.
 */
export function replaceOnce(options: ReplacingOptions): Grants['replace'] {
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
    const open = await database.whenReady(limits.tokenRetryMs);
    await inTurn(() => rows.insert(open, old));
    const by = randomUUID();
    const end = Date.now() + limits.tokenClaimMs;
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
      await sleep(limits.tokenClaimPollMs);
    }
    throw new HubError('timeout', `Another hub is renewing the sign-in to server "${old.server}". Try again.`);
  };
}

import { limits } from '../../core/limits.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import { type Attempt, type Attempts, hashOf } from './attempts.ts';
import type { SharedSealer } from '../../database/shared-sealer.ts';

/** Sign-ins under way in the database that hubs share: the answer may come to any of them, and works at one of them. */
export function sharedAttempts(database: DatabaseHandle, sealer: SharedSealer): Attempts {
  return {
    async add(state, attempt) {
      const open = await database.whenReady(limits.tokenRetryMs);
      const text = (await sealer(open)).seal(JSON.stringify({ ...attempt, state }));
      const { server, by } = attempt;
      await open.tx(async (tx) => {
        await tx.query('delete from toolhub.sign_ins where expires_at <= now()');
        await tx.query(
          `delete from toolhub.sign_ins where state_hash in (
             select state_hash from toolhub.sign_ins where server = $1 and username = $2 order by expires_at desc offset $3)`,
          [server, by, limits.signInsPerServer - 1],
        );
        await tx.query(
          `delete from toolhub.sign_ins where state_hash in (
             select state_hash from toolhub.sign_ins order by expires_at desc offset $1)`,
          [limits.signIns - 1],
        );
        await tx.query(
          `insert into toolhub.sign_ins (state_hash, server, username, ciphertext, expires_at)
           values ($1, $2, $3, $4, now() + $5 * interval '1 millisecond')`,
          [hashOf(state), server, by, Buffer.from(text, 'base64url'), limits.signInMs],
        );
      });
    },
    async take(state) {
      const open = await database.whenReady(limits.tokenRetryMs);
      const [row] = await open.query<{ ciphertext: Uint8Array; is_live: boolean }>(
        'delete from toolhub.sign_ins where state_hash = $1 returning ciphertext, expires_at > now() as is_live',
        [hashOf(state)],
      );
      if (row?.is_live !== true) return undefined;
      const text = (await sealer(open)).open(Buffer.from(row.ciphertext).toString('base64url'));
      const found = text === undefined ? undefined : (JSON.parse(text) as Attempt & { state: string });
      // A row that was copied over another one is none.
      return found?.state === state ? found : undefined;
    },
  };
}

import { HubError } from '../../core/errors.ts';
import type { Queryable } from '../../database/database.ts';
import type { SharedSealer } from '../../database/shared-sealer.ts';
import type { Sealer } from '../../core/seal.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import { authLimits } from '../limits.ts';
import { type FactorRecord, type FactorStore, parsedRecord, unreadable } from './factor-store.ts';

/** Second factors in the database that hubs share: a code counts at one of them alone. */
export function factorsInTable(database: Pick<DatabaseHandle, 'whenReady'>, sealer: SharedSealer): FactorStore {
  const open = () => database.whenReady(authLimits.sessionWaitMs);

  async function read(from: Queryable, own: Sealer, username: string): Promise<FactorRecord | undefined> {
    const [row] = await from.query<{ ciphertext: Uint8Array }>(
      'select ciphertext from toolhub.second_factors where username = $1',
      [username],
    );
    if (!row) return undefined;
    const record = parsedRecord(own.open(Buffer.from(row.ciphertext).toString('base64url')), username);
    if (!record) throw new HubError('misconfigured', unreadable(username));
    return record;
  }

  return {
    async get(username) {
      const from = await open();
      return read(from, await sealer(from), username);
    },
    async change(username, edit) {
      const to = await open();
      const own = await sealer(to);
      return to.tx(async (tx) => {
        // There may be no row yet to lock.
        await tx.query(`select pg_advisory_xact_lock(hashtextextended('toolhub second factor ' || $1, 0))`, [username]);
        const before = await read(tx, own, username);
        const { record, result } = edit(before);
        if (record === before) return result;
        if (record) {
          await tx.query(
            `insert into toolhub.second_factors (username, ciphertext) values ($1, $2)
             on conflict (username) do update set ciphertext = excluded.ciphertext, updated_at = now()`,
            [username, Buffer.from(own.seal(JSON.stringify(record)), 'base64url')],
          );
        } else await tx.query('delete from toolhub.second_factors where username = $1', [username]);
        return result;
      });
    },
    async remove(username) {
      const rows = await (
        await open()
      ).query('delete from toolhub.second_factors where username = $1 returning username', [username]);
      return rows.length > 0;
    },
    async usernames() {
      const rows = await (await open()).query<{ username: string }>('select username from toolhub.second_factors');
      return new Set(rows.map(({ username }) => username));
    },
  };
}

import type { DatabaseHandle } from '../../database/supervise.ts';
import { authLimits } from '../limits.ts';
import { type Consent, type Consents, rotated } from './consents.ts';

/** Consents in the database that hubs share; its clock counts. */
export function consentsInTable(database: Pick<DatabaseHandle, 'whenReady'>): Consents {
  const open = () => database.whenReady(authLimits.consentWaitMs);

  async function endWhere(condition: 'id' | 'username', value: string): Promise<Consent[]> {
    const rows = await (
      await open()
    ).query<Row>(`update toolhub.consents set ended_at = now() where ${condition} = $1 and ${live} returning content`, [
      value,
    ]);
    return rows.map(({ content }) => content);
  }

  return {
    async add(consent) {
      return (await open()).tx(async (tx) => {
        const { id, username, client } = consent;
        const added = await tx.query(
          `insert into toolhub.consents (id, username, client, content) values ($1, $2, $3, $4::jsonb)
           on conflict (id) do nothing returning id`,
          [id, username, client, JSON.stringify(consent)],
        );
        await tx.query(`delete from toolhub.consents where used_at < now() - $1 * interval '1 millisecond'`, [
          authLimits.consentIdleMs,
        ]);
        const pushedOut = await tx.query<Row & { ended_at: Date | null }>(
          `delete from toolhub.consents where id in (
             select id from toolhub.consents where username = $1 order by used_at desc offset $2)
           returning content, ended_at`,
          [username, authLimits.consentsPerUser],
        );
        if (added.length === 0) return undefined;
        return pushedOut.filter((one) => one.ended_at === null).map(({ content }) => content);
      });
    },
    async rotate(id, generation) {
      return (await open()).tx(async (tx) => {
        const [row] = await tx.query<Row & { at: string }>(
          `select content, (extract(epoch from clock_timestamp()) * 1000)::bigint::text as at
           from toolhub.consents where id = $1 and ${live} for update`,
          [id],
        );
        if (!row) return { kind: 'unknown' };
        const rotation = rotated(row.content, generation, Number(row.at));
        if (rotation.kind === 'good' && rotation.consent !== row.content)
          await tx.query('update toolhub.consents set content = $2::jsonb, used_at = now() where id = $1', [
            id,
            JSON.stringify(rotation.consent),
          ]);
        return rotation;
      });
    },
    async all() {
      const rows = await (await open()).query<Row>(`select content from toolhub.consents where ${live}`);
      return rows.map(({ content }) => content).toSorted((a, b) => b.createdAt - a.createdAt);
    },
    end: async (id) => (await endWhere('id', id))[0],
    endUser: (username) => endWhere('username', username),
    async knows(client) {
      const rows = await (await open()).query('select id from toolhub.consents where client = $1 limit 1', [client]);
      return rows.length > 0;
    },
    close: () => Promise.resolve(),
  };
}

interface Row {
  readonly content: Consent;
}

const live = `ended_at is null and used_at > now() - ${authLimits.consentIdleMs} * interval '1 millisecond'`;

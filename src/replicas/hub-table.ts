import type { HubId } from '../core/hub-id.ts';
import type { Queryable } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { replicaLimits } from './limits.ts';

/** A hub that uses the database now, as it says itself. */
export interface HubRow {
  readonly id: HubId;
  /** Where it may be reached; none of them is proven. */
  readonly urls: readonly string[];
  /** `secretHash` of its secret. */
  readonly secretHash: string;
  readonly version: string;
  /** Whether it has said so within `replicaLimits.goneMs`. */
  readonly isThere: boolean;
}

/** The table in which hubs on one database find each other. */
export interface HubTable {
  /** Says that this hub is there, and gives all that are. Undefined while the database is away. */
  beat(): Promise<readonly HubRow[] | undefined>;
  /** This hub leaves. */
  leave(): Promise<void>;
}

/** The channel on which hubs say that one has come or gone. */
export const hubsChannel = 'hubs';

export function hubTable(database: Pick<DatabaseHandle, 'attempt'>, own: Omit<HubRow, 'isThere'>): HubTable {
  const { id, urls, secretHash, version } = own;
  let isKnown = false;
  return {
    beat: () =>
      database.attempt(async (open) => {
        await open.query(put, [id, [...urls], secretHash, version]);
        if (!isKnown) {
          await open.query(removeOld, [replicaLimits.rowMs / 1_000]);
          await open.notify(hubsChannel, id);
          isKnown = true;
        }
        const rows = await open.query<Row>(all, [replicaLimits.goneMs / 1_000, replicaLimits.hubs]);
        return rows.map(({ id, urls, secret_hash, version, is_there }) => ({
          id,
          urls: urls.slice(0, replicaLimits.urls),
          secretHash: secret_hash,
          version,
          isThere: is_there,
        }));
      }),
    async leave() {
      await database.attempt(async (open) => {
        await open.query('delete from toolhub.hubs where id = $1', [id]);
        await open.notify(hubsChannel, id);
      }, replicaLimits.goodbyeMs);
    },
  };
}

/** The hubs that are there now, for a look from outside. None where the table is not there yet. */
export async function otherHubs(open: Queryable): Promise<Pick<HubRow, 'id' | 'secretHash'>[]> {
  const [found] = await open.query<{ there: boolean }>(`select to_regclass('toolhub.hubs') is not null as there`);
  if (found?.there !== true) return [];
  const rows = await open.query<Row>(all, [replicaLimits.goneMs / 1_000, replicaLimits.hubs]);
  return rows.filter((row) => row.is_there).map(({ id, secret_hash }) => ({ id, secretHash: secret_hash }));
}

interface Row {
  readonly id: string;
  readonly urls: string[];
  readonly secret_hash: string;
  readonly version: string;
  readonly is_there: boolean;
}

const put = `insert into toolhub.hubs (id, urls, secret_hash, version) values ($1, $2::text[], $3, $4)
  on conflict (id) do update set seen_at = now()`;

const removeOld = 'delete from toolhub.hubs where seen_at < now() - make_interval(secs => $1)';

const all = `select id, urls, secret_hash, version, seen_at > now() - make_interval(secs => $1) as is_there
  from toolhub.hubs order by seen_at desc limit $2`;

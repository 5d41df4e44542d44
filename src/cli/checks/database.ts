import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Connection } from '../../database/database.ts';
import { reasonOf, refusedForGood } from '../../database/failure.ts';
import { refuseNewer } from '../../database/migrate.ts';
import { openConnection } from '../../database/open.ts';
import type { DatabaseChoice } from '../../env/values.ts';
import { otherHubs } from '../../replicas/hub-table.ts';
import { secretHash } from '../../replicas/pass.ts';
import { differentSecrets } from '../../replicas/peers.ts';
import type { Check } from './check.ts';

export interface DatabaseNeeds {
  readonly database: DatabaseChoice;
  readonly jwtSecret: string | undefined;
  readonly dataDir: string;
  readonly log: Logger;
}

/**
 * The PostgreSQL of `DB_URL`: whether it is there, whether this version can use it, and whether the hubs on it have one
 * secret. Nothing is written; none where the hub has a database of its own.
 */
export async function checkDatabase(needs: DatabaseNeeds): Promise<Check[]> {
  const { database, dataDir, log } = needs;
  if (database.kind !== 'postgres') return [];
  const name = 'database';
  let open: Connection | undefined;
  try {
    open = await openConnection({ url: database.url, dataDir, log });
    return [{ name, status: 'ok', detail: await stateOf(open) }, ...(await checkSecrets(open, needs))];
  } catch (error) {
    const refused = refusedForGood(error);
    if (refused) return [{ name, status: 'fail', detail: refused.message }];
    const detail = `the PostgreSQL of DB_URL cannot be used now: ${error instanceof HubError ? reasonOf(error) : errorText(error)}`;
    return [{ name, status: 'fail', detail, fix: 'Start it, or correct DB_URL. The hub waits for it.' }];
  } finally {
    await open?.close();
  }
}

/** Throws HubError `misconfigured` for one that a newer hub has changed. */
async function stateOf(open: Connection): Promise<string> {
  const [found] = await open.query<{ there: boolean }>(`select to_regclass('toolhub.migrations') is not null as there`);
  if (found?.there !== true) return 'PostgreSQL answers; its tables will be made at the first start';
  refuseNewer(await open.query<{ number: number }>('select number from toolhub.migrations'));
  return 'PostgreSQL answers, and this version can use its tables';
}

/** The secret as the hub of this folder has it; a hub that has none yet makes one of its own. */
async function checkSecrets(open: Connection, { jwtSecret, dataDir }: DatabaseNeeds): Promise<Check[]> {
  const others = await otherHubs(open);
  if (others.length === 0) return [];
  const own = jwtSecret ?? (await readFile(join(dataDir, 'jwt.secret'), 'utf8').catch(() => '')).trim();
  const hash = own === '' ? undefined : secretHash(own);
  const strangers = others.filter(({ secretHash }) => secretHash !== hash);
  const hubs = `${others.length} ${others.length === 1 ? 'hub uses' : 'hubs use'} it now`;
  if (strangers.length === 0) return [{ name: 'hubs', status: 'ok', detail: `${hubs}, all with one JWT_SECRET` }];
  const fix = 'Set JWT_SECRET to the same text for each, and start those again that had another.';
  return [{ name: 'hubs', status: 'fail', detail: `${hubs}. ${differentSecrets}`, fix }];
}

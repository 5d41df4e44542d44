import { errorText, HubError } from '../core/errors.ts';
import { coreLimits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { Database } from '../database/database.ts';
import { reasonOf } from '../database/failure.ts';
import { databaseLimits } from '../database/limits.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { authLimits } from './limits.ts';
import { readRevocations, type RevocationState, type RevocationStore } from './revocations.ts';

export interface RevocationTableOptions {
  readonly database: Pick<DatabaseHandle, 'whenReady' | 'attempt'>;
  /** What this hub knows, on its own disk: tokens stay ended when it starts while the database is away. */
  readonly copy: RevocationStore;
  readonly log: Logger;
}

const channel = 'revocations';

/**
 * Keeps revocations in the database. `save` throws HubError `not_ready` when they cannot be written there: then they
 * hold in this hub and reach the others when the database is back (`load`), or when `save` is tried again: a database
 * that refuses a write while its connection stays is not read again.
 */
export function revocationTable({ database, copy, log }: RevocationTableOptions): RevocationStore {
  /** What this hub may know and the table not: at first what an earlier run knew, later what could not be written. */
  let unwritten: Promise<readonly Row[]> = copy.load().then((copied) => rowsOf(readRevocations(copied)));
  /** What the table is known to have: `until` by user and token. */
  let stored = new Map<string, number>();
  /** A failure is said once, and again after a write has succeeded. */
  let isCopyFailing = false;
  let isTableFailing = false;
  const isNew = (row: Row): boolean => isLive(row) && (stored.get(keyOf(row)) ?? 0) < row.until;

  async function write(open: Database, rows: readonly Row[]): Promise<void> {
    const fresh = rows.filter(isNew);
    if (fresh.length === 0) return;
    await open.tx(async (tx) => {
      await tx.query(insert, [
        fresh.map(({ username }) => username),
        fresh.map(({ jti }) => jti),
        fresh.map(({ until }) => String(until)),
      ]);
      await tx.query(removeExpired, [String(expiredBefore()), String(expiredBefore() - authLimits.accessTokenMs)]);
      await tx.query('select pg_notify($1, $2)', [channel, '']);
    });
    isTableFailing = false;
    for (const row of fresh) stored.set(keyOf(row), row.until);
  }

  async function readTable(open: Database): Promise<Row[]> {
    const rows = await open.query<{ username: string; jti: string; until_ms: string }>(
      'select username, jti, until_ms from toolhub.revocations',
    );
    const found = rows.map(({ username, jti, until_ms }) => ({ username, jti, until: Number(until_ms) }));
    if (found.some(isNew)) await saveCopy(stateOf(newest([...found, ...(await unwritten)])));
    stored = new Map(found.map((row) => [keyOf(row), row.until]));
    return found;
  }

  /** Never rejects: the other hubs must hear of it even if the disk of this one is full. */
  async function saveCopy(state: RevocationState): Promise<void> {
    try {
      await copy.save(state);
      isCopyFailing = false;
    } catch (error) {
      if (!isCopyFailing) log.warn('Ended access tokens not copied to the data folder', { error: errorText(error) });
      isCopyFailing = true;
    }
  }

  return {
    async load() {
      const pending = unwritten;
      const mine = await pending;
      let found: readonly Row[] = [];
      await database.attempt(async (open) => {
        // What was read holds here, whether or not the database can be written to.
        found = await readTable(open);
        await write(open, mine);
        if (unwritten === pending) unwritten = Promise.resolve([]);
      });
      return stateOf([...mine, ...found]);
    },
    async save(state) {
      await saveCopy(state);
      const rows = rowsOf(state);
      const pending = (unwritten = Promise.resolve(rows));
      try {
        await write(await database.whenReady(0), rows);
      } catch (error) {
        if (!isTableFailing)
          log.warn('Ended access tokens not written to the database; tried again later', { error: reasonOf(error) });
        isTableFailing = true;
        throw notShared();
      }
      if (unwritten === pending) unwritten = Promise.resolve([]);
    },
  };
}

/**
 * Calls `changed` when another hub has ended tokens, or may have while the database was away: it hears of changes, and
 * looks for them too, since notifications do not come through every pooler. Returns how to end it.
 */
export function watchRevocations(database: DatabaseHandle, log: Logger, changed: () => Promise<void>): () => void {
  let seen: string | undefined;
  const tell = (): void => {
    changed().catch((error: unknown) => log.warn('Ended access tokens not read', { error: reasonOf(error) }));
  };
  const stopHearing = database.listen(channel, tell);
  const timer = setInterval(() => {
    void database.tryQuery<{ content: string }>(summary).then((rows) => {
      const content = rows?.[0]?.content;
      if (content === undefined || content === seen) return;
      seen = content;
      tell();
    });
  }, coreLimits.settingsVersionMs).unref();
  return () => {
    clearInterval(timer);
    stopHearing();
  };
}

/** A token, or with an empty `jti` all that were issued until then. */
interface Row {
  readonly username: string;
  readonly jti: string;
  readonly until: number;
}

function rowsOf(state: RevocationState): Row[] {
  return state.flatMap(({ username, before, ids }) => [
    ...(before > 0 ? [{ username, jti: '', until: before }] : []),
    ...ids.map(([jti, until]) => ({ username, jti, until })),
  ]);
}

function stateOf(rows: readonly Row[]): RevocationState {
  return rows.map(({ username, jti, until }) =>
    jti === '' ? { username, before: until, ids: [] } : { username, before: 0, ids: [[jti, until] as const] },
  );
}

/** One row for each key, as the table has it: a statement may not change a row twice. */
function newest(rows: readonly Row[]): Row[] {
  const byKey = new Map<string, Row>();
  for (const row of rows) {
    const key = keyOf(row);
    if ((byKey.get(key)?.until ?? 0) < row.until) byKey.set(key, row);
  }
  return [...byKey.values()];
}

function keyOf({ username, jti }: Row): string {
  return JSON.stringify([username, jti]);
}

/** Tokens that expired before then are refused for that alone. */
function expiredBefore(): number {
  return Date.now() - authLimits.clockToleranceMs;
}

function isLive({ jti, until }: Row): boolean {
  return (jti === '' ? until + authLimits.accessTokenMs : until) > expiredBefore();
}

const insert = `insert into toolhub.revocations (username, jti, until_ms)
  select * from unnest($1::text[], $2::text[], $3::bigint[])
  on conflict (username, jti) do update set until_ms = greatest(toolhub.revocations.until_ms, excluded.until_ms)`;

const removeExpired = `delete from toolhub.revocations
  where (jti <> '' and until_ms <= $1::bigint) or (jti = '' and until_ms <= $2::bigint)`;

const summary = `select count(*)::text || ' ' || coalesce(sum(until_ms), 0)::text as content from toolhub.revocations`;

function notShared(): HubError {
  const message =
    'This hub ended the access token, but cannot tell the others: the database cannot be reached right now.';
  return new HubError('not_ready', message, { retryAfterMs: databaseLimits.databaseRetryMaxMs });
}

import type { AuditRecord } from '../../core/audit.ts';
import { byHub } from '../../core/audit.ts';
import type { Database, Queryable, Transaction } from '../../database/database.ts';
import { createSqlConditions } from '../sql-conditions.ts';
import { canonicalJson, chained, chainStart, expired, expiring } from './chain.ts';
import { type KeptEvent, keptEvent } from './event.ts';
import { auditLimits } from './limits.ts';

/** The newest record, as an admin may publish it. */
export type Head = Pick<AuditRecord, 'id' | 'hash'> & { readonly time: string | null };

/** Any number, the same in all hubs: who holds this lock writes the next records. */
const lockKey = 7_046_202;

/** Puts events at the end of the chain; ones that are there already stay as they are. Gives the records made. */
export async function appendEvents(
  database: Pick<Database, 'tx'>,
  events: readonly KeptEvent[],
): Promise<AuditRecord[]> {
  return database.tx(async (tx) => {
    await lock(tx);
    const known = await tx.query<{ event: string }>('select event from toolhub.audit where event = any($1::uuid[])', [
      events.map(({ event }) => event),
    ]);
    const there = new Set(known.map(({ event }) => event));
    return append(
      tx,
      events.filter(({ event }) => !there.has(event)),
    );
  });
}

async function lock(tx: Transaction): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [lockKey]);
}

async function append(tx: Transaction, events: readonly KeptEvent[]): Promise<AuditRecord[]> {
  let last: Pick<AuditRecord, 'id' | 'hash'> = await selectHead(tx);
  const records = events.map(({ record }) => (last = chained(record, last)) as AuditRecord);
  if (records.length === 0) return [];
  await tx.query(
    `insert into toolhub.audit (id, event, at, actor, action, target, record)
     select * from unnest($1::bigint[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[])`,
    [
      records.map(({ id }) => String(id)),
      events.map(({ event }) => event),
      records.map(({ time }) => time),
      records.map(({ actor }) => actor.name),
      records.map(({ action }) => action),
      records.map(({ target }) => target),
      records.map((record) => canonicalJson(record)),
    ],
  );
  return records;
}

export async function selectHead(database: Queryable): Promise<Head> {
  const [row] = await database.query<{ record: string }>('select record from toolhub.audit order by id desc limit 1');
  if (!row) return { id: 0, hash: chainStart, time: null };
  const { id, hash, time } = JSON.parse(row.record) as AuditRecord;
  return { id, hash, time };
}

export interface AuditListing {
  /** Part of the action or target, and the whole name of the actor. */
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly actor?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly limit: number;
  /** Only records with a lower id. */
  readonly before?: number | undefined;
}

/** Newest first. */
export async function selectRecords(database: Queryable, listing: AuditListing): Promise<AuditRecord[]> {
  const { action, target, actor, since, until, limit, before } = listing;
  const where = createSqlConditions();
  if (action !== undefined) where.and('position(lower(?) in lower(action)) > 0', action);
  if (target !== undefined) where.and('position(lower(?) in lower(target)) > 0', target);
  if (actor !== undefined) where.and('actor = ?', actor);
  if (since !== undefined) where.and('at >= ?', since);
  if (until !== undefined) where.and('at <= ?', until);
  if (before !== undefined) where.and('id < ?::bigint', String(before));
  const rows = await database.query<{ record: string }>(
    `select record from toolhub.audit ${where.text()} order by id desc limit ${where.value(limit)}::int`,
    where.values,
  );
  return rows.map(({ record }) => JSON.parse(record) as AuditRecord);
}

/** The texts of records after one id and up to another, oldest first, a page at a time. */
export async function* readRecords(
  database: () => Promise<Queryable>,
  upTo = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<readonly string[]> {
  for (let after = 0; ;) {
    const rows = await (
      await database()
    ).query<{ id: string; record: string }>(
      'select id, record from toolhub.audit where id > $1::bigint and id <= $2::bigint order by id limit $3::int',
      [String(after), String(upTo), auditLimits.auditReadRows],
    );
    if (rows.length > 0) yield rows.map(({ record }) => record);
    if (rows.length < auditLimits.auditReadRows) return;
    after = Number(rows.at(-1)?.id);
  }
}

/**
 * Removes what is older than `before`, but never the newest record, and adds one that says where the chain goes on.
 * Before that it is announced, in a record too: `now` may be of a clock that was set wrong, and there is a day to see
 * it. Gives the records made.
 */
export async function expireRecords(database: Database, before: Date, now: Date): Promise<AuditRecord[]> {
  const [old] = await database.query('select 1 from toolhub.audit where at < $1 limit 1', [before]);
  if (!old) return [];
  return database.tx(async (tx) => {
    await lock(tx);
    const announced = await announcement(tx, now);
    if (announced === 'waits') return [];
    if (announced === 'none') {
      const target = `records before ${before.toISOString()}`;
      return append(tx, [keptEvent({ ...byHub, action: expiring, target }, 1, now, (text) => text)]);
    }
    const [gone] = await tx.query<{ id: string; record: string }>(
      `select id, record from toolhub.audit where id = least(
         (select min(id) from toolhub.audit) + $2::int - 1,
         coalesce((select min(id) from toolhub.audit where at >= $1), (select max(id) from toolhub.audit)) - 1)`,
      [before, auditLimits.auditExpireRows],
    );
    if (!gone) return [];
    const { id, hash } = JSON.parse(gone.record) as AuditRecord;
    const event = { ...byHub, action: expired, target: `records up to ${id}`, after: { id, hash } };
    await tx.query('delete from toolhub.audit where id <= $1::bigint', [gone.id]);
    return append(tx, [keptEvent(event, 1, now, (text) => text)]);
  });
}

/** Whether it was announced a day ago, or a few, by the same clock; `waits`: since then no day has passed. */
async function announcement(tx: Transaction, now: Date): Promise<'due' | 'waits' | 'none'> {
  const { auditAnnouncedLeastMs: least, auditAnnouncedMostMs: most } = auditLimits;
  const rows = await tx.query<{ at: Date | string }>(
    'select min(at) as at from toolhub.audit where action = $1 and at between $2 and $3 having count(*) > 0',
    [expiring, new Date(now.getTime() - most), now],
  );
  const [first] = rows;
  if (!first) return 'none';
  return now.getTime() - new Date(first.at).getTime() >= least ? 'due' : 'waits';
}

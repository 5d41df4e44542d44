import { randomUUID } from 'node:crypto';
import type { Counted } from '../core/access/decision.ts';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { CallLimits } from '../core/settings/governance.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import {
  type CallCounts,
  isUsed,
  onlyRunning,
  type Refused,
  refusedAt,
  type Round,
  type Taken,
  waitMs,
} from './call-counts.ts';
import { governanceLimits } from './limits.ts';

/**
 * Counts that hubs on one database share: a limit is one limit, at all of them together. While the database is away
 * each hub counts by itself (`alone`). `close` ends what this hub has running.
 */
export function sharedCallCounts(
  database: DatabaseHandle,
  alone: CallCounts,
  log: Logger,
): CallCounts & { close(): void } {
  const hub = randomUUID();
  /** Rounds that this hub has let pass, as many as it would remember without a database. */
  const passed = new Map<string, Round>();
  /** What this hub has running, by count and caller. */
  const running = new Map<string, number>();
  let isAlone = false;

  async function shared<T>(work: (database: Database) => Promise<T>, otherwise: () => T | Promise<T>): Promise<T> {
    try {
      const result = await work(await database.whenReady(governanceLimits.sharedCountMs));
      if (isAlone) log.info('Calls are counted together with the other hubs again.');
      isAlone = false;
      return result;
    } catch (error) {
      if (!isAlone) log.warn('The database is away: this hub counts calls by itself.', { error: errorText(error) });
      isAlone = true;
      return otherwise();
    }
  }

  function note(one: Counted, calls: 1 | -1): void {
    const key = placeOf(one);
    const now = (running.get(key) ?? 0) + calls;
    if (now === 0) running.delete(key);
    else running.set(key, now);
  }

  const attempt = attempting(database);
  const stopBeats = beating(attempt, hub, running);

  return {
    look: (counted) =>
      shared(
        (open) => open.tx((tx) => refusal(tx, counted)),
        () => alone.look(counted),
      ),
    async take(given, round): Promise<Taken> {
      return shared<Taken>(
        async (open) => {
          const refused = await open.tx(async (tx) => {
            // In one order, so that two calls never wait for each other.
            for (const id of given.map((one) => one.id).sort())
              await tx.query('select pg_advisory_xact_lock(hashtext($1))', [`limit ${id}`]);
            // Where no call is counted, none can be counted twice.
            const isCounted = given.some(
              ({ limits }) => limits.callsPerMinute !== undefined || limits.callsPerDay !== undefined,
            );
            const isNew =
              !round || (isCounted && (isUsed(passed, round, Date.now()) || (await isUsedAnywhere(tx, round))));
            const asked = isNew ? given : given.map(onlyRunning);
            const found = await refusal(tx, asked);
            if (!found) await count(tx, asked, { hub, isNew });
            else if (found.waitsFor) await noteWaiting(tx, found.waitsFor, found.retryAfterMs, hub);
            if (!found && !isNew && isCounted) {
              await use(tx, round);
              passed.set(round.use, round);
            }
            return found;
          });
          if (refused) return refused;
          for (const one of given) note(one, 1);
          let isOver = false;
          const release = (): void => {
            if (isOver) return;
            isOver = true;
            for (const one of given) {
              note(one, -1);
              attempt(
                'update toolhub.call_running set calls = greatest(0, calls - 1) where id = $1 and caller = $2 and hub = $3',
                [one.id, one.caller ?? '', hub],
              );
            }
          };
          return { kind: 'taken', release };
        },
        // What was used at other hubs is not known then: rounds are counted as calls.
        () => alone.take(given),
      );
    },
    close() {
      stopBeats();
      attempt('delete from toolhub.call_running where hub = $1', [hub]);
    },
  };
}

type Attempt = (sql: string, parameters: (string | number | string[] | number[])[]) => void;

/** What fails is made good by the next beat. */
function attempting(database: DatabaseHandle): Attempt {
  return (sql, parameters) =>
    void database
      .current()
      ?.query(sql, parameters)
      .catch(() => undefined);
}

/**
 * What runs here is said again, and what hubs left behind is cleared, now and then; gives the function that ends it.
 */
function beating(attempt: Attempt, hub: string, running: ReadonlyMap<string, number>): () => void {
  const beat = setInterval(() => {
    const places = [...running].map(([key, calls]) => [...(key.split('\n\n') as [string, string]), calls] as const);
    const ids = places.map(([id]) => id);
    attempt('delete from toolhub.call_running where hub = $1 and calls > 0 and id <> all($2::text[])', [hub, ids]);
    if (places.length === 0) return;
    attempt(
      `insert into toolhub.call_running (id, caller, hub, calls)
       select id, caller, $4::uuid, calls from unnest($1::text[], $2::text[], $3::int[]) as t(id, caller, calls)
       on conflict (id, caller, hub) do update set calls = excluded.calls, seen_at = now()`,
      [ids, places.map(([, caller]) => caller), places.map(([, , calls]) => calls), hub],
    );
  }, governanceLimits.hubSeenMs).unref();
  const clear = setInterval(() => {
    attempt(
      `delete from toolhub.call_counts where (bucket >= 0 and bucket < extract(epoch from now()) - 120)
         or (bucket < 0 and -bucket < floor(extract(epoch from now()) / 86400))`,
      [],
    );
    attempt(`delete from toolhub.call_running where seen_at < now() - interval '10 minutes'`, []);
  }, governanceLimits.clearMs).unref();
  return () => {
    clearInterval(beat);
    clearInterval(clear);
  };
}

function placeOf({ id, caller = '' }: Counted): string {
  return `${id}\n\n${caller}`;
}

/** Under the locks of the counts, so that of two hubs one finds it used. The row goes when the minutes before it do. */
async function isUsedAnywhere(tx: Transaction, { use: id, untilSecond }: Round): Promise<boolean> {
  const rows = await tx.query('select 1 from toolhub.call_counts where id = $1 and bucket = $2', [
    `round ${id}`,
    untilSecond,
  ]);
  return rows.length > 0;
}

async function use(tx: Transaction, { use: id, untilSecond }: Round): Promise<void> {
  await tx.query(`insert into toolhub.call_counts (id, caller, bucket, calls) values ($1, '', $2, 1)`, [
    `round ${id}`,
    untilSecond,
  ]);
}

async function count(
  tx: Transaction,
  counted: readonly Counted[],
  { hub, isNew }: { readonly hub: string; readonly isNew: boolean },
): Promise<void> {
  for (const { id, caller = '' } of counted) {
    if (isNew)
      await tx.query(
        `insert into toolhub.call_counts (id, caller, bucket, calls)
       values ($1, $2, floor(extract(epoch from clock_timestamp())), 1),
              ($1, '', -floor(extract(epoch from clock_timestamp()) / 86400), 1)
       on conflict (id, caller, bucket) do update set calls = toolhub.call_counts.calls + 1`,
        [id, caller],
      );
    await tx.query(
      `insert into toolhub.call_running (id, caller, hub, calls, served_at) values ($1, $2, $3, 1, clock_timestamp())
       on conflict (id, caller, hub) do update
         set calls = toolhub.call_running.calls + 1, seen_at = now(), served_at = clock_timestamp()`,
      [id, caller, hub],
    );
    if (caller !== '')
      await tx.query(
        `update toolhub.call_running set waits_until = null
         where id = $1 and caller = $2 and waits_until is not null`,
        [id, caller],
      );
  }
}

/** A place that gets free, at any hub, is kept for a caller without one until it should have asked again. */
async function noteWaiting(tx: Transaction, { id, caller }: Counted, retryAfterMs: number, hub: string): Promise<void> {
  await tx.query(
    `insert into toolhub.call_running (id, caller, hub, calls, waits_until)
     select $1, $2, $3::uuid, 0, clock_timestamp() + $4::int * interval '1 millisecond'
     where (select count(*) from toolhub.call_running where id = $1) < $5::int
     on conflict (id, caller, hub) do update set seen_at = now(), waits_until = excluded.waits_until`,
    [id, caller ?? '', hub, Math.round(retryAfterMs) + governanceLimits.turnMs, governanceLimits.sharers],
  );
}

/** `waitsFor`: the shared count at which the caller waits for its turn. */
type Denied = Refused & { readonly waitsFor?: Counted };

interface Totals {
  readonly minute: number;
  readonly own: number;
  readonly today: number;
  readonly running: number;
  readonly own_running: number;
  /** How many others want a part. */
  readonly sharers: number;
  /** How many of them wait for a place and come before this one. */
  readonly ahead: number;
  /** Until the oldest call of the minute is out of it. */
  readonly minute_left: number;
  readonly day_left: number;
}

async function refusal(tx: Transaction, counted: readonly Counted[]): Promise<Denied | undefined> {
  let worst: Denied | undefined;
  for (const one of counted) {
    const found = refusedBy(one, await totalsOf(tx, one));
    if (found && (!worst || found.retryAfterMs > worst.retryAfterMs)) worst = found;
  }
  return worst;
}

/** By the database's clock alone: those of hubs may differ. What is later than now was counted before it was set. */
async function totalsOf(tx: Transaction, { id, caller = '' }: Counted): Promise<Totals> {
  const [totals] = await tx.query<Totals>(
    `with now as (select extract(epoch from clock_timestamp()) as s),
     minute as (select caller, bucket, calls from toolhub.call_counts, now
                where id = $1 and bucket > floor(s) - 61 and bucket <= floor(s)),
     live as (select caller, calls from toolhub.call_running
              where id = $1 and calls > 0 and seen_at > now() - ${governanceLimits.hubGoneMs} * interval '1 millisecond'),
     turns as (select caller, coalesce(max(waits_until) > clock_timestamp(), false) as waits,
                 coalesce(max(served_at), '-infinity') as served_at
               from toolhub.call_running where id = $1 group by caller),
     recent as (select caller from live union
       select caller from minute, now where bucket > floor(s) - ${Math.ceil(governanceLimits.shareMs / 1_000)} union
       select caller from turns where waits)
     select coalesce((select sum(calls) from minute), 0)::int as minute,
       coalesce((select sum(calls) from minute where caller = $2), 0)::int as own,
       coalesce((select calls from toolhub.call_counts, now where id = $1 and bucket = -floor(s / 86400)), 0)::int as today,
       coalesce((select sum(calls) from live), 0)::int as running,
       coalesce((select sum(calls) from live where caller = $2), 0)::int as own_running,
       (select count(*) from recent where caller <> $2)::int as sharers,
       (select count(*) from turns where waits and caller <> $2 and caller not in (select caller from live)
          and served_at < coalesce((select served_at from turns where caller = $2), '-infinity'))::int as ahead,
       coalesce((select (min(bucket) + 61 - max(s)) * 1000 from minute, now), 0)::int as minute_left,
       (select (86400 - (s - floor(s / 86400) * 86400)) * 1000 from now)::int as day_left`,
    [id, caller],
  );
  if (!totals) throw new Error('counts not read');
  return totals;
}

function refusedBy(counted: Counted, totals: Totals): Denied | undefined {
  const { limits, caller } = counted;
  const { callsPerMinute, concurrentCalls, callsPerDay } = limits;
  const { minute, own, running, own_running: ownRunning, sharers, ahead } = totals;
  const waitsFor = caller === undefined ? {} : { waitsFor: counted };
  const refuse = (limit: keyof CallLimits, retryAfterMs: number, more: { isShared?: true; waitsFor?: Counted }) =>
    refusedAt(counted, limit, retryAfterMs, more);
  const untilLess = Math.min(60_000, Math.max(1_000, totals.minute_left));
  if (callsPerDay !== undefined && totals.today >= callsPerDay)
    return refuse('callsPerDay', Math.max(1, totals.day_left), {});
  if (callsPerMinute !== undefined && minute >= callsPerMinute) return refuse('callsPerMinute', untilLess, waitsFor);
  if (concurrentCalls !== undefined && running >= concurrentCalls) return refuse('concurrentCalls', waitMs, waitsFor);
  if (caller === undefined || sharers === 0) return undefined;
  const part = (all: number): number => Math.ceil(all / (sharers + 1));
  if (callsPerMinute !== undefined && own >= part(callsPerMinute))
    return refuse('callsPerMinute', untilLess, { isShared: true });
  if (concurrentCalls !== undefined && ownRunning >= part(concurrentCalls))
    return refuse('concurrentCalls', waitMs, { isShared: true });
  if (callsPerMinute !== undefined && callsPerMinute - minute <= ahead)
    return refuse('callsPerMinute', waitMs, { isShared: true, ...waitsFor });
  if (concurrentCalls !== undefined && concurrentCalls - running <= ahead)
    return refuse('concurrentCalls', waitMs, { isShared: true, ...waitsFor });
  return undefined;
}

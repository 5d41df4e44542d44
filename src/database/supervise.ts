import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { deferred } from '../core/deferred.ts';
import type { HubError } from '../core/errors.ts';
import { coreLimits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { saying } from '../core/sentences.ts';
import type { Database, Parameter } from './database.ts';
import { reasonOf, refusedForGood } from './failure.ts';
import { createHearing } from './hearing.ts';
import type { Heard } from './hearing.ts';
import { databaseLimits } from './limits.ts';
import { openDatabase } from './open.ts';
import type { DatabasePlace } from './open.ts';

export type DatabaseState =
  /** `DB_URL=off`: there will never be one. */
  | { readonly state: 'off' }
  /** The first attempt to open it is under way, or not begun yet. */
  | { readonly state: 'opening' }
  | { readonly state: 'ready'; readonly kind: Database['kind']; readonly hasVector: boolean; readonly isSlow: boolean }
  /**
   * It was or should be there and is not; it is tried again for ever. `refused`: what only another `DB_URL` or the
   * server's administrator can mend.
   */
  | { readonly state: 'down'; readonly error: string; readonly refused?: HubError | undefined };

/** The hub's database, in any state: nothing that serves a client waits for it without a bound. */
export interface DatabaseHandle {
  /**
   * Begins to open it, in the background: at once, or once `after` resolves or a caller asks for its content. Call it
   * when the hub listens.
   */
  start(after?: Promise<void>): void;
  state(): DatabaseState;
  /** Called after each change of state, but not of `isSlow`. */
  onChange(changed: (state: DatabaseState) => void): () => void;
  /** The open database, or undefined. Do not keep it: after a loss there is another one. */
  current(): Database | undefined;
  /** Waits for it; HubError `not_ready` with the reason after `timeoutMs`, or at once when there is none. */
  whenReady(timeoutMs: number): Promise<Database>;
  /**
   * Waits for it without a bound; HubError `misconfigured` once it is refused for good, `not_ready` when this is
   * closed.
   */
  whenReadyOrRefused(): Promise<Database>;
  /** Has it opened, and waits while that is tried for the first time, for `timeoutMs` at most; later not at all. */
  firstAttempt(timeoutMs: number): Promise<void>;
  /**
   * The result of `work`, or undefined when there is no database right now, it takes longer than `timeoutMs`, or fails.
   * For readers that have another answer.
   */
  attempt<T>(work: (database: Database) => Promise<T>, timeoutMs?: number): Promise<T | undefined>;
  /** `attempt` with one statement. */
  tryQuery<T>(sql: string, parameters?: readonly Parameter[], timeoutMs?: number): Promise<T[] | undefined>;
  /**
   * Listens to a channel, also after a connection was lost and made again. `undefined` = the connection is new and
   * notifications may have been missed: read what is stored.
   */
  listen(channel: string, heard: Heard): () => void;
  close(): Promise<void>;
}

/** Makes the handle; `url` `off` means no database at all. */
export function createDatabase(place: DatabasePlace): DatabaseHandle {
  const { log } = place;
  const stop = new AbortController();
  // Each that waits for the database listens.
  setMaxListeners(0, stop.signal);
  const stopped = deferred<undefined>();
  const changes = new Set<(state: DatabaseState) => void>();
  const hearing = createHearing();
  let state: DatabaseState = place.url === 'off' ? { state: 'off' } : { state: 'opening' };
  let database: Database | undefined;
  let wasOpen = false;
  let running: Promise<void> | undefined;
  const wanted = deferred<void>();
  const attempted = deferred<undefined>();

  function become(next: DatabaseState): void {
    sayChange(log, state, next);
    state = next;
    attempted.resolve(undefined);
    for (const tell of changes) tell(next);
  }

  async function run(after: Promise<void>): Promise<void> {
    await Promise.race([after, wanted.promise, stopped.promise]);
    await againAndAgain(session, stop.signal);
  }

  /** Opens the database and stays until it is lost or the hub stops. */
  async function session(): Promise<void> {
    let open: Database | undefined;
    try {
      open = await openDatabase(place, stop.signal, wasOpen);
      if (stop.signal.aborted) return;
      wasOpen = true;
      database = open;
      await hearing.attach(open);
      const ready = { state: 'ready', kind: open.kind, hasVector: open.hasVector } as const;
      become({ ...ready, isSlow: false });
      open.watchSlowness?.((isSlow) => {
        if (database !== open) return;
        state = { ...ready, isSlow };
        logSlowness(log, isSlow);
      });
      const lost = await Promise.race([open.lost, stopped.promise]);
      if (lost !== undefined) throw lost;
    } catch (error) {
      database = undefined;
      const refused = refusedForGood(error);
      if (!stop.signal.aborted) become({ state: 'down', error: refused?.message ?? reasonOf(error), refused });
    } finally {
      database = undefined;
      hearing.detach();
      await open?.close();
    }
  }

  async function attempt<T>(work: (open: Database) => Promise<T>, timeoutMs?: number): Promise<T | undefined> {
    wanted.resolve();
    if (database === undefined) return undefined;
    return orUndefinedAfter(timeoutMs ?? databaseLimits.databaseReadMs, orUndefined(work(database), log, stop.signal));
  }

  function whenReady(timeoutMs?: number): Promise<Database> {
    wanted.resolve();
    return waitFor({ current: () => database, state: () => state, changes, stopped: stop.signal }, timeoutMs);
  }

  return {
    start(after = Promise.resolve()) {
      if (state.state !== 'off') running ??= run(after);
    },
    state: () => state,
    onChange(changed) {
      changes.add(changed);
      return () => void changes.delete(changed);
    },
    current: () => database,
    whenReady,
    whenReadyOrRefused: () => whenReady(),
    async firstAttempt(timeoutMs) {
      wanted.resolve();
      if (state.state === 'opening')
        await orUndefinedAfter(timeoutMs, Promise.race([attempted.promise, stopped.promise]));
    },
    attempt,
    tryQuery: (sql, parameters, timeoutMs) => attempt((open) => open.query(sql, parameters), timeoutMs),
    listen: (channel, heard) => hearing.add(channel, heard),
    async close() {
      stop.abort();
      stopped.resolve(undefined);
      // A server that is just being tried holds nothing of ours: its connection closes itself when it comes. The
      // embedded one holds a lock.
      if (database === undefined && place.url !== undefined) return;
      await orUndefinedAfter(databaseLimits.databaseCloseMs, Promise.resolve(running));
    },
  };
}

interface WaitOptions {
  readonly current: () => Database | undefined;
  readonly state: () => DatabaseState;
  readonly changes: Set<(state: DatabaseState) => void>;
  readonly stopped: AbortSignal;
}

/** The open database; without `timeoutMs` it is waited for until it is refused for good. */
function waitFor({ current, state, changes, stopped }: WaitOptions, timeoutMs: number | undefined): Promise<Database> {
  const ready = deferred<Database>();
  const look = (): void => {
    const [database, now] = [current(), state()];
    if (database !== undefined) ready.resolve(database);
    else if (timeoutMs === undefined && now.state === 'down' && now.refused) ready.reject(now.refused);
  };
  const giveUp = (): void => ready.reject(notReady(state()));
  const hopeless = state().state === 'off' || stopped.aborted;
  const timer = hopeless || timeoutMs !== undefined ? setTimeout(giveUp, hopeless ? 0 : timeoutMs) : undefined;
  changes.add(look);
  stopped.addEventListener('abort', giveUp);
  look();
  return ready.promise.finally(() => {
    clearTimeout(timer);
    changes.delete(look);
    stopped.removeEventListener('abort', giveUp);
  });
}

/** Runs `session` again whenever it ends, until `stopped`; waits longer each time it did not hold. */
async function againAndAgain(session: () => Promise<void>, stopped: AbortSignal): Promise<void> {
  let waitMs: number = databaseLimits.databaseRetryFirstMs;
  while (!stopped.aborted) {
    const openedAt = performance.now();
    await session();
    if (performance.now() - openedAt > coreLimits.backOffResetMs) waitMs = databaseLimits.databaseRetryFirstMs;
    // Jitter: replicas that lost the same server must not all come back in the same moment.
    await sleep(waitMs * (0.5 + Math.random() / 2), undefined, { signal: stopped }).catch(() => {});
    waitMs = Math.min(waitMs * 2, databaseLimits.databaseRetryMaxMs);
  }
}

/** Once per change, and once per new reason: a database that stays away must not fill the log. */
function sayChange(log: Logger, before: DatabaseState, now: DatabaseState): void {
  if (now.state === 'ready') log.info('The database is ready', { kind: now.kind, vectors: now.hasVector });
  if (now.state !== 'down' || (before.state === 'down' && before.error === now.error)) return;
  log.warn('The database is not available; the hub tries again', { error: now.error });
}

function logSlowness(log: Logger, isSlow: boolean): void {
  if (!isSlow) return log.info('The database is no longer slow');
  const text = `The database is slow: a statement that does nothing takes more than ${databaseLimits.databaseSlowMs / 1_000} s`;
  log.warn(`${text}. Look at its load and at the network to it; changes and listings wait for it, calls do not`);
}

/** Undefined when it fails, which is logged, unless the hub stops and closes the database itself. */
function orUndefined<T>(work: Promise<T>, log: Logger, stopped: AbortSignal): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (!stopped.aborted) log.warn('The database could not answer', { error: reasonOf(error) });
    return undefined;
  });
}

async function orUndefinedAfter<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
  const early = new AbortController();
  const timeout = sleep(timeoutMs, undefined, { signal: early.signal, ref: false }).catch(() => undefined);
  return Promise.race([work, timeout]).finally(() => early.abort());
}

function notReady({ state }: DatabaseState): HubError {
  // None comes by itself: trying again does not help.
  if (state === 'off') return saying('not_ready', 'no_database');
  const code = state === 'down' ? 'database_down' : 'database_opening';
  return saying('not_ready', code, {}, { retryAfterMs: databaseLimits.databaseRetryMaxMs });
}

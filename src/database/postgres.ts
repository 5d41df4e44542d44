import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { deferred } from '../core/deferred.ts';
import { HubError } from '../core/errors.ts';
import { checkChannel, checkPayload } from './channel-name.ts';
import type { Connection, Parameter, Transaction } from './database.ts';
import { isConnectionState, sqlState, unreachable } from './failure.ts';
import { databaseLimits } from './limits.ts';
import { createListeners } from './listeners.ts';

/**
 * Opens PostgreSQL: a pool for statements, one connection apart for notifications and for asking whether the server
 * still answers. Rejects when it cannot be reached. When a connection breaks, this database is `lost` as a whole and
 * its caller opens another.
 */
export async function openPostgres(url: string): Promise<Connection> {
  const options = clientOptions(url);
  const loss = deferred<Error>();
  const ear = await openEar(options, loss.resolve);
  const pool = new pg.Pool({ ...options, max: databaseLimits.databaseConnections, onConnect: prepare });
  // An idle connection that breaks is no reason to crash. The next statement, or the ping, finds out whether it was
  // more than that.
  pool.on('error', () => {});
  let closed: Promise<void> | undefined;

  function failed(error: unknown): unknown {
    const state = error instanceof pg.DatabaseError ? sqlState(error) : undefined;
    if (state !== undefined && !isConnectionState(state)) return error;
    // All connections in use is not a loss.
    if (isWaitTimeout(error) && pool.totalCount >= databaseLimits.databaseConnections) {
      return new HubError('not_ready', 'The database is busy. Try again in a moment.', {
        cause: error,
        retryAfterMs: 1_000,
      });
    }
    loss.resolve(error instanceof Error ? error : new Error(String(error)));
    return unreachable(error);
  }

  async function run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw failed(error);
    }
  }

  async function query<T>(sql: string, parameters: readonly Parameter[] = []): Promise<T[]> {
    const { rows } = await run(() => pool.query(sql, [...parameters]));
    return rows as T[];
  }

  return {
    kind: 'postgres',
    lost: loss.promise,
    watchSlowness: (changed) => ear.watchPace(changed),
    query,
    async tx(work) {
      const client = await run(() => pool.connect());
      let broken = true;
      try {
        const result = await inTransaction(client, run, work);
        broken = false;
        return result;
      } catch (error) {
        broken = !(await rolledBack(client));
        throw error;
      } finally {
        client.release(broken);
      }
    },
    listen: (channel, heard) => ear.listen(channel, heard),
    async notify(channel, payload) {
      await query('select pg_notify($1, $2)', [checkChannel(channel), checkPayload(payload)]);
    },
    close() {
      closed ??= (async () => {
        ear.close();
        await Promise.race([pool.end(), sleep(databaseLimits.databaseCloseMs, undefined, { ref: false })]);
      })();
      return closed;
    },
  };
}

type Run = <T>(work: () => Promise<T>) => Promise<T>;

async function inTransaction<T>(client: pg.PoolClient, run: Run, work: (tx: Transaction) => Promise<T>): Promise<T> {
  await run(() => client.query('begin'));
  const result = await work({
    async query<R>(sql: string, parameters: readonly Parameter[] = []) {
      const { rows } = await run(() => client.query(sql, [...parameters]));
      return rows as R[];
    },
    async script(sql) {
      await run(() => client.query(sql));
    },
  });
  await run(() => client.query('commit'));
  return result;
}

async function rolledBack(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('rollback');
    return true;
  } catch {
    return false;
  }
}

/** The connection that receives notifications. `onLost` is called when it breaks or stops answering. */
async function openEar(options: pg.ClientConfig, onLost: (error: Error) => void) {
  const client = new pg.Client(options);
  const listeners = createListeners();
  let closed = false;
  const lost = (error: Error): void => {
    if (!closed) onLost(error);
  };
  client.on('error', lost);
  client.on('end', () => lost(new Error('The server closed the connection')));
  client.on('notification', ({ channel, payload }) => listeners.tell(channel, payload ?? ''));
  try {
    await client.connect();
  } catch (error) {
    closed = true;
    client.end().catch(() => {});
    throw error;
  }

  // One command at a time: the driver does not queue for us.
  let turn: Promise<unknown> = Promise.resolve();
  function send(sql: string): Promise<unknown> {
    turn = turn.catch(() => {}).then(() => client.query(sql));
    return turn;
  }
  let tellPace = (_isSlow: boolean): void => {};
  const stopPings = pings(() => send('select 1'), { lost, pace: (isSlow) => tellPace(isSlow) });

  return {
    watchPace(changed: (isSlow: boolean) => void): void {
      tellPace = changed;
    },
    async listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>> {
      checkChannel(channel);
      // Also when it is not the first listener: its caller may rely on hearing what is sent after this resolved.
      listeners.add(channel, heard);
      try {
        await send(`listen ${channel}`);
      } catch (error) {
        listeners.remove(channel, heard);
        throw unreachable(error);
      }
      return async () => {
        if (listeners.remove(channel, heard) && !closed) await send(`unlisten ${channel}`).catch(lost);
      };
    },
    close(): void {
      closed = true;
      stopPings();
      client.end().catch(() => {});
    },
  };
}

/**
 * Asks now and then, and calls `pace` when the answers become slow or no longer are. A single one tells nothing: this
 * process may have been busy itself. Gives the function that ends it.
 */
function pings(
  ask: () => Promise<unknown>,
  { lost, pace }: { lost: (error: Error) => void; pace: (isSlow: boolean) => void },
): () => void {
  let isSlow = false;
  let wasSlow = false;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  async function ping(): Promise<void> {
    const from = performance.now();
    await ask();
    if (ended) return;
    const nowSlow = performance.now() - from > databaseLimits.databaseSlowMs;
    if (nowSlow !== isSlow && nowSlow === wasSlow) pace((isSlow = nowSlow));
    wasSlow = nowSlow;
    next(nowSlow === isSlow ? databaseLimits.databasePingMs : 0);
  }
  const next = (waitMs: number): void => {
    timer = setTimeout(() => void ping().catch(lost), waitMs).unref();
  };
  next(0);
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

function clientOptions(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'toolhub',
    connectionTimeoutMillis: databaseLimits.databaseConnectMs,
    // The server stops a slow statement itself; this is for a server that does not answer any more.
    query_timeout: databaseLimits.databaseStatementMs + databaseLimits.databaseConnectMs,
    keepAlive: true,
    types: { getTypeParser },
  };
}

/**
 * Set by a statement and not at connecting, because poolers (PgBouncer) refuse start-up parameters they do not know.
 * The pool awaits the promise; its types know nothing of it.
 */
function prepare(client: pg.ClientBase): unknown {
  // Without a listener a connection that breaks while it is in use would end the process.
  client.on('error', () => {});
  return client.query(
    `set statement_timeout = ${databaseLimits.databaseStatementMs}; set idle_in_transaction_session_timeout = ${databaseLimits.databaseTxMs}`,
  );
}

/** What both databases agree on where the driver's own choice differs from PGlite's. */
function getTypeParser(
  oid: Parameters<typeof pg.types.getTypeParser>[0],
  format?: 'text' | 'binary',
): (text: string) => unknown {
  if (oid === pg.types.builtins.DATE || oid === pg.types.builtins.TIMESTAMP) return (text) => text;
  if (oid === pg.types.builtins.BYTEA) return (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex'));
  return pg.types.getTypeParser(oid, format ?? 'text') as (text: string) => unknown;
}

function isWaitTimeout(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('timeout exceeded when trying to connect');
}

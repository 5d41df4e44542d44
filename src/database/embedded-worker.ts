/**
 * The thread that holds the embedded database: PGlite computes on the thread that calls it, and opening alone takes
 * most of a second. Started by embedded.ts; its data and its messages are those of worker-messages.ts.
 */
import { readFileSync, renameSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import type { Extensions, PGlite, Transaction } from '@electric-sql/pglite';
import { unpack } from './archive.ts';
import { deferred } from '../core/deferred.ts';
import { claim, giveBack } from '../core/json/large-buffers.ts';
import { codeFolder, engineVersions } from './engine.ts';
import { sqlState } from './failure.ts';
import { databaseLimits } from './limits.ts';
import { packError } from './worker-messages.ts';
import type { FromWorker, ToWorker, WorkerTask } from './worker-messages.ts';

interface OpenTransaction {
  readonly statements: Transaction;
  readonly finish: (outcome: 'commit' | 'rollback') => void;
  /** Settles when it is committed or rolled back. */
  readonly done: () => Promise<void>;
}

// Opening a database runs very much code a little. Optimising that at once, as V8 would, takes longer than opening it,
// and 40 MB; what stays hot is optimised later. A flag holds for the whole process: with another value than that of
// `cli/v8-flags.ts` V8 would refuse what is kept of files that are loaded later. While the main thread runs a
// file for the first time it sets V8's default for the whole process; this call may then undo that, and V8 compiles
// modules of Node itself that come with the rest of that file.
setFlagsFromString('--wasm-tiering-budget=2000000000');

const port = parentPort;
if (port === null) throw new Error('embedded-worker.js is a worker thread of the hub, not a program');
const say = (message: FromWorker): void => port.postMessage(message);
const asText = (value: string): string => value;

/** Thrown inside PGlite's transaction to have it rolled back. */
class RolledBack extends Error {}

async function extensions(): Promise<Extensions> {
  try {
    const { vector } = await import('@electric-sql/pglite-pgvector');
    return { vector };
  } catch {
    return {}; // The hub does without vectors then; opening finds out.
  }
}

/**
 * Writing a thousand records takes a thread some 20 ms; where cores are few, calls would wait for it. Linux keeps
 * priorities by thread, and 0 is the one that calls; elsewhere it would be the whole process.
 */
function yieldToCalls(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, Math.min(19, getPriority(0) + databaseLimits.databaseNiceness));
  } catch {
    // Not allowed here: it writes as it would have.
  }
}

/** The types of Node 20 do not have it. */
declare const WebAssembly: { compile(code: Uint8Array): Promise<object> };

/** Of PGlite. V8 compiles on threads of its own while this one does the rest; PGlite would begin with it later. */
async function compileEngine(): Promise<object> {
  const code = readFileSync(join(codeFolder('@electric-sql/pglite'), 'pglite.wasm'));
  claim(code);
  const compiling = WebAssembly.compile(code);
  // It has made a copy by now (WebAssembly JavaScript Interface, compile, step 1).
  giveBack(code);
  return compiling;
}

async function openFolder({ folder, unpack: packed }: WorkerTask): Promise<PGlite> {
  const compiling = compileEngine();
  compiling.catch(() => {}); // Unpacking may fail before it is waited for.
  if (packed !== undefined) {
    unpack(packed.archive, packed.temporary, engineVersions());
    renameSync(packed.temporary, folder);
  }
  const { PGlite, types } = await import('@electric-sql/pglite');
  return PGlite.create({
    dataDir: folder,
    extensions: await extensions(),
    parsers: { [types.INT8]: asText, [types.DATE]: asText, [types.TIMESTAMP]: asText },
    pgliteWasmModule: await compiling,
    startParams: [...PGlite.defaultStartParams, '-c', `shared_buffers=${databaseLimits.databaseBufferBytes / 1_024}kB`],
  });
}

async function serve(task: WorkerTask): Promise<void> {
  const db = await openFolder(task);
  yieldToCalls();
  const open = new Map<number, OpenTransaction>();
  const unlisten = new Map<string, () => Promise<void>>();

  /** Resolves when the transaction has begun; PGlite itself lets nothing else run until it ends. */
  function begin(tx: number): Promise<void> {
    const begun = deferred<void>();
    const done = db
      .transaction(async (statements) => {
        const outcome = deferred<'commit' | 'rollback'>();
        const timer = setTimeout(() => outcome.resolve('rollback'), databaseLimits.databaseTxMs);
        open.set(tx, { statements, finish: outcome.resolve, done: () => done });
        begun.resolve();
        const decided = await outcome.promise;
        clearTimeout(timer);
        open.delete(tx);
        if (decided === 'rollback') throw new RolledBack();
      })
      .catch((error: unknown) => {
        begun.reject(error);
        if (!(error instanceof RolledBack)) throw error;
      });
    done.catch(() => {}); // The code that ends the transaction gets the error.
    return begun.promise;
  }

  async function end(tx: number, outcome: 'commit' | 'rollback'): Promise<void> {
    const transaction = open.get(tx);
    if (transaction !== undefined) {
      transaction.finish(outcome);
      await transaction.done();
    } else if (outcome === 'commit') {
      throw transactionGone();
    }
  }

  function statementsOf(tx: number): Transaction {
    const transaction = open.get(tx);
    if (transaction === undefined) throw transactionGone();
    return transaction.statements;
  }

  async function answer(ask: ToWorker): Promise<readonly unknown[]> {
    switch (ask.op) {
      case 'query': {
        const { rows } = await (ask.tx === undefined ? db : statementsOf(ask.tx)).query(ask.sql, [...ask.parameters]);
        return rows;
      }
      case 'copy':
        // In one message, where a query with parameters takes five.
        await db.exec(`copy ${ask.into} from '/dev/blob' with (format binary)`, { blob: new Blob([ask.rows]) });
        return [];
      case 'script':
        await statementsOf(ask.tx).exec(ask.sql);
        return [];
      case 'begin':
        await begin(ask.tx);
        return [];
      case 'commit':
      case 'rollback':
        await end(ask.tx, ask.op);
        return [];
      case 'listen':
        if (!unlisten.has(ask.channel)) {
          const { channel } = ask;
          unlisten.set(channel, await db.listen(channel, (payload) => say({ op: 'heard', channel, payload })));
        }
        return [];
      case 'unlisten':
        await unlisten.get(ask.channel)?.();
        unlisten.delete(ask.channel);
        return [];
      case 'close':
        await db.close();
        return [];
    }
  }

  port?.on('message', (ask: ToWorker) => {
    answer(ask).then(
      (rows) => say({ op: 'answer', id: ask.id, rows }),
      (error: unknown) => {
        say({ op: 'refused', id: ask.id, error: packError(error) });
        void endIfBroken(db, error);
      },
    );
  });
  say({ op: 'open' });
}

function transactionGone(): Error {
  return new Error(`The transaction took longer than ${databaseLimits.databaseTxMs / 1_000} s and was rolled back`);
}

/**
 * What would end a PostgreSQL server (a full disk, a panic, no memory) leaves PGlite alive, but refusing everything.
 * Ending the thread then has the hub open a new one, which recovers from the log as a server does.
 */
async function endIfBroken(db: PGlite, error: unknown): Promise<void> {
  // Class 53: resources, 58: the system, XX: internal errors. What has no SQLSTATE may be an abort of the WebAssembly.
  if (!/^(53|58|XX)/.test(sqlState(error) ?? 'XX')) return;
  try {
    await db.query('select 1');
  } catch {
    process.exit(1);
  }
}

serve(workerData as WorkerTask).catch((error: unknown) => {
  say({ op: 'failed', error: packError(error) });
  setImmediate(() => process.exit(1));
});

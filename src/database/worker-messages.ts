import type { Parameter } from './database.ts';

/** The `workerData` of the worker that holds the embedded database. */
export interface WorkerTask {
  readonly folder: string;
  /** Where the folder is missing: it is unpacked from `archive` as `temporary`, beside it, and renamed. */
  readonly unpack?: { readonly archive: string; readonly temporary: string };
}

/**
 * The requests of the hub to the worker that holds the embedded database. `tx` names an open transaction; its number is
 * chosen by the hub.
 */
export type Ask =
  | { readonly op: 'query'; readonly sql: string; readonly parameters: readonly Parameter[]; readonly tx?: number }
  /** The rows are given away: their memory moves to the worker. */
  | { readonly op: 'copy'; readonly into: string; readonly rows: Uint8Array }
  | { readonly op: 'script'; readonly sql: string; readonly tx: number }
  | { readonly op: 'begin' | 'commit' | 'rollback'; readonly tx: number }
  | { readonly op: 'listen' | 'unlisten'; readonly channel: string }
  | { readonly op: 'close' };

export type ToWorker = Ask & { readonly id: number };

/** The messages of the worker: that it is open, the answer to one request, or a notification. */
export type FromWorker =
  | { readonly op: 'open' }
  | { readonly op: 'answer'; readonly id: number; readonly rows: readonly unknown[] }
  | { readonly op: 'refused'; readonly id: number; readonly error: WorkerError }
  | { readonly op: 'failed'; readonly error: WorkerError }
  | { readonly op: 'heard'; readonly channel: string; readonly payload: string };

/** An error as it crosses the thread boundary: structured cloning would lose `code`. */
export interface WorkerError {
  readonly message: string;
  readonly code: string | undefined;
  readonly stack: string | undefined;
}

export function packError(error: unknown): WorkerError {
  if (!(error instanceof Error)) return { message: foreignText(error), code: undefined, stack: undefined };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { message: error.message, code, stack: error.stack };
}

export function unpackError(packed: WorkerError): Error {
  const error = new Error(packed.message);
  if (packed.stack !== undefined) error.stack = packed.stack;
  return packed.code === undefined ? error : Object.assign(error, { code: packed.code });
}

/**
 * What the WebAssembly throws is no `Error`: its file system has objects with WASI's number of the failure and little
 * else.
 */
function foreignText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const { name, message, errno } = error as { name?: unknown; message?: unknown; errno?: unknown };
  if (typeof errno === 'number') return fileFailures.get(errno) ?? `file system error ${errno} (WASI)`;
  return [name, message].filter((text) => typeof text === 'string' && text !== '').join(': ') || 'unknown failure';
}

const fileFailures: ReadonlyMap<number, string> = new Map([
  [2, 'permission denied'],
  [19, 'disk quota exceeded'],
  [29, 'input/output error'],
  [33, 'too many open files'],
  [41, 'too many open files in the system'],
  [51, 'no space left on the device'],
  [63, 'operation not permitted'],
  [69, 'read-only file system'],
]);

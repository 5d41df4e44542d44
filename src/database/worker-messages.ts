import type { Parameter } from './database.ts';

/** What the hub asks the worker that holds the embedded database. `tx` names an open transaction; its number is the asker's choice. */
export type Ask =
  | { readonly op: 'query'; readonly sql: string; readonly parameters: readonly Parameter[]; readonly tx?: number }
  | { readonly op: 'copy'; readonly into: string; readonly rows: string }
  | { readonly op: 'script'; readonly sql: string; readonly tx: number }
  | { readonly op: 'begin' | 'commit' | 'rollback'; readonly tx: number }
  | { readonly op: 'listen' | 'unlisten'; readonly channel: string }
  | { readonly op: 'close' };

export type ToWorker = Ask & { readonly id: number };

/** What the worker says: that it is open, the answer to one ask, or a notification. */
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
  if (!(error instanceof Error)) return { message: String(error), code: undefined, stack: undefined };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { message: error.message, code, stack: error.stack };
}

export function unpackError(packed: WorkerError): Error {
  const error = new Error(packed.message);
  if (packed.stack !== undefined) error.stack = packed.stack;
  return packed.code === undefined ? error : Object.assign(error, { code: packed.code });
}

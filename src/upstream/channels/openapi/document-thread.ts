import { Worker } from 'node:worker_threads';

import { errorText, HubError } from '../../../core/errors.ts';
import type { Reason } from '../../../core/reasons.ts';
import { shipped } from '../../../core/shipped.ts';
import { upstreamLimits } from '../../limits.ts';
import type { Reading } from './operations.ts';
import type { ReadDocument } from './read-document.ts';

/** Node 20 runs no TypeScript: the thread comes from the build. */
const workerFile = shipped('dist/document-worker.js');

export interface DocumentTask {
  readonly bytes: Uint8Array;
  /** What the document is called in errors. */
  readonly shown: string;
  readonly reading: Reading;
}

export type DocumentOutcome =
  | { readonly read: ReadDocument }
  | {
      readonly refused: {
        readonly code: HubError['code'];
        readonly message: string;
        readonly reason: Reason | undefined;
      };
    }
  | { readonly failed: string };

/** The documents that are read: one after another, since each takes some hundred megabytes while it is. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Reads a document in a thread, which ends with it, and the memory that the reading took with the thread. The bytes of
 * the task go to the thread, and cannot be read here any more. Throws HubError as `parseDocument` does, `misconfigured`
 * where it takes more memory or time than a document may.
 */
export function readInThread(task: DocumentTask, signal: AbortSignal): Promise<ReadDocument> {
  const read = last.then(() => readNow(task, signal));
  last = read.then(
    () => {},
    () => {},
  );
  return read;
}

async function readNow(task: DocumentTask, signal: AbortSignal): Promise<ReadDocument> {
  if (signal.aborted) throw closed();
  const resourceLimits = { maxOldGenerationSizeMb: upstreamLimits.openapiThreadMb };
  // The memory itself is moved to the thread, and ends with it; a Buffer that shares its memory is copied.
  const { buffer, byteLength } = task.bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  const moved = isWhole ? buffer : new Uint8Array(task.bytes).buffer;
  const workerData: DocumentTask = { ...task, bytes: new Uint8Array(moved) };
  const transferList = [moved];
  const worker = new Worker(workerFile, { workerData, transferList, execArgv: [], env: {}, resourceLimits });
  const stop = (): void => void worker.terminate();
  signal.addEventListener('abort', stop);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, upstreamLimits.openapiReadMs);
  try {
    const outcome = await outcomeOf(worker, task.shown);
    if ('read' in outcome) return outcome.read;
    if ('failed' in outcome) throw new Error(outcome.failed);
    const { code, message, reason } = outcome.refused;
    throw new HubError(code, message, reason && { reason });
  } catch (error) {
    if (signal.aborted) throw closed();
    throw isLate ? tooMuch(task.shown, `takes more than ${upstreamLimits.openapiReadMs / 1_000} s`, error) : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

function outcomeOf(worker: Worker, shown: string): Promise<DocumentOutcome> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (error: NodeJS.ErrnoException) => reject(whyEnded(shown, error)));
    worker.once('exit', (code) => reject(new Error(`the thread that reads the document ended with ${code}`)));
  });
}

const closed = (): HubError => new HubError('upstream_unavailable', 'The connection to the API is closed.');

function whyEnded(shown: string, error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return new Error(errorText(error), { cause: error });
  return tooMuch(shown, `takes more than ${upstreamLimits.openapiThreadMb} MB of memory`, error);
}

function tooMuch(shown: string, what: string, cause: unknown): HubError {
  const why = `reading it ${what}`;
  return new HubError('misconfigured', `Cannot read ${shown} as an OpenAPI document: ${why}.`, {
    cause,
    reason: { code: 'api_unreadable', values: { why } },
  });
}

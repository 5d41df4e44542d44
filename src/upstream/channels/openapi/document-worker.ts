import { parentPort, workerData } from 'node:worker_threads';

import { errorText, HubError } from '../../../core/errors.ts';
import { parseDocument } from './document.ts';
import type { DocumentOutcome, DocumentTask } from './document-thread.ts';
import { readDocument } from './read-document.ts';

/** A thread that reads one OpenAPI document and ends. */

const { bytes, shown, reading } = workerData as DocumentTask;

async function outcome(): Promise<DocumentOutcome> {
  try {
    return {
      read: await readDocument(
        parseDocument(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(), shown),
        reading,
      ),
    };
  } catch (error) {
    if (!(error instanceof HubError)) return { failed: (error instanceof Error && error.stack) || errorText(error) };
    return { refused: { code: error.code, message: error.message, reason: error.reason } };
  }
}

async function tell(): Promise<void> {
  const ended = await outcome();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
  parentPort?.postMessage(ended);
}

void tell();

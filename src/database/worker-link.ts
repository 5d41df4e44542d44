import type { Worker } from 'node:worker_threads';
import { deferred } from '../core/deferred.ts';
import type { Deferred } from '../core/deferred.ts';
import { HubError } from '../core/errors.ts';
import { unreachable } from './failure.ts';
import { databaseLimits } from './limits.ts';
import { createListeners } from './listeners.ts';
import { unpackError } from './worker-messages.ts';
import type { Ask, FromWorker } from './worker-messages.ts';

/** Questions to the worker thread, and its answers. */
export interface WorkerLink {
  /** Rejects when the database could not be opened. */
  readonly opened: Promise<void>;
  /** Resolves when the thread ended without being told to. */
  readonly lost: Promise<Error>;
  /**
   * Rejects with the database's own error, or HubError `not_ready` when the thread is gone, `too_many` when it cannot
   * keep up.
   */
  ask(question: Ask): Promise<readonly unknown[]>;
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>>;
  /** Has the database closed; the end of the thread is no loss from now on. */
  end(): Promise<void>;
}

export function linkTo(worker: Worker): WorkerLink {
  const opened = deferred<void>();
  const loss = deferred<Error>();
  const waiting = new Map<number, Deferred<readonly unknown[]>>();
  const listeners = createListeners();
  let state: 'running' | 'ending' | 'gone' = 'running';
  let reason = new Error('The thread of the embedded database ended');
  let lastId = 0;

  worker.on('message', (message: FromWorker) => {
    switch (message.op) {
      case 'open':
        return opened.resolve();
      case 'answer':
        return take(message.id)?.resolve(message.rows);
      case 'refused':
        return take(message.id)?.reject(unpackError(message.error));
      case 'failed':
        reason = unpackError(message.error);
        return undefined;
      case 'heard':
        return listeners.tell(message.channel, message.payload);
    }
  });
  worker.on('error', (error) => {
    reason = error instanceof Error ? error : new Error(String(error));
  });
  worker.on('exit', () => {
    const crashed = state === 'running';
    state = 'gone';
    for (const id of waiting.keys()) take(id)?.reject(unreachable(reason));
    opened.reject(reason);
    if (crashed) loss.resolve(reason);
  });

  function take(id: number): Deferred<readonly unknown[]> | undefined {
    const one = waiting.get(id);
    waiting.delete(id);
    return one;
  }

  function ask(question: Ask): Promise<readonly unknown[]> {
    if (state === 'gone') return Promise.reject(unreachable(reason));
    if (waiting.size >= databaseLimits.databaseQueue) {
      return Promise.reject(
        new HubError('too_many', 'The database is busy. Try again in a moment.', { retryAfterMs: 1_000 }),
      );
    }
    lastId += 1;
    const one = deferred<readonly unknown[]>();
    waiting.set(lastId, one);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    worker.postMessage(
      { ...question, id: lastId },
      question.op === 'copy' ? [question.rows.buffer as ArrayBuffer] : [],
    );
    return one.promise;
  }

  return {
    opened: opened.promise,
    lost: loss.promise,
    ask,
    async listen(channel, heard) {
      listeners.add(channel, heard);
      await ask({ op: 'listen', channel });
      return async () => {
        if (listeners.remove(channel, heard) && state === 'running') await ask({ op: 'unlisten', channel });
      };
    },
    async end() {
      if (state !== 'running') return;
      state = 'ending';
      await ask({ op: 'close' }).catch(() => {});
    },
  };
}

import { fork, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shipped } from '../core/shipped.ts';
import { unpackError, type WorkerError } from './worker-messages.ts';

const maker = fileURLToPath(shipped('dist/embedded-maker.js'));

/**
 * Where a database is made that will be renamed to `folder`: what a full disk or a kill broke off lies there until the
 * next time. Removes what earlier ones left. Only for a process that holds the lock of the folder.
 */
export function unfinishedFolder(folder: string): string {
  const parent = dirname(folder);
  const unfinished = `${basename(folder)}.unfinished`;
  for (const name of readdirSync(parent)) if (name.startsWith(unfinished)) remove(join(parent, name));
  return join(parent, `${unfinished}-${process.pid}-${Date.now()}`);
}

/**
 * Makes an embedded database in `folder`, which is there only once it is whole. In a process of its own, since making
 * one leaves 200 MB behind that opening it does not need. Only for a process that holds the lock of the folder. Rejects
 * with the reason; so it does when `stop` is aborted, and then nothing is left of it.
 */
export async function makeEmbedded(folder: string, stop?: AbortSignal): Promise<void> {
  stop?.throwIfAborted();
  const made = unfinishedFolder(folder);
  const stdio: StdioOptions = ['ignore', 'ignore', 'ignore', 'ipc'];
  // What runs once is not worth V8's optimising it. Servers run beside it and can read its environment: it needs none.
  const child = fork(maker, [made], { execArgv: ['--liftoff-only'], env: {}, stdio });
  let reason: Error | undefined;
  child.on('message', (error) => (reason = unpackError(error as WorkerError)));
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  stop?.addEventListener('abort', kill);
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (code !== 0) throw reason ?? new Error(`Making it ended with ${signal ?? `code ${code}`}`);
    renameSync(made, folder);
  } catch (error) {
    remove(made);
    throw error;
  } finally {
    process.off('exit', kill);
    stop?.removeEventListener('abort', kill);
  }
}

/** As far as it can be: a process that is about to end may still write into one. */
function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The next start tries again.
  }
}

import { readFile } from 'node:fs/promises';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Sealer } from '../../core/seal.ts';
import { diskError, errnoOf } from '../../disk/disk-error.ts';
import { writeFileAtomic } from '../../disk/write-file-atomic.ts';
import { type Binding, type BindingChange, bindingId, type Bindings, oldestFirst, parsedBinding } from './bindings.ts';

/**
 * Bindings of a hub without replicas: one sealed text a line, in a file (0600) of its data folder. Lines that cannot be
 * opened stay in it, and a file that cannot be read is not written.
 */
export async function openFileBindings(path: string, sealer: Sealer, log: Logger): Promise<Bindings> {
  const loaded = await load(path, sealer, log);
  let bindings = new Map(loaded.bindings.map((binding) => [bindingId(binding), binding]));
  let all = oldestFirst(bindings.values());
  let last: Promise<unknown> = Promise.resolve();

  /** One change after the other: each is on the disk before it counts. */
  function change({ gone = [], put = [] }: BindingChange): Promise<void> {
    const run = async (): Promise<void> => {
      if (loaded.failure !== undefined)
        throw diskError(loaded.failure, 'Cannot read the credentials of users, which a change would overwrite', path);
      const next = new Map(bindings);
      for (const binding of gone) next.delete(bindingId(binding));
      for (const binding of put) next.set(bindingId(binding), binding);
      const lines = [...next.values()].map((one) => sealer.seal(JSON.stringify(one)));
      try {
        await writeFileAtomic(path, [...loaded.unopened, ...lines].join('\n'));
      } catch (error) {
        throw diskError(error, 'Cannot write down the credentials of users', path);
      }
      bindings = next;
      all = oldestFirst(next.values());
    };
    const changed = last.then(run, run);
    last = changed.catch(() => undefined);
    return changed;
  }

  return {
    get: (server, username) => bindings.get(bindingId({ server, username })),
    all: () => all,
    change,
    async close() {
      await last;
    },
  };
}

interface Loaded {
  readonly bindings: readonly Binding[];
  /** Lines that were sealed with another secret, as they are. */
  readonly unopened: readonly string[];
  /** Why the file could not be read. */
  readonly failure?: unknown;
}

async function load(path: string, sealer: Sealer, log: Logger): Promise<Loaded> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const nothing = { bindings: [], unopened: [] };
    if (errnoOf(error) === 'ENOENT') return nothing;
    log.error('credentials of users cannot be read', { path, error: errorText(error) });
    return { ...nothing, failure: error };
  }
  const lines = text.split('\n').filter((line) => line !== '');
  const bindings: Binding[] = [];
  const unopened: string[] = [];
  for (const line of lines) {
    const binding = parsedBinding(sealer.open(line));
    if (binding) bindings.push(binding);
    else unopened.push(line);
  }
  if (unopened.length > 0)
    log.warn('credentials of users cannot be opened with the secret of this hub; users have to set them again', {
      path,
      count: unopened.length,
    });
  return { bindings, unopened };
}

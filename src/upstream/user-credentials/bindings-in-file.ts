import { readFile } from 'node:fs/promises';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Sealer } from '../../core/seal.ts';
import { diskError, errnoOf } from '../../disk/disk-error.ts';
import { writeFileAtomic } from '../../disk/write-file-atomic.ts';
import { type Binding, bindingId, type Bindings, parsedBinding } from './bindings.ts';

/** Bindings of a hub without replicas: one sealed text a line, in a file (0600) of its data folder. */
export async function openFileBindings(path: string, sealer: Sealer, log: Logger): Promise<Bindings> {
  let bindings = new Map((await load(path, sealer, log)).map((binding) => [bindingId(binding), binding]));
  let last: Promise<unknown> = Promise.resolve();

  /** One change after the other: each is on the disk before it counts. */
  function change(edit: (draft: Map<string, Binding>) => void): Promise<void> {
    const run = async (): Promise<void> => {
      const next = new Map(bindings);
      edit(next);
      try {
        await writeFileAtomic(path, [...next.values()].map((one) => sealer.seal(JSON.stringify(one))).join('\n'));
      } catch (error) {
        throw diskError(error, 'Cannot write down the credentials of users', path);
      }
      bindings = next;
    };
    const changed = last.then(run, run);
    last = changed.catch(() => undefined);
    return changed;
  }

  return {
    get: (server, username) => bindings.get(bindingId({ server, username })),
    all: () => [...bindings.values()].toSorted((a, b) => a.updatedAt - b.updatedAt),
    put: (binding) => change((draft) => draft.set(bindingId(binding), binding)),
    remove: (gone) => change((draft) => gone.forEach((binding) => draft.delete(bindingId(binding)))),
    async close() {
      await last;
    },
  };
}

async function load(path: string, sealer: Sealer, log: Logger): Promise<Binding[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT')
      log.error('credentials of users cannot be read', { path, error: errorText(error) });
    return [];
  }
  const lines = text.split('\n').filter((line) => line !== '');
  const bindings = lines.flatMap((line) => parsedBinding(sealer.open(line)) ?? []);
  if (bindings.length < lines.length)
    log.warn('credentials of users cannot be opened with the secret of this hub; users have to set them again', {
      path,
      count: lines.length - bindings.length,
    });
  return bindings;
}

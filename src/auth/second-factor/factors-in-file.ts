import { readFile } from 'node:fs/promises';
import { HubError } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Sealer } from '../../core/seal.ts';
import { diskError, errnoOf } from '../../disk/disk-error.ts';
import { writeFileAtomic } from '../../disk/write-file-atomic.ts';
import { type FactorRecord, type FactorStore, parsedRecord, unreadable } from './factor-store.ts';

const formatVersion = 1;

/**
 * Second factors of a hub without replicas: a sealed text for each user, in a file (0600) of its data folder. The file
 * is read at the first use; one that cannot be read lets none of its users in, and is not overwritten.
 */
export function factorsInFile(path: string, sealer: Sealer): FactorStore {
  let sealed: Promise<ReadonlyMap<string, string>> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function all(): Promise<ReadonlyMap<string, string>> {
    if (sealed) return sealed;
    const loading = load(path);
    sealed = loading;
    // The next login looks again.
    loading.catch(() => (sealed = undefined));
    return loading;
  }

  function open(username: string, text: string | undefined): FactorRecord | undefined {
    if (text === undefined) return undefined;
    const record = parsedRecord(sealer.open(text), username);
    if (!record) throw new HubError('misconfigured', unreadable(username));
    return record;
  }

  async function save(next: ReadonlyMap<string, string>): Promise<void> {
    try {
      await writeFileAtomic(path, JSON.stringify({ version: formatVersion, factors: Object.fromEntries(next) }));
    } catch (error) {
      throw diskError(error, 'Cannot write down second factors', path);
    }
    sealed = Promise.resolve(next);
  }

  /** One after the other: each is on the disk before it counts. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work, work);
    last = done.catch(() => undefined);
    return done;
  }

  return {
    get: async (username) => open(username, (await all()).get(username)),
    change: (username, edit) =>
      inTurn(async () => {
        const now = await all();
        const before = open(username, now.get(username));
        const { record, result } = edit(before);
        if (record === before) return result;
        const next = new Map(now);
        if (record) next.set(username, sealer.seal(JSON.stringify(record)));
        else next.delete(username);
        await save(next);
        return result;
      }),
    remove: (username) =>
      inTurn(async () => {
        const next = new Map(await all());
        if (!next.delete(username)) return false;
        await save(next);
        return true;
      }),
    usernames: async () => new Set((await all()).keys()),
  };
}

async function load(path: string): Promise<ReadonlyMap<string, string>> {
  try {
    const saved: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (isObject(saved) && saved['version'] === formatVersion && isObject(saved['factors']))
      return new Map(Object.entries(saved['factors'] as Record<string, string>));
    throw new Error('unknown format');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return new Map();
    throw new HubError(
      'misconfigured',
      `Cannot read second factors from ${path}. Correct the file, or remove it: then users log in without a second factor.`,
      { cause: error },
    );
  }
}

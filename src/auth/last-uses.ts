import { readFile } from 'node:fs/promises';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { errnoOf } from '../disk/disk-error.ts';
import { writeFileAtomic } from '../disk/write-file-atomic.ts';
import { authLimits } from './limits.ts';

/** `key:` or `grant:`, and the id of the access key or of the consent. */
export type UsedId = `key:${string}` | `grant:${string}`;

/** When access keys and grants were last used. Times in milliseconds since the epoch. */
export interface LastUses {
  /** Notes a use in memory; what is noted is written down together, once in `authLimits.lastUseWriteMs`. */
  note(id: UsedId): void;
  /**
   * What this hub and those it shares a database with know; without the database, what this one knows. Never throws.
   */
  read(): Promise<(id: UsedId) => number | undefined>;
  /** Writes down what is not yet. */
  close(): Promise<void>;
}

export interface LastUseStore {
  load(): Promise<ReadonlyMap<string, number>>;
  /** Takes over later times; forgets what was not used for `authLimits.lastUseKeptMs`. */
  save(uses: ReadonlyMap<string, number>): Promise<void>;
}

export function createLastUses(options: { store: LastUseStore; log: Logger; now?: () => number }): LastUses {
  const { store, log, now = Date.now } = options;
  /** Not written down yet. */
  let noted = new Map<string, number>();
  let loaded: ReadonlyMap<string, number> = new Map();
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    if (noted.size === 0) return;
    const uses = noted;
    noted = new Map();
    try {
      await store.save(uses);
      loaded = merged(loaded, uses);
    } catch (error) {
      noted = merged(uses, noted);
      log.debug('last uses of keys and grants not written down', { error: errorText(error) });
    }
  }
  const flush = (): Promise<void> => (writing = writing.then(write));
  const timer = setInterval(() => void flush(), authLimits.lastUseWriteMs).unref();

  return {
    note(id) {
      noted.set(id, now());
    },
    async read() {
      await writing;
      try {
        loaded = await store.load();
      } catch (error) {
        log.debug('last uses of keys and grants not read', { error: errorText(error) });
      }
      return (id) => noted.get(id) ?? loaded.get(id);
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** For a hub without replicas. */
export function lastUsesInFile(path: string, now: () => number = Date.now): LastUseStore {
  async function load(): Promise<ReadonlyMap<string, number>> {
    try {
      const saved: unknown = JSON.parse(await readFile(path, 'utf8'));
      const entries = isObject(saved) ? Object.entries(saved) : [];
      return new Map(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' || error instanceof SyntaxError) return new Map();
      throw error;
    }
  }
  return {
    load,
    async save(uses) {
      const kept = [...merged(await load(), uses)].filter(([, at]) => now() - at < authLimits.lastUseKeptMs);
      await writeFileAtomic(path, JSON.stringify(Object.fromEntries(kept)));
    },
  };
}

/** For hubs that share a database. */
export function lastUsesInTable(database: DatabaseHandle): LastUseStore {
  const open = () => database.whenReady(authLimits.lastUseWaitMs);
  return {
    async load() {
      const rows = await (
        await open()
      ).query<{ id: string; at: string }>(
        'select id, (extract(epoch from used_at) * 1000)::bigint::text as at from toolhub.last_uses',
      );
      return new Map(rows.map(({ id, at }) => [id, Number(at)]));
    },
    async save(uses) {
      const db = await open();
      await db.query(
        `insert into toolhub.last_uses (id, used_at)
         select key, to_timestamp(value::double precision / 1000) from jsonb_each_text($1::jsonb) order by key
         on conflict (id) do update set used_at = greatest(toolhub.last_uses.used_at, excluded.used_at)`,
        [JSON.stringify(Object.fromEntries(uses))],
      );
      await db.query(`delete from toolhub.last_uses where used_at < now() - $1 * interval '1 millisecond'`, [
        authLimits.lastUseKeptMs,
      ]);
    },
  };
}

function merged(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): Map<string, number> {
  const all = new Map(a);
  for (const [id, at] of b) all.set(id, Math.max(at, all.get(id) ?? 0));
  return all;
}

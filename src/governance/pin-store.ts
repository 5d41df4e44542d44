import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorText } from '../core/errors.ts';
import { forEachYielding } from '../core/for-each-yielding.ts';
import type { Logger } from '../core/logger.ts';
import type { Baseline } from '../core/pins/pin-states.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { Database } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { diskError } from '../disk/disk-error.ts';
import { writeFileAtomic } from '../disk/write-file-atomic.ts';
import { governanceLimits } from './limits.ts';

/** Where baselines are kept, by server. */
export interface PinStore {
  load(): Promise<ReadonlyMap<string, Baseline>>;
  /** A server has a baseline that could not be read when all were loaded, and none was kept since. */
  isLost(server: string): boolean;
  /** Keeps a server's baseline, which is answered; undefined: forgets it. */
  save(server: string, baseline: Baseline | undefined, how?: SaveOptions): Promise<Baseline | undefined>;
  /** Another hub has changed something. */
  onChange(listener: () => void): () => void;
}

export interface SaveOptions {
  /** Only where there is none yet; the one that is kept is answered. */
  readonly isFirst?: boolean;
  /** Until when a database that is away is waited for, as `performance.now()`; without it `pinWaitMs` from now. */
  readonly until?: number;
}

/** Until when a change that is asked for now waits for the database. */
export function waitsUntil(): number {
  return performance.now() + governanceLimits.pinWaitMs;
}

/** A baseline as JSON. */
interface Written {
  readonly version: 1;
  readonly server: string;
  readonly approved: readonly (readonly [id: string, text: string, since: number])[];
  readonly rejected: readonly string[];
  readonly seen: readonly (readonly [id: string, text: string | null, since: number])[];
}

/** As JSON text. Made in slices: of ten thousand tools it has some megabytes, and calls go on meanwhile. */
async function written(server: string, { approved, rejected, seen }: Baseline): Promise<string> {
  const list = async (entries: Iterable<readonly [id: string, { text: string | undefined; since: number }]>) => {
    const texts: string[] = [];
    await forEachYielding(entries, governanceLimits.pinsInATurn, ([id, { text, since }]) => {
      texts.push(JSON.stringify([id, text ?? null, since]));
    });
    return `[${texts.join()}]`;
  };
  const own: Pick<Written, 'version' | 'server' | 'rejected'> = { version: 1, server, rejected: [...rejected] };
  return `{"approved":${await list(approved)},"seen":${await list(seen)},${JSON.stringify(own).slice(1)}`;
}

function read(value: unknown): { server: string; baseline: Baseline } {
  if (!isObject(value) || value['version'] !== 1 || typeof value['server'] !== 'string')
    throw new Error('unknown format');
  const { server, approved, rejected, seen } = value as unknown as Written;
  return {
    server,
    baseline: {
      approved: new Map(approved.map(([id, text, since]) => [id, { text, since }])),
      rejected: new Set(rejected),
      seen: new Map(seen.map(([id, text, since]) => [id, { text: text ?? undefined, since }])),
    },
  };
}

/** What the name of a file ends with that could not be read. */
const aside = '.broken';

/** A file for each server in a folder. One that cannot be read is put aside: its server's baseline is lost. */
export function pinsInFolder(folder: string, log: Logger): PinStore {
  const nameOf = (server: string): string => `${createHash('sha256').update(server).digest('hex').slice(0, 32)}.json`;
  /** Names of files. */
  const lost = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();

  return {
    async load() {
      const found = new Map<string, Baseline>();
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      lost.clear();
      const names = readdirSync(folder);
      for (const name of names) if (name.endsWith(aside)) lost.add(name.slice(0, -aside.length));
      for (const name of names.filter((one) => one.endsWith('.json'))) {
        try {
          const { server, baseline } = read(JSON.parse(readFileSync(join(folder, name), 'utf8')));
          found.set(server, baseline);
          lost.delete(name);
        } catch (error) {
          lost.add(name);
          putAside(join(folder, name), error, log);
        }
      }
      return found;
    },
    isLost: (server) => lost.has(nameOf(server)),
    save(server, baseline) {
      const name = nameOf(server);
      const path = join(folder, name);
      const write = async (): Promise<Baseline | undefined> => {
        try {
          if (baseline) await writeFileAtomic(path, await written(server, baseline));
          else for (const one of [path, `${path}${aside}`]) await rm(one, { force: true });
          lost.delete(name);
        } catch (error) {
          throw diskError(error, 'Cannot write down the pins', path);
        }
        return baseline;
      };
      const done = last.then(write, write);
      last = done.catch(() => undefined);
      return done;
    },
    onChange: () => () => undefined,
  };
}

function putAside(path: string, error: unknown, log: Logger): void {
  const file = `${path}${aside}`;
  log.error('The pins of a server cannot be read, and all that it offers counts as new. The file is kept.', {
    file,
    error: errorText(error),
  });
  try {
    renameSync(path, file);
  } catch (why) {
    log.error('pins not put aside', { path, error: errorText(why) });
  }
}

const channel = 'pins';

/**
 * Rows that hubs on one database share, and a copy of them in the data folder: a hub that starts while the database is
 * away has what it last knew, and reads the rows once they are there.
 */
export function pinsInTable(
  database: Pick<DatabaseHandle, 'whenReady' | 'listen'>,
  copy: PinStore,
  log: Logger,
): PinStore {
  let isFromCopy = false;
  const own = randomUUID();
  let begun = 0;
  let ended = 0;
  let last: Promise<unknown> = Promise.resolve();

  interface Write extends Required<SaveOptions> {
    /** How many readings of the rows had ended when the write was asked for. */
    readonly endedBefore: number;
  }

  async function write(
    server: string,
    baseline: Baseline | undefined,
    { isFirst, until, endedBefore }: Write,
  ): Promise<Baseline | undefined> {
    const db = await database.whenReady(Math.max(0, until - performance.now()));
    const kept = baseline ? await keep(db, server, baseline, isFirst) : undefined;
    if (!baseline) await db.query('delete from toolhub.pins where server = $1', [server]);
    await copy.save(server, kept).catch((error: unknown) => log.warn('pins not copied', { error: errorText(error) }));
    // This hub knows what it has written, unless a reading of the rows was under way at any moment since: it may have
    // read them as they were before.
    await db.notify(channel, begun === endedBefore ? own : '').catch(() => undefined);
    return kept;
  }

  async function load(): Promise<ReadonlyMap<string, Baseline>> {
    let rows: Map<string, Baseline>;
    try {
      const db = await database.whenReady(governanceLimits.pinLoadMs);
      const found = await db.query<{ content: unknown }>('select content from toolhub.pins');
      rows = new Map(found.map(({ content }) => read(content)).map(({ server, baseline }) => [server, baseline]));
    } catch (error) {
      log.warn('The database is away: pins are those that this hub last knew.', { error: errorText(error) });
      isFromCopy = true;
      return copy.load();
    }
    isFromCopy = false;
    const kept = await copy.load();
    for (const [server, baseline] of rows)
      if (!isDeepStrictEqual(kept.get(server), baseline)) await copy.save(server, baseline);
    for (const server of kept.keys()) if (!rows.has(server)) await copy.save(server, undefined);
    return rows;
  }

  return {
    isLost: (server) => isFromCopy && copy.isLost(server),
    async load() {
      begun += 1;
      try {
        return await load();
      } finally {
        ended += 1;
      }
    },
    save(server, baseline, { isFirst = false, until = waitsUntil() } = {}) {
      const how = { isFirst, until, endedBefore: ended };
      const done = last.then(() => write(server, baseline, how));
      last = done.catch(() => undefined);
      return done;
    },
    onChange: (listener) => database.listen(channel, (from) => void (from !== own && listener())),
  };
}

/** The baseline that is kept then: where it is to be the first, that of another hub counts which was there before. */
async function keep(db: Database, server: string, baseline: Baseline, isFirst: boolean): Promise<Baseline | undefined> {
  const rows = await db.query(
    `insert into toolhub.pins (server, content) values ($1, $2::jsonb) on conflict (server) do ${
      isFirst ? 'nothing' : 'update set content = excluded.content'
    } returning 1`,
    [server, await written(server, baseline)],
  );
  if (rows.length > 0) return baseline;
  const [row] = await db.query<{ content: unknown }>('select content from toolhub.pins where server = $1', [server]);
  return row && read(row.content).baseline;
}

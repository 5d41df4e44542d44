import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorText, HubError } from '../core/errors.ts';
import { forEachYielding } from '../core/for-each-yielding.ts';
import type { Logger } from '../core/logger.ts';
import { nothingApproved } from '../core/pins/baseline.ts';
import type { Baseline } from '../core/pins/pin-states.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { Transaction } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { diskError } from '../disk/disk-error.ts';
import { writeFileAtomic } from '../disk/write-file-atomic.ts';
import { governanceLimits } from './limits.ts';
import { unreadable } from './pin-rules.ts';

/** Where baselines are kept, by server. */
export interface PinStore {
  /** Other hubs change what is kept too. */
  readonly isShared: boolean;
  load(): Promise<ReadonlyMap<string, Baseline>>;
  /**
   * `same` says what `kept` does, with texts that are in memory anyway: where `kept` is what is remembered here of the
   * server, `same` takes its place.
   */
  share(server: string, kept: Baseline, same: Baseline): void;
  /** A server has a baseline that could not be read when all were loaded, and none was kept since. */
  isLost(server: string): boolean;
  /**
   * Changes a server's baseline, and answers what is kept then. `edit` is called with what is kept at that moment, also
   * by other hubs, of which none changes it meanwhile; where it answers the same, nothing is written, and undefined
   * forgets the server. What it throws is thrown. `until`: how long a database that is away is waited for, as
   * `performance.now()`, `pinWaitMs` by default; HubError `not_ready` then. HubError `conflict` where another version
   * of the hub has kept what this one cannot read.
   */
  change(server: string, edit: PinEdit, until?: number): Promise<Baseline | undefined>;
  /** What is kept of one server, or `known` where nothing is, is kept of the other, and answered. */
  rename(from: string, to: string, known: Baseline, until?: number): Promise<Baseline>;
  /** Another hub has changed something. */
  onChange(listener: () => void): () => void;
}

/** `isReadable`: false where another version of the hub has kept it; then nothing is approved in `kept`. */
export type PinEdit = (kept: Baseline | undefined, isReadable: boolean) => Baseline | undefined;

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

/**
 * As JSON text, in parts: as a whole the pins of a thousand tools are megabytes of garbage, of which V8 keeps the
 * memory, and calls go on between the parts.
 */
function* written(server: string, { approved, rejected, seen }: Baseline): Generator<string> {
  const own: Pick<Written, 'version' | 'server' | 'rejected'> = {
    version: 1,
    server,
    rejected: [...rejected].map(idText),
  };
  yield '{"approved":[';
  yield* listed(approved);
  yield '],"seen":[';
  yield* listed(seen);
  yield `],${JSON.stringify(own).slice(1)}`;
}

function* listed(
  pins: Iterable<readonly [id: string, { readonly text: string | undefined; readonly since: number }]>,
): Generator<string> {
  let part = '';
  let comma = '';
  for (const [id, { text, since }] of pins) {
    part += `${comma}${JSON.stringify([idText(id), text ?? null, since])}`;
    comma = ',';
    if (part.length < governanceLimits.pinPartChars) continue;
    yield part;
    part = '';
  }
  yield part;
}

/** The whole text, made in slices. */
async function asText(parts: Iterable<string>): Promise<string> {
  const texts: string[] = [];
  await forEachYielding(parts, governanceLimits.pinPartsInATurn, (part) => void texts.push(part));
  return texts.join('');
}

function read(value: unknown): { server: string; baseline: Baseline } {
  if (!isObject(value) || value['version'] !== 1 || typeof value['server'] !== 'string')
    throw new Error('unknown format');
  const { server, approved, rejected, seen } = value as unknown as Written;
  return {
    server,
    baseline: {
      approved: new Map(approved.map(([id, text, since]) => [idOf(id), { text, since }])),
      rejected: new Set(rejected.map(idOf)),
      seen: new Map(seen.map(([id, text, since]) => [idOf(id), { text: text ?? undefined, since }])),
    },
  };
}

/** PostgreSQL keeps no NUL and no half of a surrogate pair: an id with one is written as JSON. */
function idText(id: string): string {
  return /[\0\p{Surrogate}]/u.test(id) ? JSON.stringify(id) : id;
}

/** No kind begins with a quote. */
function idOf(text: string): string {
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/** What the name of a file ends with that could not be read. */
const aside = '.broken';

/**
 * A file for each server in a folder of one hub. One that cannot be read is put aside: its server's baseline is lost.
 */
export function pinsInFolder(folder: string, log: Logger): PinStore {
  const files = filesIn(folder, log);
  /** What the files have. */
  const kept = new Map<string, Baseline>();
  const inTurn = turns();
  const keep = async (server: string, baseline: Baseline | undefined): Promise<void> => {
    await files.write(server, baseline);
    if (baseline) kept.set(server, baseline);
    else kept.delete(server);
  };

  return {
    isShared: false,
    load: () =>
      inTurn(async () => {
        kept.clear();
        for (const [server, baseline] of await files.load()) kept.set(server, baseline);
        return new Map(kept);
      }),
    share(server, before, same) {
      if (kept.get(server) === before) kept.set(server, same);
    },
    isLost: files.isLost,
    change: (server, edit) =>
      inTurn(async () => {
        const before = kept.get(server);
        const after = edit(before, true);
        // A lost one is in a file that was put aside, and forgotten with it.
        if (after !== before || files.isLost(server)) await keep(server, after);
        return after;
      }),
    rename: (from, to, known) =>
      inTurn(async () => {
        const baseline = kept.get(from) ?? known;
        await keep(to, baseline);
        await keep(from, undefined);
        return baseline;
      }),
    onChange: () => () => undefined,
  };
}

/** One after another, whatever becomes of those before. */
function turns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    // Without what it gave: after a start that is all that was read.
    last = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  };
}

interface PinFiles extends Pick<PinStore, 'load' | 'isLost'> {
  /** Undefined: takes the file away. */
  write(server: string, baseline: Baseline | undefined): Promise<void>;
}

function filesIn(folder: string, log: Logger): PinFiles {
  const nameOf = (server: string): string => `${createHash('sha256').update(server).digest('hex').slice(0, 32)}.json`;
  /** Names of files. */
  const lost = new Set<string>();
  const inTurn = turns();

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
    write: (server, baseline) =>
      inTurn(async () => {
        const name = nameOf(server);
        const path = join(folder, name);
        try {
          if (baseline) await writeFileAtomic(path, written(server, baseline));
          else for (const one of [path, `${path}${aside}`]) await rm(one, { force: true });
          lost.delete(name);
        } catch (error) {
          throw diskError(error, 'Cannot write down the pins', path);
        }
      }),
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
 * Rows that hubs on one database share, and a copy of them in files of `folder`: a hub that starts while the database
 * is away has what it last knew, and reads the rows once they are there.
 */
export function pinsInTable(
  database: Pick<DatabaseHandle, 'whenReady' | 'listen'>,
  folder: string,
  log: Logger,
): PinStore {
  const copy = filesIn(folder, log);
  let isFromCopy = false;
  const readable = rowReader(log);
  const own = randomUUID();
  const inTurn = turns();

  /** `work` gives what it has written, by server. The other hubs hear of it when it is committed, or it is not. */
  function write(
    until: number | undefined,
    work: (tx: Transaction) => Promise<ReadonlyMap<string, Baseline | undefined>>,
  ): Promise<void> {
    const by = until ?? waitsUntil();
    return inTurn(async () => {
      const db = await database.whenReady(Math.max(0, by - performance.now()));
      const changed = await db.tx(async (tx) => {
        const done = await work(tx);
        if (done.size > 0) await tx.query('select pg_notify($1, $2)', [channel, own]);
        return done;
      });
      for (const [server, baseline] of changed)
        await copy
          .write(server, baseline)
          .catch((error: unknown) => log.warn('pins not copied', { error: errorText(error) }));
    });
  }

  async function load(): Promise<ReadonlyMap<string, Baseline>> {
    let rows: Map<string, Baseline>;
    try {
      const db = await database.whenReady(0);
      rows = readable(await db.query<Row>('select server, content from toolhub.pins'));
    } catch (error) {
      const isAway = error instanceof HubError && error.code === 'not_ready';
      const why = isAway ? 'The database is away' : 'The pins in the database cannot be read';
      log.warn(`${why}: pins are those that this hub last knew.`, { error: errorText(error) });
      isFromCopy = true;
      return copy.load();
    }
    isFromCopy = false;
    const kept = await copy.load();
    for (const [server, baseline] of rows)
      if (!isDeepStrictEqual(kept.get(server), baseline)) await copy.write(server, baseline);
    for (const server of kept.keys()) if (!rows.has(server)) await copy.write(server, undefined);
    return rows;
  }

  return {
    isShared: true,
    async load() {
      // Not in turn: changes wait for the database themselves.
      await database.whenReady(governanceLimits.pinLoadMs).catch(() => undefined);
      // In turn: what was read before a change would take the place of its copy.
      return inTurn(load);
    },
    // Nothing is remembered of the rows.
    share: () => undefined,
    isLost: (server) => isFromCopy && copy.isLost(server),
    async change(server, edit, until) {
      let after: Baseline | undefined;
      await write(until, async (tx) => {
        const before = await lockedRow(tx, server);
        after = edit(before?.baseline, before?.isReadable ?? true);
        if (after === before?.baseline) return new Map();
        if (after && before?.isReadable === false) throw unreadable(server);
        await putRow(tx, server, after);
        return new Map([[server, after]]);
      });
      return after;
    },
    async rename(from, to, known, until) {
      let baseline = known;
      await write(until, async (tx) => {
        // In the order of their names: two hubs that rename one to the other would each wait for the other.
        for (const server of [from, to].toSorted()) await lockRow(tx, server);
        const before = await lockedRow(tx, from);
        if (before?.isReadable === false) throw unreadable(from);
        baseline = before?.baseline ?? known;
        await putRow(tx, to, baseline);
        await putRow(tx, from, undefined);
        return new Map([
          [to, baseline],
          [from, undefined],
        ]);
      });
      return baseline;
    },
    onChange: (listener) => database.listen(channel, (from) => void (from !== own && listener())),
  };
}

/** Of a server whose row cannot be read nothing is approved: under `hold` none of it is shown. */
function rowReader(log: Logger): (found: readonly Row[]) => Map<string, Baseline> {
  /** Servers whose rows could not be read the last time. */
  let unread: ReadonlySet<string> = new Set();
  return (found) => {
    const before = unread;
    const failed = new Set<string>();
    const rows = new Map<string, Baseline>();
    for (const { server, content } of found) {
      const row = rowOf(content);
      rows.set(server, row.baseline);
      if (row.isReadable) continue;
      failed.add(server);
      if (!before.has(server))
        log.error(
          'The pins of a server cannot be read: another version of the hub has kept them. All that it offers counts as new at this hub, which decides nothing about it.',
          { server },
        );
    }
    unread = failed;
    return rows;
  };
}

/** Also of a server without a row: of two hubs that see it first, the second finds what the first has written. */
async function lockRow(tx: Transaction, server: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('pins of'), hashtext($1))`, [server]);
}

async function lockedRow(tx: Transaction, server: string): Promise<ReadRow | undefined> {
  await lockRow(tx, server);
  const [row] = await tx.query<Row>('select server, content from toolhub.pins where server = $1', [server]);
  return row && rowOf(row.content);
}

interface Row {
  readonly server: string;
  readonly content: unknown;
}

/** One that cannot be read has nothing approved in it. It may be forgotten, and is not written over. */
interface ReadRow {
  readonly baseline: Baseline;
  readonly isReadable: boolean;
}

function rowOf(content: unknown): ReadRow {
  try {
    return { baseline: read(content).baseline, isReadable: true };
  } catch {
    return { baseline: nothingApproved(), isReadable: false };
  }
}

async function putRow(tx: Transaction, server: string, baseline: Baseline | undefined): Promise<void> {
  if (!baseline) await tx.query('delete from toolhub.pins where server = $1', [server]);
  else
    await tx.query(
      `insert into toolhub.pins (server, content) values ($1, $2::jsonb)
       on conflict (server) do update set content = excluded.content`,
      [server, await asText(written(server, baseline))],
    );
}

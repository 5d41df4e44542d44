import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { places, silent, tempFolder } from '../../test/kit/databases.ts';
import { until, within } from '../../test/kit/until.ts';
import { openEmbedded, shippedArchive } from './embedded.ts';
import { databaseLimits } from './limits.ts';
import { migrate, readMigrations } from './migrate.ts';
import { type DatabasePlace, openDatabase } from './open.ts';

/** Another hub process on the same folder; collects what it says, line by line. */
function startWriter(dataDir: string, archive = shippedArchive) {
  const child = spawn(process.execPath, ['test/kit/embedded-writer.mjs', dataDir, archive], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  const ended = once(child, 'close');
  atEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    lines,
    pid: child.pid ?? 0,
    ended: () => within('the other process ends', ended),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

describe('a process that writes', () => {
  let place: DatabasePlace;
  let writer: ReturnType<typeof startWriter>;
  beforeAll(async () => {
    place = await places.embedded();
    writer = startWriter(place.dataDir);
    await until('it writes', () => writer.lines.length > 3);
  });

  test('keeps a second process out, which is told who holds the folder', async () => {
    const second = startWriter(place.dataDir);
    await second.ended();
    const { pid } = JSON.parse(readFileSync(join(place.dataDir, 'database.lock'), 'utf8')) as { pid: number };
    expect(second.lines.join()).toMatch(new RegExp(`^refused: conflict .*process id ${pid} has it`));
    const before = writer.lines.length;
    await until('the first one goes on', () => writer.lines.length > before);
  });

  test.runIf(process.platform === 'linux')(
    'has a thread of the database that steps back behind the one that relays calls, and no other does',
    () => {
      const { pid } = writer;
      const niceness = readdirSync(`/proc/${pid}/task`).map((thread) => {
        const [, fields = ''] = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ');
        return Number(fields.split(' ')[16]);
      });
      const own = getPriority();
      expect(niceness.filter((nice) => nice !== own)).toEqual([own + databaseLimits.databaseNiceness]);
      expect(getPriority(pid)).toBe(own);
    },
  );

  test('has written every acknowledged row when it is killed in the middle of writes', async () => {
    await until('it has written', () => writer.lines.length > 200);
    await writer.kill();
    const acknowledged = Number(writer.lines.at(-1));

    const database = await openDatabase(place);
    atEnd(() => database.close());
    const [row] = await database.query<{ n: number; all: number }>(
      'select max(n) as n, count(*)::int as all from toolhub.numbers',
    );
    expect(row?.n).toBeGreaterThanOrEqual(acknowledged);
    expect(row?.all).toBe(row?.n);
  });
});

/** An empty data folder, with what the log of a hub on it says. */
function newFolder() {
  const dataDir = tempFolder();
  const warnings: string[] = [];
  const log = {
    ...silent,
    warn: (text: string, fields?: object) => warnings.push(`${text} ${JSON.stringify(fields)}`),
  };
  const unfinished = () => readdirSync(dataDir).filter((name) => name.startsWith('database.unfinished'));
  return { dataDir, folder: join(dataDir, 'database'), log, warnings, unfinished };
}

test('a new folder is the database of the build: all migrations are in it, a newer one is applied, and no other user can read it', async () => {
  const { folder, log, warnings, unfinished } = newFolder();
  const database = await openEmbedded({ folder, log });
  atEnd(() => database.close());
  const applied = await database.query<{ name: string }>('select name from toolhub.migrations order by number');
  expect(applied.map(({ name }) => name)).toEqual(readMigrations().map(({ name }) => name));
  // One that is made from nothing has the templates too.
  expect(await database.query('select datname from pg_database')).toEqual([{ datname: 'postgres' }]);
  expect([warnings, unfinished()]).toEqual([[], []]);
  const modes = (path: string): string => (statSync(join(folder, path)).mode & 0o777).toString(8);
  expect(['', 'base', 'PG_VERSION', 'postgresql.conf'].map(modes)).toEqual(['700', '700', '600', '600']);

  // A migration that it does not have yet is applied to it.
  const newer = { number: 9001, name: '9001-newer.sql', sql: 'create table toolhub.newer (n int)', needsVector: false };
  await migrate(database, [...readMigrations(), newer]);
  expect(await database.query('select * from toolhub.newer')).toEqual([]);
});

// The next two make one from nothing, which takes seconds of work.
test('when the database of the build is damaged, one is made from nothing, and the log says why', async () => {
  const { dataDir, folder, log, warnings, unfinished } = newFolder();
  const archive = join(dataDir, 'damaged.gz');
  writeFileSync(archive, readFileSync(shippedArchive).subarray(0, 100_000));
  const database = await openEmbedded({ folder, log, archive });
  atEnd(() => database.close());
  expect(await database.query(`select to_regclass('toolhub.migrations') as made`)).toEqual([{ made: null }]);
  expect(warnings).toEqual([expect.stringContaining('unexpected end of file')]);
  expect(unfinished()).toEqual([]);
});

test('a database whose making was broken off, by a full disk or a kill, is made again; one that was in use is never taken away', async () => {
  const { dataDir, folder, log, unfinished } = newFolder();
  mkdirSync(folder);
  writeFileSync(join(folder, 'PG_VERSION'), '17\n');
  await expect(openEmbedded({ folder, log })).rejects.toThrow();
  expect(existsSync(join(folder, 'PG_VERSION'))).toBe(true);
  rmSync(folder, { recursive: true });

  // As another hub leaves it that is killed while it unpacks its database, or makes one where it has none to unpack.
  for (const archive of [shippedArchive, join(dataDir, 'none')]) {
    const killed = startWriter(dataDir, archive);
    await until('the other one has begun', () => unfinished().length > 0 || existsSync(folder));
    await killed.kill();
    // It may have been quick.
    if (existsSync(folder)) rmSync(folder, { recursive: true });
    else expect(unfinished().length).toBe(1);
    mkdirSync(join(dataDir, 'database.unfinished-1-1', 'base'), { recursive: true });

    const made = await openEmbedded({ folder, log });
    expect(await made.query('select 1 as one')).toEqual([{ one: 1 }]);
    expect(unfinished()).toEqual([]);
    await made.query('create table kept (n int)');
    await made.close();
    const again = await openEmbedded({ folder, log });
    expect(await again.query('select * from kept')).toEqual([]);
    await again.close();
    rmSync(folder, { recursive: true });
  }
}, 60_000);

test('a database that is being made is given up at once when the hub stops, and nothing is left of it', async () => {
  const { dataDir, folder, log, unfinished } = newFolder();
  const stop = new AbortController();
  const opening = openEmbedded({ folder, log, archive: join(dataDir, 'none') }, stop.signal);
  await until('it is begun', () => unfinished().some((name) => existsSync(join(dataDir, name))));
  stop.abort();
  await expect(opening).rejects.toThrow('SIGKILL');
  expect(readdirSync(dataDir).filter((name) => name.startsWith('database'))).toEqual([]);
  await expect(openDatabase({ url: undefined, dataDir, log: silent }, stop.signal)).rejects.toThrow('aborted');
  expect(readdirSync(dataDir).filter((name) => name.startsWith('database'))).toEqual([]);
});

test('the same process cannot open a folder twice, and can again after closing it', async () => {
  const place = await places.embedded();
  const first = await openDatabase(place);
  await expect(openDatabase(place)).rejects.toMatchObject({ code: 'conflict' });
  await first.close();
  const again = await openDatabase(place);
  expect(await again.query('select 1 as one')).toEqual([{ one: 1 }]);
  await again.close();
});

test('a folder that is no database is an error with a reason, and lets the lock go', async () => {
  const { dataDir } = await places.embedded();
  const other = join(dataDir, 'elsewhere');
  mkdirSync(join(other, 'database'), { recursive: true });
  writeFileSync(join(other, 'database', 'PG_VERSION'), '9.1\n');
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const error = await openDatabase({ url: undefined, dataDir: other, log: silent }).catch(
      (failed: unknown) => failed,
    );
    expect(error).toBeInstanceOf(Error);
    expect((error as { code?: string }).code).not.toBe('conflict');
  }
});

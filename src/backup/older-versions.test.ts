import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { emptyDatabase, sharedPostgres, silent, tempFolder } from '../../test/kit/databases.ts';
import type { Database } from '../database/database.ts';
import { migrate, readMigrations } from '../database/migrate.ts';
import { approvalsInTable } from '../governance/approvals-in-table.ts';
import { openConnection, openDatabase } from '../database/open.ts';
import { createDatabase } from '../database/supervise.ts';
import { restoreBackup } from './restore.ts';
import { writeBackup } from './write-backup.ts';

// Hubs of every version so far, as far as their tables tell: each migration was the newest one once. An upgrade keeps
// what they had, in place and by a backup.

const migrations = readMigrations();
const newest = migrations.map(({ number }) => number);

/** Makes the tables of a version, with what every version has in them. */
async function oldTables(database: Pick<Database, 'tx' | 'query'>, last: number): Promise<void> {
  await database.tx((tx) => tx.script('drop schema if exists toolhub cascade'));
  await migrate(
    database,
    migrations.filter(({ number }) => number <= last),
  );
  await writtenBy(database, last, 1);
}

/** What hubs of a version write; `turn` is part of each key. */
async function writtenBy(database: Pick<Database, 'query'>, last: number, turn: number): Promise<void> {
  await database.query(
    `insert into toolhub.activity (id, at, server, tool, duration_ms, status, principal, result_bytes)
     values ($1, now(), 'mail', 'send', 1.5, 'success', 'user:ann', 10)`,
    [uuid(turn)],
  );
  await database.query(
    `insert into toolhub.logs (id, hub, at, level, service, message) values (9007199254740993, $1, now(), 'info', 'hub', 'started')`,
    [turn],
  );
  await database.query(`insert into toolhub.revocations (username, jti, until_ms) values ($1, '', 5)`, [`ann${turn}`]);
  for (const [since, sql] of later) if (since <= last) await database.query(sql, [uuid(turn)]);
}

const uuid = (turn: number) => `019a0000-0000-7000-8000-00000000000${turn}`;

/** By the number of the migration that made their tables: the columns that it gave them. */
const later: readonly (readonly [number, string])[] = [
  [
    18,
    `insert into toolhub.approvals (id, hash, caller, state, content, created_at, expires_at) values ($1, 'h', 'user:ann', 'waiting',
       '{"who":"user:ann","principal":"user:ann","server":"mail","tool":"send","arguments":"{}"}', now(), now() + interval '1 hour')`,
  ],
  [18, `insert into toolhub.call_running (id, hub, calls) values ('server:mail', $1, 1)`],
  [20, `insert into toolhub.hubs (id, urls, secret_hash, version) values ($1, '{}', 'x', '0')`],
];

/** What code of today reads. */
async function contentOf(database: Pick<Database, 'query'>) {
  return {
    activity: await database.query('select id, kind, client, tool from toolhub.activity order by id'),
    logs: await database.query(
      `select hub, id::text, security from toolhub.logs where message = 'started' order by hub`,
    ),
    ended: await database.query('select username from toolhub.revocations order by username'),
    pins: await database.query('select * from toolhub.pins'),
  };
}

/** What was written in the first so many turns. */
const written = (turns: number) => {
  const each = Array.from({ length: turns }, (_, i) => i + 1);
  return {
    activity: each.map((turn) => ({ id: uuid(turn), kind: 'call', client: null, tool: 'send' })),
    logs: each.map((turn) => ({ hub: turn, id: '9007199254740993', security: false })),
    ended: each.map((turn) => ({ username: `ann${turn}` })),
    pins: [],
  };
};

describe.each(['postgres', 'embedded'] as const)('%s', (kind) => {
  let database: Database;
  let url: string | undefined;
  beforeAll(async () => {
    url = kind === 'postgres' ? await (await sharedPostgres()).createDatabase() : undefined;
    database =
      url === undefined
        ? await (await emptyDatabase('embedded')).whenReady(60_000)
        : { ...(await openConnection({ url, dataDir: '', log: silent })), hasVector: false };
  });
  afterAll(async () => {
    // The embedded one is shared by the tests of a process.
    if (kind === 'postgres') await database.close();
    else {
      await database.tx((tx) => tx.script('drop schema toolhub cascade'));
      await migrate(database);
    }
  });

  // The statements are the same for both; the embedded database takes ten times as long for them.
  test.each(kind === 'postgres' ? newest : newest.slice(0, 1))(
    'tables up to migration %i are brought up to date, and nothing in them is lost',
    async (last) => {
      await oldTables(database, last);
      await migrate(database);
      expect(await contentOf(database)).toEqual(written(1));
      // A hub of that version that still runs goes on.
      await writtenBy(database, last, 2);
      expect(await contentOf(database)).toEqual(written(2));
      if (last < 18 || url === undefined) return;
      const handle = createDatabase({ url, dataDir: '', log: silent });
      atEnd(() => handle.close());
      handle.start();
      const approvals = await approvalsInTable(handle).waiting(Date.now());
      expect(approvals.map(({ who, server, tool }) => [who, server, tool])).toEqual(
        [1, 2].map(() => ['user:ann', 'mail', 'send']),
      );
    },
  );
});

describe('a backup of an older version', () => {
  test.each([newest[0] ?? 0, newest[Math.floor(newest.length / 2)] ?? 0])(
    'with tables up to migration %i is brought up to date when it is restored',
    async (last) => {
      const url = await (await sharedPostgres()).createDatabase();
      const place = { dataDir: join(tempFolder(), 'data'), settingsPath: join(tempFolder(), 'settings.json') };
      mkdirSync(place.dataDir);
      const old = await openConnection({ url, dataDir: '', log: silent });
      await oldTables(old, last);
      const file = join(tempFolder(), 'backup.zip');
      const jwtSecret = { from: 'data folder', value: 'a secret that is long enough for it' } as const;
      const source = { ...place, databaseKind: 'postgres', database: { ...old, hasVector: false }, jwtSecret } as const;
      await writeBackup(source, createWriteStream(file));
      await old.close();

      const target = await (await sharedPostgres()).createDatabase();
      const to = { ...place, database: { kind: 'postgres', url: target } as const, jwtSecret: undefined };
      await restoreBackup(file, to, false);
      const restored = await openDatabase({ url: target, dataDir: place.dataDir, log: silent });
      expect(await contentOf(restored)).toEqual(written(1));
      await restored.close();
    },
  );
});

import { describe, expect, test } from 'vitest';
import { emptyDatabase, databaseWaitMs, places, silent, tempFolder } from '../../test/kit/databases.ts';
import { until } from '../../test/kit/until.ts';
import { sqlState } from './failure.ts';
import { openDatabase } from './open.ts';

const open = async (kind: 'postgres' | 'embedded') => (await emptyDatabase(kind)).whenReady(databaseWaitMs);

describe.each(['postgres', 'embedded'] as const)('%s', (kind) => {
  test('values come back the same whatever the database', async () => {
    const database = await open(kind);
    const when = new Date('2026-02-03T04:05:06.789Z');
    const [row] = await database.query(
      `select $1::bigint as big, count(*) as n, count(*)::int as small, 1.50::numeric as money, 1.5::float8 as real, true as yes, null as nothing,
              $2::timestamptz as at, date '2026-02-03' as day, timestamp '2026-02-03 04:05:06' as plain, $3::jsonb as doc, $4::bytea as bytes,
              $5::text[] as words, $6::text as text, $7::uuid as id, $8::bigint[] as bigs`,
      [
        '9007199254740993',
        when,
        '{"a":[1,"ü"]}',
        new Uint8Array([0, 255]),
        ['a"b,{}', '\\', '', 'null'],
        "it's; drop table x --",
        'a3bb189e-8bf9-3888-9912-ace4e6543002',
        ['1', '2'],
      ],
    );
    expect(row).toEqual({
      big: '9007199254740993',
      n: '1',
      small: 1,
      money: '1.50',
      real: 1.5,
      yes: true,
      nothing: null,
      at: when,
      day: '2026-02-03',
      plain: '2026-02-03 04:05:06',
      doc: { a: [1, 'ü'] },
      bytes: new Uint8Array([0, 255]),
      words: ['a"b,{}', '\\', '', 'null'],
      text: "it's; drop table x --",
      id: 'a3bb189e-8bf9-3888-9912-ace4e6543002',
      bigs: ['1', '2'],
    });
  });

  test('errors keep their SQLSTATE, and the next statement works', async () => {
    const database = await open(kind);
    const fail = (sql: string, parameters: string[] = []) =>
      database.query(sql, parameters).then(() => 'none', sqlState);
    expect(await fail('select * from nope where x = $1', ['1'])).toBe('42P01');
    expect(await fail('select $1::text', ['a\0b'])).toBe('22021');
    const twice = "insert into toolhub.revocations (username, jti, until_ms) values ('ann', 'same', 1)";
    await database.query(twice);
    expect(await fail(twice)).toBe('23505');
    expect(await database.query('select 4 as four')).toEqual([{ four: 4 }]);
  });

  test('a transaction happens whole or not at all, and others wait for it', async () => {
    const database = await open(kind);
    await database.query('create table toolhub.t (n int)');
    const failing = database.tx(async (tx) => {
      await tx.query('insert into toolhub.t values (1)');
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await database.query('select * from toolhub.t')).toEqual([]);

    await Promise.all(
      Array.from({ length: 10 }, () =>
        database.tx(async (tx) => {
          await tx.query('lock table toolhub.t in exclusive mode');
          const [row] = await tx.query<{ n: number }>('select coalesce(max(n), 0)::int as n from toolhub.t');
          await tx.query('insert into toolhub.t values ($1)', [(row?.n ?? 0) + 1]);
        }),
      ),
    );
    expect(await database.query('select max(n) as n from toolhub.t')).toEqual([{ n: 10 }]);
  });

  test('a statement that fails inside a transaction rolls it back', async () => {
    const database = await open(kind);
    const work = database.tx(async (tx) => {
      await tx.query("insert into toolhub.revocations (username, jti, until_ms) values ('ann', 'a', 1)");
      await tx.query('select 1/0');
    });
    expect(await work.then(() => 'none', sqlState)).toBe('22012');
    expect(await database.query('select 1 from toolhub.revocations')).toEqual([]);
    await database.tx((tx) =>
      tx.query("insert into toolhub.revocations (username, jti, until_ms) values ('ann', 'a', 1)"),
    );
    expect(await database.query('select 1 as one from toolhub.revocations')).toEqual([{ one: 1 }]);
  });
});

describe.each(['postgres', 'embedded'] as const)('%s', (kind) => {
  test('listeners hear what is sent on their channel until they stop listening', async () => {
    const database = await open(kind);
    const heard: string[] = [];
    const other: string[] = [];
    const stop = await database.listen('news', (payload) => heard.push(payload));
    await database.listen('weather', (payload) => other.push(payload));
    const payload = "it's \\ ü " + 'x'.repeat(500);
    await database.notify('news', payload);
    await until('it is heard', () => heard.length === 1);
    await stop();
    await database.notify('news', 'not heard');
    await database.notify('weather', 'rain');
    await until('the other is heard', () => other.length === 1);
    expect(heard).toEqual([payload]);
    expect(other).toEqual(['rain']);
  });

  test('after close every use fails and nothing hangs', async () => {
    const database = await openDatabase(await places[kind]());
    await database.close();
    await database.close();
    await expect(database.query('select 1')).rejects.toThrow();
    await expect(database.tx((tx) => tx.query('select 1'))).rejects.toThrow();
  });
});

test('the embedded database has vectors', async () => {
  const database = await open('embedded');
  expect(database.hasVector).toBe(true);
  await database.query(
    `insert into toolhub.embeddings values ('m', 'h1', '[1,0]'), ('m', 'h2', '[0,1]'), ('n', 'h1', '[1,2,3]')`,
  );
  const rows = await database.query(
    `select content_hash from toolhub.embeddings where model = 'm' order by embedding <=> $1::vector`,
    ['[0.1,1]'],
  );
  expect(rows).toEqual([{ content_hash: 'h2' }, { content_hash: 'h1' }]);
});

test('a DB_URL that is none is refused without repeating its password', async () => {
  const place = { dataDir: tempFolder(), log: silent };
  for (const url of ['mysql://root:hunter2@db/x', 'hunter2', 'postgres//hunter2']) {
    const message = await openDatabase({ ...place, url }).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(message).toMatch(/^DB_URL is not an address/);
    expect(message).not.toContain('hunter2');
  }
});

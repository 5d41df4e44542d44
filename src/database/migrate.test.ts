import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { atEnd, atFileEnd } from '../../test/kit/at-end.ts';
import { places } from '../../test/kit/databases.ts';
import type { Database } from './database.ts';
import { migrate, readMigrations } from './migrate.ts';
import type { Migration } from './migrate.ts';
import { openDatabase } from './open.ts';
import { openPostgres } from './postgres.ts';

const step = (number: number, sql: string, needsVector = false): Migration => ({
  number,
  name: `${String(number).padStart(4, '0')}-test.sql`,
  sql,
  needsVector,
});

test('hubs that start together migrate once and all find the tables', async () => {
  const { url } = await places.postgres();
  const connections = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url ?? '')));
  atEnd(async () => void (await Promise.all(connections.map((one) => one.close()))));
  await Promise.all(connections.map((one) => migrate(one)));
  const applied = await connections[0]?.query<{ number: number }>(
    'select number from toolhub.migrations order by number',
  );
  expect(applied).toContainEqual({ number: 1 });
  expect(new Set(applied?.map(({ number }) => number)).size).toBe(applied?.length);
});

// Hubs of the version before use the tables while the next one is started beside them (docs/operations.md, Upgrade).
test.each(readMigrations().map(({ name, sql }) => [name, sql]))(
  '%s leaves what hubs of the version before read and write',
  (_, sql) => {
    const statements = sql.replaceAll(/--.*/g, '').split(';');
    for (const statement of statements) {
      expect(statement).not.toMatch(
        /\b(rename|truncate|set not null|drop (table|column|constraint|default|schema))\b/i,
      );
      expect(statement).not.toMatch(
        /\balter (table \S+ )?(column|alter)\b|\b(delete|update)\b|\badd (constraint|check|unique)\b/i,
      );
      for (const column of statement.match(/\badd column [^,]+/gi) ?? [])
        if (/not null/i.test(column)) expect(column).toMatch(/\bdefault\b/i);
    }
  },
);

describe.each(['postgres', 'embedded'] as const)('%s', (kind) => {
  // One for all: opening an embedded database takes longer than making all tables once more.
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase(await places[kind]());
    atFileEnd(() => database.close());
  });
  beforeEach(async () => {
    await database.query('drop schema toolhub cascade');
    await migrate(database);
  });

  test('a migration that fails leaves nothing behind', async () => {
    const broken = [...readMigrations(), step(9001, 'create table toolhub.half (n int); select 1/0')];
    await expect(migrate(database, broken)).rejects.toThrow('division by zero');
    const [found] = await database.query<{ there: boolean }>(`select to_regclass('toolhub.half') is not null as there`);
    expect(found?.there).toBe(false);
  });

  test('a database that a newer hub changed is refused, in words that say so', async () => {
    await migrate(database, [...readMigrations(), step(9001, 'select 1')]);
    await expect(migrate(database)).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringContaining('newer Tool Hub') as string,
    });
  });

  test('a migration that is not the one applied is refused', async () => {
    const [first, ...rest] = readMigrations();
    const changed = [{ ...(first as Migration), sql: `${first?.sql} -- changed` }, ...rest];
    await expect(migrate(database, changed)).rejects.toMatchObject({ code: 'misconfigured' });
  });

  test('a migration that was skipped is applied when its turn comes, whatever was applied since', async () => {
    const [early, late] = [
      step(9001, 'create table toolhub.early (n int)'),
      step(9002, 'create table toolhub.late (n int)'),
    ];
    await migrate(database, [...readMigrations(), late]);
    await migrate(database, [...readMigrations(), early, late]);
    await migrate(database, [...readMigrations(), early, late]);
    expect(await database.query('select * from toolhub.early')).toEqual([]);
  });
});

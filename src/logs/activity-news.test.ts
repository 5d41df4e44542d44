import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { silent } from '../../test/kit/databases.ts';
import { until } from '../../test/kit/until.ts';
import type { Database } from '../database/database.ts';
import { databaseLimits } from '../database/limits.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { type ActivityNews, createActivityNews, hasOwn } from './activity-news.ts';

/** Two hubs on one database, of which only the notifications are looked at, and what the second tells its pages. */
function twoHubs() {
  const listening = new Set<(message: string | undefined) => void>();
  const messages: string[] = [];
  const notify = async (_channel: string, message: string) => {
    messages.push(message);
    for (const heard of listening) heard(message);
  };
  const database: Pick<DatabaseHandle, 'current' | 'listen'> = {
    current: () => ({ kind: 'postgres', notify }) as unknown as Database,
    listen: (_channel, heard) => {
      listening.add(heard);
      return () => listening.delete(heard);
    },
  };
  const [one, other] = [database, database].map((each) => createActivityNews({ database: each, log: silent })) as [
    ActivityNews,
    ActivityNews,
  ];
  const told = { one: new Map<string, number>(), other: new Map<string, number>() };
  one.subscribe((news) => news.forEach((began, username) => told.one.set(username, began)));
  other.subscribe((news) => news.forEach((began, username) => told.other.set(username, began)));
  atEnd(() => [one, other].forEach((each) => each.close()));
  return { one, told, messages };
}

test('calls are told here when they are recorded, and elsewhere when they are written, once', async () => {
  const { one, told, messages } = twoHubs();
  one.recorded({ username: 'ann', durationMs: 5, atMs: 1_005 });
  one.recorded({ username: 'ann', durationMs: 10, atMs: 1_000 });
  one.recorded({ durationMs: 0, atMs: 7 });
  await until('it is told here', () => told.one.size > 0);
  expect([...told.one]).toEqual([
    ['ann', 1_000],
    ['', 7],
  ]);
  expect(messages).toEqual([]);
  told.one.clear();
  one.written([{ username: 'ann', durationMs: 5, atMs: 1_005 }]);
  await until('it is told elsewhere', () => told.other.size > 0);
  expect([...told.other]).toEqual([['ann', 1_000]]);
  expect(told.one.size).toBe(0);
});

test('calls of more accounts than one notification takes are told in several, and one too long for any is left out', async () => {
  const { one, told, messages } = twoHubs();
  const names = Array.from({ length: 60 }, (_, index) => `${index} ${'长'.repeat(60)}`);
  const tooLong = 'x'.repeat(databaseLimits.notifyBytes);
  one.written([tooLong, ...names].map((username) => ({ username, durationMs: 0, atMs: 1 })));
  await until('all are told', () => told.other.size === names.length);
  expect(messages.length).toBeGreaterThan(1);
  for (const message of messages) expect(Buffer.byteLength(message)).toBeLessThanOrEqual(databaseLimits.notifyBytes);
});

test('an account is not told of calls that began before it was there', () => {
  const news = new Map([['ann', 1_000]]);
  expect(hasOwn(news, { username: 'ann' })).toBe(true);
  expect(hasOwn(news, { username: 'ann', since: new Date(1_000) })).toBe(true);
  expect(hasOwn(news, { username: 'ann', since: new Date(1_001) })).toBe(false);
  expect(hasOwn(news, { username: 'bob' })).toBe(false);
});

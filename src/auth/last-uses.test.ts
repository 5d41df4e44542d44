import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/kit/hostile.ts';
import { authLimits } from './limits.ts';
import { createLastUses, lastUsesInFile } from './last-uses.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };

/** A store in memory that counts what it is asked for. */
function counted() {
  const kept = new Map<string, number>();
  const asked = { saves: 0, loads: 0, isAway: false };
  const store = {
    async load() {
      asked.loads++;
      if (asked.isAway) throw new Error('away');
      return new Map(kept);
    },
    async save(uses: ReadonlyMap<string, number>) {
      asked.saves++;
      if (asked.isAway) throw new Error('away');
      for (const [id, at] of uses) kept.set(id, at);
    },
  };
  return { store, asked, kept };
}

test('a use is known at once, and written down with the others, without any I/O on its way', async () => {
  const { store, asked, kept } = counted();
  let at = 1;
  const uses = createLastUses({ store, log, now: () => at });
  for (; at <= 1_000; at++) uses.note('key:a');
  uses.note('grant:b');
  expect([asked.saves, asked.loads]).toEqual([0, 0]);
  const read = await uses.read();
  expect([read('key:a'), read('grant:b'), read('key:b')]).toEqual([1_000, 1_001, undefined]);
  await uses.close();
  expect([asked.saves, Object.fromEntries(kept)]).toEqual([1, { 'key:a': 1_000, 'grant:b': 1_001 }]);
});

test('nothing is lost while the store is away, and nothing fails', async () => {
  const { store, asked, kept } = counted();
  const uses = createLastUses({ store, log, now: () => 5 });
  asked.isAway = true;
  uses.note('key:a');
  await uses.close();
  expect((await uses.read())('key:a')).toBe(5);
  asked.isAway = false;
  await uses.close();
  expect(kept.get('key:a')).toBe(5);
});

test('the file has the latest of each, for as long as it is kept, and a broken one is as none', async () => {
  const path = join(temporaryFolder(), 'last-uses.json');
  let at = 10;
  const store = lastUsesInFile(path, () => at);
  expect(await store.load()).toEqual(new Map());
  await store.save(new Map([['key:a', 10]]));
  await store.save(
    new Map([
      ['key:a', 9],
      ['key:b', 8],
    ]),
  );
  expect(await store.load()).toEqual(
    new Map([
      ['key:a', 10],
      ['key:b', 8],
    ]),
  );
  at = 9 + authLimits.lastUseKeptMs;
  await store.save(new Map());
  expect(await store.load()).toEqual(new Map([['key:a', 10]]));
});

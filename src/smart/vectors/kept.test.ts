import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { emptyDatabase, databaseWaitMs } from '../../../test/kit/databases.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import type { VectorStore } from '../vector-store.ts';
import { createVectorStore } from './kept.ts';

const off = { current: () => undefined, state: () => ({ state: 'off' }) as const };
const down = { current: () => undefined, state: () => ({ state: 'down', error: 'x' }) as const };

const kinds = ['embedded', 'postgres'] as const;
const databases = new Map<(typeof kinds)[number], DatabaseHandle>();
let spaces = 0;
beforeAll(async () => {
  for (const kind of kinds) databases.set(kind, await emptyDatabase(kind));
}, 2 * databaseWaitMs);

/** A store on each kind of database; each works in a space of its own that was not used before. */
function stores(): { space: string; each: [name: string, store: VectorStore, other: VectorStore][] } {
  spaces += 1;
  const pair = (database: Parameters<typeof createVectorStore>[0]) =>
    [createVectorStore(database, 'a'), createVectorStore(database, 'b')] as const;
  return {
    space: `model-${spaces}`,
    each: [
      ['memory', ...pair(off)],
      ...kinds.map((kind): [string, VectorStore, VectorStore] => [kind, ...pair(databases.get(kind) ?? off)]),
    ],
  };
}

const dimensions = 7;
const number = fc.float({ min: -2, max: 2, noNaN: true, noDefaultInfinity: true });
const vector = fc
  .array(number, { minLength: dimensions, maxLength: dimensions })
  .map((values) => Float32Array.from(values))
  .filter((values) => values.some((value) => Math.abs(value) > 0.01));
const names = ['a', 'b', 'c', 'd', 'e', 'f'];

test('whatever is kept, the database finds what memory finds, and nothing that was not asked for', async () => {
  const step = fc.dictionary(fc.constantFrom(...names), vector, { minKeys: 1 });
  const asked = fc.tuple(vector, fc.uniqueArray(fc.constantFrom(...names, 'unknown')));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 3 }), asked, async (steps, [query, wanted]) => {
      const { space, each } = stores();
      const found = new Map<string, ReadonlyMap<string, number>>();
      for (const [name, store] of each) {
        for (const vectors of steps) await store.save(space, new Map(Object.entries(vectors)));
        found.set(name, await store.similarities(space, query, wanted));
        expect([name, (await store.sizes(space, names)).size]).toEqual([
          name,
          new Set(steps.flatMap(Object.keys)).size,
        ]);
      }
      const kept = Object.assign({}, ...steps) as Record<string, Float32Array>;
      for (const [name, similarities] of found) {
        const there = wanted.filter((hash) => kept[hash]);
        expect([name, ...[...similarities.keys()].sort()]).toEqual([name, ...there.sort()]);
        for (const [hash, similarity] of similarities) {
          // Bytes in memory move a cosine a little.
          expect(Math.abs(similarity - cosine(query, kept[hash] ?? query)), `${name} ${hash}`).toBeLessThan(0.02);
        }
      }
    }),
    { numRuns: 25 },
  );
});

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

describe.each(['memory', ...kinds])('in %s', (kind) => {
  const open = () => {
    const { space, each } = stores();
    const [, store, other] = each.find(([name]) => name === kind) ?? each[0] ?? [];
    if (!store || !other) throw new Error('There is no such store');
    return { space, store, other };
  };
  const one = new Map([['a', Float32Array.of(1, 2, 3)]]);

  test('vectors of another space or size are never compared', async () => {
    const { space, store } = open();
    await store.save(space, one);
    await store.save(space, new Map([['b', Float32Array.of(1, 2)]]));
    await store.save(`${space} other`, new Map([['c', Float32Array.of(1, 2, 3)]]));
    const found = await store.similarities(space, Float32Array.of(1, 2, 3), ['a', 'b', 'c']);
    expect([...found.keys()]).toEqual(['a']);
    expect(await store.sizes(space, ['a', 'b', 'c'])).toEqual(
      new Map([
        ['a', 3],
        ['b', 2],
      ]),
    );
  });

  test('a vector of another size takes the place of the old one', async () => {
    const { space, store } = open();
    await store.save(space, one);
    await store.save(space, new Map([['a', Float32Array.of(1, 0)]]));
    expect(await store.sizes(space, ['a'])).toEqual(new Map([['a', 2]]));
    expect((await store.similarities(space, Float32Array.of(0, 1), ['a'])).get('a')).toBeCloseTo(0, 1);
  });

  test('what is in use is kept, and told', async () => {
    const { space, store } = open();
    await store.save(space, one);
    await store.tend(space, ['a']);
    expect(await store.sizes(space, ['a'])).toEqual(new Map([['a', 3]]));
    const contents = (await store.contents()).find((one) => one.space === space);
    expect(contents).toMatchObject({ vectors: 1, dimensions: 3 });
  });
});

describe.each(kinds)('hubs that share %s', (kind) => {
  const two = () => {
    spaces += 1;
    const database = databases.get(kind) ?? off;
    return { space: `shared-${spaces}`, a: createVectorStore(database, 'a'), b: createVectorStore(database, 'b') };
  };

  test('never take on the same text, neither at the same time nor after it was embedded', async () => {
    const { space, a, b } = two();
    const hashes = Array.from({ length: 50 }, (_, i) => `h${i}`);
    const [mine, theirs] = await Promise.all([a.claim(space, hashes, false), b.claim(space, hashes, false)]);
    expect([...mine].filter((hash) => theirs.has(hash))).toEqual([]);
    expect(mine.size + theirs.size).toBe(50);
    await a.save(space, new Map([...mine].map((hash) => [hash, Float32Array.of(1)])));
    expect([...(await b.claim(space, [...mine], false))]).toEqual([]);
    expect((await a.claim(space, [...mine], false)).size).toBe(0);
    expect((await a.claim(space, [...mine], true)).size).toBe(mine.size);
  });

  test('take over what another one gave back', async () => {
    const { space, a, b } = two();
    await a.claim(space, ['x'], false);
    expect((await b.claim(space, ['x'], false)).size).toBe(0);
    await a.release(space, ['x']);
    expect((await b.claim(space, ['x'], false)).size).toBe(1);
    // Not theirs to give back.
    await a.release(space, ['x']);
    expect((await a.claim(space, ['x'], false)).size).toBe(0);
  });

  test('find what the other one saved', async () => {
    const { space, a, b } = two();
    await a.save(space, new Map([['x', Float32Array.of(1, 2)]]));
    expect(await b.sizes(space, ['x', 'y'])).toEqual(new Map([['x', 2]]));
    expect((await b.similarities(space, Float32Array.of(1, 2), ['x'])).get('x')).toBeCloseTo(1, 2);
  });
});

test('where they are compared is told', () => {
  expect(createVectorStore(databases.get('embedded') ?? off).place).toBe('database');
  // PostgreSQL without the extension.
  expect(createVectorStore(databases.get('postgres') ?? off).place).toBe('memory');
  expect(createVectorStore(off).place).toBe('memory');
});

test('while the database is away nothing is answered that may be wrong', async () => {
  const store = createVectorStore(down);
  const away = { code: 'not_ready' };
  await expect(store.sizes('m', ['a'])).rejects.toMatchObject(away);
  await expect(store.claim('m', ['a'], false)).rejects.toMatchObject(away);
  await expect(store.similarities('m', Float32Array.of(1), ['a'])).rejects.toMatchObject(away);
});

test('past the memory that vectors may have they are not compared, which is told, and the others are', async () => {
  const megabyte = 1024 * 1024;
  const store = createVectorStore(off, 'a', megabyte);
  const vectors = Array.from(
    { length: 1_000 },
    (_, i) => [`h${i}`, Float32Array.from({ length: 2_048 }, (_, j) => i + j + 1)] as const,
  );
  await store.save('m', new Map(vectors));
  expect(store.problem).toMatch(/1 MB/);
  const found = await store.similarities(
    'm',
    vectors[0]?.[1] ?? Float32Array.of(1),
    vectors.map(([hash]) => hash),
  );
  expect(found.size).toBeGreaterThan(100);
  expect(found.size).toBeLessThan(600);
  store.forget('m');
  expect(store.problem).toBeUndefined();
});

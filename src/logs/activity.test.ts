import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { call, type DatabaseKind, databaseKinds, startActivity } from '../../test/kit/activity-log.ts';
import { emptyDatabase, databaseWaitMs, silent } from '../../test/kit/databases.ts';
import type { NewActivity } from '../core/activity.ts';
import { coreLimits } from '../core/limits.ts';
import { createDatabase } from '../database/supervise.ts';
import { createActivityLog } from './activity.ts';
import { insertActivities } from './activity-table.ts';
import { parseActivityListing, parseDaysOld } from './activity-filter.ts';
import { logLimits } from './limits.ts';
import { codePoints } from '../../test/kit/code-points.ts';

describe.each(databaseKinds)('%s', (kind) => {
  test('a record comes back as it went in, with an id and a time', async () => {
    const { activity, list } = await startActivity(kind);
    const full = call({
      tool: 'tool with \' " \\ $1 {} ü',
      durationMs: 12.5,
      status: 'error',
      errorMessage: 'no such file',
      principal: 'key',
      keyId: 'k1',
      keyName: 'CI',
      group: 'dev',
      scope: '$smart/dev',
      sourceIp: '::1',
      traceId: 'abc',
      client: 'Claude Code',
      queueMs: 0,
      serverMs: 7,
      input: '{"a":1}',
      output: '[]',
    });
    activity.record(full);
    activity.record(call());
    const { data } = await list();
    expect(data[1]).toEqual({
      ...full,
      kind: 'call',
      id: expect.any(String) as string,
      timestamp: '2026-11-01T00:00:00.000Z',
    });
    expect(data[0]).toEqual({
      ...call(),
      kind: 'call',
      id: expect.any(String) as string,
      timestamp: '2026-11-01T00:00:00.000Z',
    });
    const id = data[1]?.id ?? '';
    expect(await activity.get(id)).toEqual(data[1]);
    expect(await activity.get(id.toUpperCase())).toEqual(data[1]);
    expect(await activity.get(id, { username: 'ann' })).toEqual(data[1]);
    expect(await activity.get(id, { username: 'bob' })).toBeUndefined();
    for (const unknown of ['', 'x', "' or 1=1", '00000000-0000-0000-0000-000000000000']) {
      expect(await activity.get(unknown)).toBeUndefined();
    }
  });

  test('newest first, in pages that say what is before and behind them', async () => {
    const { activity, list } = await startActivity(kind);
    for (let n = 1; n <= 25; n += 1) activity.record(call({ tool: `t${n}` }));
    const first = await list({ limit: '10' });
    expect(first.data.map(({ tool }) => tool)).toEqual(Array.from({ length: 10 }, (_, index) => `t${25 - index}`));
    expect(first.pagination).toEqual({
      page: 1,
      limit: 10,
      total: 25,
      totalPages: 3,
      hasNextPage: true,
      hasPrevPage: false,
    });
    const last = await list({ limit: '10', page: '3' });
    expect(last.data.map(({ tool }) => tool)).toEqual(['t5', 't4', 't3', 't2', 't1']);
    expect(last.pagination).toMatchObject({ hasNextPage: false, hasPrevPage: true });
    expect((await list({ page: '1000000' })).data).toEqual([]);
    expect((await list({ server: 'none' })).pagination).toEqual({
      page: 1,
      limit: 20,
      total: 0,
      totalPages: 0,
      hasNextPage: false,
      hasPrevPage: false,
    });
  });
});

/** Three searches, of which the first and the third were of use. */
async function startWithSearches(kind: DatabaseKind) {
  const { activity, list, at } = await startActivity(kind);
  const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
  const found = (n: number, tools: string[], change: Partial<NewActivity> = {}) =>
    activity.record(
      call({
        kind: 'search',
        server: '$smart',
        tool: 'search_tools',
        searchId: id(n),
        query: `query ${n} \0 '"`,
        results: tools.map((tool) => ({ server: 'fetch', tool, score: 0.5 })),
        ...change,
      }),
    );
  const use = (n: number, tool: string, searchRank: number, change: Partial<NewActivity> = {}) =>
    activity.record(call({ tool, searchId: id(n), searchRank, query: `query ${n}`, ...change }));
  found(1, ['a', 'b', 'c']);
  use(1, 'c', 3, { kind: 'describe' });
  use(1, 'c', 3, { status: 'error' });
  use(1, 'a', 1);
  found(2, []);
  found(3, ['x'], { username: 'bob' });
  at('2026-11-02T00:00:00Z');
  use(3, 'x', 1, { username: 'bob' });
  activity.record(call({ tool: 'other' }));

  return { activity, list, id };
}

describe.each(databaseKinds)('%s', (kind) => {
  test('a search is shown with what was done with its results', async () => {
    const { activity, list, id } = await startWithSearches(kind);
    const searches = (await list({ kind: 'search' })).data;
    expect(searches.map(({ searchId, query, results, uses }) => ({ searchId, query, results, uses }))).toEqual([
      expect.objectContaining({ searchId: id(3), uses: [expect.objectContaining({ tool: 'x', rank: 1 })] }),
      expect.objectContaining({ searchId: id(2), results: [], uses: [] }),
      {
        searchId: id(1),
        query: expect.stringMatching(/^query 1 [^]? ?'"$/) as string,
        results: ['a', 'b', 'c'].map((tool) => ({ server: 'fetch', tool, score: 0.5 })),
        uses: [
          {
            kind: 'describe',
            server: 'fetch',
            tool: 'c',
            status: 'success',
            timestamp: expect.any(String) as string,
            rank: 3,
          },
          {
            kind: 'call',
            server: 'fetch',
            tool: 'c',
            status: 'error',
            timestamp: expect.any(String) as string,
            rank: 3,
          },
          {
            kind: 'call',
            server: 'fetch',
            tool: 'a',
            status: 'success',
            timestamp: expect.any(String) as string,
            rank: 1,
          },
        ],
      },
    ]);
    expect(await activity.get(searches[2]?.id ?? '')).toEqual(searches[2]);
    expect((await list({ searchId: id(1).toUpperCase() })).data.map(({ tool }) => tool)).toEqual([
      'a',
      'c',
      'c',
      'search_tools',
    ]);
    expect((await list({ kind: 'describe' })).data).toHaveLength(1);
  });

  test('searches are counted apart from calls', async () => {
    const { activity } = await startWithSearches(kind);
    expect(await activity.stats({})).toEqual({
      totalCalls: 4,
      successCount: 3,
      errorCount: 1,
      avgDuration: 10,
      search: { searches: 3, empty: 1, used: 2, meanRank: 1.67, firstShare: 0.67 },
    });
    expect((await activity.stats({ end: new Date('2026-11-01T12:00:00Z') })).search).toMatchObject({
      searches: 3,
      used: 2,
      meanRank: 2,
    });
    expect((await activity.stats({ start: new Date('2026-11-01T12:00:00Z') })).search).toMatchObject({
      searches: 0,
      used: 0,
      meanRank: 1,
    });
    expect((await activity.stats({ mine: { username: 'bob' } })).search).toMatchObject({ searches: 1, used: 1 });
  });

  test('searches are of no server and no tool that could be chosen, but of users', async () => {
    const { activity } = await startWithSearches(kind);
    activity.record(call({ kind: 'search', server: '$smart', tool: 'search_tools', username: 'eve', results: [] }));
    const { servers, tools, usernames } = await activity.choices();
    expect([servers, tools, usernames]).toEqual([['fetch'], ['a', 'c', 'other', 'x'], ['ann', 'bob', 'eve']]);
  });
});

describe.each(databaseKinds)('%s', (kind) => {
  test('every filter narrows, and a user sees only their own whatever they ask for', async () => {
    const { activity, list, at } = await startActivity(kind);
    activity.record(call({ tool: 'a' }));
    activity.record(call({ tool: 'b', server: 'slack', status: 'error' }));
    at('2026-11-02T23:59:59.999Z');
    activity.record(call({ tool: 'c', username: 'bob', group: 'dev', keyId: 'k', keyName: 'CI', status: 'timeout' }));
    at('2026-11-03T00:00:00.000Z');
    const { username: _, ...anonymous } = call({ tool: 'd', principal: 'anonymous', status: 'cancelled' });
    activity.record(anonymous);
    const tools = async (raw: Record<string, string>, mine?: string) =>
      (await list(raw, mine)).data.map(({ tool }) => tool).join('');

    expect(await tools({})).toBe('dcba');
    expect(await tools({ server: 'slack' })).toBe('b');
    expect(await tools({ tool: 'a' })).toBe('a');
    expect(await tools({ status: 'error' })).toBe('b');
    expect(await tools({ status: 'timeout' })).toBe('c');
    expect(await tools({ group: 'dev' })).toBe('c');
    expect(await tools({ username: 'ann' })).toBe('ba');
    expect(await tools({ keyId: 'k' })).toBe('c');
    expect(await tools({ keyName: 'CI' })).toBe('c');
    expect(await tools({ startDate: '2026-11-02' })).toBe('dc');
    expect(await tools({ endDate: '2026-11-02' })).toBe('cba');
    expect(await tools({ startDate: '2026-11-03T00:00:00Z' })).toBe('d');
    expect(await tools({}, 'bob')).toBe('c');
    expect(await tools({ username: 'ann' }, 'bob')).toBe('');
    expect(await activity.stats({})).toMatchObject({ totalCalls: 4, successCount: 1, errorCount: 3, avgDuration: 10 });
    expect(await activity.stats({ mine: { username: 'bob' } })).toMatchObject({ totalCalls: 1, successCount: 0 });
    expect(await activity.stats({ server: 'none' })).toEqual({
      totalCalls: 0,
      successCount: 0,
      errorCount: 0,
      avgDuration: 0,
      search: { searches: 0, empty: 0, used: 0, meanRank: 0, firstShare: 0 },
    });
    expect(await activity.choices()).toEqual({
      servers: ['fetch', 'slack'],
      tools: ['a', 'b', 'c', 'd'],
      groups: ['dev'],
      usernames: ['ann', 'bob'],
      keyNames: ['CI'],
      clients: [],
    });
    expect(await activity.choices({ username: 'ann' })).toMatchObject({ tools: ['a', 'b'], keyNames: [] });
    // Of the second account of that name, not the first.
    const mine = { username: 'ann', since: new Date('2026-11-02T00:00:00Z') };
    const since = await activity.list({ ...parseActivityListing({}), mine });
    expect(since.data.every(({ timestamp }) => timestamp >= '2026-11-02')).toBe(true);
    expect((await activity.choices(mine)).tools).toEqual(since.data.map(({ tool }) => tool).reverse());
    expect(since.pagination.total).toBeLessThan((await list({}, 'ann')).pagination.total);

    expect(await activity.cleanup(1)).toEqual({ deletedCount: 2, cutoffDate: '2026-11-02T00:00:00.000Z' });
    expect(await tools({})).toBe('dc');
  });
});

describe.each(databaseKinds)('%s', (kind) => {
  test('no filter and no recorded text is ever anything but text', async () => {
    const { activity, list } = await startActivity(kind);
    const hostile = fc.constantFrom(
      "' or 1=1 --",
      '$1',
      '?',
      '\\',
      '{"}',
      '{}',
      'a\0b',
      'NULL',
      "'; drop schema toolhub cascade; --",
    );
    const text = fc.oneof(hostile, fc.string({ unit: codePoints, minLength: 1, maxLength: 20 }));
    let recorded = 0;
    await fc.assert(
      fc.asyncProperty(text, async (tool) => {
        activity.record(call({ tool, errorMessage: tool, keyName: tool }));
        recorded += 1;
        const { data } = await list({ tool: 'get', username: tool, keyName: 'x' });
        expect(data).toEqual([]);
        expect((await list({ tool: 'none', server: tool })).data).toEqual([]);
      }),
      { numRuns: 40 },
    );
    expect((await list()).pagination.total).toBe(recorded);
    expect(activity.counts().dropped).toBe(0);
  });

  test('texts are cut to their bounds', async () => {
    const { activity, list } = await startActivity(kind);
    activity.record(
      call({ tool: 'x'.repeat(10_000), input: 'x'.repeat(1_000_000), errorMessage: 'x'.repeat(1_000_000) }),
    );
    const [found] = (await list()).data;
    expect(found?.tool).toHaveLength(logLimits.filterChars);
    expect(found?.input).toHaveLength(logLimits.activityPayloadChars);
    expect(found?.errorMessage).toHaveLength(coreLimits.logLineChars);
  });
});

test.each(['postgres', 'embedded'] as const)('records that are written again double nothing (%s)', async (kind) => {
  const { activity, list } = await startActivity('off');
  activity.record(call());
  activity.record(call({ tool: 'back\\slash\tand\nbreaks\r\\N', errorMessage: '\\.' }));
  const { data } = await list();
  const open = await (await emptyDatabase(kind)).whenReady(databaseWaitMs);
  await insertActivities(open, data.slice(1));
  await insertActivities(open, data);
  const rows = await open.query('select tool, error from toolhub.activity order by id desc');
  expect(rows).toEqual(data.map(({ tool, errorMessage: error = null }) => ({ tool, error })));
});

test('what is recorded is bounded while the database is away', () => {
  const database = createDatabase({ url: 'postgres://test@127.0.0.1:1/x', dataDir: '/nonexistent', log: silent });
  const activity = createActivityLog({ database, log: silent });
  const calls = 20_000;
  for (let n = 0; n < calls; n += 1) activity.record(call());
  expect(activity.counts()).toEqual({
    waiting: logLimits.activityQueue,
    written: 0,
    dropped: calls - logLimits.activityQueue,
    skipped: 0,
    failing: false,
  });
});

test.each([
  [{ page: '0' }, 'page'],
  [{ limit: '101' }, 'limit'],
  [{ status: 'fine' }, 'status'],
  [{ startDate: 'yesterday' }, 'startDate'],
  [{ endDate: '2026-13-45' }, 'endDate'],
  [{ kind: 'look' }, 'kind'],
  [{ searchId: '1 or 1=1' }, 'searchId'],
  [{ server: 'x'.repeat(logLimits.filterChars + 1) }, 'server'],
])('a malformed filter is refused by name: %j', (raw, path) => {
  const refusal = expect.objectContaining({ code: 'invalid_input', problems: [expect.objectContaining({ path })] });
  expect(() => parseActivityListing(raw)).toThrow(refusal);
  expect(() => parseDaysOld({ daysOld: '-1' })).toThrow(expect.objectContaining({ code: 'invalid_input' }));
});

import { describe, expect, test } from 'vitest';
import { call, databaseKinds, startActivity } from '../../test/kit/activity-log.ts';
import type { NewActivity } from '../core/activity.ts';
import { type Grouping, parseGrouping } from './activity-groups.ts';
import { logLimits } from './limits.ts';

const day = { start: new Date('2026-11-01T00:00:00Z'), bucketMs: 6 * 3_600_000, buckets: 4 };

/** Twelve calls in a day, and what must not be counted. */
async function startWithCalls(kind: (typeof databaseKinds)[number]) {
  const { activity, at } = await startActivity(kind);
  const record = (iso: string, times: number, change: Partial<NewActivity>) => {
    at(iso);
    for (let n = 1; n <= times; n += 1) activity.record(call({ durationMs: n * 10, ...change }));
  };
  record('2026-11-01T01:00:00Z', 5, { server: 'slow', tool: 'a', client: 'Cursor', scope: 'dev' });
  record('2026-11-01T07:00:00Z', 3, { server: 'bad', tool: 'a', status: 'error', scope: '' });
  record('2026-11-01T08:00:00Z', 2, { server: 'slow', tool: 'b', client: 'Cursor', scope: 'dev', username: 'bob' });
  record('2026-11-01T23:00:00Z', 1, { server: 'slow', tool: 'b', status: 'timeout', client: 'Claude Code' });
  record('2026-11-01T23:30:00Z', 1, { server: 'rare', tool: 'x', durationMs: 900, resultBytes: 7 });
  record('2026-11-01T23:40:00Z', 7, { server: 'made-up', tool: 'y', status: 'refused' });
  record('2026-11-01T23:50:00Z', 7, { server: '$smart', tool: 'search_tools', kind: 'search' });
  const listed = (grouping: Partial<Grouping>, more: object) =>
    activity.groups({ ...more, grouping: { by: ['server'], sort: 'calls', most: 10, ...grouping } });
  const groups = async (grouping: Partial<Grouping>, more: object = {}) => {
    const { since: _since, ...found } = await listed(grouping, more);
    return found;
  };
  const since = async (more: object) => (await listed({}, more)).since;
  return { activity, groups, since };
}

describe.each(databaseKinds)('%s', (kind) => {
  test('calls by what is alike in them: how many, how many failed, how long, and the last; no refused ones', async () => {
    const { groups } = await startWithCalls(kind);
    expect(await groups({})).toEqual({
      groups: [
        { server: 'slow', calls: 8, failed: 1, p50: 20, p95: 46.5, largest: 5, last: '2026-11-01T23:00:00.000Z' },
        { server: 'bad', calls: 3, failed: 3, p50: 20, p95: 29, largest: 5, last: '2026-11-01T07:00:00.000Z' },
        { server: 'rare', calls: 1, failed: 0, p50: 900, p95: 900, largest: 7, last: '2026-11-01T23:30:00.000Z' },
      ],
      others: { groups: 0, calls: 0, failed: 0 },
    });
    const picture = await groups({ by: ['client', 'scope', 'server'] });
    expect(
      picture.groups.map(({ client, scope, server, calls, failed }) => [client, scope, server, calls, failed]),
    ).toEqual([
      ['Cursor', 'dev', 'slow', 7, 0],
      ['', '', 'bad', 3, 3],
      ['', '', 'rare', 1, 0],
      ['Claude Code', '', 'slow', 1, 1],
    ]);
    const order = async (sort: Grouping['sort']) => (await groups({ sort })).groups.map(({ server }) => server);
    expect(await order('failed')).toEqual(['bad', 'slow', 'rare']);
    expect(await order('p95')).toEqual(['rare', 'slow', 'bad']);
    expect(await order('last')).toEqual(['rare', 'slow', 'bad']);
  });

  test('more groups than wanted are told together, over time too', async () => {
    const { groups } = await startWithCalls(kind);
    const { groups: told, others } = await groups({ most: 1 }, { over: day });
    expect(told).toMatchObject([{ server: 'slow', overTime: { calls: [5, 2, 0, 1], failed: [0, 0, 0, 1] } }]);
    expect(others).toEqual({
      groups: 2,
      calls: 4,
      failed: 3,
      overTime: { calls: [0, 3, 0, 1], failed: [0, 3, 0, 0] },
    });
  });

  test('filters narrow groups, those for what has no such value too, and a user gets their own calls', async () => {
    const { groups } = await startWithCalls(kind);
    const servers = async (filter: object) =>
      (await groups({}, filter)).groups.map(({ server, calls }) => [server, calls]);
    expect(await servers({ client: 'Cursor' })).toEqual([['slow', 7]]);
    expect(await servers({ without: ['client'] })).toEqual([
      ['bad', 3],
      ['rare', 1],
    ]);
    expect(await servers({ scope: 'dev', failed: true })).toEqual([]);
    expect(await servers({ mine: { username: 'bob' } })).toEqual([['slow', 2]]);
    expect(await servers({ status: 'refused' })).toEqual([]);
    expect(await groups({}, { server: 'none', over: day })).toEqual({
      groups: [],
      others: { groups: 0, calls: 0, failed: 0, overTime: { calls: [0, 0, 0, 0], failed: [0, 0, 0, 0] } },
    });
  });

  test('since when calls are known is the oldest record, whatever the filter is, of a user of their own', async () => {
    const { activity, since } = await startWithCalls(kind);
    expect(await since({ server: 'none', start: day.start })).toBe('2026-11-01T01:00:00.000Z');
    expect(await since({ mine: { username: 'bob' } })).toBe('2026-11-01T08:00:00.000Z');
    expect(await since({ mine: { username: 'carl' } })).toBeUndefined();
    await activity.cleanup(0);
    expect(await since({})).toBe('2026-11-01T23:50:00.000Z');
  });
});

test('how many groups there can be is bounded, and less with many stretches of time', () => {
  expect(parseGrouping({})).toBeUndefined();
  expect(parseGrouping({ groupBy: 'server' })).toEqual({
    by: ['server'],
    sort: 'calls',
    most: logLimits.activityGroups,
  });
  const most = (groups: number, buckets: number) =>
    parseGrouping({ groupBy: 'server', groups: String(groups) }, buckets)?.most;
  expect(most(logLimits.activityGroupsMost, 1)).toBe(logLimits.activityGroupsMost);
  expect(most(500, 48)).toBe(500);
  expect(most(32, 750)).toBe(32);
  const refused = (path: string) => expect.objectContaining({ problems: [expect.objectContaining({ path })] });
  expect(() => most(33, 750)).toThrow(refused('groups'));
  expect(() => most(logLimits.activityGroupsMost + 1, 1)).toThrow(refused('groups'));
  expect(() => parseGrouping({ groupBy: 'id' })).toThrow(refused('groupBy'));
  expect(() => parseGrouping({ groupBy: 'server', sort: 'duration_ms; --' })).toThrow(refused('sort'));
});

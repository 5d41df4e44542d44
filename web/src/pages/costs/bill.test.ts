import { describe, expect, test } from 'vitest';
import { billed, byServer, found, knownCalls, sumOf, switched, usedOf, type Wanted } from './bill.ts';

const costs = [
  { name: 'git', managed: true, tools: { push: 300, pull: 100, 'read-me': 50 }, off: { blame: 80 } },
  { name: 'mail', managed: false, tools: { push: 200 }, off: {} },
];
const call = (server: string, tool: string, calls = 1) => ({ server, tool, calls, lastCall: '2026-01-02T00:00:00Z' });
/** One of them is not in the bill: it is in no group, or switched off. */
const servers = new Set(['git', 'mail', 'other']);
const wanted: Wanted = { q: '', server: '', choice: 'on', order: 'cost' };
const unused = (tools: Parameters<typeof billed>[1]) =>
  billed(costs, tools, servers).flatMap(({ server, tool, unused }) => (unused ? [`${server}-${tool}`] : []));

describe('never called', () => {
  test('is what has no call, of its own server', () => {
    expect(unused([call('git', 'push'), call('mail', 'pull')])).toEqual([
      'git-pull',
      'git-read-me',
      'git-blame',
      'mail-push',
    ]);
  });

  test('is not said of a tool whose server may have had another name', () => {
    expect(unused([call('git-before', 'pull'), call('git', 'push')])).toEqual([
      'git-read-me',
      'git-blame',
      'mail-push',
    ]);
  });

  test('is said where a server that is not in this bill has a tool of the same name', () => {
    expect(unused([call('other', 'pull'), call('git', 'push')])).toContain('git-pull');
  });

  test('is not said while calls are not known, nor of the tools of smart routing', () => {
    expect(unused(undefined)).toEqual([]);
    const [own] = billed([{ name: '$smart', managed: false, tools: { search_tools: 200 }, off: {} }], []);
    expect(own?.unused).toBe(false);
  });
});

test('a group of the others has no tools of the hub itself, and counts those that were called', () => {
  const own = { name: '$hub', managed: false, tools: { read_result: 70 }, off: {} };
  const on = (calls: readonly ReturnType<typeof call>[]) =>
    billed([...costs, own], calls, servers).filter((tool) => tool.isOn);
  // What "before" is called now is not known: pull may have been its.
  const calls = [call('git', 'push'), call('before', 'pull')];
  const used = usedOf(on(calls), '');
  expect(used?.tools.map(({ server, tool }) => `${server}-${tool}`)).toEqual(['git-push', 'git-pull']);
  expect([used?.called, sumOf(used?.all ?? [])]).toEqual([1, 650]);
  expect(usedOf(on(calls), 'mail')).toBeUndefined();
  expect(usedOf(on([call('before', 'pull')]), '')).toBeUndefined();
  expect(usedOf(on([...calls, call('git', 'read-me')]), 'git')).toBeUndefined();
});

describe('what is known of calls', () => {
  const now = Date.parse('2026-02-01T00:00:00Z');
  const stats = {
    totalCalls: 1,
    successCount: 1,
    errorCount: 0,
    avgDuration: 1,
    search: { searches: 0, empty: 0, used: 0, meanRank: 0, firstShare: 0 },
    groups: [
      { server: 'git', tool: 'push', calls: 1, failed: 0, p50: 1, p95: 1, largest: 0, last: '2026-01-31T00:00:00Z' },
    ],
    others: { groups: 0, calls: 0, failed: 0 },
    since: '2026-01-30T00:00:00Z',
  };

  test('is the whole month only when the records reach so far back', () => {
    expect(knownCalls(stats, false, now)).toMatchObject({ isWhole: false, since: stats.since, tools: [{ calls: 1 }] });
    expect(knownCalls({ ...stats, since: '2026-01-02T00:30:00Z' }, false, now).isWhole).toBe(true);
  });

  test('is nothing when records are missing, when there is none, or when there are too many tools', () => {
    expect(knownCalls(stats, true, now).tools).toBeUndefined();
    expect(knownCalls({ ...stats, since: undefined }, false, now).tools).toBeUndefined();
    expect(knownCalls({ ...stats, others: { groups: 1, calls: 1, failed: 0 } }, false, now).tools).toBeUndefined();
  });
});

test('tools are found by words, server and use, in the order asked for', () => {
  const tools = billed(costs, [call('git', 'push', 2), call('mail', 'push', 9)], servers);
  const names = (part: Partial<Wanted>) =>
    found(tools, { ...wanted, ...part }).map(({ server, tool }) => `${server}-${tool}`);
  expect(names({})).toEqual(['git-push', 'mail-push', 'git-pull', 'git-read-me']);
  expect(names({ q: 'mail pu' })).toEqual(['mail-push']);
  expect(names({ server: 'git', choice: 'unused' })).toEqual(['git-pull', 'git-read-me']);
  expect(names({ choice: 'off' })).toEqual(['git-blame']);
  expect(names({ order: 'calls' })).toEqual(['git-pull', 'git-read-me', 'git-push', 'mail-push']);
  expect(names({ order: 'name' })).toEqual(['git-pull', 'git-push', 'git-read-me', 'mail-push']);
  expect(sumOf(found(tools, wanted))).toBe(650);
});

test('what is switched moves, of its server alone, and back', () => {
  const tools = [
    { server: 'git', tool: 'push', tokens: 300 },
    { server: 'git', tool: 'pull', tokens: 100 },
  ];
  const off = switched(costs, { tools, enabled: false });
  expect(off).toEqual([{ ...costs[0], tools: { 'read-me': 50 }, off: { blame: 80, push: 300, pull: 100 } }, costs[1]]);
  expect(switched(off, { tools, enabled: true })).toEqual(costs);
  expect([...byServer(tools)]).toEqual([['git', ['push', 'pull']]]);
});

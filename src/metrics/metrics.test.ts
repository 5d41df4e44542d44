import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scrape } from '../../test/kit/prometheus.ts';
import { activityStatuses, type NewActivity, searchServer, unknownServer } from '../core/activity.ts';
import type { ServerState } from '../core/hub.ts';
import { createCallCounts } from './calls.ts';
import { Durations } from './durations.ts';
import { describeCalls, describeServers } from './hub-metrics.ts';
import { createOperations } from './operations.ts';
import { createPage } from './page.ts';

const record = (server: string, more: Partial<NewActivity> = {}): NewActivity => ({
  server,
  tool: 't',
  durationMs: 0,
  status: 'success',
  principal: 'user',
  resultBytes: 0,
  ...more,
});
const state = (name: string, status: ServerState['status'] = 'connected'): ServerState => ({
  name,
  status,
  tools: 3,
  prompts: 0,
  resources: 0,
});
const everyone = () => true;

async function read(states: readonly ServerState[], counts = createCallCounts(everyone)) {
  const page = createPage('plain');
  describeCalls(page, counts, states);
  describeServers(page, states);
  return scrape(await page.text());
}

describe('calls', () => {
  test('are counted by server and outcome, whatever was called', async () => {
    const counts = createCallCounts(everyone);
    for (const status of activityStatuses) counts.count(record('a', { status, tool: status, resultBytes: 10 }), 1);
    counts.count(record('a', { kind: 'call' }), 1);
    const { value } = await read([state('a'), state('b')], counts);
    const outcomes = (server: string) =>
      activityStatuses.map((outcome) => value('toolhub_calls_total', { server, outcome }));
    expect(outcomes('a')).toEqual([2, 1, 1, 1, 1]);
    expect(outcomes('b')).toEqual([0, 0, 0, 0, 0]);
    expect(value('toolhub_call_result_bytes_total', { server: 'a' })).toBe(50);
    // The time of a refusal is not counted.
    expect(value('toolhub_call_duration_seconds_count', { server: 'a' })).toBe(5);
  });

  test('that were refused at no server are counted too', async () => {
    const counts = createCallCounts((server) => server === 'a');
    counts.count(record(unknownServer, { status: 'refused' }), 0);
    counts.prune();
    const { value } = await read([state('a')], counts);
    expect(value('toolhub_calls_total', { server: unknownServer, outcome: 'refused' })).toBe(1);
  });

  test('are no searches and no descriptions', async () => {
    const counts = createCallCounts(everyone);
    counts.count(record(searchServer, { kind: 'search' }), 20);
    counts.count(record('a', { kind: 'describe' }), 20);
    const { value, samples } = await read([state('a')], counts);
    expect(value('toolhub_search_duration_seconds_count')).toBe(1);
    expect(value('toolhub_search_duration_seconds_sum')).toBe(0.02);
    expect(value('toolhub_calls_total', { server: 'a', outcome: 'success' })).toBe(0);
    expect(samples.filter(({ labels }) => labels['server'] === searchServer)).toEqual([]);
  });

  test('of a server that is gone are forgotten, also those that end later', () => {
    const known = new Set(['a', 'b']);
    const counts = createCallCounts((server) => known.has(server));
    counts.count(record('a'), 1);
    counts.count(record('b'), 1);
    known.delete('a');
    counts.prune();
    counts.count(record('a'), 1);
    expect(counts.of('a')).toBeUndefined();
    expect(counts.of('b')?.outcomes.success).toBe(1);
  });
});

test('a bucket of durations has all that took no longer than its bound says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.double({ min: 0, max: 100_000, noNaN: true })), async (durations) => {
      const counts = createCallCounts(everyone);
      for (const ms of durations) counts.count(record('a'), ms);
      const { value, types } = await read([state('a')], counts);
      const name = 'toolhub_call_duration_seconds';
      expect(types.get(name)).toBe('histogram');
      const { bounds } = new Durations();
      for (const bound of durations.length === 0 ? [] : [...bounds, Infinity]) {
        const le = bound === Infinity ? '+Inf' : String(bound);
        const within = durations.filter((ms) => ms / 1000 <= bound).length;
        expect(value(`${name}_bucket`, { server: 'a', le })).toBe(within);
      }
      if (durations.length === 0) return;
      expect(value(`${name}_count`, { server: 'a' })).toBe(durations.length);
      const sum = durations.reduce((sum, ms) => sum + ms / 1000, 0);
      expect(value(`${name}_sum`, { server: 'a' })).toBeCloseTo(sum, 6);
    }),
    { numRuns: 50 },
  );
});

test('every server is found again under its own name, whatever that is', async () => {
  const odd = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'n', '{', '}', ',', '=', ' ', '#', ':', '\r', 'ü', '🔧') }),
    fc.constantFrom('__proto__', 'constructor', 'toString', '+Inf', unknownServer.slice(1)),
  );
  const status = fc.constantFrom<ServerState['status']>('connected', 'disconnected', 'disabled');
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.tuple(odd, status), { selector: ([name]) => name }), async (servers) => {
      const counts = createCallCounts(everyone);
      servers.forEach(([name], i) => {
        for (let call = 0; call <= i; call++) counts.count(record(name), 2);
      });
      const { value } = await read(
        servers.map(([name, status]) => state(name, status)),
        counts,
      );
      servers.forEach(([server, status], i) => {
        expect(value('toolhub_calls_total', { server, outcome: 'success' })).toBe(i + 1);
        expect(value('toolhub_call_duration_seconds_count', { server })).toBe(i + 1);
        const up = status === 'disabled' ? undefined : status === 'connected' ? 1 : 0;
        expect(value('toolhub_server_up', { server })).toBe(up);
        expect(value('toolhub_server_state', { server, state: status })).toBe(1);
      });
    }),
    { numRuns: 200 },
  );
});

test('a session that began in the future, by a clock that was put back, lasted no time', async () => {
  const operations = createOperations();
  operations.sessionEnded({ revision: '2025-11-25', transport: 'tcp', server: undefined, error: undefined }, -5_000);
  const sums: number[] = [];
  operations.describe({
    ...createPage('plain'),
    histogram: (_, __, samples) => void sums.push(...samples.map(([durations]) => durations.sumSeconds)),
  });
  expect(sums).toEqual([0]);
});

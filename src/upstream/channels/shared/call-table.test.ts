import { afterEach, expect, test, vi } from 'vitest';
import { upstreamLimits } from '../../limits.ts';
import { CallTable } from './call-table.ts';

afterEach(() => void vi.useRealTimers());

const [a, b] = [{ name: 'a' }, { name: 'b' }];

test('as many given-up calls are remembered as of one link; past them none is known to be the only one', () => {
  vi.useFakeTimers();
  const calls = new CallTable<{ readonly name: string }>();
  for (let id = 1; id <= upstreamLimits.abandonedCalls; id++) {
    calls.add(id, a, 'tools/call');
    calls.giveUp(id, a);
  }
  expect(calls.size).toBe(upstreamLimits.abandonedCalls);
  expect(calls.onlyAsker).toBe(a);
  calls.add(5_000, a, 'tools/call');
  calls.giveUp(5_000, a);
  expect(calls.size).toBe(upstreamLimits.abandonedCalls);
  for (let id = 1; id <= upstreamLimits.abandonedCalls; id++) calls.take(id);
  expect(calls.size).toBe(0);
  // The one that was forgotten may still ask.
  expect(calls.hasNone).toBe(false);
  calls.add(6_000, b, 'tools/call');
  expect(calls.onlyAsker).toBeUndefined();
  expect(calls.isContested(b)).toBe(true);
});

test("of hubs' own requests that were given up the oldest are forgotten", () => {
  const calls = new CallTable<{ readonly name: string }>();
  for (let id = 1; id <= upstreamLimits.abandonedCalls + 10; id++) {
    calls.add(id, a, 'tools/list');
    calls.giveUp(id, a);
  }
  expect(calls.size).toBe(upstreamLimits.abandonedCalls);
  expect(calls.get(10)).toBeUndefined();
  expect(calls.get(11)).toBeDefined();
  expect(calls.hasNone).toBe(true);
});

test('a call that is given up is in the way of others once the program has had the time to answer it', () => {
  vi.useFakeTimers();
  const calls = new CallTable<{ readonly name: string }>();
  calls.add(1, a, 'tools/call');
  calls.giveUp(1, a);
  expect([calls.isContested(a), calls.isContested(b)]).toEqual([false, false]);
  expect(calls.nextContestedMs).toBe(upstreamLimits.givenUpGraceMs);
  vi.advanceTimersByTime(upstreamLimits.givenUpGraceMs);
  expect([calls.isContested(a), calls.isContested(b)]).toEqual([false, true]);
  expect(calls.nextContestedMs).toBeUndefined();
  calls.orphan(a);
  expect(calls.isContested(a)).toBe(true);
});

import { expect, test, vi } from 'vitest';
import { atEnd } from '../../../../test/kit/at-end.ts';
import { coreLimits } from '../../../core/limits.ts';
import { upstreamLimits } from '../../limits.ts';
import { LineBudget, createLogRateLimiter } from './log-rate-limiter.ts';

/** A rate limiter with a clock of its own. */
function gate(budget?: LineBudget) {
  vi.useFakeTimers();
  atEnd(() => void vi.useRealTimers());
  const written: string[] = [];
  const rateLimiter = createLogRateLimiter((line) => written.push(line), budget ?? new LineBudget());
  const numbers = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, i) => `line ${from + i}`);
  return {
    written,
    numbers,
    rateLimiter,
    add: (from: number, count: number): void => {
      for (const line of numbers(from, count)) rateLimiter.add(line);
    },
  };
}

const {
  serverLogBurstLines: burst,
  serverLogLastLines: last,
  serverLogPauseMs: pause,
  serverLogLinesPerSecond: perSecond,
} = upstreamLimits;

test('a thousand lines at once arrive whole and in order, and a thousand more', () => {
  const { add, written, numbers } = gate();
  add(0, 1_000);
  add(1_000, 1_000);
  expect(written).toEqual(numbers(0, 2_000));
});

test('of a flood the beginning is written, then how much was left out, then its last lines, when it pauses', () => {
  const { add, written, numbers } = gate();
  const all = burst + 10_000;
  add(0, all);
  expect(written).toEqual(numbers(0, burst));
  vi.advanceTimersByTime(pause * 2);
  expect(written.slice(burst)).toEqual([`(${10_000 - last} lines were left out here)`, ...numbers(all - last, last)]);
});

test('what was held back and fits is written without a word of what was left out', () => {
  const { add, written, numbers } = gate();
  add(0, burst + last);
  vi.advanceTimersByTime(pause * 2);
  expect(written).toEqual(numbers(0, burst + last));
});

test('the end of a flood is written when its process ends, before anything else is said', () => {
  const { add, written, rateLimiter, numbers } = gate();
  add(0, burst + 5_000);
  rateLimiter.end();
  expect(written.at(-1)).toBe(`line ${burst + 4_999}`);
  expect(written.slice(-last)).toEqual(numbers(burst + 5_000 - last, last));
  rateLimiter.end();
  expect(written).toHaveLength(burst + 1 + last);
});

test('no line is written twice, none out of order, and over minutes few, however the flood comes and pauses', () => {
  const { add, written } = gate();
  const minutes = 10;
  let n = 0;
  // A hundred lines every 50 ms, with a pause after each five seconds.
  for (let ms = 0; ms < minutes * 60_000; ms += 50) {
    if (ms % 5_000 < 5_000 - pause * 2) {
      add(n, 100);
      n += 100;
    }
    vi.advanceTimersByTime(50);
  }
  vi.advanceTimersByTime(60_000);
  const most = burst + minutes * 60 * perSecond + last;
  const lines = written.filter((line) => line.startsWith('line '));
  expect(lines.length).toBeLessThanOrEqual(most + last);
  const order = lines.map((line) => Number(line.slice(5)));
  expect(order).toEqual([...new Set(order)].toSorted((a, b) => a - b));
  expect(order.at(-1)).toBe(n - 1);
  // Every line is written or counted.
  const leftOut = written.flatMap((line) => /^\((\d+) lines/.exec(line)?.[1] ?? []);
  expect(order.length + leftOut.reduce((sum, count) => sum + Number(count), 0)).toBe(n);
});

test('a program that floods and ends again and again has one budget, and its last lines each time', () => {
  const budget = new LineBudget();
  const first = gate(budget);
  first.add(0, burst + 1_000);
  first.rateLimiter.end();
  const second = gate(budget);
  second.add(0, 1_000);
  second.rateLimiter.end();
  expect(second.written).toEqual([`(${1_000 - last} lines were left out here)`, ...second.numbers(1_000 - last, last)]);
});

test('a long line is cut, with a mark', () => {
  const { rateLimiter, written } = gate();
  rateLimiter.add('x'.repeat(coreLimits.rawLogLineChars + 1));
  expect(written).toEqual([`${'x'.repeat(coreLimits.rawLogLineChars)}…`]);
  // What the log shows of a line is a part of it: a secret across the end of that part is whole until it is hidden.
  expect(coreLimits.rawLogLineChars).toBeGreaterThan(2 * coreLimits.logLineChars);
});

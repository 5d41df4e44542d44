import { expect, test } from 'vitest';
import { createByteBudget } from './byte-budget.ts';

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;
const message = 'The hub is receiving as much as it has memory for. Try again in a moment.';

test('a body that announces more than is left is refused before anything of it came', () => {
  const budget = createByteBudget(() => 16 * megabyte);
  const first = budget.receive({ declared: 6 * megabyte, isKnown: false });
  first.add(6 * megabyte);
  expect(() => budget.receive({ declared: 6 * megabyte, isKnown: false })).toThrow(message);
  expect([budget.used, budget.refused]).toEqual([6 * megabyte, 1]);
});

test('what was only announced takes nothing from others', () => {
  const budget = createByteBudget(() => 16 * megabyte);
  for (let i = 0; i < 1_000; i++) budget.receive({ declared: 8 * megabyte, isKnown: false });
  budget.receive({ declared: 8 * megabyte, isKnown: false }).add(8 * megabyte);
  expect(budget.used).toBe(8 * megabyte);
});

test('large bodies leave room for small ones, and those without a credential for those with one', () => {
  const budget = createByteBudget(() => 16 * megabyte);
  const fill = (isKnown: boolean): number => {
    const before = budget.used;
    try {
      for (;;) budget.receive({ declared: 0, isKnown }).add(128 * kilobyte);
    } catch {
      return budget.used - before;
    }
  };
  expect(fill(false)).toBe(8 * megabyte);
  expect(fill(true)).toBe(6 * megabyte);
  budget.receive({ declared: 16 * kilobyte, isKnown: false }).add(16 * kilobyte);
  expect(budget.hold(64 * kilobyte, 64 * kilobyte)).toBe(true);
});

test('a small body that grows, or announces, as much as would be left is refused to who has no credential', () => {
  const budget = createByteBudget(() => 128 * kilobyte);
  expect(() => budget.receive({ declared: 41 * kilobyte, isKnown: false })).toThrow(message);
  const growing = budget.receive({ declared: 0, isKnown: false });
  growing.add(40 * kilobyte);
  expect(() => growing.add(kilobyte)).toThrow(message);
  expect(budget.hold(21 * kilobyte, 21 * kilobyte)).toBe(false);
  expect(budget.hold(20 * kilobyte, 20 * kilobyte)).toBe(true);
  budget.receive({ declared: 64 * kilobyte, isKnown: true }).add(64 * kilobyte);
  growing.close();
  budget.release(20 * kilobyte);
  expect(budget.used).toBe(64 * kilobyte);
});

test('a body that grows past what is left is refused, and gives back what it took, once', () => {
  const budget = createByteBudget(() => 16 * megabyte);
  const growing = budget.receive({ declared: 0, isKnown: true });
  growing.add(14 * megabyte);
  expect(() => growing.add(1)).toThrow(message);
  growing.close();
  growing.close();
  growing.add(1);
  expect(budget.used).toBe(0);
});

import { expect, test } from 'vitest';
import { TurnBudget } from './turn-budget.ts';

/** Turns that are begun by hand. */
function turns() {
  const next: (() => void)[] = [];
  return {
    nextTurn: (act: () => void) => void next.push(act),
    begin: () => next.shift()?.(),
    waiting: () => next.length,
  };
}

test('what was put off goes on in order, as far as each turn has something to spend', () => {
  const { nextTurn, begin, waiting } = turns();
  const budget = new TurnBudget(100, nextTurn);
  const done: string[] = [];
  const work = (name: string) => () => {
    done.push(name);
    budget.spend(60);
  };
  for (const name of ['a', 'b', 'c', 'd']) budget.later(work(name));
  expect(done).toEqual([]);
  begin();
  expect(done).toEqual(['a', 'b']);
  expect(budget.isSpent).toBe(true);
  budget.later(work('e'));
  begin();
  expect(done).toEqual(['a', 'b', 'c', 'd']);
  begin();
  expect(done).toEqual(['a', 'b', 'c', 'd', 'e']);
  begin();
  expect(budget.isSpent).toBe(false);
  expect(waiting()).toBe(0);
});

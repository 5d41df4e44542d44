import { expect, test } from 'vitest';
import { loadedOnce } from './deferred.ts';

test('what is loaded once is loaded when it is asked for first, and again only after it failed', async () => {
  let times = 0;
  const answer = loadedOnce(async () => {
    if (++times === 1) throw new Error('not yet');
    return times;
  });
  expect(times).toBe(0);
  const first = await Promise.allSettled([answer(), answer()]);
  expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([answer(), answer()])).toEqual([2, 2]);
  expect(await answer()).toBe(2);
});

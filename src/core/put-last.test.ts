import { expect, test } from 'vitest';
import { putLast } from './put-last.ts';

test('past the bound the entry goes that was put there longest ago', () => {
  const all = new Map<string, number>();
  for (const [at, key] of ['a', 'b', 'a', 'c'].entries()) putLast(all, key, at, 2);
  expect([...all]).toEqual([
    ['a', 2],
    ['c', 3],
  ]);
});

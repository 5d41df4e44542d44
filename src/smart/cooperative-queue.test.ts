import { expect, test } from 'vitest';
import { createCooperativeQueue } from './cooperative-queue.ts';
import { smartLimits } from './limits.ts';

test('much work is done in order, and others get their turn in between', async () => {
  let time = 0;
  const turns = createCooperativeQueue(() => time);
  const order: number[] = [];
  const all = Array.from({ length: 5 * smartLimits.searchTurnMs }, (_, n) =>
    turns.run(() => {
      time += 1;
      order.push(n);
      return n;
    }),
  );
  const seen: number[] = [];
  const other = (): void => {
    seen.push(order.length);
    if (order.length < all.length) setImmediate(other);
  };
  setImmediate(other);
  expect(order).toEqual([]);
  expect(await Promise.all(all)).toEqual(all.map((_, n) => n));
  expect(order).toEqual(all.map((_, n) => n));
  expect(seen.slice(0, 4)).toEqual([1, 2, 3, 4].map((turn) => turn * smartLimits.searchTurnMs));
});

test('work that takes longer than a turn is done alone, and what fails harms no other work', async () => {
  let time = 0;
  const turns = createCooperativeQueue(() => time);
  const long = turns.run(() => (time += 10 * smartLimits.searchTurnMs));
  const failing = turns.run(() => {
    throw new Error('broken');
  });
  const after = turns.run(() => 'done');
  await expect(failing).rejects.toThrow('broken');
  expect([await long, await after]).toEqual([10 * smartLimits.searchTurnMs, 'done']);
});

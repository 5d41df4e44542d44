import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { upstreamLimits } from '../limits.ts';
import { createStartSemaphore } from './start-semaphore.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('no more have a place at once than there are, and who asked first gets the next', async () => {
  const slots = createStartSemaphore(2);
  const got: string[] = [];
  const releases = new Map<string, () => void>();
  for (const who of ['a', 'b', 'c', 'd'])
    void slots.take().then((release) => {
      got.push(who);
      releases.set(who, release);
    });
  const soon = () => vi.advanceTimersByTimeAsync(upstreamLimits.startSlotMs / 2 - 1);
  await soon();
  expect(got).toEqual(['a', 'b']);
  releases.get('b')?.();
  releases.get('b')?.();
  await vi.advanceTimersByTimeAsync(upstreamLimits.startPauseMs);
  expect(got, 'a place that is given back twice is one').toEqual(['a', 'b', 'c']);
  await soon();
  await soon();
  expect(got, 'who keeps one too long').toEqual(['a', 'b', 'c', 'd']);
});

test('the first few have their places at once, and between the others there is time for other work', async () => {
  const slots = createStartSemaphore(50);
  let begun = 0;
  for (let i = 0; i < 50; i++) void slots.take().then(() => begun++);
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toBe(upstreamLimits.startsWithoutPause);
  await vi.advanceTimersByTimeAsync(10 * upstreamLimits.startPauseMs);
  expect(begun).toBe(upstreamLimits.startsWithoutPause + 10);
});

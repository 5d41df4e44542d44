import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLoop } from './loop.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A loop that takes so long for a run, and when it began each of them, in milliseconds from now. */
function loopOf(options: { eager?: boolean; tookMs?: number }) {
  const begun = performance.now();
  const runs: number[] = [];
  const loop = createLoop({
    debounceMs: 50,
    ...options,
    async run() {
      runs.push(performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, options.tookMs ?? 0));
    },
    failed: (error) => expect.unreachable(String(error)),
  });
  return { loop, runs };
}

test('flags that come within the time of one another are one run', async () => {
  const { loop, runs } = loopOf({});
  for (let ms = 0; ms < 50; ms += 10) {
    loop.flag();
    await vi.advanceTimersByTimeAsync(10);
  }
  await vi.advanceTimersByTimeAsync(200);
  expect(runs).toEqual([50]);
});

test('an eager one acts on the first flag at once, and on those after it together', async () => {
  const { loop, runs } = loopOf({ eager: true });
  for (let ms = 0; ms < 40; ms += 10) {
    loop.flag();
    await vi.advanceTimersByTimeAsync(10);
  }
  await vi.advanceTimersByTimeAsync(500);
  expect(runs).toHaveLength(2);
  expect(runs[0]).toBeLessThanOrEqual(1);
  expect(runs[1]).toBeGreaterThanOrEqual(50);
  loop.flag();
  await vi.advanceTimersByTimeAsync(2);
  expect(runs).toHaveLength(3);
});

test('a flag in the middle of a run has one of its own, and never two at a time', async () => {
  const { loop, runs } = loopOf({ eager: true, tookMs: 100 });
  loop.flag();
  await vi.advanceTimersByTimeAsync(10);
  loop.flag();
  loop.flag();
  await vi.advanceTimersByTimeAsync(85);
  expect(runs).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(runs).toHaveLength(2);
  expect((runs[1] ?? 0) - (runs[0] ?? 0)).toBeGreaterThanOrEqual(150);
});

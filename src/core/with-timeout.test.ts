import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deferred } from './deferred.ts';
import { withTimeout } from './with-timeout.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('gives what comes in time, and leaves no timer behind', async () => {
  expect(await withTimeout(Promise.resolve('here'), 1_000)).toBe('here');
  expect(vi.getTimerCount()).toBe(0);
});

test('fails as the promise does, and leaves no timer behind', async () => {
  await expect(withTimeout(Promise.reject(new Error('no')), 1_000)).rejects.toThrow('no');
  expect(vi.getTimerCount()).toBe(0);
});

test('waits no longer than this, and minds nothing that comes later', async () => {
  const { promise, reject } = deferred<string>();
  let found: unknown = 'waiting';
  const waiting = withTimeout(promise, 1_000).then((value) => (found = value));
  await vi.advanceTimersByTimeAsync(999);
  expect(found).toBe('waiting');
  await vi.advanceTimersByTimeAsync(1);
  await waiting;
  expect(found).toBeUndefined();
  reject(new Error('late'));
});

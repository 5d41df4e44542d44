import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { coreLimits } from '../core/limits.ts';
import { createStreams } from './stream.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a request that has just come is not turned into a stream, and one that waits is kept open', () => {
  const streams = createStreams();
  const beats = { early: 0, late: 0 };
  vi.advanceTimersByTime(coreLimits.streamKeepAliveMs / 2);
  const early = streams.onBeat(() => beats.early++);
  vi.advanceTimersByTime(coreLimits.streamKeepAliveMs / 2 - 1);
  streams.onBeat(() => beats.late++);
  vi.advanceTimersByTime(1);
  expect(beats).toEqual({ early: 0, late: 0 });
  vi.advanceTimersByTime(coreLimits.streamKeepAliveMs);
  expect(beats).toEqual({ early: 1, late: 1 });
  early();
  vi.advanceTimersByTime(coreLimits.streamKeepAliveMs);
  expect(beats).toEqual({ early: 1, late: 2 });
  streams.close();
});

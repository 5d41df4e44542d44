import { beforeEach, expect, test, vi } from 'vitest';
import { upstreamLimits } from '../limits.ts';
import { ThrottledReader } from './throttled-reader.ts';

let clock = 0;

beforeEach(() => {
  clock = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  return () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  };
});

function pass(ms: number): void {
  clock += ms;
  vi.advanceTimersByTime(ms);
}

/** A stream of lines, each of which takes so long to work on. */
function reading(msPerLine = 0) {
  const seen = { text: '', lines: 0, isPaused: false };
  const reader = new ThrottledReader({
    read(bytes) {
      const text = bytes.toString();
      const lines = text.split('\n').length - 1;
      seen.text += text;
      seen.lines += lines;
      clock += lines * msPerLine;
    },
    unasked: () => seen.lines,
    pause: () => (seen.isPaused = true),
    resume: () => (seen.isPaused = false),
  });
  const flood = (): void => reader.push(linesOf(upstreamLimits.floodPerSecond + 1));
  return { reader, seen, flood };
}

const linesOf = (count: number): Buffer => Buffer.from('a line of a flood\n'.repeat(count));

test('a stream that is no flood is read at once, for as long as it goes on', () => {
  const { reader, seen } = reading();
  for (let second = 1; second <= 5; second++) {
    reader.push(linesOf(upstreamLimits.floodPerSecond));
    expect([seen.lines, seen.isPaused]).toEqual([second * upstreamLimits.floodPerSecond, false]);
    pass(1_001);
  }
});

test('a flooded one is read for a moment at a time, in order, and nothing of it is lost', () => {
  const { reader, seen, flood } = reading(0.01);
  flood();
  expect(seen.isPaused).toBe(true);
  pass(upstreamLimits.floodPauseMs);
  expect(seen.isPaused).toBe(false);
  const more = Buffer.from(Array.from({ length: 4_000 }, (_, i) => `line ${i}\n`).join(''));
  reader.push(more);
  expect(seen.isPaused).toBe(true);
  let turns = 0;
  for (let last = seen.lines; seen.isPaused; last = seen.lines, turns++) {
    pass(upstreamLimits.floodPauseMs);
    // As long as allowed, and the piece that was begun.
    expect((seen.lines - last) * 0.01).toBeLessThan(
      upstreamLimits.floodReadMs + 0.01 * (upstreamLimits.floodPieceBytes / 7),
    );
  }
  expect(turns).toBeGreaterThan(10);
  expect(seen.text.endsWith(more.toString())).toBe(true);
});

test('what comes although the stream is paused waits its turn', () => {
  const { reader, seen, flood } = reading();
  flood();
  reader.push(Buffer.from('one\n'));
  reader.push(Buffer.from('two\n'));
  expect(seen.text.endsWith('a line of a flood\n')).toBe(true);
  pass(upstreamLimits.floodPauseMs);
  expect(seen.text.endsWith('one\ntwo\n')).toBe(true);
  expect(seen.isPaused).toBe(false);
});

test('small pieces are read until the moment is over, not one for each pause', () => {
  const { reader, seen, flood } = reading(0.01);
  flood();
  pass(upstreamLimits.floodPauseMs);
  const before = seen.lines;
  while (!seen.isPaused) reader.push(linesOf(1));
  expect(seen.lines - before).toBeCloseTo(upstreamLimits.floodReadMs / 0.01, -1);
});

test('when nothing comes after a pause the flood is over', () => {
  const { reader, seen, flood } = reading();
  flood();
  pass(upstreamLimits.floodPauseMs);
  pass(upstreamLimits.floodOverMs + 1);
  reader.push(Buffer.from('an answer\n'));
  expect([seen.text.endsWith('an answer\n'), seen.isPaused]).toEqual([true, false]);
});

test('at its end all that is left is read at once', () => {
  const { reader, seen, flood } = reading(1);
  flood();
  reader.push(linesOf(10_000));
  reader.end();
  expect(seen.lines).toBe(upstreamLimits.floodPerSecond + 1 + 10_000);
  pass(1_000);
  expect(seen.lines).toBe(upstreamLimits.floodPerSecond + 1 + 10_000);
});

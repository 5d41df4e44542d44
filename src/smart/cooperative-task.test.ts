import { expect, test } from 'vitest';
import { createCooperativeTask } from './cooperative-task.ts';
import { smartLimits } from './limits.ts';

/** Work of so many steps, a millisecond each of a clock of its own. */
function clocked() {
  let time = 0;
  const slices = createCooperativeTask(() => time);
  const done: string[] = [];
  function* steps(name: string, count: number): Generator<void> {
    for (let n = 0; n < count; n++) {
      time++;
      done.push(name);
      yield;
    }
  }
  return { slices, steps, done };
}

test('what fits into a slice is done at once', async () => {
  const { slices, steps, done } = clocked();
  slices.start(steps('a', smartLimits.indexSliceMs - 1));
  expect(done).toHaveLength(smartLimits.indexSliceMs - 1);
  await slices.done();
});

test('what does not lets others in between, and is done in the end', async () => {
  const { slices, steps, done } = clocked();
  const count = smartLimits.indexSliceMs * 5;
  slices.start(steps('a', count));
  let turns = 0;
  const other = (): void => void (done.length < count && (turns++, setImmediate(other)));
  other();
  expect(done).toHaveLength(smartLimits.indexSliceMs);
  await slices.done();
  expect(done).toHaveLength(count);
  expect(turns).toBeGreaterThanOrEqual(4);
});

test('later work takes the place of what runs', async () => {
  const { slices, steps, done } = clocked();
  slices.start(steps('old', 100 * smartLimits.indexSliceMs));
  slices.start(steps('new', 2 * smartLimits.indexSliceMs));
  await slices.done();
  expect(done.filter((name) => name === 'new')).toHaveLength(2 * smartLimits.indexSliceMs);
  expect(done.filter((name) => name === 'old')).toHaveLength(smartLimits.indexSliceMs);
  slices.start(steps('stopped', 100 * smartLimits.indexSliceMs));
  slices.stop();
  await slices.done();
  expect(done.filter((name) => name === 'stopped')).toHaveLength(smartLimits.indexSliceMs);
});

test('a step that fails is heard of by who waits, and work goes on', async () => {
  const { slices, steps, done } = clocked();
  function* failing(): Generator<void> {
    yield* steps('a', smartLimits.indexSliceMs);
    throw new Error('broken');
  }
  slices.start(failing());
  await expect(slices.done()).rejects.toThrow('broken');
  slices.start(steps('b', 1));
  await slices.done();
  expect(done.at(-1)).toBe('b');
});

import { SpanKind } from '@opentelemetry/api';
import { afterEach, expect, test, vi } from 'vitest';
import { newTraceId } from './ids.ts';
import { telemetryLimits } from './limits.ts';
import { createSpanQueue } from './span-queue.ts';
import { RecordedSpan, SpanForm } from './spans.ts';

const form = new SpanForm('x', SpanKind.SERVER, {});
const everyMs = 5_000;

afterEach(() => void vi.useRealTimers());

/** A queue whose batches take so many spans, what it sent, and how one that was sent is answered. */
function queueOf(size: number) {
  const sent: string[][] = [];
  const answers: (() => void)[] = [];
  let isShut = false;
  const queue = createSpanQueue({
    open: () => {
      const names: string[] = [];
      return {
        names,
        get count() {
          return names.length;
        },
        add: ({ own }) => names.length < size && names.push(String(own?.['n'])) > 0,
      };
    },
    exporter: {
      export({ names }, done) {
        sent.push([...names]);
        answers.push(done);
      },
      shutdown: async () => void (isShut = true),
    },
    everyMs,
  });
  let n = 0;
  const end = (spans: number) => {
    for (let i = 0; i < spans; i++)
      new RecordedSpan({ form, traceId: newTraceId(), parent: undefined, own: { n: n++ } }, queue.ended).end();
  };
  /** Answers the oldest that was not answered, and waits until the queue has seen it. */
  const answer = async () => {
    answers.shift()?.();
    await new Promise(setImmediate);
  };
  return { sent, end, answer, close: () => queue.close(), isShut: () => isShut };
}

test('a full batch is sent at once, and the next one when it was answered', async () => {
  const { end, sent, answer } = queueOf(2);
  end(2);
  expect(sent).toEqual([]);
  end(4);
  expect(sent).toEqual([['0', '1']]);
  await answer();
  expect(sent).toEqual([
    ['0', '1'],
    ['2', '3'],
  ]);
  await answer();
  expect(sent).toHaveLength(2);
});

test('a batch that is not full is sent after a while, and one that came meanwhile a while after the answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { end, sent, answer } = queueOf(2);
  end(1);
  vi.advanceTimersByTime(everyMs - 1);
  expect(sent).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(sent).toEqual([['0']]);
  end(1);
  vi.advanceTimersByTime(2 * everyMs);
  expect(sent).toHaveLength(1);
  await answer();
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(everyMs);
  expect(sent).toEqual([['0'], ['1']]);
});

test('a batch that is never answered does not stop the next one for ever', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { end, sent } = queueOf(1);
  end(3);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(telemetryLimits.exportMs);
  expect(sent).toEqual([['0'], ['1']]);
});

test('what would be too many is dropped, and what comes when there is room again is not', async () => {
  const { end, sent, answer, close } = queueOf(1_000);
  end(1_001);
  expect(sent).toHaveLength(1);
  end(2 * telemetryLimits.queued);
  await answer();
  end(1);
  const closed = close();
  for (let i = 0; i < 10; i++) await answer();
  await closed;
  const names = sent.flat().map(Number);
  expect(names.length).toBe(1_000 + telemetryLimits.queued + 1);
  expect(names.at(-1)).toBe(1_001 + 2 * telemetryLimits.queued);
});

test('at the end all that waits is sent, and nothing that comes later', async () => {
  const { end, sent, answer, close, isShut } = queueOf(2);
  end(6);
  const closed = close();
  end(1);
  expect(sent).toEqual([
    ['0', '1'],
    ['2', '3'],
    ['4', '5'],
  ]);
  expect(isShut()).toBe(false);
  for (let i = 0; i < 3; i++) await answer();
  await closed;
  expect(isShut()).toBe(true);
});

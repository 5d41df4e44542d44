import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NewActivity } from '../core/activity.ts';
import { ActivityRingBuffer } from './activity-ring-buffer.ts';
import { createStamps } from './record-ids.ts';

const next = createStamps(Date.now);
const call = (tool: string, more: Partial<NewActivity> = {}): NewActivity => ({
  server: 's',
  tool,
  durationMs: 1,
  status: 'success',
  principal: 'anonymous',
  resultBytes: 0,
  ...more,
});

test('behaves as a list of which the oldest go first, whatever is added and dropped', () => {
  const step = fc.oneof(fc.constant('add' as const), fc.integer({ min: 0, max: 9 }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 100 }), (capacity, steps) => {
      const slots = new ActivityRingBuffer(capacity);
      let model: string[] = [];
      for (const [n, one] of steps.entries()) {
        if (one !== 'add') {
          const count = Math.min(one, slots.size);
          slots.drop(count);
          model = model.slice(count);
        } else if (!slots.isFull) {
          slots.next().write(next(), call(`t${n}`));
          model.push(`t${n}`);
        }
        expect(slots.size).toBe(model.length);
        expect(slots.oldest(capacity).map(({ tool }) => tool)).toEqual(model);
      }
    }),
  );
});

test('nothing of an earlier record shows in the next one of its place', () => {
  const slots = new ActivityRingBuffer(1);
  const full = call('t', {
    kind: 'search',
    errorMessage: 'e',
    username: 'u',
    keyId: 'k',
    keyName: 'n',
    group: 'g',
    scope: 's',
    sourceIp: 'i',
    traceId: 't',
    client: 'c',
    queueMs: 1,
    serverMs: 2,
    input: 'in',
    output: 'out',
    searchId: 'x',
    query: 'q',
    searchRank: 1,
    results: [{ server: 's', tool: 't', score: 1 }],
  });
  const first = slots.next();
  first.write(next(), full);
  expect(first.copy()).toMatchObject(full);
  slots.drop(1);
  const second = slots.next();
  second.write(next(), call('t'));
  const { id, timestamp, ...copy } = second.copy();
  expect(copy).toStrictEqual({ ...call('t'), kind: 'call' });
  expect([id, timestamp]).toEqual([second.id, second.timestamp]);
});

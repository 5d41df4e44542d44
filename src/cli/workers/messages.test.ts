import { expect, test } from 'vitest';
import { OnTheirWay } from './messages.ts';

test('so many messages are on their way at once, and more when those are there', () => {
  const onTheirWay = new OnTheirWay(2);
  const sent: (() => void)[] = [];
  const send = (done: () => void) => void sent.push(done);
  expect([1, 2, 3].map(() => onTheirWay.take(send))).toEqual([true, true, false]);
  expect(sent).toHaveLength(2);
  sent[0]?.();
  expect([1, 2].map(() => onTheirWay.take(send))).toEqual([true, false]);
  // One that cannot be sent is none that waits.
  sent[1]?.();
  expect([1, 2, 3].map(() => onTheirWay.take((done) => done()))).toEqual([true, true, true]);
});

import { expect, test } from 'vitest';
import { activityJournal } from './activity-journal.ts';
import { ReusedActivity } from './activity-ring-buffer.ts';

const stamp = { atMs: 1_700_000_000_500, idMs: 1_700_000_000_000, count: 1, high: 2, low: 3 };
const call = (more: object = {}) => {
  const row = new ReusedActivity();
  row.write(stamp, {
    server: 's',
    tool: 't',
    durationMs: 9,
    status: 'success',
    principal: 'user',
    resultBytes: 4,
    ...more,
  });
  return row;
};

test('the parts of how long a call took outlive the process, and their absence too', () => {
  const encode = activityJournal.encoder();
  const decode = activityJournal.decoder();
  for (const parts of [{ queueMs: 0, serverMs: 7 }, { queueMs: 3, serverMs: 0 }, {}])
    expect(decode(encode(call(parts))).copy()).toEqual(call(parts).copy());
});

test('lines that a version without the parts has written are read', () => {
  const decode = activityJournal.decoder();
  const members = { server: 's', tool: 't', status: 'success', principal: 'user', kind: 'call' };
  const first = decode(JSON.stringify([stamp.idMs, 500, 1, 2, 3, 9, 4, members])).copy();
  expect(first).toEqual(call().copy());
  expect(decode(JSON.stringify([5, 500, 1, 2, 3, 8, 4])).copy()).toMatchObject({ tool: 't', durationMs: 8 });
});

test('calls of traces are as short as others, and each has its own trace or none', () => {
  const encode = activityJournal.encoder();
  const decode = activityJournal.decoder();
  const ids = [undefined, 'a'.repeat(32), 'b'.repeat(32), undefined, 'c'.repeat(32)];
  const lines = ids.map((traceId) => encode(call({ traceId })));
  expect(lines.map((line) => line.includes('server'))).toEqual([true, false, false, false, false]);
  expect(lines.map((line) => decode(line).traceId)).toEqual(ids);
  const first = encode(call({ tool: 'u', traceId: 'd'.repeat(32) }));
  expect(decode(first).copy()).toEqual(call({ tool: 'u', traceId: 'd'.repeat(32) }).copy());
});

test('lines that a version with the trace among the members has written are read', () => {
  const decode = activityJournal.decoder();
  const members = { server: 's', tool: 't', status: 'success', principal: 'user', kind: 'call', traceId: 'a' };
  const first = decode(JSON.stringify([stamp.idMs, 500, 1, 2, 3, 9, 4, 0, 7, members])).copy();
  expect(first).toMatchObject({ traceId: 'a', queueMs: 0, serverMs: 7 });
  expect(decode(JSON.stringify([5, 500, 1, 2, 3, 8, 4, 0, 7])).copy()).toMatchObject({ tool: 't', traceId: 'a' });
});

test('members that are no record are refused, and what becomes of a record that was read changes no later one', () => {
  const encode = activityJournal.encoder();
  const decode = activityJournal.decoder();
  const [first = '', second = '', third = ''] = [1, 2, 3].map(() => encode(call({ errorMessage: 'e' })));
  const read = decode(first);
  read.empty();
  expect(decode(second).copy()).toEqual(call({ errorMessage: 'e' }).copy());
  expect(() => decode(JSON.stringify([stamp.idMs, 500, 1, 2, 3, 9, 4, 0, 7, null]))).toThrow('Not an activity record');
  expect(() => decode(third)).toThrow('Not an activity record');
});

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

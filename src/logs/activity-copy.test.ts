import { expect, test } from 'vitest';
import { type Column, copyWriter } from './activity-copy.ts';
import { ReusedActivity } from './activity-ring-buffer.ts';

const own = ['id', 'at', 'duration_ms', 'result_bytes', 'queue_ms', 'server_ms', 'trace_id'] as const;

test('of calls that differ in their traces alone, what they have alike is written once', () => {
  let asked = 0;
  const server: Column = ['server', 'text', (activity) => `${activity.server} ${++asked}`];
  const writer = copyWriter([...own.map((name): Column => [name, 'text', () => null]), server]);
  expect(writer.names).toBe([...own, 'server'].join(', '));
  const traces = ['a'.repeat(32), undefined, 'b'.repeat(32), 'c'.repeat(20_000)];
  const rows = traces.map((traceId, n) => {
    const row = new ReusedActivity();
    const common = { server: 's', tool: 't', durationMs: n, status: 'success', principal: 'user' } as const;
    row.write({ atMs: n, idMs: n, count: n, high: 2, low: 3 }, { ...common, resultBytes: 4, traceId });
    return row;
  });
  const bytes = Buffer.from(writer.rows(rows));
  expect(asked).toBe(1);
  // Behind the length of each trace, or -1, is what all have.
  const text = bytes.toString('latin1');
  for (const traceId of traces) {
    const length = Buffer.alloc(4);
    length.writeInt32BE(traceId?.length ?? -1);
    expect(text).toContain(`${length.toString('latin1')}${traceId ?? ''}\0\0\0\x03s 1`);
  }
});

import { afterEach, expect, test, vi } from 'vitest';
import { silent } from '../../test/kit/databases.ts';
import { HubError } from '../core/errors.ts';
import type { Database } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { logLimits } from './limits.ts';
import { createWriter } from './writer.ts';

/** A database that is there, and a writer that writes with `write`. */
function writerWith(write: (rows: readonly number[]) => Promise<void>, limit = 10) {
  const database: Pick<DatabaseHandle, 'current' | 'onChange'> = {
    current: () => ({}) as Database,
    onChange: () => () => {},
  };
  return createWriter<number>({
    database: database as DatabaseHandle,
    write: (_, rows) => write(rows),
    limit,
    log: silent,
    rows: 'rows',
  });
}

/** A writer whose next attempts go as `outcomes` say; after those all is well. */
function open(outcomes: (Error | undefined)[]) {
  return writerWith(async () => {
    const failure = outcomes.shift();
    if (failure) throw failure;
  });
}

afterEach(() => {
  vi.useRealTimers();
});

test('what a database cannot take now waits, and that it fails is known until it takes it', async () => {
  const writer = open([new Error('no space left on device')]);
  writer.add(1);
  expect(await writer.flush(1_000)).toBe(false);
  expect(writer.counts()).toEqual({ waiting: 1, written: 0, dropped: 0, failing: true });
  expect(await writer.flush(1_000)).toBe(true);
  expect(writer.counts()).toEqual({ waiting: 0, written: 1, dropped: 0, failing: false });
});

test('a database that is gone is not one that fails', async () => {
  const writer = open([new HubError('not_ready', 'gone')]);
  writer.add(1);
  expect(await writer.flush(1_000)).toBe(false);
  expect(writer.counts()).toMatchObject({ waiting: 1, failing: false });
});

/** Adds as many rows each millisecond and tells how many were written at which of them. */
async function paced(perMs: number, forMs: number, writeMs = 0): Promise<[atMs: number, rows: number][]> {
  vi.useFakeTimers();
  const begun = performance.now();
  const writes: [number, number][] = [];
  const writer = writerWith(async ({ length }) => {
    writes.push([performance.now() - begun, length]);
    await new Promise((resolve) => setTimeout(resolve, writeMs));
  }, 100_000);
  for (let ms = 0, rows = 0; ms < forMs; ms++) {
    for (; rows < perMs * (ms + 1); rows++) writer.add(rows);
    await vi.advanceTimersByTimeAsync(1);
  }
  return writes;
}

test('few rows wait for company, and go together', async () => {
  const writes = await paced(0.05, 3_000);
  expect(writes.map(([, rows]) => rows)).toEqual([50, 50, 50]);
});

test('many rows are written a few at a time, and no row alone because it came while others were written', async () => {
  const writes = await paced(2, 3_000, 20);
  expect(writes.length).toBeGreaterThan(20);
  for (const [, rows] of writes) expect(Math.abs(rows - logLimits.writeSoonRows)).toBeLessThan(20);
});

test('however many come, writing begins only so often, and takes all that is there', async () => {
  const writes = await paced(8, 3_000, 20);
  const gaps = writes.slice(1).map(([at], index) => at - (writes[index]?.[0] ?? 0));
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(logLimits.writeEveryMs - 1);
  expect(writes.length).toBeGreaterThan(25);
  expect(Math.max(...writes.map(([, rows]) => rows))).toBeLessThanOrEqual(logLimits.writeBatchRows);
});

test('rows that came faster than they could be written are written without a pause', async () => {
  const writes = await paced(50, 1_000, 20);
  expect(Math.max(...writes.map(([, rows]) => rows))).toBe(logLimits.writeBatchRows);
  expect(writes.reduce((sum, [, rows]) => sum + rows, 0)).toBeGreaterThan(25_000);
});

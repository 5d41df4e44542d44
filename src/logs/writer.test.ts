import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, expect, test, vi } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { silent, tempFolder } from '../../test/kit/databases.ts';
import { HubError } from '../core/errors.ts';
import type { Database } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { logLimits } from './limits.ts';
import { createWriter, type WriterOptions } from './writer.ts';

/** A database that is there, and a writer that writes with `write`. */
function writerWith(
  write: (rows: readonly number[]) => Promise<void>,
  limit = 10,
  more: Pick<WriterOptions<number>, 'journal' | 'mayWait'> = {},
) {
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
    ...more,
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
  expect(writer.counts()).toEqual({ waiting: 1, written: 0, dropped: 0, skipped: 0, failing: true });
  expect(await writer.flush(1_000)).toBe(true);
  expect(writer.counts()).toEqual({ waiting: 0, written: 1, dropped: 0, skipped: 0, failing: false });
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

/** A writer whose rows may wait in its journal; `written` are those that do not any more. */
function patient({ worthWriting = 1_000_000 } = {}) {
  vi.useFakeTimers();
  const written: number[] = [];
  const write = async (rows: readonly number[]) => void written.push(...rows);
  const codec = { encoder: () => String, decoder: () => Number };
  const journal = { folder: tempFolder(), room: { wait: () => {} }, name: 'rows', codec, worthWriting };
  const writer = writerWith(write, 1_000, { journal, mayWait: () => true });
  let rows = 0;
  return {
    writer,
    written,
    add: async (perMs: number, forMs: number) => {
      for (let ms = 0; ms < forMs; ms++) {
        for (let n = 0; n < perMs; n++) writer.add(rows++);
        await vi.advanceTimersByTimeAsync(1);
      }
      return rows;
    },
  };
}

test('while many rows come they wait in the journal, and are written once fewer do', async () => {
  const { writer, written, add } = patient();
  const count = await add(20, 2_000);
  // What came before it was known that they are many.
  expect(written.length).toBeLessThan(5_000);
  expect(writer.counts()).toMatchObject({ waiting: count - written.length, dropped: 0 });
  vi.useRealTimers();
  expect(await writer.flush(60_000)).toBe(true);
  expect(new Set(written).size).toBe(count);
});

test('rows that waited are written without being asked for when the others stop', async () => {
  const { writer, written, add } = patient();
  const count = await add(20, 1_000);
  await vi.waitFor(() => expect(new Set(written).size).toBe(count), { timeout: 60_000, interval: 100 });
  expect(writer.counts()).toMatchObject({ waiting: 0, dropped: 0 });
});

test('of rows that wait, those that the table would remove again are not written', async () => {
  const { writer, written, add } = patient({ worthWriting: 100_000 });
  const count = await add(400, 1_000);
  vi.useRealTimers();
  expect(await writer.flush(60_000)).toBe(true);
  expect(written.length).toBeLessThan(300_000);
  expect(new Set(written.slice(-100_000)).size).toBe(100_000);
  expect(Math.min(...written.slice(-100_000))).toBe(count - 100_000);
  expect(writer.counts().dropped).toBe(0);
});

/** From now on the disk is full. */
function fillDisk(): void {
  const before = fs.writeSync;
  fs.writeSync = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
  syncBuiltinESMExports();
  atEnd(() => {
    fs.writeSync = before;
    syncBuiltinESMExports();
  });
}

test.each([
  ['as the rows of a turn are written', 300],
  ['in the middle of many rows', 480],
])('when the disk is full %s, those that only the journal had go to the places in memory', async (_, more) => {
  const { writer, written, add } = patient();
  await add(20, 2_000);
  fillDisk();
  const count = await add(more, 1);
  await new Promise<void>((done) => writer.afterKeeping(done));
  expect(writer.counts().dropped).toBe(0);
  vi.useRealTimers();
  expect(await writer.flush(60_000)).toBe(true);
  expect(new Set(written).size).toBe(count);
});

test('what memory has no place for when the disk is full is counted as dropped', async () => {
  const { writer, written, add } = patient();
  await add(20, 2_000);
  fillDisk();
  const count = await add(2_000, 1);
  vi.useRealTimers();
  expect(await writer.flush(60_000)).toBe(true);
  const { waiting, dropped } = writer.counts();
  expect([waiting, new Set(written).size + dropped]).toEqual([0, count]);
  expect(dropped).toBeGreaterThan(1_000);
});

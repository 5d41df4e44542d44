import { expect, test } from 'vitest';
import { silent } from '../../test/kit/databases.ts';
import { HubError } from '../core/errors.ts';
import type { Database } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { createWriter } from './writer.ts';

/** A database that is there, and a writer whose next attempts go as `outcomes` say; after those all is well. */
function open(outcomes: (Error | undefined)[]) {
  const database: Pick<DatabaseHandle, 'current' | 'onChange'> = {
    current: () => ({}) as Database,
    onChange: () => () => {},
  };
  const write = async (): Promise<void> => {
    const failure = outcomes.shift();
    if (failure) throw failure;
  };
  return createWriter<number>({ database: database as DatabaseHandle, write, limit: 10, log: silent, rows: 'rows' });
}

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

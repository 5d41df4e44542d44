import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../test/kit/databases.ts';
import { lockFolder } from './folder-lock.ts';

const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
const pids = readlinkSync('/proc/self/ns/pid');
/** A process id beyond what the kernel gives out. */
const nobody = 2 ** 22 + 1;

const leftBy = (change: object): string =>
  JSON.stringify({ token: 'x', pid: process.pid, started: '', host: hostname(), boot, pids, door: '', ...change });

test.each([
  ['a process that is gone', leftBy({ pid: nobody }), 'opens'],
  ['a process id that came round again', leftBy({ started: '1' }), 'opens'],
  ['a machine that was restarted', leftBy({ boot: 'another boot' }), 'opens'],
  ['another machine', leftBy({ boot: 'another boot', host: 'elsewhere' }), 'refused'],
  [
    'another container whose socket nobody answers',
    leftBy({ pids: 'pid:[1]', host: 'elsewhere', door: 'x.sock' }),
    'opens',
  ],
  ['another container without a socket', leftBy({ pids: 'pid:[1]', host: 'elsewhere' }), 'refused'],
  ['a crash in the middle of writing it', '{"pid":', 'opens'],
])('a lock left by %s', async (_, lock, outcome) => {
  const folder = join(tempFolder(), 'database');
  writeFileSync(`${folder}.lock`, lock);
  const result = await lockFolder(folder).then(
    (unlock) => {
      unlock();
      return 'opens';
    },
    () => 'refused',
  );
  expect(result).toBe(outcome);
});

test('a holder in another container that is alive is found by its socket', async () => {
  const folder = join(tempFolder(), 'database');
  const unlock = await lockFolder(folder);
  const mine = JSON.parse(readFileSync(`${folder}.lock`, 'utf8')) as object;
  writeFileSync(`${folder}.lock`, JSON.stringify({ ...mine, token: 'x', pids: 'pid:[1]', pid: nobody }));
  await expect(lockFolder(folder)).rejects.toMatchObject({ code: 'conflict' });
  unlock();
  const again = await lockFolder(folder);
  again();
});

test.each(['no lock', 'a stale lock'])('many at once over %s: exactly one gets the folder', async (before) => {
  const folder = join(tempFolder(), 'database');
  if (before === 'a stale lock') writeFileSync(`${folder}.lock`, leftBy({ pid: nobody }));
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder)));
  const winners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  expect(winners).toHaveLength(1);
  winners[0]?.();
  (await lockFolder(folder))();
});

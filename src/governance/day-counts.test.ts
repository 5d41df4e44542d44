import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../test/kit/hostile.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { until } from '../../test/kit/until.ts';
import type { Counted } from '../core/access/decision.ts';
import type { CallLimits } from '../core/settings/governance.ts';
import { createCallCounts } from './call-counts.ts';
import { daysInFile } from './day-counts.ts';
import { governanceLimits } from './limits.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const noon = Date.parse('2026-11-25T12:00:00Z');
const dayMs = 86_400_000;

/** The counts of a hub that is started with this file; `at` is its clock. */
function hub(path: string, at = noon) {
  const days = daysInFile(path, log);
  const counts = createCallCounts(
    () => at,
    () => 5_000,
    days,
  );
  const take = (id: string, limits: CallLimits = { callsPerDay: 2 }) => {
    const one: Counted = { id, what: id, limits, caller: undefined };
    const taken = counts.take([one]);
    if (taken instanceof Promise) throw new Error('memory does not wait');
    return taken.kind;
  };
  return { take, close: () => days.close() };
}

const file = () => join(temporaryFolder(), 'day-counts.json');

test('the calls of a day go on after a restart, and end with the day', async () => {
  const path = file();
  const first = hub(path);
  expect([first.take('user ann'), first.take('user ann'), first.take('user bob')]).toEqual(['taken', 'taken', 'taken']);
  await first.close();
  const second = hub(path, noon + dayMs / 4);
  expect([second.take('user ann'), second.take('user bob'), second.take('user bob')]).toEqual([
    'refused',
    'taken',
    'refused',
  ]);
  await second.close();
  const third = hub(path, noon + dayMs);
  expect([third.take('user ann'), third.take('user bob')]).toEqual(['taken', 'taken']);
  await third.close();
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    day: Math.floor(noon / dayMs) + 1,
    calls: [
      ['user ann', 1],
      ['user bob', 1],
    ],
  });
});

test('what has no limit of a day is not kept, and a limit that comes later counts what was called before', async () => {
  const path = file();
  const { take, close } = hub(path);
  take('user ann', { callsPerMinute: 9 });
  await close();
  expect(() => readFileSync(path)).toThrow('ENOENT');
  expect([take('user ann'), take('user ann')]).toEqual(['taken', 'refused']);
  await close();
  expect(hub(path).take('user ann', { callsPerDay: 3 })).toBe('taken');
});

test('a hub that is killed has written down what it counted', async () => {
  setLimits(governanceLimits, { dayCountsWriteMs: 1 });
  const path = file();
  const killed = hub(path);
  killed.take('user ann');
  killed.take('user ann');
  await until('both are written', () => readFileSync(path, 'utf8').includes('["user ann",2]'));
  const again = hub(path);
  expect(again.take('user ann')).toBe('refused');
  await killed.close();
  await again.close();
});

test('what could not be written is tried again, and is said once', async () => {
  setLimits(governanceLimits, { dayCountsWriteMs: 1 });
  const path = file();
  mkdirSync(path);
  const warn = vi.spyOn(log, 'warn');
  const { take, close } = hub(path);
  take('user ann');
  await until('it failed', () => warn.mock.calls.length > 0);
  rmSync(path, { recursive: true });
  await until('it is written', () => readFileSync(path, 'utf8').includes('["user ann",1]'));
  expect(warn).toHaveBeenCalledTimes(1);
  await close();
});

test('what could not be written is written at the end', async () => {
  const path = file();
  mkdirSync(path);
  const { take, close } = hub(path);
  take('user ann');
  await close();
  rmSync(path, { recursive: true });
  await close();
  expect(readFileSync(path, 'utf8')).toContain('["user ann",1]');
});

test('a clock that is put back over midnight leaves what the day after has counted', async () => {
  const path = file();
  const after = hub(path, noon + dayMs);
  expect([after.take('user ann'), after.take('user ann')]).toEqual(['taken', 'taken']);
  await after.close();
  const before = hub(path);
  expect(before.take('user ann')).toBe('taken');
  await before.close();
  expect(hub(path, noon + dayMs).take('user ann')).toBe('refused');
});

test('a file that is none is as none', async () => {
  const path = file();
  for (const text of ['', '[]', '{"day":1}', '{"day":"1","calls":[]}', '{"day":20782,"calls":[["user ann","9"],7]}']) {
    writeFileSync(path, text);
    const { take, close } = hub(path);
    expect([text, take('user ann')]).toEqual([text, 'taken']);
    await close();
  }
});

test('addresses without an account leave room for everything else', async () => {
  setLimits(governanceLimits, { dayCountsOfAddresses: 2 });
  const path = file();
  const { take, close } = hub(path);
  for (const id of ['default address 1', 'default address 2', 'default address 3', 'group g\naddress 4', 'user ann'])
    take(id, { callsPerDay: 1 });
  await close();
  const again = hub(path);
  const kinds = ['default address 1', 'default address 3', 'group g\naddress 4', 'user ann'].map((id) =>
    again.take(id, { callsPerDay: 1 }),
  );
  expect(kinds).toEqual(['refused', 'taken', 'taken', 'refused']);
  await again.close();
});

test('what one trusted issuer names leaves room for addresses, for other issuers, and for accounts', async () => {
  setLimits(governanceLimits, { dayCountsOfAddresses: 1, dayCountsOfAnIssuer: 2 });
  const path = file();
  const issued = (issuer: string, subject: string) => `issued ${issuer.padEnd(43, '-')} ${subject}`;
  const once = ({ take }: ReturnType<typeof hub>, ids: readonly string[]) =>
    ids.map((id) => take(id, { callsPerDay: 1 }));
  const bad = ['1', '2', '3'].map((subject) => `default ${issued('bad', subject)}`);
  const first = hub(path);
  once(first, bad);
  await first.close();
  // What is in the file already counts.
  const second = hub(path);
  const ofSettings = ['user ann', 'user x\naddress 1', 'group g\nuser x\naddress 1', 'server a\naddress 1'];
  const others = [`default ${issued('good', '1')}`, 'default address 1', ...ofSettings];
  once(second, [`group g\n${issued('bad', '4')}`, ...others]);
  await second.close();
  const third = hub(path);
  expect(once(third, [...bad, `group g\n${issued('bad', '4')}`, ...others])).toEqual(
    'refused refused taken taken refused refused refused refused refused refused'.split(' '),
  );
  await third.close();
});

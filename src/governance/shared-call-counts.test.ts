import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { logLines } from '../../test/kit/channel-log.ts';
import { databaseWaitMs, emptyDatabase } from '../../test/kit/databases.ts';
import { setLimits } from '../../test/kit/limits.ts';
import type { Counted } from '../core/access/decision.ts';
import type { CallLimits } from '../core/settings/governance.ts';
import type { Database } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { createCallCounts } from './call-counts.ts';
import { governanceLimits } from './limits.ts';
import { sharedCallCounts } from './shared-call-counts.ts';

let handle: DatabaseHandle;
let open: Database;
beforeAll(async () => {
  handle = await emptyDatabase('postgres');
  open = await handle.whenReady(databaseWaitMs);
});

let servers = 0;

/** Two hubs that count at one database: what one caller asks of a server that no other test knows. */
function hubs(limits: CallLimits) {
  const id = `server slow${(servers += 1)}`;
  const made = [0, 1].map(() => sharedCallCounts(handle, createCallCounts(), logLines()));
  atEnd(() => made.forEach((hub) => hub.close()));
  const ask = async (hub: 0 | 1, caller: string) => {
    const counted: Counted = { id, what: id, limits, caller };
    const taken = await made[hub]?.take([counted]);
    if (taken === undefined) throw new Error('no such hub');
    return taken;
  };
  return { id, ask };
}

/** Waits for what `release` does in the background. */
async function ended(id: string, taken: Awaited<ReturnType<ReturnType<typeof hubs>['ask']>>): Promise<void> {
  if (taken.kind !== 'taken') throw new Error('refused');
  taken.release();
  await expect
    .poll(async () => open.query('select 1 from toolhub.call_running where id = $1 and calls > 0', [id]))
    .toHaveLength(0);
}

describe('one slow server of two hubs, and an agent in a loop', () => {
  test('each has its turn, at whichever hub it asks', async () => {
    const { id, ask } = hubs({ concurrentCalls: 1 });
    const served: string[] = [];
    for (let running = await ask(0, 'loop'); served.length < 4;) {
      // The one in a loop is always there first.
      expect((await ask(0, 'loop')).kind).toBe('refused');
      expect((await ask(1, 'ann')).kind).toBe('refused');
      await ended(id, running);
      const [loop, ann] = [await ask(0, 'loop'), await ask(1, 'ann')];
      expect([loop.kind, ann.kind].toSorted()).toEqual(['refused', 'taken']);
      served.push(loop.kind === 'taken' ? 'loop' : 'ann');
      running = loop.kind === 'taken' ? loop : ann;
    }
    expect(served).toEqual(['ann', 'loop', 'ann', 'loop']);
  });

  test('a turn passes when its caller does not come back', async () => {
    const { id, ask } = hubs({ concurrentCalls: 1 });
    const first = await ask(0, 'loop');
    expect((await ask(1, 'ann')).kind).toBe('refused');
    await ended(id, first);
    expect(await ask(0, 'loop')).toMatchObject({ kind: 'refused', isShared: true });
    await open.query(`update toolhub.call_running set waits_until = now() - interval '1 second' where id = $1`, [id]);
    expect((await ask(0, 'loop')).kind).toBe('taken');
  });
});

test('a clock of the database that is put back counts nothing that is later', async () => {
  const { id, ask } = hubs({ callsPerMinute: 1 });
  await open.query(
    `insert into toolhub.call_counts (id, caller, bucket, calls)
     values ($1, 'ann', floor(extract(epoch from now())) + 3600, 5)`,
    [id],
  );
  expect((await ask(0, 'ann')).kind).toBe('taken');
  expect(await ask(1, 'ann')).toMatchObject({ kind: 'refused', limit: 'callsPerMinute' });
});

test('another round of a call is no other call at whichever hub it comes, and passes at one of them alone', async () => {
  const { id, ask } = hubs({ callsPerMinute: 2, concurrentCalls: 2 });
  await ended(id, await ask(0, 'ann'));
  const untilSecond = Math.ceil(Date.now() / 1_000) + 600;
  const limits = { callsPerMinute: 2, concurrentCalls: 9 };
  const counted: Counted = { id, what: id, limits, caller: undefined };
  const made = [0, 1].map(() => sharedCallCounts(handle, createCallCounts(), logLines()));
  atEnd(() => made.forEach((hub) => hub.close()));
  const next = async (hub: number, use: string) => (await made[hub]?.take([counted], { use, untilSecond }))?.kind;
  expect(await next(1, `${id} a`)).toBe('taken');
  expect(await Promise.all([next(0, `${id} b`), next(1, `${id} c`)])).toEqual(['taken', 'taken']);
  // The second time it counts as the second call, then as the third.
  expect([await next(0, `${id} a`), await next(1, `${id} a`)]).toEqual(['taken', 'refused']);
  expect(await next(0, `${id} d`)).toBe('taken');
});

test('rounds that are remembered are bounded, and none is where no call is counted', async () => {
  setLimits(governanceLimits, { rounds: 2 });
  const { id } = hubs({});
  const untilSecond = Math.ceil(Date.now() / 1_000) + 600;
  const made = sharedCallCounts(handle, createCallCounts(), logLines());
  atEnd(() => made.close());
  const next = async (limits: CallLimits, use: string) =>
    (await made.take([{ id, what: id, limits, caller: undefined }], { use: `${id} ${use}`, untilSecond })).kind;
  const remembered = () =>
    open.query<{ id: string }>('select id from toolhub.call_counts where id like $1', [`round ${id} %`]);
  for (const use of ['a', 'b', 'c']) expect(await next({ concurrentCalls: 9 }, use)).toBe('taken');
  expect(await remembered()).toEqual([]);
  for (const use of ['a', 'b', 'c']) expect(await next({ callsPerMinute: 1 }, use)).toBe('taken');
  // The third was counted as a call: the next is one too many.
  expect(await next({ callsPerMinute: 1 }, 'd')).toBe('refused');
  expect((await remembered()).map((row) => row.id)).toEqual([`round ${id} a`, `round ${id} b`]);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { atEnd } from '../../../test/kit/at-end.ts';
import { logLines } from '../../../test/kit/channel-log.ts';
import { offer, server, settings } from '../../../test/kit/snapshots.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import { upstreamLimits } from '../limits.ts';
import { createPool, fingerprintOf, type Pool, type PoolOptions } from './pool.ts';

/** Processes that end when the test says so, by what is started and how often. */
function processes() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const open = ({ name, transport }: ServerSettings) => {
    const program = transport.type === 'stdio' ? transport.command : '';
    started.push(`${program} as ${name}`);
    return {
      send() {},
      abandon() {},
      ready() {},
      forgetSession() {},
      close: () => new Promise<void>((resolve) => ends.set(`${program} as ${name}`, resolve)),
    };
  };
  return { started, ends, open };
}

function poolOf(
  open: ReturnType<typeof processes>['open'],
  ends: ReadonlyMap<string, () => void>,
  saved: PoolOptions['saved'] = [],
): Pool {
  const pool = createPool({
    open,
    version: '1',
    connectTimeoutMs: 5_000,
    requestTimeoutMs: 5_000,
    startsAtOnce: 2,
    log: logLines,
    changed: () => undefined,
    saved,
  });
  atEnd(async () => {
    const closed = pool.close();
    for (const end of ends.values()) end();
    await closed;
  });
  return pool;
}

const running = (name: string, command: string) =>
  server(name, { transport: { type: 'stdio', command, args: [], env: {}, cwd: undefined } });
/** All that was decided has been done: two servers are started so long after one another. */
const settled = () => sleep(4 * upstreamLimits.startPauseMs);

test('a server that is taken away stops at once, and one that takes its name is started by the next reconcile, after its end', async () => {
  const { started, ends, open } = processes();
  const pool = poolOf(open, ends);
  pool.reconcile(settings({ servers: [running('one', 'mail'), running('two', 'files')] }));
  await settled();
  pool.retire(settings({ servers: [running('two', 'files')] }));
  expect(pool.connection('one')).toBeUndefined();
  expect(pool.connection('two')).toBeDefined();
  const next = settings({ servers: [running('one', 'notes'), running('two', 'files')] });
  pool.retire(next);
  expect(pool.connection('one')).toBeUndefined();
  pool.reconcile(next);
  await settled();
  expect(started).toEqual(['mail as one', 'files as two']);
  ends.get('mail as one')?.();
  await settled();
  expect(started.slice(2)).toEqual(['notes as one']);
});

test('servers that swap their names start when both of their processes have ended, not while one holds what is theirs', async () => {
  const { started, ends, open } = processes();
  const pool = poolOf(open, ends);
  pool.reconcile(settings({ servers: [running('one', 'mail'), running('two', 'files')] }));
  await settled();
  pool.reconcile(settings({ servers: [running('one', 'files'), running('two', 'mail')] }));
  await settled();
  for (const last of ['mail as one', 'files as two']) {
    expect(started, `before the end of ${last}`).toEqual(['mail as one', 'files as two']);
    ends.get(last)?.();
    await settled();
  }
  expect(started.slice(2).sort()).toEqual(['files as one', 'mail as two']);
});

test('a server that becomes another owner’s is started again', async () => {
  const { started, ends, open } = processes();
  const pool = poolOf(open, ends);
  const mail = running('one', 'mail');
  pool.reconcile(settings({ servers: [{ ...mail, owner: 'ann' }] }));
  await settled();
  pool.reconcile(settings({ servers: [{ ...mail, owner: 'ann', description: 'of Ann' }] }));
  await settled();
  expect(started, 'what does not matter to it').toEqual(['mail as one']);
  pool.reconcile(settings({ servers: [{ ...mail, owner: 'bob' }] }));
  await settled();
  expect(started, 'before its end').toEqual(['mail as one']);
  ends.get('mail as one')?.();
  await settled();
  expect(started).toEqual(['mail as one', 'mail as one']);
});

test('what a change of the settings starts is told to be waited for until it is started and listed; nothing is at the start', async () => {
  const { ends, open } = processes();
  const names = (pool: Pool) => [...(pool.catalogue.restarted ?? [])];
  const pool = poolOf(open, ends);
  const first = settings({ servers: [running('one', 'mail'), { ...running('off', 'notes'), enabled: false }] });
  pool.prepare(first);
  pool.reconcile(first);
  expect(names(pool)).toEqual([]);
  const next = settings({ servers: [running('renamed', 'mail'), running('off', 'notes'), running('new', 'files')] });
  pool.retire(next);
  expect(names(pool)).toEqual(['renamed', 'off', 'new']);
  pool.reconcile(next);
  expect(names(pool)).toEqual(['renamed', 'off', 'new']);
  pool.retire(settings({ servers: [{ ...running('renamed', 'mail'), enabled: false }] }));
  expect(names(pool)).toEqual([]);
});

test('a server that is switched on again is waited for until it is started, though it is known what it offers', () => {
  const { ends, open } = processes();
  const one = running('one', 'mail');
  const saved = [{ fingerprint: fingerprintOf(one, true), offer: offer('one', ['t']) }];
  const pool = poolOf(open, ends, saved);
  const off = settings({ servers: [{ ...one, enabled: false }] });
  pool.prepare(off);
  pool.reconcile(off);
  const on = settings({ servers: [one] });
  pool.retire(on);
  expect(pool.catalogue.offers.has('one')).toBe(true);
  expect([...(pool.catalogue.restarted ?? [])]).toEqual(['one']);
  pool.reconcile(on);
  expect([...(pool.catalogue.restarted ?? [])]).toEqual([]);
});

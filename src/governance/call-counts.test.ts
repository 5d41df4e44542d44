import { describe, expect, test } from 'vitest';
import { setLimits } from '../../test/kit/limits.ts';
import type { Counted } from '../core/access/decision.ts';
import type { CallLimits } from '../core/settings/governance.ts';
import { createCallCounts, type Taken } from './call-counts.ts';
import { governanceLimits } from './limits.ts';

const start = Date.parse('2026-11-25T23:00:00Z');

function counts() {
  let at = start;
  let passed = 5_000;
  const made = createCallCounts(
    () => at,
    () => passed,
  );
  return {
    later: (ms: number) => {
      at += ms;
      passed += ms;
    },
    /** The clock is set. */
    jump: (ms: number) => void (at += ms),
    take: (counted: Counted | readonly Counted[]) => {
      const taken = made.take(Array.isArray(counted) ? counted : [counted as Counted]);
      if (taken instanceof Promise) throw new Error('memory does not wait');
      return taken;
    },
    made,
  };
}

function counted(limits: CallLimits, id = 'user ann', caller?: string): Counted {
  return { id, what: id, limits, caller };
}

describe('calls per minute', () => {
  test('slide: what was called a minute ago no longer counts', () => {
    const { take, later } = counts();
    const ann = counted({ callsPerMinute: 3 });
    expect([1, 2, 3].map(() => take(ann).kind)).toEqual(['taken', 'taken', 'taken']);
    later(30_000);
    const refused = take(ann);
    expect(refused).toMatchObject({ kind: 'refused', limit: 'callsPerMinute', allowed: 3 });
    later(refused.kind === 'refused' ? refused.retryAfterMs : 0);
    expect(take(ann).kind).toBe('taken');
  });

  test('hold in any 60 seconds, and not only from minute to minute', () => {
    const { take, later } = counts();
    const ann = counted({ callsPerMinute: 2 });
    later(59_500);
    take(ann);
    take(ann);
    later(1_000);
    expect(take(ann).kind).toBe('refused');
  });
});

test('calls per day end at midnight, UTC', () => {
  const { take, later } = counts();
  const ann = counted({ callsPerDay: 1 });
  take(ann);
  expect(take(ann)).toMatchObject({ kind: 'refused', limit: 'callsPerDay', retryAfterMs: 3_600_000 });
  later(3_600_000);
  expect(take(ann).kind).toBe('taken');
});

test('calls at the same time are free again when they are over, each once', () => {
  const { take } = counts();
  const ann = counted({ concurrentCalls: 1 });
  const first = take(ann);
  expect(take(ann)).toMatchObject({ kind: 'refused', limit: 'concurrentCalls' });
  if (first.kind === 'taken') {
    first.release();
    first.release();
  }
  expect(take(ann).kind).toBe('taken');
  expect(take(ann).kind).toBe('refused');
});

test('a call that one limit refuses is counted at none', () => {
  const { take } = counts();
  const ann = counted({ callsPerDay: 2 });
  const full = counted({ callsPerDay: 1 }, 'key k');
  take(full);
  expect(take([ann, full]).kind).toBe('refused');
  expect([take(ann).kind, take(ann).kind, take(ann).kind]).toEqual(['taken', 'taken', 'refused']);
});

test('a look counts nothing', () => {
  const { take, made } = counts();
  const ann = counted({ callsPerDay: 1 });
  expect(made.look([ann])).toBeUndefined();
  expect(made.look([ann])).toBeUndefined();
  take(ann);
  expect(made.look([ann])).toMatchObject({ kind: 'refused' });
});

describe('a server that several callers share', () => {
  const limits = { concurrentCalls: 4 };
  const by = (caller: string) => counted(limits, 'server slow', caller);

  test('is free for one alone', () => {
    const { take } = counts();
    expect([1, 2, 3, 4].map(() => take(by('loop')).kind)).toEqual(['taken', 'taken', 'taken', 'taken']);
    expect(take(by('loop')).kind).toBe('refused');
  });

  test('keeps a part for each who asks', () => {
    const { take } = counts();
    const running = [1, 2, 3, 4].map(() => take(by('loop')));
    expect(take(by('ann')).kind).toBe('refused');
    const release = (i: number): void => {
      const one = running[i];
      if (one?.kind === 'taken') one.release();
    };
    release(0);
    release(1);
    // The place that is free is for the one who has none.
    expect(take(by('loop'))).toMatchObject({ kind: 'refused', isShared: true });
    expect(take(by('ann')).kind).toBe('taken');
    expect(take(by('ann')).kind).toBe('taken');
    expect(take(by('ann')).kind).toBe('refused');
  });

  test('is free again once the others have not asked for a while', () => {
    const { take, later } = counts();
    const ann = take(by('ann'));
    if (ann.kind === 'taken') ann.release();
    take(by('loop'));
    take(by('loop'));
    expect(take(by('loop')).kind).toBe('refused');
    later(11_000);
    expect(take(by('loop')).kind).toBe('taken');
  });
});

describe('one slow server, and an agent in a loop', () => {
  /** Calls that last until they are ended, of callers that ask again whenever they are refused. */
  function server(limits: CallLimits) {
    const { take, later } = counts();
    const running: { caller: string; release: () => void }[] = [];
    const served: string[] = [];
    return {
      later,
      served,
      ask(...callers: string[]) {
        for (const caller of callers) {
          const taken = take(counted(limits, 'server slow', caller));
          if (taken.kind === 'refused') continue;
          running.push({ caller, release: taken.release });
          served.push(caller);
        }
      },
      end: () => running.shift()?.release(),
    };
  }

  test.each([
    ['one place', 1, ['ann'], ['loop', 'ann', 'loop', 'ann', 'loop', 'ann']],
    ['two places', 2, ['ann'], ['loop', 'loop', 'ann', 'loop', 'ann', 'loop']],
    ['fewer places than callers', 1, ['ann', 'bob'], ['loop', 'ann', 'bob', 'loop', 'ann', 'bob']],
    ['places that cannot be shared evenly', 3, ['ann'], ['loop', 'loop', 'loop', 'ann', 'loop', 'loop', 'ann']],
  ])('%s: all have their turn', (_, concurrentCalls, others, expected) => {
    const slow = server({ concurrentCalls });
    while (slow.served.length < concurrentCalls) slow.ask('loop');
    while (slow.served.length < expected.length) {
      slow.ask('loop', ...others);
      slow.end();
      slow.later(900);
      // The one in a loop is always there first.
      slow.ask('loop', 'loop', ...others);
    }
    expect(slow.served.slice(0, expected.length)).toEqual(expected);
  });

  test('a turn passes when its caller does not come back', () => {
    const slow = server({ concurrentCalls: 1 });
    slow.ask('loop', 'ann');
    slow.end();
    slow.ask('loop');
    expect(slow.served).toEqual(['loop']);
    slow.later(3_001);
    slow.ask('loop');
    expect(slow.served).toEqual(['loop', 'loop']);
  });

  test('calls of a minute are kept as places are', () => {
    const slow = server({ callsPerMinute: 1 });
    slow.ask('loop', 'ann');
    slow.end();
    slow.later(61_000);
    slow.ask('loop', 'ann', 'loop');
    slow.end();
    expect(slow.served).toEqual(['loop', 'ann']);
    slow.later(61_000);
    slow.ask('ann', 'loop');
    expect(slow.served).toEqual(['loop', 'ann', 'loop']);
  });

  test('who is refused for a reason of its own waits for no place', () => {
    const { take } = counts();
    const limits = { concurrentCalls: 1 };
    const loop = counted(limits, 'server slow', 'loop');
    const ann = [counted({ callsPerDay: 1 }, 'user ann'), counted(limits, 'server slow', 'ann')];
    const own = take(ann);
    if (own.kind === 'taken') own.release();
    const first = take(loop);
    expect(take(ann)).toMatchObject({ kind: 'refused', limit: 'callsPerDay' });
    if (first.kind === 'taken') first.release();
    expect(take(loop).kind).toBe('taken');
  });
});

describe('a clock that is set', () => {
  test.each([
    ['an hour back', -3_600_000],
    ['an hour forward', 3_600_000 - 1],
    ['a year back', -365 * 86_400_000],
  ])('%s changes no minute', (_, ms) => {
    const { take, later, jump } = counts();
    const ann = counted({ callsPerMinute: 1 });
    take(ann);
    jump(ms);
    expect(take(ann)).toMatchObject({ kind: 'refused', retryAfterMs: 61_000 });
    later(61_000);
    expect(take(ann).kind).toBe('taken');
  });

  test('counts each day as often as it was called, forth and back', () => {
    const { take, jump } = counts();
    const ann = counted({ callsPerDay: 2 });
    const day = 86_400_000;
    take(ann);
    jump(day);
    expect([take(ann).kind, take(ann).kind, take(ann).kind]).toEqual(['taken', 'taken', 'refused']);
    jump(-day);
    expect([take(ann).kind, take(ann).kind]).toEqual(['taken', 'refused']);
    jump(day);
    expect(take(ann)).toMatchObject({ kind: 'refused', retryAfterMs: 3_600_000 });
  });
});

test('callers without an account push each other out, and no one else', () => {
  const { take } = counts();
  const ann = counted({ callsPerDay: 1 });
  take(ann);
  for (let i = 0; i < 60_000; i++) release(take(counted({ callsPerDay: 1 }, `default address ${i}`)));
  expect(take(ann).kind).toBe('refused');
  expect(take(counted({ callsPerDay: 1 }, 'default address 0')).kind).toBe('taken');
  expect(take(counted({ callsPerDay: 1 }, 'default address 59999')).kind).toBe('refused');
});

/** What one trusted issuer names, as `countsOf` says it: by hashes. */
const issued = (issuer: string, subject: string) => `issued ${issuer.padEnd(43, '-')} ${subject}`;

test('callers that one trusted issuer names push out each other, and neither addresses nor those of another issuer', () => {
  setLimits(governanceLimits, { countsOfAnIssuer: 2 });
  const { take } = counts();
  const once = (id: string) => take(counted({ callsPerDay: 1 }, id)).kind;
  const others = [
    'default address 1',
    `default ${issued('good', 's')}`,
    'user ann',
    `group g\n${issued('good', 's')}`,
  ].map((id) => counted({ callsPerDay: 1 }, id));
  const ended = (id: string): void => release(take(counted({ callsPerDay: 1 }, id)));
  for (const one of others) release(take(one));
  for (let i = 0; i < 9; i++) ended(`default ${issued('bad', `${i}`)}`);
  for (let i = 0; i < 9; i++) ended(`group g\n${issued('bad', `${i}`)}`);
  expect(others.map((one) => take(one).kind)).toEqual(others.map(() => 'refused'));
  expect([once(`group g\n${issued('bad', '0')}`), once(`group g\n${issued('bad', '8')}`)]).toEqual([
    'taken',
    'refused',
  ]);
});

test.each(['address', issued('bad', '').trim()])(
  'calls that run are counted however many others of %s call, and are pushed out once they are over',
  (kind) => {
    setLimits(governanceLimits, { countsOfAnIssuer: 2, countsOfAddresses: 2 });
    const { take } = counts();
    const one = (caller: string) => counted({ concurrentCalls: 1, callsPerDay: 2 }, `default ${kind} ${caller}`);
    const slow = ['a', 'b', 'c'].map((caller) => take(one(caller)));
    for (let i = 0; i < 9; i++) release(take(one(`${i}`)));
    expect(['a', 'b', 'c'].map((caller) => take(one(caller)))).toMatchObject(
      slow.map(() => ({ kind: 'refused', limit: 'concurrentCalls' })),
    );
    for (const taken of slow) release(taken);
    const again = take(one('a'));
    release(again);
    expect([again.kind, take(one('a')).kind]).toEqual(['taken', 'taken']);
    for (const caller of ['d', 'e', 'f']) release(take(one(caller)));
    expect(['e', 'f', 'b'].map((caller) => take(one(caller)).kind)).toEqual(['taken', 'taken', 'taken']);
  },
);

function release(taken: Taken): void {
  if (taken.kind === 'taken') taken.release();
}

describe('another round of a call', () => {
  const round = (use: string) => ({ use, untilSecond: start / 1_000 + 600 });

  test('is no other call, once; sent again it is one', () => {
    const { take, made } = counts();
    const ann = counted({ callsPerMinute: 2, callsPerDay: 2 });
    const next = (use: string) => made.take([ann], round(use));
    expect([take(ann), next('a'), next('b')]).toMatchObject([{ kind: 'taken' }, { kind: 'taken' }, { kind: 'taken' }]);
    expect([next('a'), next('b')]).toMatchObject([{ kind: 'taken' }, { kind: 'refused' }]);
    expect(next('c')).toMatchObject({ kind: 'taken' });
    expect(take(ann)).toMatchObject({ kind: 'refused' });
  });

  test('takes a place while it runs, and is not used up where there is none', () => {
    const { take, made } = counts();
    const ann = counted({ concurrentCalls: 1, callsPerMinute: 1 });
    const first = take(ann);
    expect(made.take([ann], round('a'))).toMatchObject({ kind: 'refused', limit: 'concurrentCalls' });
    if (first.kind === 'taken') first.release();
    const second = made.take([ann], round('a'));
    expect(second).toMatchObject({ kind: 'taken' });
    expect(take(counted({ concurrentCalls: 1 }))).toMatchObject({ kind: 'refused' });
  });

  test('is forgotten once it could not come any more, and counted where too many would have to be remembered', () => {
    const { made, later } = counts();
    const free = counted({ callsPerDay: 1 });
    for (let i = 0; i < governanceLimits.rounds; i++) void made.take([free], round(`r${i}`));
    expect([made.take([free], round('more')), made.take([free], round('more'))]).toMatchObject([
      { kind: 'taken' },
      { kind: 'refused' },
    ]);
    later(601_000);
    expect(made.take([free], { use: 'late', untilSecond: start / 1_000 + 1_200 })).toMatchObject({ kind: 'taken' });
  });
});

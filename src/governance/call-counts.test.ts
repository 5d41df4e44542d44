import { describe, expect, test } from 'vitest';
import type { Counted } from '../core/access/decision.ts';
import type { CallLimits } from '../core/settings/types.ts';
import { createCallCounts } from './call-counts.ts';

const start = Date.parse('2026-11-25T23:00:00Z');

function counts() {
  let at = start;
  const made = createCallCounts(() => at);
  return {
    later: (ms: number) => (at += ms),
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

test('callers without an account push each other out, and no one else', () => {
  const { take } = counts();
  const ann = counted({ callsPerDay: 1 });
  take(ann);
  for (let i = 0; i < 60_000; i++) take(counted({ callsPerDay: 1 }, `default address ${i}`));
  expect(take(ann).kind).toBe('refused');
  expect(take(counted({ callsPerDay: 1 }, 'default address 0')).kind).toBe('taken');
  expect(take(counted({ callsPerDay: 1 }, 'default address 59999')).kind).toBe('refused');
});

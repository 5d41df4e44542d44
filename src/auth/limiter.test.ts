import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import type { HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import { createLoginLimiter } from './limiter.ts';

describe('the login limiter', () => {
  test('after the last allowed failure an address waits until its window ends, then starts anew', () => {
    let at = 1_000_000;
    const limiter = createLoginLimiter({ now: () => at });
    const attempt = { account: 'ann', address: '192.0.2.1' };
    for (let i = 0; i < limits.loginFailuresPerAddress; i++) limiter.begin({ ...attempt, account: `user${i}` });
    at += 60_000;
    expect(() => limiter.check(attempt)).toThrow(
      expect.objectContaining({ code: 'too_many', retryAfterMs: limits.loginWindowMs - 60_000 }),
    );
    expect(() => limiter.check({ ...attempt, address: '192.0.2.2' })).not.toThrow();
    at += limits.loginWindowMs - 60_000;
    expect(() => limiter.begin(attempt)).not.toThrow();
  });

  test('one account tried from many addresses is closed too, in any spelling', () => {
    const limiter = createLoginLimiter();
    for (let i = 0; i < limits.loginFailuresPerAccount; i++) limiter.begin({ account: 'ann', address: `10.0.0.${i}` });
    expect(() => limiter.check({ account: 'Ann', address: '10.1.0.1' })).toThrow(
      expect.objectContaining({ code: 'too_many' }),
    );
    expect(() => limiter.check({ account: 'bob', address: '10.1.0.1' })).not.toThrow();
  });

  test('all addresses of one IPv6 network count as one, and an IPv4 address counts as itself in every notation', () => {
    const same = [
      ['2001:db8:1:2::1', '2001:DB8:0001:2:ffff::9', '2001:db8:1:2:3:4:5:6%eth0'],
      ['192.0.2.1', '::ffff:192.0.2.1'],
      ['::1', '0:0:0:0::2'],
    ];
    for (const addresses of same) {
      const limiter = createLoginLimiter({ perAddress: 1 });
      limiter.begin({ account: 'first', address: addresses[0] ?? '' });
      for (const address of addresses) expect(() => limiter.check({ account: 'x', address })).toThrow();
      expect(() => limiter.check({ account: 'x', address: '2001:db8:1:3::1' })).not.toThrow();
    }
  });

  test('whatever happens: never more failures than allowed per window, successes are free, memory is bounded', () => {
    const step = fc.record({
      account: fc.nat(5).map((n) => `user${n}`),
      address: fc.nat(5).map((n) => `10.0.0.${n}`),
      succeeds: fc.boolean(),
      waitMs: fc.oneof(fc.constant(0), fc.nat(limits.loginWindowMs)),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 4, max: 20 }), (steps, records) => {
        let at = 0;
        const limiter = createLoginLimiter({ now: () => at, perAddress: 3, perAccount: 5, records });
        const failures = new Map<string, number[]>();
        for (const { account, address, succeeds, waitMs } of steps) {
          at += waitMs;
          let taken: { succeeded(): void } | undefined;
          try {
            taken = limiter.begin({ account, address });
          } catch (error) {
            const { retryAfterMs } = error as { retryAfterMs: number };
            expect(retryAfterMs).toBeGreaterThan(0);
            expect(retryAfterMs).toBeLessThanOrEqual(limits.loginWindowMs);
            // It refuses only who really failed that often.
            const [a = [], b = []] = [failures.get(address), failures.get(account)];
            const recent = (times: number[]) => times.filter((time) => time > at - limits.loginWindowMs).length;
            expect(recent(a) >= 3 || recent(b) >= 5).toBe(true);
          }
          if (succeeds) taken?.succeeded();
          else if (taken) for (const key of [account, address]) failures.set(key, [...(failures.get(key) ?? []), at]);
          expect(limiter.size()).toBeLessThanOrEqual(records);
        }
        // With room for all of them nothing is forgotten: at most two adjoining windows' worth in any window's length.
        if (records < 12) return;
        for (const [key, times] of failures) {
          const most = key.startsWith('user') ? 5 : 3;
          for (const start of times) {
            const within = times.filter((time) => time >= start && time < start + limits.loginWindowMs).length;
            expect(within).toBeLessThanOrEqual(2 * most);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

test('a clock that is set back keeps nobody out for longer', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  atEnd(() => void vi.useRealTimers());
  const limiter = createLoginLimiter();
  for (let i = 0; i < limits.loginFailuresPerAccount; i++) limiter.begin({ account: 'ann', address: `10.0.0.${i}` });
  vi.setSystemTime(Date.now() - 86_400_000);
  let told: unknown;
  try {
    limiter.check({ account: 'ann', address: '10.1.0.1' });
  } catch (error) {
    told = error;
  }
  expect(told).toMatchObject({ code: 'too_many' });
  expect((told as HubError).retryAfterMs).toBeLessThanOrEqual(limits.loginWindowMs);
});

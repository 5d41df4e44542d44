import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import type { HubError } from '../core/errors.ts';
import { createLoginLimiter } from './limiter.ts';
import { authLimits } from './limits.ts';

describe('the login limiter', () => {
  test('after the last allowed failure an address waits until its window ends, then starts from nothing', () => {
    let at = 1_000_000;
    const limiter = createLoginLimiter({ now: () => at });
    const attempt = { account: 'ann', address: '192.0.2.1' };
    for (let i = 0; i < authLimits.loginFailuresPerAddress; i++) limiter.begin({ ...attempt, account: `user${i}` });
    at += 60_000;
    expect(() => limiter.check(attempt)).toThrow(
      expect.objectContaining({ code: 'too_many', retryAfterMs: authLimits.loginWindowMs - 60_000 }),
    );
    expect(() => limiter.check({ ...attempt, address: '192.0.2.2' })).not.toThrow();
    at += authLimits.loginWindowMs - 60_000;
    expect(() => limiter.begin(attempt)).not.toThrow();
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
      waitMs: fc.oneof(fc.constant(0), fc.nat(authLimits.loginWindowMs)),
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
            expect(retryAfterMs).toBeLessThanOrEqual(authLimits.loginWindowMs);
            // It refuses only who really failed that often.
            const [a = [], b = []] = [failures.get(address), failures.get(account)];
            const recent = (times: number[]) => times.filter((time) => time > at - authLimits.loginWindowMs).length;
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
            const within = times.filter((time) => time >= start && time < start + authLimits.loginWindowMs).length;
            expect(within).toBeLessThanOrEqual(2 * most);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('an account', () => {
  test('that is tried from ever new addresses is slowed down, in any spelling, and locked for none', () => {
    let at = 1_000_000;
    const limiter = createLoginLimiter({ now: () => at });
    let next = 0;
    const stranger = () => ({ account: 'ann', address: `10.0.${next >> 8}.${next++ & 255}` });
    limiter.begin({ account: 'ann', address: '192.0.2.1' }).succeeded();
    for (let i = 0; i < authLimits.loginFailuresPerAccount + authLimits.loginSlowBurst; i++) limiter.begin(stranger());
    for (const account of ['ann', 'Ann']) {
      expect(() => limiter.check({ ...stranger(), account })).toThrow(
        expect.objectContaining({ code: 'too_many', retryAfterMs: authLimits.loginSlowMs }),
      );
    }
    // From where the owner has been, the account is open; and so are others from everywhere.
    expect(() => limiter.check({ account: 'ann', address: '192.0.2.1' })).not.toThrow();
    expect(() => limiter.check({ ...stranger(), account: 'bob' })).not.toThrow();
    // The owner somewhere else waits for half a minute, however many others try meanwhile.
    for (let i = 0; i < 1_000; i++) expect(() => limiter.begin(stranger())).toThrow();
    at += authLimits.loginSlowMs;
    limiter.begin({ account: 'ann', address: '198.51.100.1' }).succeeded();
    expect(() => limiter.begin(stranger())).toThrow();
    expect(() => limiter.check({ account: 'ann', address: '198.51.100.1' })).not.toThrow();
  });

  test('is guessed at a few times only, from however many addresses', () => {
    let at = 0;
    const limiter = createLoginLimiter({ now: () => at });
    let guesses = 0;
    for (let i = 0; at < authLimits.loginWindowMs; i++, at += 100) {
      try {
        limiter.begin({ account: 'ann', address: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` });
        guesses++;
      } catch {
        // Refused.
      }
    }
    expect(guesses).toBeLessThanOrEqual(authLimits.loginFailuresPerAccount + authLimits.loginSlowBurst + 30);
  });

  test('is open at an address with many failures if a user has logged in to it from there, without more guesses', () => {
    const limiter = createLoginLimiter();
    const [owner, guest] = ['ann', 'eve'].map((account) => ({ account, address: '192.0.2.1' }));
    if (!owner || !guest) throw new Error('both are there');
    limiter.begin(owner).succeeded();
    for (let i = 0; i < authLimits.loginFailuresPerAddress; i++) limiter.begin({ ...guest, account: `user${i}` });
    expect(() => limiter.begin(guest)).toThrow();
    for (let i = 0; i < authLimits.loginFailuresPerAddress; i++) limiter.begin(owner);
    expect(() => limiter.begin(owner)).toThrow(expect.objectContaining({ code: 'too_many' }));
    expect(() => limiter.begin({ ...owner, address: '192.0.2.2' })).not.toThrow();
  });

  test('remembers the latest addresses of its own logins, and logins to others make none of them forgotten', () => {
    const limiter = createLoginLimiter({ perAccount: authLimits.loginSlowBurst });
    limiter.begin({ account: 'ann', address: '192.0.2.1' }).succeeded();
    for (let i = 0; i <= authLimits.loginKnownAddresses; i++) {
      limiter.begin({ account: 'eve', address: `10.0.0.${i}` }).succeeded();
    }
    for (const account of ['ann', 'eve']) {
      for (let i = 0; i < 2 * authLimits.loginSlowBurst; i++) limiter.begin({ account, address: `172.16.0.${i}` });
    }
    expect(() => limiter.check({ account: 'ann', address: '192.0.2.1' })).not.toThrow();
    expect(() => limiter.check({ account: 'eve', address: `10.0.0.${authLimits.loginKnownAddresses}` })).not.toThrow();
    expect(() => limiter.check({ account: 'eve', address: '10.0.0.0' })).toThrow();
  });
});

test('a clock that is set back keeps no user out for longer', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  atEnd(() => void vi.useRealTimers());
  const limiter = createLoginLimiter();
  for (let i = 0; i < authLimits.loginFailuresPerAddress; i++) limiter.begin({ account: 'ann', address: '10.0.0.1' });
  vi.setSystemTime(Date.now() - 86_400_000);
  let told: unknown;
  try {
    limiter.check({ account: 'ann', address: '10.0.0.1' });
  } catch (error) {
    told = error;
  }
  expect(told).toMatchObject({ code: 'too_many' });
  expect((told as HubError).retryAfterMs).toBeLessThanOrEqual(authLimits.loginWindowMs);
});

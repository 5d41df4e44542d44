import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/kit/hostile.ts';
import { createSealer } from '../../core/seal.ts';
import { authLimits } from '../limits.ts';
import { factorsInFile } from './factors-in-file.ts';
import { createSecondFactors, type SecondFactors } from './second-factors.ts';
import { newTotpSecret, stepOf, totpUri } from './totp.ts';

const ann = { username: 'ann', createdAt: '2026-01-01T00:00:00Z' };
const secret = Buffer.alloc(32, 7);

function codeAt(of: string, timestamp: number): string {
  return new TOTP({ secret: Secret.fromBase32(of), algorithm: 'SHA1', digits: 6, period: 30 }).generate({ timestamp });
}

/** Second factors in a file, with a clock that stands. */
function opened(path = join(temporaryFolder(), 'second-factors.json')) {
  const clock = { now: 1_800_000_000_000 };
  const open = (key = secret) => createSecondFactors(factorsInFile(path, createSealer(key, 'test')), () => clock.now);
  return { path, clock, open, factors: open() };
}

const methods = async (factors: SecondFactors, user: typeof ann | { username: string; createdAt: string }) =>
  (await factors.ways(user, 'nonce', undefined)).methods;

async function withTotp(factors: SecondFactors, clock: { now: number }, user = ann) {
  const totp = await factors.beginTotp(user);
  const confirmed = await factors.confirmTotp(user, codeAt(totp, clock.now));
  clock.now += 60_000;
  return { totp, codes: confirmed?.recoveryCodes ?? [] };
}

describe('codes of an app', () => {
  test('are those of RFC 6238, for the step of now and one on each side', () => {
    // Appendix B, SHA-1: its 8 digits end in these.
    const rfc = new Secret({ buffer: new TextEncoder().encode('12345678901234567890').buffer }).base32;
    expect(stepOf(rfc, '287082', 59_000)).toBe(1);
    expect(stepOf(rfc, '081804', 1_111_111_109_000)).toBe(37_037_036);
    const now = 1_800_000_000_000;
    const steps = [-60, -30, 0, 30, 60].map((s) => stepOf(rfc, codeAt(rfc, now + s * 1_000), now));
    const step = now / 30_000;
    expect(steps).toEqual([undefined, step - 1, step, step + 1, undefined]);
    const none = ['', '28708', '2870820', 'abcdef', ' 87082', '２８７０８２', '28708\n'];
    expect(none.filter((text) => stepOf(rfc, text, 59_000) !== undefined)).toEqual([]);
  });

  test('come from a secret of 160 random bits, in an address that apps read', () => {
    const [one, other] = [newTotpSecret(), newTotpSecret()];
    expect(one).toMatch(/^[A-Z2-7]{32}$/);
    expect(other).not.toBe(one);
    expect(totpUri(one, 'ann@hub.example')).toBe(
      `otpauth://totp/Tool%20Hub:ann%40hub.example?issuer=Tool%20Hub&secret=${one}&algorithm=SHA1&digits=6&period=30`,
    );
  });

  test('count once confirmed, each once, and no older one after a newer one', async () => {
    const { factors, clock } = opened();
    const totp = await factors.beginTotp(ann);
    expect(await methods(factors, ann)).toEqual([]);
    expect(await factors.check(ann, codeAt(totp, clock.now))).toEqual({ kind: 'wrong' });
    expect(await factors.confirmTotp(ann, '000000')).toBeUndefined();
    const first = codeAt(totp, clock.now);
    expect((await factors.confirmTotp(ann, first))?.recoveryCodes).toHaveLength(authLimits.recoveryCodes);
    expect(await methods(factors, ann)).toEqual(['totp', 'recovery']);
    expect(await factors.check(ann, first)).toEqual({ kind: 'wrong' });
    const next = codeAt(totp, clock.now + 30_000);
    expect(await factors.check(ann, ` ${next.slice(0, 3)} ${next.slice(3)}`)).toEqual({ kind: 'right' });
    expect(await factors.check(ann, next)).toEqual({ kind: 'wrong' });
    clock.now += 30_000;
    expect(await factors.check(ann, first)).toEqual({ kind: 'wrong' });
  });

  test('of one moment count once, however many come at once', async () => {
    const { factors, clock } = opened();
    const { totp } = await withTotp(factors, clock);
    const code = codeAt(totp, clock.now);
    const all = await Promise.all(Array.from({ length: 5 }, () => factors.check(ann, code)));
    expect(all.map(({ kind }) => kind).toSorted()).toEqual(['right', 'wrong', 'wrong', 'wrong', 'wrong']);
  });

  test('that are not confirmed in time have to begin again; another app takes the place of the first', async () => {
    const { factors, clock } = opened();
    const late = await factors.beginTotp(ann);
    clock.now += authLimits.totpPendingMs + 1;
    await expect(factors.confirmTotp(ann, codeAt(late, clock.now))).rejects.toMatchObject({ code: 'conflict' });
    const first = await withTotp(factors, clock);
    const second = await withTotp(factors, clock);
    expect([first.codes.length, second.codes.length]).toEqual([10, 0]);
    expect(await factors.check(ann, codeAt(first.totp, clock.now))).toEqual({ kind: 'wrong' });
    expect(await factors.check(ann, codeAt(second.totp, clock.now))).toEqual({ kind: 'right' });
  });

  test('cannot be tried at random: after some wrong ones each has to wait, ever longer, and right ones too', async () => {
    const { factors, clock } = opened();
    const { totp, codes } = await withTotp(factors, clock);
    const guess = () =>
      factors.check(ann, '000000').then(
        ({ kind }) => kind,
        (error: { retryAfterMs: number }) => error.retryAfterMs,
      );
    for (let i = 0; i < authLimits.factorWrongCodes; i++) expect(await guess()).toBe('wrong');
    expect(await guess()).toBe(authLimits.factorWaitMs);
    await expect(factors.check(ann, codeAt(totp, clock.now))).rejects.toMatchObject({ code: 'too_many' });
    const waits = [];
    for (let i = 0; i < 10; i++) {
      const wait = await guess();
      waits.push(wait);
      clock.now += Number(wait);
      expect(await guess()).toBe('wrong');
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600].map((s) => s * 1_000));
    // Recovery codes are too long to be guessed, so they need not wait.
    expect(await factors.check(ann, codes[0] ?? '')).toEqual({ kind: 'right', recoveryCodesLeft: 9 });
    expect(await factors.check(ann, codeAt(totp, clock.now))).toEqual({ kind: 'right' });
  });
});

describe('recovery codes', () => {
  test('count once each, as people write them, and new ones end the old ones', async () => {
    const { factors, clock } = opened();
    const { codes } = await withTotp(factors, clock);
    expect(new Set(codes).size).toBe(10);
    const [one = '', two = ''] = codes;
    expect(one).toMatch(/^[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}$/);
    expect(await factors.check(ann, ` ${one.toUpperCase().replaceAll('-', ' ')} `)).toEqual({
      kind: 'right',
      recoveryCodesLeft: 9,
    });
    expect(await factors.check(ann, one)).toEqual({ kind: 'wrong' });
    const [next = ''] = await factors.newRecoveryCodes(ann);
    expect(await factors.check(ann, two)).toEqual({ kind: 'wrong' });
    expect(await factors.check(ann, next)).toMatchObject({ kind: 'right' });
  });

  test('are no factor by themselves', async () => {
    const { factors, clock } = opened();
    await expect(factors.newRecoveryCodes(ann)).rejects.toMatchObject({ code: 'conflict' });
    const { codes } = await withTotp(factors, clock);
    expect(await factors.remove(ann, 'totp', false)).toBe('last');
    expect(await factors.remove(ann, 'totp', true)).toBe('removed');
    expect(await factors.remove(ann, 'totp', true)).toBe('unknown');
    expect(await methods(factors, ann)).toEqual([]);
    expect(await factors.check(ann, codes[0] ?? '')).toEqual({ kind: 'wrong' });
  });
});

test('a challenge that was answered counts no more', async () => {
  const { factors, clock } = opened();
  const { codes } = await withTotp(factors, clock);
  expect(await factors.check(ann, codes[0] ?? '', 'n1')).toMatchObject({ kind: 'right' });
  expect(await factors.check(ann, codes[1] ?? '', 'n1')).toEqual({ kind: 'wrong' });
  expect(await factors.check(ann, codes[1] ?? '', 'n2')).toMatchObject({ kind: 'right' });
});

test('an account of that name that was made later has none of it', async () => {
  const { factors, clock } = opened();
  const { codes } = await withTotp(factors, clock);
  const later = { ...ann, createdAt: '2027-01-01T00:00:00Z' };
  expect(await methods(factors, later)).toEqual([]);
  expect(await factors.check(later, codes[0] ?? '')).toEqual({ kind: 'wrong' });
  expect([...(await factors.having([later]))]).toEqual([]);
  expect([...(await factors.having([ann, later, { username: 'bob', createdAt: undefined }]))]).toEqual(['ann']);
});

describe('the file', () => {
  test('is sealed, for its owner alone, and read by the next start', async () => {
    const { path, clock, factors, open } = opened();
    const { totp, codes } = await withTotp(factors, clock);
    const text = readFileSync(path, 'utf8');
    for (const hidden of [totp, ...codes, 'recovery', 'totp']) expect(text).not.toContain(hidden);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await open().check(ann, codeAt(totp, clock.now))).toEqual({ kind: 'right' });
  });

  test('of another secret, or with the text of another user, lets no user in, and can be reset', async () => {
    const { path, clock, factors, open } = opened();
    await withTotp(factors, clock);
    const other = open(Buffer.alloc(32, 8));
    await expect(methods(other, ann)).rejects.toMatchObject({ code: 'misconfigured' });
    expect([...(await other.having([ann]))]).toEqual(['ann']);
    const saved = JSON.parse(readFileSync(path, 'utf8')) as { factors: Record<string, string> };
    writeFileSync(path, JSON.stringify({ ...saved, factors: { bob: saved.factors['ann'] } }));
    await expect(methods(open(), { username: 'bob', createdAt: ann.createdAt })).rejects.toMatchObject({
      code: 'misconfigured',
    });
    writeFileSync(path, JSON.stringify(saved));
    expect(await other.reset('ann')).toBe(true);
    expect(await methods(open(), ann)).toEqual([]);
  });

  test('that cannot be read lets no user in and is not overwritten', async () => {
    const { path, open } = opened();
    for (const broken of ['{', '{}', '{"version":2,"factors":{}}']) {
      writeFileSync(path, broken);
      const factors = open();
      await expect(methods(factors, ann)).rejects.toMatchObject({ code: 'misconfigured' });
      await expect(factors.beginTotp(ann)).rejects.toMatchObject({ code: 'misconfigured' });
      await expect(factors.reset('ann')).rejects.toMatchObject({ code: 'misconfigured' });
      expect(readFileSync(path, 'utf8')).toBe(broken);
    }
  });
});

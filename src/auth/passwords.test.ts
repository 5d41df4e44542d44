import { hash as bcryptHash } from '@node-rs/bcrypt';
import { beforeAll, describe, expect, test } from 'vitest';
import { cpuMsUntil } from '../../test/kit/cpu.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { authLimits } from './limits.ts';
import { createPasswords, needsRehash } from './passwords.ts';

const passwords = createPasswords();

beforeAll(() => setLimits(authLimits, { hashMemoryKiB: 19_456, hashPasses: 2 }));

describe('passwords', () => {
  test('a password fits its own hash and no other does', async () => {
    const hash = await passwords.hash('correct horse');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.verify('correct horse', hash)).toBe(true);
    expect(await passwords.verify('Correct horse', hash)).toBe(false);
    expect(await passwords.hash('correct horse')).not.toBe(hash);
  });

  test('bcrypt hashes of other programs verify under each of their prefixes and are to be replaced', async () => {
    // Made by bcryptjs 3.0.3 from "secret" at cost 4.
    const foreign = '$2b$04$6G2NZt2fv.WvLc6l7CMeD.KVFXywgsI62GNBbkz8R9p6Z0q/V0OXa';
    for (const prefix of ['$2a', '$2b', '$2y']) {
      const hash = prefix + foreign.slice(3);
      expect(await passwords.verify('secret', hash)).toBe(true);
      expect(await passwords.verify('Secret', hash)).toBe(false);
      expect(needsRehash(hash)).toBe(true);
    }
    expect(needsRehash(await passwords.hash('secret'))).toBe(false);
    expect(needsRehash('$argon2id$v=19$m=4096,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA')).toBe(true);
  });

  test('what is not a hash fits no password and throws nothing', async () => {
    for (const hash of ['', 'secret', '$2b$', '$argon2id$', '$argon2i$v=19$m=8,t=1,p=1$AAAA$AAAA', '$2x$04$abc']) {
      expect(await passwords.verify('secret', hash)).toBe(false);
    }
  });

  test('a hash that would take minutes or all memory is refused at once', async () => {
    const dear = [
      `$2b$31$${'.'.repeat(53)}`,
      `$argon2id$v=19$m=4194304,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`,
      `$argon2id$v=19$m=19456,t=100000,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`,
    ];
    // Computing any of them would outlast the time of a test.
    for (const hash of dear) expect(await passwords.verify('secret', hash)).toBe(false);
  });

  test('an unknown name takes the work of a real one, whatever kind of hash the real ones have', async () => {
    const bcrypt = await bcryptHash('secret', 11);
    const argon = await passwords.hash('secret');
    const time = async (work: () => Promise<boolean>) => {
      const runs: number[] = [];
      for (let i = 0; i < 5; i++) {
        runs.push(await cpuMsUntil(async () => expect(await work()).toBe(false)));
      }
      return Math.min(...runs);
    };
    for (const hash of [bcrypt, argon]) {
      const real = await time(() => passwords.verify('wrong', hash));
      const nobody = await time(() => passwords.verifyNobody('nobody', 'wrong', [hash]));
      // No work at all, or that of the other kind of hash, is at least ten times off.
      expect(nobody / real).toBeGreaterThan(0.15);
      expect(nobody / real).toBeLessThan(6);
    }
    expect(await passwords.verifyNobody('nobody', 'wrong', [])).toBe(false);
  });

  test('more logins than may wait are refused with a time to come back, and the others finish in order', async () => {
    const many = createPasswords();
    const cheap = `$argon2id$v=19$m=8,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
    const order: number[] = [];
    const room = authLimits.passwordsAtOnce + authLimits.passwordsWaiting;
    const all = Array.from({ length: room + 3 }, (_, i) => many.verify('x', cheap, () => order.push(i)));
    const settled = await Promise.allSettled(all);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(room);
    expect(settled.slice(room).every(({ status }) => status === 'rejected')).toBe(true);
    expect(settled[room]).toMatchObject({ reason: { code: 'too_many', retryAfterMs: 5_000 } });
    expect(order).toEqual(Array.from({ length: room }, (_, i) => i));
    // Their places are given back.
    expect(await many.verify('x', cheap)).toBe(false);
  });

  test('who is known, and who is let in already, goes before all who wait, also where no other may wait', async () => {
    // One after the other: how long each takes does not matter.
    setLimits(authLimits, { passwordsAtOnce: 1 });
    const many = createPasswords();
    const cheap = `$argon2id$v=19$m=8,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
    const order: string[] = [];
    const room = authLimits.passwordsAtOnce + authLimits.passwordsWaiting;
    const strangers = Array.from({ length: room }, () => many.verify('x', cheap, () => order.push('stranger')));
    await expect(many.verify('x', cheap)).rejects.toMatchObject({ code: 'too_many' });
    const known = many.verify('x', cheap, () => order.push('known'), true);
    const made = many.hash('a new one').then(() => order.push('made'));
    await Promise.all([known, made, ...strangers]);
    expect(order.indexOf('known')).toBe(1);
    // The next may begin before it is told that this one has ended.
    expect(order.indexOf('made')).toBeLessThanOrEqual(3);
  });
});

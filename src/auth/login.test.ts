import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hash as argon2Hash } from '@node-rs/argon2';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/kit/hostile.ts';
import { settings as someSettings, user } from '../../test/kit/snapshots.ts';
import { createSealer } from '../core/seal.ts';
import type { UserSettings } from '../core/settings/user.ts';
import { createLoginLimiter } from './limiter.ts';
import { authLimits } from './limits.ts';
import { type Challenge, createLogin } from './login.ts';
import { createTickets } from './oauth/tickets.ts';
import { createPasswords } from './passwords.ts';
import { factorsInFile } from './second-factor/factors-in-file.ts';
import { createSecondFactors } from './second-factor/second-factors.ts';

const settingsOf = (users: UserSettings[]) => someSettings({ users });

const sealer = createSealer(randomBytes(32), 'test');
const factors = {
  factors: createSecondFactors(factorsInFile(join(temporaryFolder(), 'second-factors.json'), sealer)),
  challenges: createTickets<Challenge>({
    secret: randomBytes(32),
    purpose: 'test',
    lifeMs: 60_000,
    toleranceMs: 0,
    now: Date.now,
  }),
};
const passwords = createPasswords();
const attempt = { username: 'ann', password: 'right one', address: '192.0.2.1' };

test('the right password opens, and a wrong one and a wrong name are told in the same words', async () => {
  const settings = settingsOf([user('ann', { passwordHash: await passwords.hash('right one') })]);
  const login = createLogin({ settings: () => settings, passwords, limiter: createLoginLimiter(), ...factors });
  expect(await login(attempt)).toMatchObject({ user: { username: 'ann' }, rehash: undefined });
  const wrong = await login({ ...attempt, password: 'wrong one' }).catch((error: unknown) => error);
  const unknown = await login({ ...attempt, username: 'eve' }).catch((error: unknown) => error);
  expect(wrong).toMatchObject({ code: 'unauthenticated' });
  expect(String(unknown)).toBe(String(wrong));
});

test('a bcrypt hash of an imported file is replaced at the first login', async () => {
  const passwordHash = '$2b$04$6G2NZt2fv.WvLc6l7CMeD.KVFXywgsI62GNBbkz8R9p6Z0q/V0OXa';
  const settings = settingsOf([user('ann', { passwordHash })]);
  const login = createLogin({ settings: () => settings, passwords, limiter: createLoginLimiter(), ...factors });
  const { rehash } = await login({ ...attempt, password: 'secret' });
  const newHash = (await rehash?.()) ?? '';
  expect(await passwords.verify('secret', newHash)).toBe(true);
  expect(newHash.startsWith('$argon2id$')).toBe(true);
});

test('guesses at the same time get exactly as many tries as guesses one after the other', async () => {
  let tries = 0;
  const counting = {
    ...passwords,
    verify: (password: string, hash: string, started?: () => void) =>
      passwords.verify(password, hash, () => {
        started?.();
        tries++;
      }),
  };
  const settings = settingsOf([user('ann', { passwordHash: await passwords.hash('right one') })]);
  const limiter = createLoginLimiter({ perAddress: 4 });
  const login = createLogin({ settings: () => settings, passwords: counting, limiter, ...factors });
  const guesses = Array.from({ length: 30 }, (_, i) => login({ ...attempt, password: `guess ${i}` }));
  const codes = (await Promise.allSettled(guesses)).map((guess) =>
    guess.status === 'rejected' ? (guess.reason as { code: string }).code : 'in',
  );
  expect(tries).toBe(4);
  expect(codes.filter((code) => code === 'unauthenticated')).toHaveLength(4);
  expect(codes.filter((code) => code === 'too_many')).toHaveLength(26);
  // Not even the right one now.
  await expect(login(attempt)).rejects.toMatchObject({ code: 'too_many' });
  expect(await login({ ...attempt, address: '192.0.2.9' })).toMatchObject({ user: { username: 'ann' } });
});

test('however many strangers try at once, the owner gets in from where they have been', async () => {
  // Cheap, for as many as may wait are looked at.
  const passwordHash = await argon2Hash('right one', { memoryCost: 8, timeCost: 1, parallelism: 1 });
  const settings = settingsOf([user('ann', { passwordHash })]);
  const login = createLogin({
    settings: () => settings,
    passwords: createPasswords(),
    limiter: createLoginLimiter(),
    ...factors,
  });
  await login(attempt);
  const flood = Array.from({ length: 2 * authLimits.passwordsWaiting }, (_, i) =>
    login({ username: `user${i}`, password: 'x', address: `2001:db8:0:${i.toString(16)}::1` }),
  );
  const strangers = Promise.allSettled(flood);
  // One more of them waits in vain.
  await expect(login({ ...attempt, address: '192.0.2.9' })).rejects.toMatchObject({ code: 'too_many' });
  expect(await login(attempt)).toMatchObject({ user: { username: 'ann' } });
  await strangers;
});

test('many right logins at once all get in', async () => {
  const settings = settingsOf([user('ann', { passwordHash: await passwords.hash('right one') })]);
  const login = createLogin({ settings: () => settings, passwords, limiter: createLoginLimiter(), ...factors });
  const all = await Promise.all(Array.from({ length: 40 }, () => login(attempt)));
  expect(all).toHaveLength(40);
});

test('a user deleted or changed while the password is looked at does not get in', async () => {
  const passwordHash = await passwords.hash('right one');
  for (const after of [[], [user('ann', { passwordHash: 'another' })]]) {
    let settings = settingsOf([user('ann', { passwordHash })]);
    const login = createLogin({ settings: () => settings, passwords, limiter: createLoginLimiter(), ...factors });
    const pending = login(attempt);
    settings = settingsOf(after);
    await expect(pending).rejects.toMatchObject({ code: 'unauthenticated' });
  }
});

test.each([
  ['a user whose password gets a new hash logs in', 'right one', true],
  ['a user whose password is changed does not log in', 'another one', false],
])('while the second factor is looked up, %s', async (_, password, isIn) => {
  let settings = settingsOf([user('ann', { passwordHash: await passwords.hash('right one') })]);
  const after = settingsOf([user('ann', { passwordHash: await passwords.hash(password) })]);
  const ways: typeof factors.factors.ways = (...of) => {
    settings = after;
    return factors.factors.ways(...of);
  };
  const slow = { ...factors, factors: { ...factors.factors, ways } };
  const login = createLogin({ settings: () => settings, passwords, limiter: createLoginLimiter(), ...slow });
  const end = await login(attempt).catch((error: unknown) => error);
  expect(end).toMatchObject(isIn ? { user: after.users[0] } : { code: 'unauthenticated' });
});

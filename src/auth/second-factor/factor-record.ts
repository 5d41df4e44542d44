import type { UserSettings } from '../../core/settings/user.ts';
import { authLimits } from '../limits.ts';
import type { FactorRecord, Passkey } from './factor-store.ts';
import { isRecoveryCode, newRecoveryCodes, plainCode, recoveryHash } from './recovery-codes.ts';
import { stepOf } from './totp.ts';

// What can be done with the record of a user. Pure: each gives another record.

/** In which ways a user can show a second factor. */
export type FactorMethod = 'totp' | 'passkey' | 'recovery';

/** Whose factor it is. */
export type FactorUser = Pick<UserSettings, 'username' | 'createdAt'>;

export function newRecord({ username, createdAt: since }: FactorUser): FactorRecord {
  const none = { lastStep: 0, recovery: [], passkeys: [], wrong: { count: 0, at: 0 }, answered: [] };
  return { username, since, ...none };
}

/** The record of this account, and not of an earlier one of that name. */
export function ofUser(record: FactorRecord | undefined, { createdAt }: FactorUser): FactorRecord | undefined {
  return record?.since === createdAt ? record : undefined;
}

/** None: the password is enough. Recovery codes are no factor by themselves. */
export function methodsOf(record: FactorRecord | undefined): FactorMethod[] {
  if (!record) return [];
  const own: FactorMethod[] = [];
  if (record.totp) own.push('totp');
  if (record.passkeys.length > 0) own.push('passkey');
  return own.length > 0 && record.recovery.length > 0 ? [...own, 'recovery'] : own;
}

/** Undefined for a record without a factor: nothing is kept of it. */
export function unlessEmpty(record: FactorRecord): FactorRecord | undefined {
  return methodsOf(record).length > 0 ? record : undefined;
}

/** The record with a factor that was set up, and the recovery codes that come with the first one. */
export function withFactor(record: FactorRecord, factor: Partial<FactorRecord>) {
  const recoveryCodes = methodsOf(record).length === 0 ? newRecoveryCodes() : undefined;
  const recovery = recoveryCodes ? hashesOf(record, recoveryCodes) : record.recovery;
  return { record: { ...record, ...factor, recovery }, result: { recoveryCodes } };
}

export function hashesOf({ username }: Pick<FactorRecord, 'username'>, recoveryCodes: readonly string[]): string[] {
  return recoveryCodes.map((code) => recoveryHash(username, code));
}

/** The record without the code that was shown; undefined when it is wrong. */
export function withoutCode(record: FactorRecord, code: string, at: number): FactorRecord | undefined {
  if (isRecoveryCode(code)) {
    const hash = recoveryHash(record.username, code);
    const recovery = record.recovery.filter((one) => one !== hash);
    return recovery.length < record.recovery.length ? { ...record, recovery } : undefined;
  }
  const step = record.totp && stepOf(record.totp.secret, plainCode(code), at);
  return step !== undefined && step > record.lastStep ? { ...record, lastStep: step } : undefined;
}

/**
 * The record after a passkey was used; undefined when it is gone, or its counter says that it was copied (WebAuthn
 * §6.1.1). Many passkeys do not count, and say 0.
 */
export function withUsed(record: FactorRecord, id: string, counter: number, at: number): FactorRecord | undefined {
  const used = record.passkeys.find((one) => one.id === id);
  if (!used || (counter <= used.counter && (counter > 0 || used.counter > 0))) return undefined;
  const now: Passkey = { ...used, counter, lastUsedAt: at };
  return { ...record, passkeys: record.passkeys.map((one) => (one === used ? now : one)) };
}

/** How long after wrong codes in a row the next one has to wait. */
export function waitOf({ wrong: { count, at: last } }: FactorRecord, at: number): number {
  const over = count - authLimits.factorWrongCodes;
  if (over < 0) return 0;
  const wait = Math.min(authLimits.factorWaitMs * 2 ** over, authLimits.factorLongestWaitMs);
  // A clock that was set back makes no longer wait.
  return Math.min(last + wait - at, wait);
}

export function wasAnswered({ answered }: FactorRecord, nonce: string | undefined, at: number): boolean {
  return answered.some((one) => one.nonce === nonce && one.until > at);
}

/** The record of a user who has shown a factor: the challenge counts no more. */
export function withAnswered(record: FactorRecord, nonce: string | undefined, at: number): FactorRecord {
  const live = record.answered.filter(({ until }) => until > at);
  // Hubs of one database may differ by the tolerance, and take a challenge for so much longer.
  const until = at + authLimits.factorChallengeMs + 2 * authLimits.clockToleranceMs;
  return { ...record, answered: nonce === undefined ? live : [...live, { nonce, until }] };
}

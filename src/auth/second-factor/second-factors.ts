import { HubError } from '../../core/errors.ts';
import type { UserSettings } from '../../core/settings/types.ts';
import { authLimits } from '../limits.ts';
import { inWords } from '../limiter.ts';
import type { FactorRecord, FactorStore } from './factor-store.ts';
import { isRecoveryCode, newRecoveryCodes, plainCode, recoveryHash } from './recovery-codes.ts';
import { newTotpSecret, stepOf } from './totp.ts';

/** In which ways a user can show a second factor. */
export type FactorMethod = 'totp' | 'recovery';

/** What a user has set up, without any secret. */
export interface FactorState {
  /** Since when the codes of an app count; undefined when none do. */
  readonly totpSince: number | undefined;
  readonly recoveryCodes: number;
}

/** Whose factor it is. */
export type FactorUser = Pick<UserSettings, 'username' | 'createdAt'>;

/** What became of a factor that was shown. */
export type Shown = { readonly kind: 'right'; readonly recoveryCodesLeft?: number } | { readonly kind: 'wrong' };

/** The second factors of users who log in with a password. All throw what `FactorStore` does. */
export interface SecondFactors {
  state(user: FactorUser): Promise<FactorState>;
  /** None: the password is enough. */
  methods(user: FactorUser): Promise<readonly FactorMethod[]>;
  /**
   * Whether a code of either kind is right; then it counts no more, on any hub. Throws HubError `too_many` after too
   * many wrong ones. `nonce`: of the challenge that it answers, which counts once.
   */
  check(user: FactorUser, code: string, nonce?: string): Promise<Shown>;
  /** The secret of a new app, which counts once `confirmTotp` has a code of it. */
  beginTotp(user: FactorUser): Promise<string>;
  /**
   * With the first factor come recovery codes. Undefined: the code is wrong. Throws HubError `conflict` without
   * `beginTotp`.
   */
  confirmTotp(user: FactorUser, code: string): Promise<Confirmed | undefined>;
  /** False when there was none. Recovery codes go with the last factor. */
  removeTotp(user: FactorUser): Promise<boolean>;
  /** In place of all that the user has. Throws HubError `conflict` for a user without a second factor. */
  newRecoveryCodes(user: FactorUser): Promise<readonly string[]>;
  /** Takes away all that a user of that name has set up. False when there was nothing. */
  reset(username: string): Promise<boolean>;
  /** Which of these have a second factor, or something that cannot be opened. */
  having(users: readonly FactorUser[]): Promise<ReadonlySet<string>>;
}

/** A factor that was set up. `recoveryCodes` are there for the first one alone, and shown once. */
export interface Confirmed {
  readonly recoveryCodes: readonly string[] | undefined;
}

export function createSecondFactors(store: FactorStore, now: () => number = Date.now): SecondFactors {
  async function get(user: FactorUser): Promise<FactorRecord | undefined> {
    return ofUser(await store.get(user.username), user);
  }

  return {
    async state(user) {
      const record = await get(user);
      return { totpSince: record?.totp?.since, recoveryCodes: record?.recovery.length ?? 0 };
    },
    async methods(user) {
      return methodsOf(await get(user));
    },
    async check(user, code, nonce) {
      const at = now();
      const shown = await store.change<Shown | { readonly kind: 'wait'; readonly ms: number }>(
        user.username,
        (found) => {
          const record = ofUser(found, user);
          if (!record || (nonce !== undefined && wasAnswered(record, nonce, at)))
            return { record: found, result: { kind: 'wrong' } };
          const waitMs = isRecoveryCode(code) ? 0 : waitOf(record, at);
          if (waitMs > 0) return { record: found, result: { kind: 'wait', ms: waitMs } };
          const used = usedUp(record, code, at);
          if (!used) {
            const wrong = { count: record.wrong.count + 1, at };
            return { record: { ...record, wrong }, result: { kind: 'wrong' } };
          }
          const answered = answeredNow(record, nonce, at);
          const left = isRecoveryCode(code) ? { recoveryCodesLeft: used.recovery.length } : {};
          return { record: { ...used, answered, wrong: { count: 0, at } }, result: { kind: 'right', ...left } };
        },
      );
      if (shown.kind !== 'wait') return shown;
      throw new HubError(
        'too_many',
        `Too many wrong codes. Try again in ${inWords(shown.ms)}, or use a recovery code.`,
        {
          retryAfterMs: shown.ms,
        },
      );
    },
    ...factorChanges(store, now),
    reset: (username) => store.remove(username),
    async having(users) {
      const names = await store.usernames();
      const having = new Set<string>();
      for (const user of users) {
        if (!names.has(user.username)) continue;
        // One that cannot be opened keeps its user out, and has to be seen to be reset.
        const methods = await get(user).then(methodsOf, () => ['unreadable']);
        if (methods.length > 0) having.add(user.username);
      }
      return having;
    },
  };
}

type Changes = 'beginTotp' | 'confirmTotp' | 'removeTotp' | 'newRecoveryCodes';

/** What users change of their own. */
function factorChanges(store: FactorStore, now: () => number): Pick<SecondFactors, Changes> {
  return {
    async beginTotp(user) {
      const pending = { secret: newTotpSecret(), at: now() };
      await store.change(user.username, (found) => {
        const record = ofUser(found, user) ?? newRecord(user);
        return { record: { ...record, pending }, result: undefined };
      });
      return pending.secret;
    },
    async confirmTotp(user, code) {
      const at = now();
      return store.change(user.username, (found) => {
        const record = ofUser(found, user);
        const pending = record?.pending;
        if (!record || !pending || at - pending.at > authLimits.totpPendingMs)
          throw new HubError('conflict', 'Cannot turn on the codes of an app: it took too long. Begin again.');
        const step = stepOf(pending.secret, plainCode(code), at);
        if (step === undefined) return { record: found, result: undefined };
        const codes = methodsOf(record).length === 0 ? newRecoveryCodes() : undefined;
        const recovery = codes?.map((code) => recoveryHash(user.username, code)) ?? record.recovery;
        const totp = { secret: pending.secret, since: at };
        return {
          record: { ...record, totp, pending: undefined, lastStep: step, recovery },
          result: { recoveryCodes: codes },
        };
      });
    },
    removeTotp: (user) =>
      store.change(user.username, (found) => {
        const record = ofUser(found, user);
        if (!record?.totp) return { record: found, result: false };
        return { record: unlessEmpty({ ...record, totp: undefined, pending: undefined }), result: true };
      }),
    newRecoveryCodes: (user) =>
      store.change(user.username, (found) => {
        const record = ofUser(found, user);
        if (!record || methodsOf(record).length === 0)
          throw new HubError('conflict', 'Recovery codes come with a second factor. Set one up first.');
        const codes = newRecoveryCodes();
        const recovery = codes.map((code) => recoveryHash(user.username, code));
        return { record: { ...record, recovery }, result: codes };
      }),
  };
}

/** The record of this account, and not of an earlier one of that name. */
function ofUser(record: FactorRecord | undefined, { createdAt }: FactorUser): FactorRecord | undefined {
  return record?.since === createdAt ? record : undefined;
}

function newRecord({ username, createdAt: since }: FactorUser): FactorRecord {
  const none = { lastStep: 0, recovery: [], passkeys: [], wrong: { count: 0, at: 0 }, answered: [] };
  return { username, since, ...none };
}

function methodsOf(record: FactorRecord | undefined): FactorMethod[] {
  if (!record?.totp) return [];
  return ['totp', ...(record.recovery.length > 0 ? (['recovery'] as const) : [])];
}

/** Recovery codes are no factor by themselves. */
function unlessEmpty(record: FactorRecord): FactorRecord | undefined {
  return methodsOf(record).length > 0 ? record : undefined;
}

/** The record without the code that was shown; undefined when it is wrong. */
function usedUp(record: FactorRecord, code: string, at: number): FactorRecord | undefined {
  if (isRecoveryCode(code)) {
    const hash = recoveryHash(record.username, code);
    const recovery = record.recovery.filter((one) => one !== hash);
    return recovery.length < record.recovery.length ? { ...record, recovery } : undefined;
  }
  const step = record.totp && stepOf(record.totp.secret, plainCode(code), at);
  return step !== undefined && step > record.lastStep ? { ...record, lastStep: step } : undefined;
}

function waitOf({ wrong: { count, at: last } }: FactorRecord, at: number): number {
  const over = count - authLimits.factorWrongCodes;
  if (over < 0) return 0;
  const wait = Math.min(authLimits.factorWaitMs * 2 ** over, authLimits.factorLongestWaitMs);
  // A clock that was set back makes no longer wait.
  return Math.min(last + wait - at, wait);
}

function wasAnswered({ answered }: FactorRecord, nonce: string, at: number): boolean {
  return answered.some((one) => one.nonce === nonce && one.until > at);
}

function answeredNow({ answered }: FactorRecord, nonce: string | undefined, at: number): FactorRecord['answered'] {
  const live = answered.filter(({ until }) => until > at);
  // Hubs of one database may differ by the tolerance, and take a challenge for so much longer.
  const until = at + authLimits.factorChallengeMs + 2 * authLimits.clockToleranceMs;
  return nonce === undefined ? live : [...live, { nonce, until }];
}

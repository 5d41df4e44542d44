import { HubError } from '../../core/errors.ts';
import { inWords } from '../limiter.ts';
import { authLimits } from '../limits.ts';
import {
  type FactorMethod,
  type FactorUser,
  hashesOf,
  methodsOf,
  newRecord,
  ofUser,
  unlessEmpty,
  waitOf,
  wasAnswered,
  withAnswered,
  withFactor,
  withoutCode,
  withUsed,
} from './factor-record.ts';
import type { Edited, FactorRecord, FactorStore, Passkey } from './factor-store.ts';
import {
  counterOf,
  madePasskey,
  newPasskeyOptions,
  type PasskeyAnswer,
  passkeyOptions,
  type Site,
} from './passkeys.ts';
import { isRecoveryCode, newRecoveryCodes, plainCode } from './recovery-codes.ts';
import { newTotpSecret, stepOf } from './totp.ts';

/** What a user has set up, without any secret. */
export interface FactorState {
  /** Since when the codes of an app count; undefined when none do. */
  readonly totpSince: number | undefined;
  readonly passkeys: readonly Pick<Passkey, 'id' | 'name' | 'createdAt' | 'lastUsedAt' | 'host'>[];
  readonly recoveryCodes: number;
}

/** In which ways a user can show a second factor now, and what their browser is asked for a passkey. */
export interface FactorWays {
  /** None: the password is enough. */
  readonly methods: readonly FactorMethod[];
  readonly passkey?: unknown;
}

/** What became of a factor that was shown. */
export type Shown = { readonly kind: 'right'; readonly recoveryCodesLeft?: number } | { readonly kind: 'wrong' };

/** A passkey that answers a challenge. */
export interface ShownPasskey {
  readonly answer: PasskeyAnswer;
  /** Undefined: no challenge. */
  readonly nonce: string | undefined;
  /** Undefined: where the hub is reached, there are no passkeys. */
  readonly site: Site | undefined;
}

/** A factor that was set up. `recoveryCodes` are there for the first one alone, and shown once. */
export interface Confirmed {
  readonly recoveryCodes: readonly string[] | undefined;
}

/** What became of a factor that was to be removed: `last` is left where there has to be one. */
export type Removed = 'removed' | 'unknown' | 'last';

/** The second factors of users who log in with a password. All throw what `FactorStore` does. */
export interface SecondFactors {
  state(user: FactorUser): Promise<FactorState>;
  /** `nonce` is the challenge for a passkey. */
  ways(user: FactorUser, nonce: string, site: Site | undefined): Promise<FactorWays>;
  /**
   * Whether a code of either kind is right; then it counts no more, on any hub. Throws HubError `too_many` after too
   * many wrong ones. `nonce`: of the challenge that it answers, which counts once.
   */
  check(user: FactorUser, code: string, nonce?: string): Promise<Shown>;
  checkPasskey(user: FactorUser, shown: ShownPasskey): Promise<Shown>;
  /** The secret of a new app, which counts once `confirmTotp` has a code of it. */
  beginTotp(user: FactorUser): Promise<string>;
  /**
   * With the first factor come recovery codes. Undefined: the code is wrong. Throws HubError `conflict` without
   * `beginTotp`.
   */
  confirmTotp(user: FactorUser, code: string): Promise<Confirmed | undefined>;
  /** What the browser is asked for a new passkey, whose challenge is `nonce`. */
  beginPasskey(user: FactorUser, site: Site, nonce: string): Promise<unknown>;
  /** Undefined: the answer does not fit. Throws HubError `conflict` for one too many. */
  addPasskey(user: FactorUser, name: string, shown: ShownPasskey): Promise<Confirmed | undefined>;
  /** The app, or the passkey of this id. Recovery codes go with the last factor. */
  remove(user: FactorUser, which: 'totp' | { readonly passkey: string }, mayBeLast: boolean): Promise<Removed>;
  /** In place of all that the user has. Throws HubError `conflict` for a user without a second factor. */
  newRecoveryCodes(user: FactorUser): Promise<readonly string[]>;
  /** Takes away all that a user of that name has set up. False when there was nothing. */
  reset(username: string): Promise<boolean>;
  /** Which of these have a second factor, or something that cannot be opened. */
  having(users: readonly FactorUser[]): Promise<ReadonlySet<string>>;
}

export function createSecondFactors(store: FactorStore, now: () => number = Date.now): SecondFactors {
  async function get(user: FactorUser): Promise<FactorRecord | undefined> {
    return ofUser(await store.get(user.username), user);
  }

  return {
    async state(user) {
      const record = await get(user);
      const passkeys = record?.passkeys.map(({ id, name, createdAt, lastUsedAt, host }) => {
        return { id, name, createdAt, lastUsedAt, host };
      });
      return {
        totpSince: record?.totp?.since,
        passkeys: passkeys ?? [],
        recoveryCodes: record?.recovery.length ?? 0,
      };
    },
    async ways(user, nonce, site) {
      const record = await get(user);
      const passkey = record && site && (await passkeyOptions(site, record.passkeys, nonce));
      return { methods: methodsOf(record), ...(passkey && { passkey }) };
    },
    ...factorChecks(store, now, get),
    ...factorChanges(store, now),
    ...passkeyChanges(store, now, get),
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

type Get = (user: FactorUser) => Promise<FactorRecord | undefined>;

const wrong = { kind: 'wrong' } as const;

/** What is shown at logins. */
function factorChecks(store: FactorStore, now: () => number, get: Get): Pick<SecondFactors, 'check' | 'checkPasskey'> {
  return {
    async check(user, code, nonce) {
      const at = now();
      type Result = Shown | { readonly kind: 'wait'; readonly ms: number };
      const shown = await store.change(user.username, (found): Edited<Result> => {
        const record = ofUser(found, user);
        if (methodsOf(record).length === 0 || !record || wasAnswered(record, nonce, at))
          return { record: found, result: wrong };
        const waitMs = isRecoveryCode(code) ? 0 : waitOf(record, at);
        if (waitMs > 0) return { record: found, result: { kind: 'wait', ms: waitMs } };
        const used = withoutCode(record, code, at);
        if (!used) return { record: { ...record, wrong: { count: record.wrong.count + 1, at } }, result: wrong };
        const left = isRecoveryCode(code) ? { recoveryCodesLeft: used.recovery.length } : {};
        const right = { ...withAnswered(used, nonce, at), wrong: { count: 0, at } };
        return { record: right, result: { kind: 'right', ...left } };
      });
      if (shown.kind !== 'wait') return shown;
      const text = `Too many wrong codes. Try again in ${inWords(shown.ms)}, or use a recovery code.`;
      throw new HubError('too_many', text, { retryAfterMs: shown.ms });
    },
    async checkPasskey(user, { answer, nonce, site }) {
      const passkey = (await get(user))?.passkeys.find(({ id }) => id === answer.id);
      if (!passkey || nonce === undefined || site?.host !== passkey.host) return wrong;
      const counter = await counterOf(site, passkey, nonce, answer);
      if (counter === undefined) return wrong;
      const at = now();
      return store.change(user.username, (found): Edited<Shown> => {
        const record = ofUser(found, user);
        const used = record && !wasAnswered(record, nonce, at) && withUsed(record, passkey.id, counter, at);
        if (!used) return { record: found, result: wrong };
        return { record: { ...withAnswered(used, nonce, at), wrong: { count: 0, at } }, result: { kind: 'right' } };
      });
    },
  };
}

type Changes = 'beginTotp' | 'confirmTotp' | 'remove' | 'newRecoveryCodes';

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
      return store.change(user.username, (found): Edited<Confirmed | undefined> => {
        const record = ofUser(found, user);
        const pending = record?.pending;
        if (!record || !pending || at - pending.at > authLimits.totpPendingMs)
          throw new HubError('conflict', 'Cannot turn on the codes of an app: it took too long. Begin again.');
        const step = stepOf(pending.secret, plainCode(code), at);
        if (step === undefined) return { record: found, result: undefined };
        const totp = { secret: pending.secret, since: at };
        return withFactor(record, { totp, pending: undefined, lastStep: step });
      });
    },
    remove: (user, which, mayBeLast) =>
      store.change(user.username, (found): Edited<Removed> => {
        const record = ofUser(found, user);
        const left = record && without(record, which);
        if (!left) return { record: found, result: 'unknown' };
        if (!mayBeLast && methodsOf(left).length === 0) return { record: found, result: 'last' };
        return { record: unlessEmpty(left), result: 'removed' };
      }),
    newRecoveryCodes: (user) =>
      store.change(user.username, (found) => {
        const record = ofUser(found, user);
        if (!record || methodsOf(record).length === 0)
          throw new HubError('conflict', 'Recovery codes come with a second factor. Set one up first.');
        const codes = newRecoveryCodes();
        return { record: { ...record, recovery: hashesOf(record, codes) }, result: codes };
      }),
  };
}

function without(record: FactorRecord, which: 'totp' | { readonly passkey: string }): FactorRecord | undefined {
  if (which === 'totp') return record.totp && { ...record, totp: undefined, pending: undefined };
  const passkeys = record.passkeys.filter(({ id }) => id !== which.passkey);
  return passkeys.length < record.passkeys.length ? { ...record, passkeys } : undefined;
}

function passkeyChanges(
  store: FactorStore,
  now: () => number,
  get: Get,
): Pick<SecondFactors, 'beginPasskey' | 'addPasskey'> {
  return {
    beginPasskey: async (user, site, nonce) => newPasskeyOptions(site, user, (await get(user))?.passkeys ?? [], nonce),
    async addPasskey(user, name, { answer, nonce, site }) {
      const made = nonce !== undefined && site && (await madePasskey(site, nonce, answer));
      if (!made) return undefined;
      const at = now();
      return store.change(user.username, (found): Edited<Confirmed | undefined> => {
        const record = ofUser(found, user) ?? newRecord(user);
        const isKnown = record.passkeys.some(({ id }) => id === made.id);
        if (isKnown || wasAnswered(record, nonce, at)) return { record: found, result: undefined };
        if (record.passkeys.length >= authLimits.passkeysPerUser)
          throw new HubError(
            'conflict',
            `You have ${authLimits.passkeysPerUser} passkeys, the most. Delete one first.`,
          );
        const passkeys = [...record.passkeys, { ...made, name, createdAt: at }];
        return withFactor(withAnswered(record, nonce, at), { passkeys });
      });
    },
  };
}

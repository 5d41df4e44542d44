import { hash, randomBytes } from 'node:crypto';
import type { AuditWay } from '../core/audit.ts';
import { HubError } from '../core/errors.ts';
import { type Sentence, type SentenceCode, saying } from '../core/sentences.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { UserSettings } from '../core/settings/user.ts';
import type { Counted, LoginLimiter } from './limiter.ts';
import type { Tickets } from './oauth/tickets.ts';
import { type Passwords, needsRehash } from './passwords.ts';
import type { PasskeyAnswer, Site } from './second-factor/passkeys.ts';
import type { SecondFactors, Shown } from './second-factor/second-factors.ts';

/** What a user shows: name and password, and the second factor if they have one. */
export interface LoginAttempt {
  /** Undefined: the user whose challenge it is. */
  readonly username?: string | undefined;
  /** Undefined: the challenge says that it was right. */
  readonly password?: string | undefined;
  /** Of the answer that asked for the second factor. */
  readonly challenge?: string | undefined;
  /** Of an authenticator app, or a recovery code. */
  readonly code?: string | undefined;
  /** What a passkey answered to the challenge. */
  readonly passkey?: PasskeyAnswer | undefined;
  /** Where the hub is reached; undefined where browsers make no passkeys, or the page has no script. */
  readonly site?: Site | undefined;
  readonly address: string;
  /** For the record of a failure; `api` when absent. */
  readonly via?: AuditWay;
  /** What a refusal says; the same whatever was wrong. */
  readonly refusal?: Sentence;
}

export interface LoggedIn {
  readonly user: UserSettings;
  /** Whether the user showed a second factor; otherwise they have none. */
  readonly secondFactor: boolean;
  /** Set when it was a recovery code: how many are left. */
  readonly recoveryCodesLeft?: number | undefined;
  /**
   * Makes a hash to store in place of the user's old one; present only where that is bcrypt or weak. To be called after
   * the user is logged in: hashing takes time, in which the password may be changed.
   */
  readonly rehash: (() => Promise<string>) | undefined;
}

/**
 * Checks a name, a password and the second factor, for logins and for changes of one's own account: the only place that
 * takes a password as proof. Throws HubError `unauthenticated`, which looks the same and takes as long whether the name
 * or the password is wrong; `second_factor_required` when both are right and the second factor is missing or wrong; and
 * `too_many` after too many failures.
 */
export type Login = (attempt: LoginAttempt) => Promise<LoggedIn>;

/** Says that a password was right. Nothing is kept of it. */
export interface Challenge {
  readonly username: string;
  readonly since: string | undefined;
  /** Of the password's hash: another password is another challenge. */
  readonly passwordTag: string;
  /** Counts once. */
  readonly nonce: string;
}

export interface LoginOptions {
  readonly settings: () => Settings;
  readonly passwords: Passwords;
  readonly limiter: LoginLimiter;
  readonly factors: Pick<SecondFactors, 'ways' | 'check' | 'checkPasskey'>;
  readonly challenges: Tickets<Challenge>;
}

interface Known {
  readonly user: UserSettings;
  readonly counted: Counted | undefined;
}

export function createLogin(options: LoginOptions): Login {
  const { settings, factors, challenges } = options;
  const withPassword = passwordCheck(options);

  /** The user of a challenge, whose password has not changed since. */
  function userOf(challenge: Challenge | undefined): UserSettings | undefined {
    const user = challenge && allowedUser(settings(), challenge.username);
    return user?.createdAt === challenge?.since && user && tagOf(user) === challenge?.passwordTag ? user : undefined;
  }

  function withChallenge({ username, address }: LoginAttempt, challenge: Challenge | undefined): Known {
    const account = username ?? challenge?.username ?? '';
    const counted = options.limiter.begin({ account, address });
    const user = userOf(challenge);
    if (user && account === user.username) return { user, counted };
    throw saying('unauthenticated', 'challenge_over');
  }

  /** Asks a user who has a second factor for it; undefined for one who has none. */
  async function asked(
    user: UserSettings,
    { site }: LoginAttempt,
    failure?: SentenceCode,
  ): Promise<HubError | undefined> {
    const nonce = randomBytes(32).toString('base64url');
    const { username, createdAt: since } = user;
    const { methods, passkey } = await factors.ways(user, nonce, site);
    if (methods.length === 0) return undefined;
    const challenge = challenges.make({ username, since, passwordTag: tagOf(user), nonce });
    const secondFactor = { challenge, methods, passkey, username, wrong: failure !== undefined };
    if (failure !== undefined) return saying('second_factor_required', failure, {}, { secondFactor });
    const ask = 'The password is right. A second factor is needed: send the code of your authenticator app, or a';
    return new HubError('second_factor_required', `${ask} recovery code, as "code".`, { secondFactor });
  }

  /** What became of the second factor; undefined for a user who has none. */
  async function factorOf(user: UserSettings, attempt: LoginAttempt, nonce: string | undefined) {
    const { code, passkey: answer, site } = attempt;
    const ask = await asked(user, attempt);
    if (!ask) return undefined;
    if (code === undefined && answer === undefined) throw ask;
    const shown: Shown =
      answer === undefined
        ? await factors.check(user, code ?? '', nonce)
        : await factors.checkPasskey(user, { answer, nonce, site });
    if (shown.kind === 'right') return shown;
    throw (await asked(user, attempt, answer === undefined ? 'code_refused' : 'passkey_refused')) ?? ask;
  }

  return async (attempt) => {
    const challenge = challenges.read(attempt.challenge);
    const known = attempt.password === undefined ? withChallenge(attempt, challenge) : await withPassword(attempt);
    const { user, counted } = known;
    const { password } = attempt;
    try {
      const shown = await factorOf(user, attempt, nonceFor(user, challenge));
      // Given another password, or deleted, while the second factor was looked at.
      const still = await stillRight(options, user, password);
      if (!still || still.createdAt !== user.createdAt || !allowedUser(settings(), user.username))
        throw saying('unauthenticated', 'login_changed');
      counted?.succeeded();
      const isOld = password !== undefined && needsRehash(still.passwordHash);
      const rehash = isOld ? () => options.passwords.hash(password) : undefined;
      const left = shown?.recoveryCodesLeft;
      return { user: still, rehash, secondFactor: shown !== undefined, recoveryCodesLeft: left };
    } catch (error) {
      const isGuess = error instanceof HubError && (error.code === 'too_many' || error.secondFactor?.wrong === true);
      if (!isGuess) counted?.open();
      throw error;
    }
  };
}

function passwordCheck(options: LoginOptions): (attempt: LoginAttempt) => Promise<Known> {
  const { settings, passwords, limiter } = options;
  return async ({ username = '', password = '', address, refusal = wrongLogin }) => {
    const attempt = { account: username, address };
    // Twice: here so that the refused do not fill the queue, and when the turn has come, because others have failed
    // meanwhile.
    limiter.check(attempt);
    let counted: Counted | undefined;
    const started = () => {
      counted = limiter.begin(attempt);
    };
    // Where passwords are switched off, it looks the same and takes as long as a wrong one.
    const user = allowedUser(settings(), username);
    const isRight = user
      ? // A flood of logins must not refuse a user at an address where a login has succeeded before.
        await passwords.verify(password, user.passwordHash, started, limiter.isKnown(attempt))
      : await passwords.verifyNobody(
          username,
          password,
          settings().users.map((user) => user.passwordHash),
          started,
        );
    const still = user && isRight ? await stillRight(options, user, password) : undefined;
    if (still) return { user: still, counted };
    throw saying('unauthenticated', refusal.code, refusal.values);
  };
}

/**
 * The user as the settings have them now, whose password was right a moment ago: undefined where they are gone or have
 * another password. One that may be the same in a new hash is looked at again; without a password it is another.
 */
async function stillRight(
  { settings, passwords }: LoginOptions,
  { username, passwordHash }: UserSettings,
  password: string | undefined,
): Promise<UserSettings | undefined> {
  for (let seen = passwordHash; ;) {
    const still = find(settings().users, username);
    if (!still || still.passwordHash === seen) return still;
    seen = still.passwordHash;
    if (password === undefined || !(await passwords.verify(password, seen, undefined, true))) return undefined;
  }
}

const wrongLogin: Sentence = { code: 'wrong_login', values: {} };

/** The user of that name, if the settings let them log in with a password. */
function allowedUser({ users, system }: Settings, username: string): UserSettings | undefined {
  const isAllowed = system.passwordLogin !== false || username === system.breakGlass;
  return isAllowed ? find(users, username) : undefined;
}

function find(users: readonly UserSettings[], username: string): UserSettings | undefined {
  return users.find((user) => user.username === username);
}

/** Of a challenge that was for another user nothing counts. */
function nonceFor({ username }: UserSettings, challenge: Challenge | undefined): string | undefined {
  return challenge?.username === username ? challenge.nonce : undefined;
}

function tagOf({ passwordHash }: Pick<UserSettings, 'passwordHash'>): string {
  return hash('sha256', passwordHash, 'base64url');
}

import { HubError } from '../core/errors.ts';
import type { Settings, UserSettings } from '../core/settings/types.ts';
import type { LoginLimiter } from './limiter.ts';
import { type Passwords, needsRehash } from './passwords.ts';

export interface LoginAttempt {
  readonly username: string;
  readonly password: string;
  readonly address: string;
  /** What a refusal says; the same whatever was wrong. */
  readonly refusal?: string;
}

export interface LoggedIn {
  readonly user: UserSettings;
  /**
   * Makes a hash to store in place of the user's old one; present only where that is bcrypt or weak. To be called after
   * the user is logged in: hashing takes time, in which the password may be changed.
   */
  readonly rehash: (() => Promise<string>) | undefined;
}

/**
 * Checks a name and a password, for logins and for changes of one's own password. Throws HubError `unauthenticated`,
 * which looks the same and takes as long whether the name or the password is wrong, and `too_many` after too many
 * failures.
 */
export type Login = (attempt: LoginAttempt) => Promise<LoggedIn>;

export function createLogin(options: { settings: () => Settings; passwords: Passwords; limiter: LoginLimiter }): Login {
  const { settings, passwords, limiter } = options;

  return async ({ username, password, address, refusal = 'Wrong username or password.' }) => {
    const attempt = { account: username, address };
    // Twice: here so that the refused do not fill the queue, and when the turn has come, because others have failed
    // meanwhile.
    limiter.check(attempt);
    let counted: { succeeded(): void } | undefined;
    const started = () => {
      counted = limiter.begin(attempt);
    };
    const { users, system } = settings();
    // Where passwords are switched off, it looks the same and takes as long as a wrong one.
    const isAllowed = system.passwordLogin !== false || username === system.breakGlass;
    const user = isAllowed ? find(users, username) : undefined;
    let right = user
      ? // A flood of logins must not refuse a user at an address where a login has succeeded before.
        await passwords.verify(password, user.passwordHash, started, limiter.isKnown(attempt))
      : await passwords.verifyNobody(
          username,
          password,
          users.map((user) => user.passwordHash),
          started,
        );
    let seen = user?.passwordHash;
    while (right) {
      const still = find(settings().users, username);
      if (!still) break;
      if (still.passwordHash === seen) {
        counted?.succeeded();
        return { user: still, rehash: needsRehash(seen) ? () => passwords.hash(password) : undefined };
      }
      // Given another password, or the same one in a new hash, while this one was looked at.
      seen = still.passwordHash;
      right = await passwords.verify(password, seen, undefined, true);
    }
    throw new HubError('unauthenticated', refusal);
  };
}

function find(users: readonly UserSettings[], username: string): UserSettings | undefined {
  return users.find((user) => user.username === username);
}

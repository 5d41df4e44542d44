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
  /** A hash to store in place of the user's old one; only where that is bcrypt or weak. */
  readonly newHash: string | undefined;
}

/**
 * Checks a name and a password, for logins and for changes of one's own password. Throws HubError `unauthenticated`, which looks the same and takes as long
 * whether the name or the password is wrong, and `too_many` after too many failures.
 */
export type Login = (attempt: LoginAttempt) => Promise<LoggedIn>;

export function createLogin(options: { settings: () => Settings; passwords: Passwords; limiter: LoginLimiter }): Login {
  const { settings, passwords, limiter } = options;

  return async ({ username, password, address, refusal = 'Wrong username or password.' }) => {
    const attempt = { account: username, address };
    // Twice: here so that the refused do not fill the queue, and when the turn has come, because others have failed meanwhile.
    limiter.check(attempt);
    let counted: { succeeded(): void } | undefined;
    const started = () => {
      counted = limiter.begin(attempt);
    };
    const { users } = settings();
    const user = find(users, username);
    const right = user
      ? await passwords.verify(password, user.passwordHash, started)
      : await passwords.verifyNobody(
          username,
          password,
          users.map((user) => user.passwordHash),
          started,
        );
    // Deleted, given another password, or the same one in a new hash, while this one was looked at.
    const still = user && right ? find(settings().users, username) : undefined;
    const same = still?.passwordHash === user?.passwordHash;
    if (!still || !(same || (await passwords.verify(password, still.passwordHash)))) {
      throw new HubError('unauthenticated', refusal);
    }
    counted?.succeeded();
    return { user: still, newHash: needsRehash(still.passwordHash) ? await passwords.hash(password) : undefined };
  };
}

function find(users: readonly UserSettings[], username: string): UserSettings | undefined {
  return users.find((user) => user.username === username);
}

import { randomBytes } from 'node:crypto';
import { limits } from '../../core/limits.ts';
import type { Authority, OAuthClient } from './grant.ts';

/** A sign-in that somebody was asked for: everything its answer has to fit. */
export interface Attempt {
  /** Whose sign-in it is: an answer is of no use once the server has been set up anew. */
  readonly account: object;
  readonly server: string;
  /** The user who asked for it; undefined when the hub did. */
  readonly by: string | undefined;
  readonly authority: Authority;
  readonly client: OAuthClient;
  /** The secret half of the PKCE challenge. */
  readonly verifier: string;
}

/** Sign-ins under way, by their `state`: 256 random bits that work once and for `limits.signInMs`. */
export interface Attempts {
  newState(): string;
  add(state: string, attempt: Attempt): void;
  /** The attempt, which is over with this; undefined when there is none, or no longer. */
  take(state: string): Attempt | undefined;
  /** Forgets those of one account. */
  forget(account: object): void;
}

/** `now`: milliseconds since the epoch. */
export function createAttempts(now: () => number = Date.now): Attempts {
  // In the order they were begun, so the first is the oldest.
  const attempts = new Map<string, { readonly attempt: Attempt; readonly expiresAt: number }>();

  function prune(): void {
    for (const [state, { expiresAt }] of attempts) {
      if (expiresAt > now() && attempts.size < limits.signIns) return;
      attempts.delete(state);
    }
  }

  return {
    newState: () => randomBytes(32).toString('base64url'),
    add(state, attempt) {
      prune();
      const own = [...attempts].filter(([, other]) => other.attempt.account === attempt.account);
      for (const [oldest] of own.slice(0, Math.max(0, own.length + 1 - limits.signInsPerServer)))
        attempts.delete(oldest);
      attempts.set(state, { attempt, expiresAt: now() + limits.signInMs });
    },
    take(state) {
      const found = attempts.get(state);
      attempts.delete(state);
      return found && found.expiresAt > now() ? found.attempt : undefined;
    },
    forget(account) {
      for (const [state, { attempt }] of attempts) if (attempt.account === account) attempts.delete(state);
    },
  };
}

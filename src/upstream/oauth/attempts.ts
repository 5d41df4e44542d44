import { createHash, randomBytes } from 'node:crypto';
import { limits } from '../../core/limits.ts';
import type { Authority, OAuthClient } from './grants.ts';

/** A sign-in that a user began: everything its answer has to fit. */
export interface Attempt {
  /** Marks how the server was set up: an answer is of no use once its settings have changed. */
  readonly setup: string;
  readonly server: string;
  /** The user it is for alone; absent: it is for all users. */
  readonly holder?: string | undefined;
  /** The user who began it. */
  readonly by: string;
  /** When that user was created: the next user of that name is another person. */
  readonly bySince?: string | undefined;
  /** `hashOf` the secret that the browser in which it began was given: it has to come back from there. */
  readonly browser: string;
  readonly authority: Authority;
  readonly client: OAuthClient;
  /** The secret half of the PKCE challenge. */
  readonly verifier: string;
}

/** Sign-ins under way, by their `state`: random bits that work once and for `limits.signInMs`. */
export interface Attempts {
  /** Throws HubError `not_ready` when it cannot be kept where the answer may arrive. */
  add(state: string, attempt: Attempt): Promise<void>;
  /** The attempt, which is over with this; undefined when there is none, or no longer. */
  take(state: string): Promise<Attempt | undefined>;
}

/** 256 random bits. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/**
 * Those of a hub without replicas, in memory: a restart in these minutes costs a click. `now`: milliseconds since the
 * epoch.
 */
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
    async add(state, attempt) {
      prune();
      const own = [...attempts].filter(([, other]) => isOfSame(other.attempt, attempt));
      for (const [oldest] of own.slice(0, Math.max(0, own.length + 1 - limits.signInsPerServer)))
        attempts.delete(oldest);
      attempts.set(state, { attempt, expiresAt: now() + limits.signInMs });
    },
    async take(state) {
      const found = attempts.get(state);
      attempts.delete(state);
      return found && found.expiresAt > now() ? found.attempt : undefined;
    },
  };
}

/** A user who begins too many sign-ins loses an older one of their own for this server, never one of another user. */
function isOfSame(a: Attempt, b: Attempt): boolean {
  return a.server === b.server && a.by === b.by;
}

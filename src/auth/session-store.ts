import { authLimits } from './limits.ts';
import type { Claims } from './tokens.ts';

/** How a user logged in: with a password, or at a provider (`systemConfig.auth.oidc`). */
export type LoginMethod = 'password' | `oidc:${string}`;

/** A login in a browser, carried by a cookie (CONTRACT §8). Times in milliseconds since the epoch. */
export interface LoginSession {
  /** Those of an access token: its end is an end of tokens, which all replicas hear of at once. */
  readonly claims: Claims;
  readonly via: LoginMethod;
  /** Who the user is at the provider, and the session there (`sid`), for back-channel logout. */
  readonly provider?:
    | {
        readonly subject: string;
        readonly sid?: string | undefined;
        readonly refresh?: ProviderRefresh | undefined;
      }
    | undefined;
  /** When the user last gave the password, or logged in at the provider; 0 when the provider did not say. */
  readonly loggedInAt: number;
  readonly address: string;
  readonly userAgent: string;
}

/** By what the hub asks the provider again who the user is. */
export interface ProviderRefresh {
  /** The refresh token, sealed. */
  readonly token: string;
  /** When it was last used, or one of the hubs began to. */
  readonly at: number;
}

/** As lists show it. */
export interface SeenSession {
  readonly session: LoginSession;
  readonly seenAt: number;
}

/** Where sessions are kept. Those that are over are not in it any more, for what it answers. */
export interface SessionStore {
  /** Returns the oldest sessions of a user with too many, which are removed. */
  add(tokenHash: string, session: LoginSession): Promise<readonly LoginSession[]>;
  /** The session of this hash. `isUse`: it is seen now. */
  find(tokenHash: string, isUse: boolean): Promise<SeenSession | undefined>;
  /** Puts another session and hash in place of a session; false when it is over. */
  renew(id: string, tokenHash: string, session: LoginSession): Promise<boolean>;
  /** Called with the id of a session that was renewed at any hub; undefined: some may have been. */
  onRenewed(listener: (id: string | undefined) => void): () => void;
  /** Puts another session in place of one whose `provider.refresh.at` is this; false when it is not, or is over. */
  replace(id: string, refreshedAt: number, session: LoginSession): Promise<boolean>;
  /** Last seen first. */
  ofUser(username: string): Promise<readonly SeenSession[]>;
  via(method: LoginMethod): Promise<readonly LoginSession[]>;
  /** Removes the sessions of these ids. Returns those that were there. */
  end(ids: readonly string[]): Promise<readonly LoginSession[]>;
}

/** Whether a session is over by its age, or because it was not used. */
export function isOver({ session, seenAt }: SeenSession, now: number): boolean {
  return now >= session.claims.expiresAt || now - seenAt > authLimits.sessionIdleMs;
}

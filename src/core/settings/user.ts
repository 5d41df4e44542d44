import type { CallLimits } from './governance.ts';

export interface UserSettings {
  readonly username: string;
  /** argon2id or bcrypt. */
  readonly passwordHash: string;
  readonly role: 'admin' | 'user';
  readonly email: string | undefined;
  readonly servers: readonly string[];
  /** Group ids (names are accepted too). */
  readonly groups: readonly string[];
  readonly createdAt: string | undefined;
  /** Who the user is at providers and trusted issuers (CONTRACT §8). */
  readonly identities?: readonly IssuedIdentity[] | undefined;
  /** The random one that the hub made for its first admin. */
  readonly passwordIsInitial?: boolean | undefined;
  /**
   * Programs that guess passwords would find it soon. Known only of passwords that were set, or used for a login, since
   * hubs look at them.
   */
  readonly passwordIsWeak?: boolean | undefined;
  readonly limits?: CallLimits | undefined;
}

/** A person as an issuer of tokens knows them; a subject means something only together with its issuer. */
export interface IssuedIdentity {
  readonly issuer: string;
  readonly subject: string;
}

import { isObject } from '../../core/protocol/rpc.ts';

/** What a user shows at a login besides the password. Times in milliseconds since the epoch. */
export interface FactorRecord {
  readonly username: string;
  /** When the account was made, as the settings say it: a later user of that name has none of it. */
  readonly since?: string | undefined;
  /** The secret of an authenticator app (base32), and since when it counts. */
  readonly totp?: { readonly secret: string; readonly since: number } | undefined;
  /** One that was shown and not confirmed yet. */
  readonly pending?: { readonly secret: string; readonly at: number } | undefined;
  /** The time step of the last code that was accepted: it, and what is older, counts no more. */
  readonly lastStep: number;
  /** Hashes of the recovery codes that are left. */
  readonly recovery: readonly string[];
  readonly passkeys: readonly Passkey[];
  /** Wrong codes since the last right one, and when the last of them came. */
  readonly wrong: { readonly count: number; readonly at: number };
  /** Challenges that were answered rightly, until they are too old to count. */
  readonly answered: readonly { readonly nonce: string; readonly until: number }[];
}

/** A WebAuthn credential. Binary values in base64url. */
export interface Passkey {
  readonly id: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  /** Where it was made: browsers use it nowhere else. */
  readonly host: string;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt?: number | undefined;
}

/** What an edit makes of a record, and what it answers. Undefined: none is kept. */
export interface Edited<T> {
  readonly record: FactorRecord | undefined;
  readonly result: T;
}

/**
 * The second factors of all users, sealed where they are kept. Throws HubError `misconfigured` for one that is there
 * and cannot be opened: a factor that cannot be checked must not count as none.
 */
export interface FactorStore {
  get(username: string): Promise<FactorRecord | undefined>;
  /** One change of a user after the other, on all hubs that share a database. */
  change<T>(username: string, edit: (record: FactorRecord | undefined) => Edited<T>): Promise<T>;
  /** Removes also one that cannot be opened. False when there was none. */
  remove(username: string): Promise<boolean>;
  /** The users that have a record, also one without a factor or one that cannot be opened. */
  usernames(): Promise<ReadonlySet<string>>;
}

/** A record as it was sealed; undefined for one of another user, and for what was not sealed here. */
export function parsedRecord(text: string | undefined, username: string): FactorRecord | undefined {
  if (text === undefined) return undefined;
  const found: unknown = JSON.parse(text);
  return isObject(found) && found['username'] === username ? (found as unknown as FactorRecord) : undefined;
}

/** What is said of a record that cannot be opened. */
export function unreadable(username: string): string {
  return `The second factor of user "${username}" cannot be opened with the secret of this hub. An admin can reset it.`;
}

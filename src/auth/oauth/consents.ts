import type { Reach } from '../../core/access/principal.ts';
import { authLimits } from '../limits.ts';
import type { OAuthScope } from '../tokens.ts';

/** What a user let a client do: the grant of OAuth. Times in milliseconds since the epoch. */
export interface Consent {
  /** The id of the code that it was given by: a code works once because there is one consent of its id. */
  readonly id: string;
  readonly username: string;
  /** When the account was made, as the settings say it. */
  readonly since?: string | undefined;
  /** `hashOf` the client's id. */
  readonly client: string;
  readonly clientName: string;
  /** Where the client gets its codes: a host, or what an app is called on its machine. */
  readonly clientHost: string;
  /** The MCP endpoint it is for: its path without `BASE_PATH`, empty for all; and its address as the client gave it. */
  readonly endpoint: string;
  readonly resource: string;
  /** Undefined: everything the user reaches. */
  readonly reach?: Reach | undefined;
  /** Undefined: `mcp`. */
  readonly scope?: OAuthScope | undefined;
  /** When the user gave their password for it. */
  readonly loginAt: number;
  readonly createdAt: number;
  /** The last time that the client got tokens. */
  readonly usedAt: number;
  /** The number of the refresh token that is good now, and when the one before it was used. */
  readonly generation: number;
  readonly rotatedAt: number;
  readonly endedAt?: number | undefined;
}

/** What became of a refresh token that was used: `replayed` ends its consent. */
export type Rotation = { readonly kind: 'good' | 'replayed'; readonly consent: Consent } | { readonly kind: 'unknown' };

/**
 * The consents of all users, for all hubs that share a database. Throws HubError `not_ready` or `misconfigured` when
 * they cannot be read or written.
 */
export interface Consents {
  /**
   * Pushes out those of a user with too many that were used longest ago, and gives those of them that had not ended:
   * their tokens are to be ended (`Tokens.revokeConsent`). Undefined when there is, or was, one of this id.
   */
  add(consent: Consent): Promise<readonly Consent[] | undefined>;
  /** Uses the refresh token of this number. One of two hubs that use it at once finds it used. */
  rotate(id: string, generation: number): Promise<Rotation>;
  /** Those that have not ended, and those whose end is not written down yet; newest first. */
  all(): Promise<readonly Consent[]>;
  /** The consent, ended; undefined when there is none in `all`. One in the file has ended also when this throws. */
  end(id: string): Promise<Consent | undefined>;
  /** Those of a user that were in `all`. They have ended also when this throws, as with `end`. */
  endUser(username: string): Promise<readonly Consent[]>;
  /** Whether a user ever let this client in. */
  knows(client: string): Promise<boolean>;
  /** Tries once more to write down what could not be written. Never rejects. */
  close(): Promise<void>;
}

/** Consents that say which of them this hub has ended. */
export interface ToldConsents extends Consents {
  /** Called with the ids of those that have just ended, also of those that were pushed out. Gives what ends that. */
  onEnd(listener: (ids: readonly string[]) => void): () => void;
}

/** The same consents, whose ends can be heard of: here, and not on other hubs of the database. */
export function tellingOfEnds(consents: Consents): ToldConsents {
  const listeners = new Set<(ids: readonly string[]) => void>();
  const told = (ended: readonly Pick<Consent, 'id'>[]): void => {
    const ids = ended.map(({ id }) => id);
    if (ids.length > 0) for (const listener of listeners) listener(ids);
  };
  return {
    ...consents,
    async add(consent) {
      const pushedOut = await consents.add(consent);
      told(pushedOut ?? []);
      return pushedOut;
    },
    async end(id) {
      try {
        const ended = await consents.end(id);
        if (ended) told([ended]);
        return ended;
      } catch (error) {
        // What cannot be written down has ended all the same.
        told([{ id }]);
        throw error;
      }
    },
    async endUser(username) {
      try {
        const ended = await consents.endUser(username);
        told(ended);
        return ended;
      } catch (error) {
        const own = await consents.all().catch(() => []);
        told(own.filter((consent) => consent.username === username));
        throw error;
      }
    },
    onEnd(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/**
 * The consent after its refresh token of this number was used. The one before the last is good for
 * `authLimits.refreshGraceMs` more, since an answer can be lost, and gives what that answer had. One of a later number
 * was given by a hub that could not write it down.
 */
export function rotated(consent: Consent, generation: number, now: number): Rotation {
  if (generation >= consent.generation)
    return { kind: 'good', consent: { ...consent, generation: generation + 1, rotatedAt: now, usedAt: now } };
  const isLost = generation === consent.generation - 1 && now - consent.rotatedAt <= authLimits.refreshGraceMs;
  return isLost ? { kind: 'good', consent } : { kind: 'replayed', consent };
}

/** What a user has no more of than `authLimits.consentsPerUser`; and whether a consent is too old to be kept. */
export function isStale({ usedAt }: Pick<Consent, 'usedAt'>, now: number): boolean {
  return now - usedAt > authLimits.consentIdleMs;
}

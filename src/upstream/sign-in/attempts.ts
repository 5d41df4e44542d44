import { createHash, randomBytes } from 'node:crypto';
import type { DatabaseHandle } from '../../database/supervise.ts';
import type { SharedSealer } from '../../database/shared-sealer.ts';
import { saying } from '../../core/sentences.ts';
import { upstreamLimits } from '../limits.ts';
import { type Authority, isFailureCode } from './authorization-server.ts';
import type { OAuthClient } from './oauth-client.ts';

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

/** Sign-ins under way, by their `state`: random bits that work once and for `upstreamLimits.signInMs`. */
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
      if (expiresAt > now() && attempts.size < upstreamLimits.signIns) return;
      attempts.delete(state);
    }
  }

  return {
    async add(state, attempt) {
      prune();
      const own = [...attempts].filter(([, other]) => isOfSame(other.attempt, attempt));
      for (const [oldest] of own.slice(0, Math.max(0, own.length + 1 - upstreamLimits.signInsPerServer)))
        attempts.delete(oldest);
      attempts.set(state, { attempt, expiresAt: now() + upstreamLimits.signInMs });
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

/** Sign-ins under way in the database that hubs share: the answer may come to any of them, and works at one of them. */
export function sharedAttempts(database: DatabaseHandle, sealer: SharedSealer): Attempts {
  return {
    async add(state, attempt) {
      const open = await database.whenReady(upstreamLimits.tokenRetryMs);
      const text = (await sealer(open)).seal(JSON.stringify({ ...attempt, state }));
      const { server, by } = attempt;
      await open.tx(async (tx) => {
        await tx.query('delete from toolhub.sign_ins where expires_at <= now()');
        await tx.query(
          `delete from toolhub.sign_ins where state_hash in (
             select state_hash from toolhub.sign_ins where server = $1 and username = $2 order by expires_at desc offset $3)`,
          [server, by, upstreamLimits.signInsPerServer - 1],
        );
        await tx.query(
          `delete from toolhub.sign_ins where state_hash in (
             select state_hash from toolhub.sign_ins order by expires_at desc offset $1)`,
          [upstreamLimits.signIns - 1],
        );
        await tx.query(
          `insert into toolhub.sign_ins (state_hash, server, username, ciphertext, expires_at)
           values ($1, $2, $3, $4, now() + $5 * interval '1 millisecond')`,
          [hashOf(state), server, by, Buffer.from(text, 'base64url'), upstreamLimits.signInMs],
        );
      });
    },
    async take(state) {
      const open = await database.whenReady(upstreamLimits.tokenRetryMs);
      const [row] = await open.query<{ ciphertext: Uint8Array; is_live: boolean }>(
        'delete from toolhub.sign_ins where state_hash = $1 returning ciphertext, expires_at > now() as is_live',
        [hashOf(state)],
      );
      if (row?.is_live !== true) return undefined;
      const text = (await sealer(open)).open(Buffer.from(row.ciphertext).toString('base64url'));
      const found = text === undefined ? undefined : (JSON.parse(text) as Attempt & { state: string });
      // A row that was copied over another one is none.
      return found?.state === state ? found : undefined;
    },
  };
}

/** What an authorization server sent back through the user's browser. */
export interface Answer {
  readonly code: string;
  readonly iss: string | undefined;
}

/**
 * The code and the issuer of an answer. Whom it is from is checked before anything else is believed (RFC 9207 §2.4).
 * Throws HubError with what to do.
 */
export async function readAnswer(query: URLSearchParams, { server, authority }: Attempt): Promise<Answer> {
  const { checkIssuer, refusalOf } = await import('./authorization-flow.ts');
  const iss = only(query, 'iss');
  try {
    checkIssuer(authority, iss ?? (query.has('iss') ? '' : undefined));
  } catch (error) {
    throw refusalOf(error, `Cannot finish signing in to server "${server}"`);
  }
  const error = only(query, 'error');
  if (query.has('error')) {
    const why = error !== undefined && isFailureCode(error) ? ` (${error})` : '';
    throw saying('invalid_input', 'sign_in_refused', { server, why });
  }
  const code = only(query, 'code');
  if (code === undefined) throw saying('invalid_input', 'sign_in_no_code');
  return { code, iss };
}

/** A parameter that is there exactly once; of two it is not known which is meant. */
export function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type CryptoKey, type JWTPayload, SignJWT, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import { type AppPrincipal, appPrincipal, type Reach } from '../core/access/principal.ts';
import { HubError } from '../core/errors.ts';
import { memoizeLast } from '../core/memoize-last.ts';
import type { UsedId } from './last-uses.ts';
import { authLimits } from './limits.ts';
import { type RevocationStore, type Revocations, createRevocations } from './revocations.ts';

/** What a verified access token says (CONTRACT §2). Role and lists are never in it: they are read live. */
export interface Claims {
  readonly username: string;
  readonly jti: string;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /**
   * Set where the login needs no other factor: the user showed one here, or logged in at a provider, which asks for its
   * own.
   */
  readonly secondFactor?: true | undefined;
  /** Set for a token that a command made on the machine of the hub, with the secret of its data folder. */
  readonly madeHere?: true | undefined;
  /** Set for the token of a client that the user let in (CONTRACT §8). */
  readonly app?: AppClaims | undefined;
}

export interface AppClaims {
  readonly principal: AppPrincipal;
  /** The consent it is from, and ends with. */
  readonly consent: string;
  /** What notes of its uses call it: made once, not for each call. */
  readonly usedAs: UsedId;
  /** The path of the MCP endpoint it is for, without `BASE_PATH`; empty for all of them. */
  readonly endpoint: string;
  /** Whether it has the scope `api`: under `/api` it is its user. */
  readonly mayManage: boolean;
}

/** What a token is good for (CONTRACT §8): MCP endpoints and tool execution, and with `api` the management API. */
export type OAuthScope = 'mcp' | 'mcp api';

/** What the token of a client says besides who and when. */
export interface NewAppToken {
  readonly consent: string;
  readonly endpoint: string;
  readonly reach: Reach | undefined;
  readonly scope: OAuthScope;
  /** For its `iss` and `aud`, which the hub itself does not read. */
  readonly issuer: string;
  readonly resource: string;
}

/** `createdAt`, because no token may be older than its user. */
export interface TokenUser {
  readonly username: string;
  readonly createdAt?: string | undefined;
}

/** Issues, verifies and revokes the access tokens of users, and of clients that they let in: JWT, HS256. */
export interface Tokens {
  issue(user: TokenUser, secondFactor?: boolean): Promise<string>;
  /** For a command on the machine of the hub (`madeHere`): as after a login with a second factor. */
  issueHere(user: TokenUser): Promise<string>;
  /** The token of a client that the user let in: `authLimits.appTokenMs`. */
  issueApp(user: TokenUser, app: NewAppToken): Promise<string>;
  /**
   * Undefined for a token that is not ours, is valid for longer than ours are, has expired or is revoked. The caller
   * checks whether the user still exists, and `valid`.
   */
  verify(token: string): Promise<Claims | undefined>;
  /**
   * True while the claims of a token verified earlier still hold for the user it names. Cheap: for every request. One
   * older than its user was an earlier user's of the same name. One that was issued in the future is none: it would
   * outlive the end of all tokens of its user.
   */
  valid(claims: Claims, user: TokenUser): boolean;
  /** True for every token that was signed here, also one that has ended. */
  isSigned(token: string): boolean;
  /** Ends one token (logout). Resolves when that is stored. */
  revoke(claims: Claims): Promise<void>;
  /** Ends every token that a consent gave, and lets none of it be valid for a day. Resolves when that is stored. */
  revokeConsent(username: string, consent: string): Promise<void>;
  /**
   * Ends every token of a user issued until now (deleted, password changed), also by a replica whose clock is ahead.
   * Those issued later hold. Resolves when that is stored.
   */
  revokeUser(username: string): Promise<void>;
  /** Takes over what other replicas have stored meanwhile. */
  refresh(): Promise<void>;
  /** Tries once more to store the ends of tokens that could not be stored. Never rejects. */
  close(): Promise<void>;
}

/**
 * Throws HubError `misconfigured` for a secret too short to sign with. `store` keeps revocations; without one they end
 * with the process.
 */
export async function createTokens(options: {
  secret: string;
  store?: RevocationStore;
  now?: () => number;
}): Promise<Tokens> {
  const { now = Date.now } = options;
  const key = await signingKey(options.secret);
  const revocations: Revocations = createRevocations({ now, ...(options.store && { store: options.store }) });
  await revocations.refresh();
  /**
   * When the newest token of each user that was seen here says it was issued: after now, once the clock has been set
   * back.
   */
  const newest = new Map<string, number>();

  function seen(username: string, issuedAt: number): void {
    newest.set(username, Math.max(issuedAt, newest.get(username) ?? 0));
  }

  function holds(claims: Claims): boolean {
    return claims.expiresAt + authLimits.clockToleranceMs > now() && !revocations.revoked(claims, claims.app?.consent);
  }

  /**
   * No token of the user is issued before that: one issued in the very millisecond in which all others of the user
   * ended must not end with them, nor one of a replica whose clock is behind that of the one which made the user.
   */
  function earliest(user: TokenUser): number {
    return Math.max(revocations.cutoff(user.username) + 1, madeAt(user));
  }

  function signed(user: TokenUser, typ: 'JWT' | typeof appType, payload: JWTPayload, lifeMs: number): Promise<string> {
    const { username } = user;
    const issuedAt = Math.max(now(), earliest(user));
    seen(username, issuedAt);
    const seconds = Math.floor(issuedAt / 1000);
    return new SignJWT(payload)
      .setProtectedHeader({ alg: 'HS256', typ })
      .setSubject(username)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + lifeMs / 1000)
      .setJti(`${issuedAt.toString(36)}.${randomBytes(16).toString('base64url')}`)
      .sign(key);
  }

  return {
    issue: (user, secondFactor = false) =>
      signed(user, 'JWT', secondFactor ? { amr: [multiFactor] } : {}, authLimits.accessTokenMs),
    issueHere: (user) => signed(user, 'JWT', { amr: [multiFactor, here] }, authLimits.accessTokenMs),
    issueApp(user, { consent, endpoint, reach, scope, issuer, resource }) {
      // No `client_id`, which RFC 9068 asks for: the hub alone reads this token and finds the client by the consent.
      // A registered id is a sealed text; with it each request would be a third longer (BENCHMARKS.md, `credentials`).
      const said = { iss: issuer, aud: resource, scope };
      const since = user.createdAt === undefined ? {} : { since: user.createdAt };
      return signed(
        user,
        appType,
        { ...said, consent, endpoint, ...since, ...(reach && { reach }) },
        authLimits.appTokenMs,
      );
    },
    async verify(token) {
      const claims = await claimsOf(token, key, now());
      if (!claims || !holds(claims)) return undefined;
      seen(claims.username, claims.issuedAt);
      return claims;
    },
    valid: (claims, user) =>
      holds(claims) &&
      claims.issuedAt >= madeAt(user) &&
      (claims.issuedAt <= now() + authLimits.clockToleranceMs || claims.issuedAt <= earliest(user)),
    isSigned: (token) => isSignedWith(options.secret, token),
    // As if it lived as long as other tokens: how long an end is remembered is reckoned with that.
    revoke: (claims) => revocations.revoke({ ...claims, expiresAt: claims.issuedAt + authLimits.accessTokenMs }),
    revokeConsent: (username, consent) =>
      revocations.revoke({ username, jti: consent, expiresAt: now() + authLimits.accessTokenMs }),
    revokeUser: (username) => revocations.revokeUser(username, newest.get(username) ?? 0),
    refresh: () => revocations.refresh(),
    close: () => revocations.close(),
  };
}

async function signingKey(secret: string): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secret);
  if (bytes.length < 16) {
    throw new HubError(
      'misconfigured',
      `JWT_SECRET has ${bytes.length} bytes and could be guessed; use 16 at least, better 32 random ones, or leave it unset.`,
    );
  }
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

function isSignedWith(secret: string, token: string): boolean {
  const dot = token.lastIndexOf('.');
  const signature = Buffer.from(token.slice(dot + 1), 'base64url');
  const own = createHmac('sha256', secret)
    .update(token.slice(0, Math.max(dot, 0)))
    .digest();
  return signature.length === own.length && timingSafeEqual(signature, own);
}

/** Most requests are of the user that the one before was of. */
const readTime = memoizeLast((text) => Date.parse(text));

/** When a user was made, in milliseconds since the epoch; 0 where that is not known. */
function madeAt({ createdAt }: TokenUser): number {
  const at = createdAt === undefined ? Number.NaN : readTime(createdAt);
  return Number.isNaN(at) ? 0 : at;
}

async function claimsOf(token: string, key: CryptoKey, at: number): Promise<Claims | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      requiredClaims: ['sub', 'iat', 'exp', 'jti'],
      clockTolerance: authLimits.clockToleranceMs / 1000,
      currentDate: new Date(at),
    });
    const { sub, exp, jti } = payload;
    const issuedAt = issuedAtOf(jti, payload.iat);
    if (sub === undefined || exp === undefined || jti === undefined || issuedAt === undefined) return undefined;
    // An attacker who makes tokens with a leaked secret makes them valid for years.
    const isApp = protectedHeader.typ === appType;
    if (exp - Math.floor(issuedAt / 1000) > (isApp ? authLimits.appTokenMs : authLimits.accessTokenMs) / 1000)
      return undefined;
    const claims = { username: sub, jti, issuedAt, expiresAt: exp * 1000 };
    const { amr } = payload;
    const says = (how: string): boolean => Array.isArray(amr) && amr.includes(how);
    const marks: Pick<Claims, 'secondFactor' | 'madeHere'> = {
      ...(says(multiFactor) && { secondFactor: true }),
      ...(says(here) && { madeHere: true }),
    };
    if (!isApp) return { ...claims, ...marks };
    const app = appClaims.safeParse(payload).data;
    if (!app) return undefined;
    const { consent, endpoint, since, scope, reach } = app;
    return {
      ...claims,
      app: {
        consent,
        usedAs: `grant:${consent}`,
        endpoint,
        mayManage: scope === 'mcp api',
        principal: appPrincipal(consent, { username: sub, createdAt: since }, reach),
      },
    };
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** How RFC 8176 calls a login with more than one factor, in the claim `amr`. */
const multiFactor = 'mfa';

/** By what the tokens of commands on the machine of the hub are told. */
const here = 'toolhub:machine';

/** The type of tokens for clients: neither kind is accepted in place of the other. */
const appType = 'at+jwt';

const appClaims = z.object({
  consent: z.string(),
  endpoint: z.string(),
  since: z.string().optional(),
  scope: z.string(),
  reach: z.object({ groups: z.array(z.string()), servers: z.array(z.string()) }).optional(),
});

/**
 * `iat` counts whole seconds, too coarse to tell a token issued just before a change of password from one issued just
 * after it; so the id begins with the millisecond. An id that contradicts `iat` is not ours.
 */
function issuedAtOf(jti: string | undefined, iat: number | undefined): number | undefined {
  const ms = Number.parseInt(jti?.split('.', 1)[0] ?? '', 36);
  return Math.floor(ms / 1000) === iat ? ms : undefined;
}

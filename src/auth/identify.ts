import { covers, managementApi } from '../core/access/endpoint.ts';
import { type Principal, principalOf, withPasswordAlone } from '../core/access/principal.ts';
import { mustSetUpFactor } from '../core/access/identity.ts';
import { memoizeLast } from '../core/memoize-last.ts';
import { putLast } from '../core/put-last.ts';
import type { KeySettings } from '../core/settings/key.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { UserSettings } from '../core/settings/user.ts';
import { findKey, isAcceptedFrom } from './keys.ts';
import type { LastUses, UsedId } from './last-uses.ts';
import { authLimits } from './limits.ts';
import type { ForwardedTokens } from './oidc/forwarded-tokens.ts';
import type { TrustedTokens } from './oidc/trusted-tokens.ts';
import type { AppClaims, Claims, Tokens } from './tokens.ts';

/** Headers as `node:http` gives them, names in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Who sent a request: `none` = no credential, `bad` = one that does not hold, which is refused even where anonymous is
 * welcome.
 */
export type Identified = Principal | 'none' | 'bad';

/**
 * Reads the credential of a request (CONTRACT §2): access keys and access tokens, each in any of the places clients put
 * them.
 */
export interface Identify {
  /**
   * `address` is where the request comes from, also behind trusted proxies. `queryToken` is `?token=`, given only by
   * the routes that allow it. The token of a client that a user let in is accepted only where `endpoint` is given: the
   * path of what is asked for, without `BASE_PATH`, which has to be within what the token is for. At `managementApi`
   * the client is its user, if the consent said so. The token of a trusted issuer is accepted at all but that. Of
   * several credentials the first counts: `Authorization`, the configured header, `x-auth-token`, `?token=`, and where
   * the request is `forwarded` the header of `auth.forwardAuth`. `forwarded`: it came through a proxy that may say who
   * sends it, and no page of another site caused it.
   */
  readonly identify: (
    headers: Headers,
    address: string | undefined,
    queryToken?: string,
    endpoint?: string,
    forwarded?: boolean,
  ) => Promise<Identified>;
  /** The same without waiting; undefined when a token has to be verified first. For the path of every MCP request. */
  readonly identifyNow: (
    headers: Headers,
    address: string | undefined,
    queryToken?: string,
    endpoint?: string,
    forwarded?: boolean,
  ) => Identified | undefined;
  /**
   * Whether a `forwarded` request that was identified is so by the token of the proxy: browsers send it along with each
   * request, as they do a cookie.
   */
  readonly isByProxy: (headers: Headers, queryToken?: string) => boolean;
  /**
   * When the sender of a request gave their password, in milliseconds since the epoch. To be called right after the
   * request was identified. Undefined for a credential that is no access token, and where the token of a proxy does not
   * say it.
   */
  readonly loggedInAt: (headers: Headers) => number | undefined;
  /** Whether a request comes from a command on the machine of the hub. To be called right after it was identified. */
  readonly isMadeHere: (headers: Headers) => boolean;
  /** Whom claims that were verified stand for; undefined when they do not hold any more, or are of a client. */
  readonly userOf: (claims: Claims) => Principal | undefined;
  /** The claims of the access token that a request carries, for logout; undefined for any other credential. */
  readonly claims: (headers: Headers) => Promise<Claims | undefined>;
}

export function createIdentify(options: {
  settings: () => Settings;
  tokens: Pick<Tokens, 'verify' | 'valid'>;
  trusted?: TrustedTokens;
  /** `auth.forwardAuth`. */
  proxied?: ForwardedTokens;
  /** Told of each use of a key or grant. Must not block. */
  used?: LastUses['note'];
}): Identify {
  const { settings, tokens, trusted, proxied, used } = options;
  // A valid signature stays valid; everything else about a token is checked each time.
  const verified = new Map<string, Claims>();

  function decide(
    credential: Credential,
    address: string | undefined,
    snapshot: Settings,
    endpoint?: string,
  ): Identified | undefined {
    if (credential.kind !== 'token') return credential.kind;
    const { token, byProxy } = credential;
    const forwarded = byProxy === undefined ? undefined : proxied?.known(token, snapshot);
    if (forwarded !== undefined) return forwarded;
    if (byProxy !== undefined && token.length > authLimits.tokenChars) return 'bad';
    if (byProxy === 'only') return looksLikeJwt(token) ? undefined : 'bad';
    const claims = verified.get(token);
    if (claims) return admitted(holder(claims, snapshot, endpoint), snapshot, endpoint);
    const issued = takesIssued(endpoint) ? trusted?.known(token, snapshot) : undefined;
    if (issued !== undefined) return issued;
    if (token.length > authLimits.tokenChars) return 'bad';
    const key = findKey(snapshot, token);
    if (key) return keyHolder(key, address, snapshot, used);
    return looksLikeJwt(token) ? undefined : 'bad';
  }

  function holder(claims: Claims, snapshot: Settings, endpoint?: string): Principal | 'bad' {
    const { app } = claims;
    if (app && !snapshot.system.oauthServer.enabled) return 'bad';
    if (app && !isFor(app, endpoint)) return 'bad';
    const user = accountsOf(snapshot).get(claims.username);
    if (!user || !tokens.valid(claims, user)) return 'bad';
    if (!app) return claims.secondFactor ? principalOf(user) : withPasswordAlone(user);
    if (app.principal.since !== user.createdAt) return 'bad';
    used?.(app.usedAs);
    return endpoint === managementApi ? principalOf(user, app.consent) : app.principal;
  }

  async function verify(token: string): Promise<Claims | undefined> {
    const claims = await tokens.verify(token);
    if (!claims) return undefined;
    putLast(verified, token, claims, authLimits.verifiedTokens);
    return claims;
  }

  return {
    identifyNow(headers, address, queryToken, endpoint, forwarded = false) {
      const snapshot = settings();
      return decide(credentialOf(headers, snapshot, queryToken, forwarded), address, snapshot, endpoint);
    },
    async identify(headers, address, queryToken, endpoint, forwarded = false) {
      const snapshot = settings();
      const credential = credentialOf(headers, snapshot, queryToken, forwarded);
      const known = decide(credential, address, snapshot, endpoint);
      if (known !== undefined || credential.kind !== 'token') return known ?? 'bad';
      const { token, byProxy } = credential;
      if (proxied && byProxy !== undefined && (byProxy === 'only' || proxied.isFor(token, snapshot)))
        return proxied.verify(token, address ?? 'unknown');
      const claims = await verify(token);
      if (claims) return admitted(holder(claims, settings(), endpoint), settings(), endpoint);
      return takesIssued(endpoint) && trusted ? trusted.verify(token, settings()) : 'bad';
    },
    isByProxy(headers, queryToken) {
      const credential = credentialOf(headers, settings(), queryToken, true);
      if (credential.kind !== 'token' || credential.byProxy !== 'any') return credential.byProxy === 'only';
      return !verified.has(credential.token) && proxied?.isFor(credential.token, settings()) === true;
    },
    loggedInAt: (headers) => loginTimeOf(credentialOf(headers, settings(), undefined, true), verified, proxied),
    isMadeHere: (headers) => claimsIn(credentialOf(headers, settings()), verified)?.madeHere === true,
    userOf(claims) {
      const who = claims.app ? 'bad' : holder(claims, settings());
      return who === 'bad' ? undefined : who;
    },
    async claims(headers) {
      const credential = credentialOf(headers, settings());
      if (credential.kind !== 'token' || !looksLikeJwt(credential.token)) return undefined;
      const claims = verified.get(credential.token) ?? (await verify(credential.token));
      return claims && holder(claims, settings()) !== 'bad' ? claims : undefined;
    },
  };
}

function claimsIn(credential: Credential, verified: ReadonlyMap<string, Claims>): Claims | undefined {
  return credential.kind === 'token' ? verified.get(credential.token) : undefined;
}

function loginTimeOf(
  credential: Credential,
  verified: ReadonlyMap<string, Claims>,
  proxied: ForwardedTokens | undefined,
): number | undefined {
  const claims = claimsIn(credential, verified);
  if (claims) return claims.app ? undefined : claims.issuedAt;
  if (credential.kind !== 'token' || credential.byProxy === undefined) return undefined;
  return proxied?.authenticatedAt(credential.token);
}

/** Who has to set up a second factor first does that below `/api`, where all else is refused (`http/frame/api.ts`). */
function admitted(who: Principal | 'bad', snapshot: Settings, endpoint: string | undefined): Principal | 'bad' {
  return who !== 'bad' && endpoint !== managementApi && mustSetUpFactor(snapshot, who) ? 'bad' : who;
}

function keyHolder(
  key: KeySettings,
  address: string | undefined,
  snapshot: Settings,
  used: LastUses['note'] | undefined,
): Principal | 'bad' {
  // A user's key is not accepted once its owner is gone.
  const isOwned = key.kind === 'system' || (key.owner !== undefined && accountsOf(snapshot).has(key.owner));
  if (!isOwned || !isAcceptedFrom(key, address)) return 'bad';
  used?.(useOf(key.id));
  return { kind: 'key', id: key.id };
}

/** The same text each time, of which V8 keeps the hash. */
const useOf = memoizeLast((id): UsedId => `key:${id}`);

function isFor({ endpoint, mayManage }: AppClaims, asked: string | undefined): boolean {
  if (asked === managementApi) return mayManage;
  return asked !== undefined && covers(endpoint, asked);
}

function takesIssued(endpoint: string | undefined): boolean {
  return endpoint !== undefined && endpoint !== managementApi;
}

type Credential = ({ readonly kind: 'none' | 'bad' } | { readonly kind: 'token'; readonly token: string }) & {
  /** It is where a proxy puts its own: `only` its own, or any. */
  readonly byProxy?: 'only' | 'any';
};

const none: Credential = { kind: 'none' };

/** `forwarded`: what a proxy says counts. */
function credentialOf(headers: Headers, settings: Settings, queryToken?: string, forwarded = false): Credential {
  const proxyHeader = forwarded ? settings.system.forwardAuth?.header : undefined;
  const authorization = fromHeader(headers['authorization'], ofAuthorization);
  if (authorization.kind !== 'none') return proxyHeader === 'authorization' ? orByProxy(authorization) : authorization;
  const name = settings.system.routing.bearerAuthHeaderName?.toLowerCase();
  const custom = name === undefined || name === 'authorization' ? none : fromHeader(headers[name], ofCustomHeader);
  if (custom.kind !== 'none') return proxyHeader === name ? orByProxy(custom) : custom;
  const other = fromHeader(headers['x-auth-token'], ofDashboards);
  const sent = other.kind === 'none' ? fromHeader(queryToken, ofDashboards) : other;
  if (sent.kind !== 'none' || proxyHeader === undefined || proxyHeader === 'authorization') return sent;
  return assertionIn(headers[proxyHeader]);
}

function orByProxy(found: Credential): Credential {
  return found.kind === 'token' ? { ...found, byProxy: 'any' } : found;
}

/** What a proxy says in a header of its own: one token, or nothing. Of two it could be that a client wrote one. */
function assertionIn(value: string | string[] | undefined): Credential {
  if (value === undefined || value === '') return none;
  const token = typeof value === 'string' ? /^(?:bearer\s+)?(\S+)$/i.exec(value.trim())?.[1] : undefined;
  return token === undefined ? { kind: 'bad', byProxy: 'only' } : { kind: 'token', token, byProxy: 'only' };
}

/** What a header is that has no token: `Bearer` and nothing behind it, and a text that is no `Bearer` and no token. */
interface Without {
  readonly empty: 'none' | 'bad';
  readonly foreign: 'none' | 'bad';
}

/** Other schemes (`Basic` of a proxy before the hub) are not ours. */
const ofAuthorization: Without = { empty: 'bad', foreign: 'none' };
const ofCustomHeader: Without = { empty: 'bad', foreign: 'bad' };
/** They send an empty `x-auth-token` or `?token=` when no user is logged in. */
const ofDashboards: Without = { empty: 'none', foreign: 'bad' };

/**
 * Reads a header, or remembers how it was read: all calls of a client bring the same one. Of two headers
 * `Authorization` Node has the first; any other that is there twice is one text, with a comma.
 */
function fromHeader(value: string | string[] | undefined, without: Without): Credential {
  const text = typeof value === 'string' ? value : value?.join(', ');
  if (text === undefined) return none;
  const place = placeOf(text);
  const known = lately[place];
  if (known?.text === text) return known.credential;
  const credential = credentialIn(text.trim(), without);
  if (credential.kind === 'token' && text.length <= authLimits.tokenChars) lately[place] = { text, credential };
  return credential;
}

/**
 * Headers that held a token, by what is near their ends. The token read out of one is the same string for each request,
 * and V8 keeps the hash of a string that tables look up: hashing a long token takes two microseconds.
 */
const lately = Array.from<{ readonly text: string; readonly credential: Credential } | undefined>({
  length: authLimits.headersReadLately,
});

/** The last character of a signature has few values; the two before it have 4 096 together. */
function placeOf(text: string): number {
  const end = text.length;
  return end < 3 ? 0 : (text.charCodeAt(end - 2) * 64 + text.charCodeAt(end - 3)) % authLimits.headersReadLately;
}

/**
 * `Bearer <token>`, or the bare token as many clients are configured with; spaces around it come from pasting. `Bearer`
 * without a token is a variable that was never set: `bad`, so that the user notices it.
 */
function credentialIn(text: string, { empty, foreign }: Without): Credential {
  if (text === '') return none;
  const space = text.search(/\s/);
  if (text.slice(0, space === -1 ? undefined : space).toLowerCase() === 'bearer') {
    const token = space === -1 ? '' : text.slice(space).trim();
    return token === '' ? { kind: empty } : { kind: 'token', token };
  }
  return space === -1 ? { kind: 'token', token: text } : { kind: foreign };
}

function looksLikeJwt(token: string): boolean {
  return token.startsWith('eyJ') && token.split('.', 4).length === 3;
}

const accounts = new WeakMap<readonly UserSettings[], ReadonlyMap<string, UserSettings>>();

/** Settings are immutable snapshots, so the users of one are looked through once. */
function accountsOf({ users }: Settings): ReadonlyMap<string, UserSettings> {
  let index = accounts.get(users);
  if (!index) {
    index = new Map(users.map((user) => [user.username, user]));
    accounts.set(users, index);
  }
  return index;
}

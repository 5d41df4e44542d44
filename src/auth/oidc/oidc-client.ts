import type { Configuration } from 'openid-client';
import { errorText, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { OidcProvider } from '../../core/settings/login.ts';
import { putLast } from '../../core/put-last.ts';
import { createEventSampler, suppressedFields } from '../event-sampler.ts';
import { authLimits } from '../limits.ts';
import { claimTexts } from './claims.ts';
import { isFromFuture } from './issued-jwt.ts';
import { checkAnswer, loginFailure } from './login-failure.ts';
import { providerFetch } from './provider-fetch.ts';

/** What a browser is sent to a provider with, and what its answer has to fit. */
export interface OidcRequest {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  /** The person has to log in there again, and the ID token has to say that they did. */
  readonly fresh: boolean;
}

/** Who logged in at a provider. */
export interface OidcPerson {
  readonly issuer: string;
  readonly subject: string;
  /** The session there, for back-channel logout. */
  readonly sid: string | undefined;
  readonly username: string | undefined;
  /** Only one that the provider has verified. */
  readonly email: string | undefined;
  /** Values of the groups claim. */
  readonly values: readonly string[];
  /** When the person last logged in there, in milliseconds since the epoch; undefined where the ID token has none. */
  readonly authenticatedAt: number | undefined;
  /** By which the provider can be asked again, where it gave one. */
  readonly refreshToken: string | undefined;
}

/** What a provider says of a person who logged in before. */
export interface Refreshed {
  /** Undefined: it said nothing of the person. */
  readonly person: OidcPerson | undefined;
  readonly refreshToken: string;
}

/** The hub as client of the providers (OpenID Connect Core, code flow with PKCE). */
export interface OidcClient {
  /** Where to send the browser. `fresh`: the person has to log in there again. */
  begin(provider: OidcProvider, redirectUri: string, fresh: boolean): Promise<OidcRequest & { url: string }>;
  /**
   * Redeems what the browser came back with. Throws HubError `invalid_input` for an answer that no provider sent or a
   * code that is over, `upstream_unavailable` while the provider is away, `upstream_failed` for what does not hold.
   */
  finish(provider: OidcProvider, answer: URLSearchParams, request: OidcRequest): Promise<OidcPerson>;
  /**
   * Asks again who a person is. `over`: the provider says that the login there has ended. Throws HubError
   * `upstream_failed` where it cannot be asked, or its answer does not hold.
   */
  refresh(provider: OidcProvider, subject: string, refreshToken: string): Promise<Refreshed | 'over'>;
}

interface Known {
  readonly settings: string;
  readonly at: number;
  readonly configuration: Promise<Configuration>;
  hasFailed: boolean;
}

/** `secretOf`: the client secret with its variables filled in. */
export function createOidcClient(options: {
  secretOf: (provider: OidcProvider) => string | undefined;
  log: Logger;
  now?: () => number;
}): OidcClient {
  const { secretOf, log, now = Date.now } = options;
  const known = new Map<string, Known>();
  // Strangers cause them, with answers of their own.
  const sampler = createEventSampler({ each: authLimits.accountToldOfKind });

  /** The metadata of the provider, kept for a while; after a failure they are asked for again soon. */
  async function configurationOf(provider: OidcProvider): Promise<Configuration> {
    const settings = JSON.stringify([provider.issuer, provider.clientId, secretOf(provider)]);
    let entry = known.get(provider.id);
    const age = now() - (entry?.at ?? 0);
    const isOver = age >= (entry?.hasFailed ? authLimits.issuerKeysPauseMs : authLimits.providerFreshMs);
    if (!entry || entry.settings !== settings || isOver) {
      const made: Known = {
        settings,
        at: now(),
        configuration: discover(provider, secretOf(provider)),
        hasFailed: false,
      };
      made.configuration.catch(() => (made.hasFailed = true));
      putLast(known, provider.id, (entry = made), authLimits.issuers);
    }
    return entry.configuration;
  }

  /** Errors of the library and of the provider are for the log, not for the page. */
  async function attempt<T>(provider: OidcProvider, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof HubError) throw error;
      const told = sampler(provider.id);
      const about = { provider: provider.id, error: causes(error) };
      if (told) log.warn('login at a provider failed', { ...about, ...suppressedFields(told) });
      throw loginFailure(error, provider);
    }
  }

  return {
    begin: (provider, redirectUri, fresh) =>
      attempt(provider, async () => {
        const oidc = await import('openid-client');
        const configuration = await configurationOf(provider);
        const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
        const url = oidc.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: provider.scopes.join(' '),
          state,
          nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(fresh && { prompt: 'login', max_age: '0' }),
        });
        return { state, nonce, verifier, redirectUri, fresh, url: url.href };
      }),
    finish: (provider, answer, { state, nonce, verifier, redirectUri, fresh }) =>
      attempt(provider, async () => {
        const oidc = await import('openid-client');
        const configuration = await configurationOf(provider);
        checkAnswer(answer, provider, configuration.serverMetadata());
        const back = new URL(`${redirectUri}?${answer.toString()}`);
        const checks = {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
          // Requires `auth_time`, which may be as old as `clockTolerance`.
          ...(fresh && { maxAge: 0 }),
        };
        const tokens = await oidc.authorizationCodeGrant(configuration, back, checks);
        const claims = tokens.claims();
        if (!claims) throw new Error('no ID token');
        if (isFromFuture(claims, now())) throw new Error('the ID token says that it was issued in the future');
        if (claims.sub === '' || claims.sub.length > authLimits.subjectChars) throw new Error('no usable subject');
        return saidOf(provider, configuration, tokens, claims);
      }),
    refresh: (provider, subject, refreshToken) =>
      attempt(provider, async () => {
        const configuration = await configurationOf(provider);
        return refreshedAt({ provider, configuration, now: now() }, subject, refreshToken);
      }),
  };
}

interface Asking {
  readonly provider: OidcProvider;
  readonly configuration: Configuration;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

async function refreshedAt(
  { provider, configuration, now }: Asking,
  subject: string,
  refreshToken: string,
): Promise<Refreshed | 'over'> {
  const oidc = await import('openid-client');
  try {
    const tokens = await oidc.refreshTokenGrant(configuration, refreshToken);
    const said = tokens.claims();
    const claims = said ?? { sub: subject };
    // OpenID Connect Core §12.2.
    if (claims.sub !== subject) throw new Error('the ID token is of another person');
    if (said && isFromFuture(said, now)) throw new Error('the ID token says that it was issued in the future');
    const canSay = said !== undefined || configuration.serverMetadata().userinfo_endpoint !== undefined;
    const person = canSay ? await saidOf(provider, configuration, tokens, claims) : undefined;
    return { person, refreshToken: tokens.refresh_token ?? refreshToken };
  } catch (error) {
    if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant') return 'over';
    throw error;
  }
}

/** Who it is, by the ID token and, where that does not say all, by what the provider says besides. */
async function saidOf(
  provider: OidcProvider,
  configuration: Configuration,
  tokens: { readonly access_token: string; readonly refresh_token?: string | undefined },
  claims: Readonly<Record<string, unknown>> & { readonly sub: string; readonly auth_time?: number },
): Promise<OidcPerson> {
  const oidc = await import('openid-client');
  const wanted = [provider.usernameClaim, provider.groupsClaim, 'email'];
  const hasAll = wanted.every((name) => claimTexts(claims, name).length > 0);
  const asksMore = !hasAll && configuration.serverMetadata().userinfo_endpoint !== undefined;
  const more = asksMore ? await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub) : {};
  const [email] = [claims, more].flatMap(verifiedEmail);
  return {
    ...personOf(provider, { ...more, ...claims }),
    email,
    authenticatedAt: authenticatedAtOf(claims),
    refreshToken: tokens.refresh_token,
  };
}

async function discover({ issuer, clientId }: OidcProvider, secret: string | undefined): Promise<Configuration> {
  const oidc = await import('openid-client');
  const method = secret === undefined ? oidc.None() : undefined;
  const metadata = {
    [oidc.clockTolerance]: authLimits.clockToleranceMs / 1_000,
    ...(secret && { client_secret: secret }),
  };
  return oidc.discovery(new URL(issuer), clientId, metadata, method, {
    [oidc.customFetch]: (address, { method, headers, body }) =>
      providerFetch(address, { method, headers, body: body instanceof URLSearchParams ? body.toString() : undefined }),
    execute: [
      // The signature is checked although the token comes straight from the provider.
      oidc.enableNonRepudiationChecks,
      ...(issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : []),
    ],
  });
}

function personOf(
  provider: OidcProvider,
  claims: Readonly<Record<string, unknown>>,
): Omit<OidcPerson, 'authenticatedAt' | 'email' | 'refreshToken'> {
  const [username] = claimTexts(claims, provider.usernameClaim);
  const [sid] = claimTexts(claims, 'sid');
  return {
    issuer: provider.issuer,
    subject: String(claims['sub']),
    sid,
    username,
    values: claimTexts(claims, provider.groupsClaim),
  };
}

/** The address that one answer of the provider says it has verified; another answer may be about another address. */
function verifiedEmail(said: Readonly<Record<string, unknown>>): string[] {
  const emails = said['email_verified'] === true ? claimTexts(said, 'email') : [];
  return emails.map((email) => email.slice(0, authLimits.subjectChars));
}

/** Of the ID token alone, which is signed. */
function authenticatedAtOf({ auth_time: seconds }: { readonly auth_time?: number }): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** The library says in `cause` what it is about. */
function causes(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${errorText(error)}${cause}`;
}

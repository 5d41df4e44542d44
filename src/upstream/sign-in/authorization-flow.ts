import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  computeScopeUnion,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  type OAuthClientInformationMixed,
  OAuthError,
  type OAuthProtectedResourceMetadata,
  type OAuthTokens as WireTokens,
  refreshAuthorization,
  registerClient,
  RegistrationRejectedError,
  resolveClientMetadata,
  resourceUrlFromServerUrl,
  selectClientAuthMethod,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { HubError } from '../../core/errors.ts';
import { type Reason, reasonWords } from '../../core/reasons.ts';
import type { OAuthSettings } from '../../core/settings/server.ts';
import { upstreamLimits } from '../limits.ts';
import { type Authority, type Fetch, isFailureCode, OAuthFailure } from './authorization-server.ts';
import type { OAuthTokens } from './grants.ts';
import { clientMetadata, type OAuthClient } from './oauth-client.ts';

// The steps of a sign-in (OAuth 2.1), from finding the authorization server to giving tokens back, as the official
// client does them. But for `discover` they throw what it throws, which may quote tokens: pass it through `refusalOf`
// before it is shown or logged.

export interface Wanted {
  readonly server: string;
  readonly url: URL;
  readonly oauth: OAuthSettings;
  /** `WWW-Authenticate` of the answer that asked for authorization. */
  readonly challenge: string | undefined;
  /** What an earlier sign-in was granted, asked for again with what is new. */
  readonly heldScope: string | undefined;
  readonly fetch: Fetch;
}

/**
 * Finds the authorization server of an MCP server (RFC 9728, then RFC 8414 or OpenID Connect Discovery), what to ask it
 * for, and what resource it is about. Throws HubError when there is none, or when what is found does not fit together.
 */
export async function discover(wanted: Wanted): Promise<Authority> {
  const attempt = `Cannot sign in to server "${wanted.server}"`;
  try {
    const challenge = readChallenge(wanted.challenge);
    const about = await resourceMetadata(wanted, challenge.metadataUrl);
    const issuer = wanted.oauth.issuer ?? about?.authorization_servers?.[0] ?? `${wanted.url.origin}/`;
    const metadata = await authorityMetadata(issuer, wanted.oauth, wanted.fetch);
    if (!metadata) throw noSignIn(wanted.url);
    checkPkce(metadata, wanted.oauth);
    const named = wanted.oauth.scopes?.join(' ');
    const asked = named ?? challenge.scope ?? about?.scopes_supported?.join(' ');
    const scope = computeScopeUnion(
      wanted.heldScope,
      asked,
      named === undefined ? offline(asked, metadata) : undefined,
    );
    return { issuer: metadata.issuer, metadata, resource: wanted.oauth.resource ?? about?.resource, scope };
  } catch (error) {
    throw refusalOf(error, attempt);
  }
}

/**
 * What an authorization server says about itself now; what the settings say instead wins. Undefined when it says
 * nothing.
 */
export async function authorityMetadata(
  issuer: string,
  oauth: OAuthSettings,
  fetch: Fetch,
): Promise<AuthorizationServerMetadata | undefined> {
  const { authorizationEndpoint, tokenEndpoint, revocationEndpoint, registrationEndpoint } = oauth;
  const known =
    authorizationEndpoint !== undefined && tokenEndpoint !== undefined
      ? { issuer, response_types_supported: ['code'] }
      : await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  if (!known) return undefined;
  const metadata = {
    ...known,
    ...(authorizationEndpoint !== undefined && { authorization_endpoint: authorizationEndpoint }),
    ...(tokenEndpoint !== undefined && { token_endpoint: tokenEndpoint }),
    ...(revocationEndpoint !== undefined && { revocation_endpoint: revocationEndpoint }),
    ...(registrationEndpoint !== undefined && { registration_endpoint: registrationEndpoint }),
  } as AuthorizationServerMetadata;
  for (const member of ['authorization_endpoint', 'token_endpoint'] as const) checkEndpoint(member, metadata[member]);
  return metadata;
}

/** Registers the hub (RFC 7591). */
export async function register(
  { issuer, metadata, scope }: Authority,
  redirectUri: string,
  initialAccessToken: string | undefined,
  fetch: Fetch,
): Promise<OAuthClient> {
  if (metadata.registration_endpoint === undefined) {
    throw new HubError(
      'upstream_failed',
      'its authorization server does not register clients by itself. Register the hub there by hand and set oauth.clientId.',
    );
  }
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['none'];
  const method = ['none', 'client_secret_basic', 'client_secret_post'].find((known) => methods.includes(known));
  const own = { ...clientMetadata(redirectUri), ...(method !== undefined && { token_endpoint_auth_method: method }) };
  const authorized: Fetch = (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (initialAccessToken !== undefined) headers.set('authorization', `Bearer ${initialAccessToken}`);
    return fetch(url, { ...init, headers });
  };
  const made = await registerClient(issuer, {
    metadata,
    clientMetadata: resolveClientMetadata({ clientMetadata: own, redirectUrl: redirectUri }),
    ...(scope !== undefined && { scope }),
    fetchFn: authorized,
  });
  const { client_id, client_secret, token_endpoint_auth_method, client_secret_expires_at: ends = 0 } = made;
  return {
    id: client_id,
    secret: client_secret,
    authMethod: token_endpoint_auth_method,
    redirectUri,
    kind: 'registered',
    ...(ends > 0 && { expiresAt: ends * 1_000 }),
  };
}

/** The address that a user has to open, and the secret half of its PKCE challenge (S256). */
export async function authorizationUrl(
  { issuer, metadata, resource, scope }: Authority,
  client: OAuthClient,
  state: string,
): Promise<{ url: string; verifier: string }> {
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
    metadata,
    clientInformation: information(client),
    redirectUrl: client.redirectUri,
    state,
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
  });
  return { url: authorizationUrl.href, verifier: codeVerifier };
}

/** Checks who an answer is from (RFC 9207), before anything else in it is looked at. */
export function checkIssuer({ metadata }: Authority, iss: string | undefined): void {
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata.issuer,
    issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
  });
}

/** Exchanges the code of an answer for tokens. */
export async function redeem(
  authority: Authority,
  client: OAuthClient,
  answer: { readonly code: string; readonly iss: string | undefined; readonly verifier: string },
  fetch: Fetch,
): Promise<OAuthTokens> {
  const { issuer, metadata, resource, scope } = authority;
  const wire = await exchangeAuthorization(issuer, {
    metadata,
    clientInformation: information(client),
    authorizationCode: answer.code,
    codeVerifier: answer.verifier,
    redirectUri: client.redirectUri,
    fetchFn: fetch,
    ...(answer.iss !== undefined && { iss: answer.iss }),
    ...(resource !== undefined && { resource }),
  });
  return tokensOf(wire, { scope });
}

/** New tokens for old. The refresh token may be a new one (rotation). */
export async function renew(
  { issuer, metadata, resource }: Authority,
  client: OAuthClient,
  old: OAuthTokens & { readonly refresh: string },
  fetch: Fetch,
): Promise<OAuthTokens> {
  const wire = await refreshAuthorization(issuer, {
    metadata,
    clientInformation: information(client),
    refreshToken: old.refresh,
    fetchFn: fetch,
    ...(resource !== undefined && { resource }),
  });
  return tokensOf(wire, old);
}

/** Asks the authorization server to forget a token (RFC 7009). */
export async function revoke(
  metadata: AuthorizationServerMetadata,
  client: OAuthClient,
  token: { readonly hint: 'access_token' | 'refresh_token'; readonly value: string },
  fetch: Fetch,
): Promise<void> {
  // The type for OpenID Connect does not know it, its documents have it.
  const { revocation_endpoint: endpoint } = metadata as { revocation_endpoint?: string };
  if (endpoint === undefined) return;
  if (new URL(endpoint).protocol !== new URL(metadata.token_endpoint).protocol)
    throw new HubError('upstream_failed', 'the revocation endpoint has no https address.');
  const body = new URLSearchParams({ token: token.value, token_type_hint: token.hint });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' });
  const method = selectClientAuthMethod(information(client), metadata.token_endpoint_auth_methods_supported ?? []);
  if (method === 'client_secret_basic') {
    const pair = `${encodeURIComponent(client.id)}:${encodeURIComponent(client.secret ?? '')}`;
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  } else {
    body.set('client_id', client.id);
    if (client.secret !== undefined) body.set('client_secret', client.secret);
  }
  const answer = await fetch(endpoint, { method: 'POST', headers, body });
  if (answer.status !== 200) throw new HubError('upstream_failed', `the revocation was answered ${answer.status}.`);
}

function information({ id, secret, authMethod }: OAuthClient): OAuthClientInformationMixed {
  return {
    client_id: id,
    ...(secret !== undefined && { client_secret: secret }),
    ...(authMethod !== undefined && { token_endpoint_auth_method: authMethod }),
  };
}

function tokensOf(wire: WireTokens, before: Pick<OAuthTokens, 'scope' | 'refresh'>): OAuthTokens {
  if (wire.token_type.toLowerCase() !== 'bearer' || !/^[\x21-\x7e]+$/.test(wire.access_token))
    throw new HubError('upstream_failed', 'the authorization server gave a token of a kind the hub cannot send.');
  const now = Date.now();
  const lifetimeMs = wire.expires_in === undefined ? undefined : wire.expires_in * 1_000;
  return {
    access: wire.access_token,
    refresh: wire.refresh_token ?? before.refresh,
    scope: wire.scope ?? before.scope,
    ...(lifetimeMs !== undefined && {
      expiresAt: now + lifetimeMs,
      renewAt: now + lifetimeMs - Math.min(upstreamLimits.tokenSpareMs, lifetimeMs / 4),
    }),
  };
}

/**
 * What went wrong between the hub and an authorization server, as something that may be shown. The official client's
 * errors quote whole bodies, which may hold tokens, so of them nothing is kept but their kind and the code; that code
 * is the `cause`. `told` is the part that callers are told.
 */
export function refusalOf(error: unknown, attempt: string, told?: string): HubError {
  const more = told === undefined ? {} : { told };
  if (error instanceof HubError) {
    const { code, message, cause, reason } = error;
    const text = message.startsWith(attempt) ? message : `${attempt}: ${message}`;
    return new HubError(code, text, { cause, reason, ...more });
  }
  const code = error instanceof OAuthError && isFailureCode(error.code) ? error.code : undefined;
  // What the client makes of a body that is no OAuth error.
  const failed = code !== undefined && code !== 'server_error' ? new OAuthFailure(code) : undefined;
  return new HubError('upstream_failed', `${attempt}: ${reason(error, code)}`, { cause: failed, ...more });
}

function reason(error: unknown, code: string | undefined): string {
  if (code !== undefined) return `the authorization server refused (${code}).${advice.get(code) ?? ''}`;
  if (error instanceof IssuerMismatchError) {
    return error.kind === 'metadata'
      ? 'what its authorization server says about itself is about another one, so it is not believed.'
      : 'the answer came from another authorization server than the one asked, so it is not believed.';
  }
  if (error instanceof InsecureTokenEndpointError)
    return 'the token endpoint has no https address, and tokens are not sent in clear.';
  if (error instanceof RegistrationRejectedError)
    return `the authorization server does not let the hub register itself (${error.status}). Register it by hand and set oauth.clientId.`;
  return 'the authorization server answered with something else than OAuth asks for.';
}

const advice = new Map([
  ['invalid_client', ' It does not know the hub: check oauth.clientId and oauth.clientSecret.'],
  ['unauthorized_client', ' The client of the hub may not do this: check its registration.'],
  ['invalid_scope', ' Check oauth.scopes.'],
  ['invalid_target', ' Check oauth.resource.'],
]);

/**
 * MCP (2025-11-25, Authorization Code Protection): an authorization server that does not announce S256 is taken for one
 * without PKCE, and there is no sign-in. Where it announces no methods at all, it is accepted if the settings name both
 * endpoints or give the method.
 */
function checkPkce({ code_challenge_methods_supported: methods }: AuthorizationServerMetadata, oauth: OAuthSettings) {
  const vouched =
    oauth.codeChallengeMethod === 'S256' ||
    (oauth.authorizationEndpoint !== undefined && oauth.tokenEndpoint !== undefined);
  if (methods === undefined ? vouched : methods.includes('S256')) return;
  throw new HubError(
    'upstream_failed',
    methods === undefined
      ? 'its authorization server does not say that it protects sign-ins by PKCE (code_challenge_methods_supported). If you know that it does, set oauth.codeChallengeMethod to "S256".'
      : 'its authorization server does not do PKCE with S256, which MCP requires.',
  );
}

/** The authorization endpoint is shown to people as a link, the other gets secrets. */
function checkEndpoint(member: string, address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isHere = url !== undefined && /^(localhost|.+\.localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere)) return;
  throw new HubError('upstream_failed', `the ${member} of its authorization server has no https address.`);
}

/** The server's own word about who guards it (RFC 9728); undefined when it says nothing. */
async function resourceMetadata(
  { url, fetch, oauth }: Wanted,
  metadataUrl: URL | undefined,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  // What another origin says is not the server's own statement: it may be an address that the hub should not send
  // requests to.
  const own = metadataUrl?.origin === url.origin ? { resourceMetadataUrl: metadataUrl } : {};
  let status = 0;
  const watched: Fetch = async (address, init) => {
    const answer = await fetch(address, init);
    status = answer.status;
    return answer;
  };
  let about: OAuthProtectedResourceMetadata;
  try {
    about = await discoverOAuthProtectedResourceMetadata(url, own, watched);
  } catch (error) {
    if (status >= 400 && status < 500) return undefined;
    throw error;
  }
  const requestedResource = resourceUrlFromServerUrl(url);
  if (
    oauth.resource === undefined &&
    !checkResourceAllowed({ requestedResource, configuredResource: about.resource })
  ) {
    throw new HubError(
      'upstream_failed',
      'its metadata are about another resource than its own address, so they are not believed.',
    );
  }
  return about;
}

function readChallenge(challenge: string | undefined): { metadataUrl?: URL | undefined; scope?: string | undefined } {
  // Servers may offer other schemes before the one that counts here.
  const bearer = /(?:^|[\s,])((?:Bearer|DPoP)\s.*)$/is.exec(challenge ?? '')?.[1];
  if (bearer === undefined || !/^[\t\x20-\x7e]*$/.test(bearer)) return {};
  const response = new Response(null, { headers: { 'www-authenticate': bearer } });
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { metadataUrl: resourceMetadataUrl, scope };
}

/** Without it some authorization servers give no refresh token, and a user would have to sign in every hour. */
function offline(asked: string | undefined, { scopes_supported: known }: AuthorizationServerMetadata) {
  return asked !== undefined && known?.includes('offline_access') === true ? 'offline_access' : undefined;
}

function noSignIn({ origin, pathname }: URL): HubError {
  const reason: Reason = { code: 'no_sign_in', values: { where: `${origin}${pathname}` } };
  const { text, advice } = reasonWords(reason);
  return new HubError('upstream_failed', `${text} ${advice}`, { reason });
}

import {
  type AuthorizationServerMetadata,
  exchangeAuthorization,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  type OAuthClientInformationMixed,
  OAuthError,
  type OAuthTokens as WireTokens,
  refreshAuthorization,
  RegistrationRejectedError,
  selectClientAuthMethod,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { HubError } from '../../core/errors.ts';
import { upstreamLimits } from '../limits.ts';
import { type Authority, type Fetch, isFailureCode, OAuthFailure } from './authorization-server.ts';
import type { OAuthTokens } from './grants.ts';
import type { OAuthClient } from './oauth-client.ts';

// The steps of a sign-in (OAuth 2.1) as the official client does them. They throw what it throws, which may quote
// tokens: pass it through `refusalOf` before it is shown or logged.

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

import {
  type AuthorizationServerMetadata,
  exchangeAuthorization,
  type OAuthClientInformationMixed,
  type OAuthTokens as WireTokens,
  refreshAuthorization,
  registerClient,
  resolveClientMetadata,
  selectClientAuthMethod,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { HubError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import { clientMetadata, type OAuthClient } from './oauth-client.ts';
import type { Authority, OAuthTokens } from './grants.ts';
import type { Fetch } from './guarded-fetch.ts';

/**
 * The steps of OAuth 2.1 as the official client does them. They throw what it throws, which may quote tokens: pass it
 * through `refusalOf` before it is shown or logged.
 */
export { authorityMetadata, discover } from './discovery.ts';
export { refusalOf } from './refusal.ts';

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
      'its authorization server lets nobody register by themselves. Register the hub there by hand and set oauth.clientId.',
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
      renewAt: now + lifetimeMs - Math.min(limits.tokenSpareMs, lifetimeMs / 4),
    }),
  };
}

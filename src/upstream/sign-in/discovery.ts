import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  computeScopeUnion,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  type OAuthProtectedResourceMetadata,
  registerClient,
  resolveClientMetadata,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import { HubError } from '../../core/errors.ts';
import { type Reason, reasonWords } from '../../core/reasons.ts';
import type { OAuthSettings } from '../../core/settings/server.ts';
import type { Authority, Fetch } from './authorization-server.ts';
import { clientMetadata, type OAuthClient } from './oauth-client.ts';
import { refusalOf } from './authorization-flow.ts';

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

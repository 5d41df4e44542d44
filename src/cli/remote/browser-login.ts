import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { spawn } from 'node:child_process';
import {
  type AuthorizationServerMetadata,
  discoverAuthorizationServerMetadata,
  exchangeAuthorization,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  type OAuthTokens,
  RegistrationRejectedError,
  refreshAuthorization,
  registerClient,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { deferred } from '../../core/deferred.ts';
import { HubError } from '../../core/errors.ts';
import type { UserEnv } from '../../env/user-env.ts';
import { cliLimits } from '../limits.ts';
import { oneLine, say } from '../terminal.ts';
import type { OAuthCredential } from './credential-file.ts';
import type { HubConnection } from './hub-connection.ts';

const wantedScope = 'mcp api';

interface Returned {
  readonly code: string;
  readonly iss: string | undefined;
}

/**
 * Logs in with the hub's own authorization server (OAuth 2.1, PKCE): a browser shows its page, and answers at a port of
 * this machine. The address is printed in any case: the browser may be one that this program cannot open.
 */
export async function logInByBrowser(hub: HubConnection, env: UserEnv, opens: boolean): Promise<OAuthCredential> {
  const metadata = await authorizationServer(hub);
  const { issuer } = metadata;
  const state = randomBytes(24).toString('base64url');
  const loopback = await openLoopback(state);
  try {
    const { redirectUri } = loopback;
    const client = await registerClient(issuer, {
      metadata,
      clientMetadata: {
        client_name: `toolhub command on ${hostname()}`.slice(0, 100),
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      fetchFn: hub.fetch,
    });
    const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
      metadata,
      clientInformation: client,
      redirectUrl: redirectUri,
      scope: wantedScope,
      state,
    });
    const opened = opens && env.hasDisplay && openBrowser(authorizationUrl.href, env);
    say(`${opened ? 'Log in in the browser. If none opens, use this address:' : 'Open this address in a browser:'}\n`);
    say(`  ${authorizationUrl.href}\n`);
    const { code, iss } = await loopback.returned;
    validateAuthorizationResponseIssuer({ iss, expectedIssuer: issuer, issParameterSupported: true });
    const tokens = await exchangeAuthorization(issuer, {
      metadata,
      clientInformation: client,
      authorizationCode: code,
      codeVerifier,
      redirectUri,
      ...(iss !== undefined && { iss }),
      fetchFn: hub.fetch,
    });
    return {
      version: 1,
      kind: 'oauth',
      hub: hub.url,
      clientId: client.client_id,
      tokenEndpoint: metadata.token_endpoint,
      revocationEndpoint: (metadata as { revocation_endpoint?: string }).revocation_endpoint,
      ...kept(tokens, wantedScope),
    };
  } catch (error) {
    throw refusal(hub.url, error);
  } finally {
    loopback.close();
  }
}

/** New tokens for old; the refresh token is a new one each time. Throws HubError; `unauthenticated`: log in again. */
export async function renewed(credential: OAuthCredential, hub: HubConnection): Promise<OAuthCredential> {
  const { clientId, refresh, tokenEndpoint } = credential;
  if (refresh === undefined) throw loginOver(hub.url);
  const issuer = new URL(hub.url).origin;
  const metadata = { issuer, token_endpoint: tokenEndpoint } as AuthorizationServerMetadata;
  try {
    const tokens = await refreshAuthorization(issuer, {
      metadata,
      clientInformation: { client_id: clientId },
      refreshToken: refresh,
      fetchFn: hub.fetch,
    });
    return { ...credential, ...kept(tokens, credential.scope, refresh) };
  } catch (error) {
    const code = error instanceof OAuthError ? error.code : '';
    throw code === 'invalid_grant' || code === 'invalid_client' ? loginOver(hub.url) : refusal(hub.url, error);
  }
}

/** Has the hub forget a login. */
export async function revoked(credential: OAuthCredential, hub: HubConnection): Promise<void> {
  const { revocationEndpoint, clientId, refresh, access } = credential;
  if (revocationEndpoint === undefined) return;
  const body = new URLSearchParams({ token: refresh ?? access, client_id: clientId });
  const signal = AbortSignal.timeout(cliLimits.hubAnswerMs);
  const answer = await hub.fetch(revocationEndpoint, { method: 'POST', body, signal });
  if (!answer.ok) throw new HubError('upstream_failed', `the hub answered ${answer.status}`);
}

export function loginOver(url: string): HubError {
  const text = `The login at ${url} is over. Log in again: toolhub login ${url}`;
  return new HubError('misconfigured', text);
}

function kept(tokens: OAuthTokens, scope: string, refresh?: string) {
  return {
    access: tokens.access_token,
    refresh: tokens.refresh_token ?? refresh,
    expiresAt: Date.now() + (tokens.expires_in ?? 3600) * 1000,
    scope: tokens.scope ?? scope,
  };
}

/** Nothing is sent to another origin than the one that the user named. */
async function authorizationServer(hub: HubConnection): Promise<AuthorizationServerMetadata> {
  const { origin } = new URL(hub.url);
  const metadata = await discoverAuthorizationServerMetadata(origin, { fetchFn: hub.fetch }).catch((error: unknown) => {
    throw refusal(hub.url, error);
  });
  if (metadata === undefined)
    throw new HubError(
      'upstream_failed',
      `The hub at ${hub.url} offers no login by browser. Log in with --username, or have an admin switch systemConfig.oauthServer on.`,
    );
  const { revocation_endpoint: revocation } = metadata as { revocation_endpoint?: string };
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  for (const endpoint of [authorization_endpoint, token_endpoint, registration_endpoint, revocation])
    if (endpoint !== undefined && (!URL.canParse(endpoint) || new URL(endpoint).origin !== origin))
      throw new HubError(
        'upstream_failed',
        `The hub at ${hub.url} wants the login to happen at ${oneLine(endpoint, 200)}. Name the hub by that address.`,
      );
  return metadata;
}

interface Loopback {
  readonly redirectUri: string;
  readonly returned: Promise<Returned>;
  close(): void;
}

/** Waits at a free port of this machine for the browser to come back (RFC 8252 §7.3). Others may knock there too. */
async function openLoopback(state: string): Promise<Loopback> {
  const { promise: returned, resolve, reject } = deferred<Returned>();
  // It may fail before it is waited for, which must not end the process.
  returned.catch(() => undefined);
  const server: Server = createServer((request, answer) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const isAnswer = request.method === 'GET' && pathname === '/callback' && searchParams.get('state') === state;
    const [code, error] = [searchParams.get('code'), searchParams.get('error')];
    const text = !isAnswer
      ? 'This is not the answer that the toolhub command waits for.'
      : code === null
        ? 'Not logged in. You can close this window.'
        : 'Logged in. You can close this window.';
    answer.writeHead(isAnswer ? 200 : 400, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      connection: 'close',
    });
    answer.end(`${text}\n`);
    if (!isAnswer) return;
    const iss = searchParams.get('iss') ?? undefined;
    if (code !== null) resolve({ code, iss });
    else
      reject(
        new HubError(
          'forbidden',
          `Not logged in: ${error === 'access_denied' ? 'access was denied' : oneLine(error ?? 'no code came', 100)}.`,
        ),
      );
  });
  server.maxConnections = 20;
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', done);
  });
  const late = setTimeout(
    () => reject(new HubError('timeout', `No login came within ${cliLimits.browserLoginMs / 60_000} minutes.`)),
    cliLimits.browserLoginMs,
  );
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    returned,
    close() {
      clearTimeout(late);
      server.close();
    },
  };
}

/** Whether a program was started that opens it. The address is one argument: no shell reads it. */
function openBrowser(url: string, { platform, variables }: UserEnv): boolean {
  const [command = '', ...args] =
    platform === 'darwin'
      ? ['open', url]
      : platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url];
  const child = spawn(command, args, { stdio: 'ignore', detached: true, env: { ...variables } });
  child.on('error', () => undefined);
  child.unref();
  return child.pid !== undefined;
}

/** Errors of the library may quote whole answers, which may hold tokens: of them only the kind and code are shown. */
function refusal(url: string, error: unknown): HubError {
  if (error instanceof HubError) return error;
  const because = (why: string) => new HubError('upstream_failed', `Cannot log in at ${url}: ${why}`, { cause: error });
  if (error instanceof InsecureTokenEndpointError)
    return because('a login by browser needs an https address, except on this machine. Use one, or --username.');
  if (error instanceof IssuerMismatchError)
    return because('it calls itself by another address. Log in at the address that its admin gave you.');
  if (error instanceof RegistrationRejectedError)
    return because(`it does not let this command register (${error.status}). Log in with --username.`);
  if (error instanceof OAuthError) return because(`the hub refused (${oneLine(error.code, 60)}).`);
  return because('what it answers is not what an authorization server answers. Is it a Tool Hub?');
}

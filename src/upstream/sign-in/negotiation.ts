import { HubError } from '../../core/errors.ts';
import type { OAuthSettings } from '../../core/settings/server.ts';
import { failureOf, type Tracing } from '../../core/tracing.ts';
import { upstreamLimits } from '../limits.ts';
import type { AddressPolicy } from '../channels/safe-address.ts';
import type { Answer, Attempt } from './attempts.ts';
import type { Grant, OAuthTokens } from './grants.ts';
import { type Authority, type Fetch, policyBeside, withFetch } from './authorization-server.ts';
import type { OAuthClient } from './oauth-client.ts';

/** A server, and the hub as its authorization server sees it. */
export interface NegotiationOptions {
  readonly server: string;
  readonly url: URL;
  readonly oauth: OAuthSettings;
  readonly policy: () => AddressPolicy;
  readonly userAgent: string;
  /** Where answers come to. */
  readonly redirectUri: () => string;
  /** The hub's document for authorization servers, when they can fetch it. */
  readonly documentUrl: () => string | undefined;
  /** Undefined where nothing is exported. */
  readonly tracing?: (() => Tracing | undefined) | undefined;
}

/** Everything needed to ask a user to sign in. */
export interface Prepared {
  readonly authority: Authority;
  readonly client: OAuthClient;
}

/**
 * What the hub and a server's authorization server have to say to each other. Everything throws HubError, none of which
 * quotes a secret.
 */
export interface Negotiation {
  /**
   * Finds out how to sign in. `challenge` is the server's `WWW-Authenticate`; `held` what is kept, whose registration
   * is used again.
   */
  prepare(challenge: string | undefined, held: Grant | undefined, heldScope: string | undefined): Promise<Prepared>;
  authorizationUrl(prepared: Prepared, state: string): Promise<{ url: string; verifier: string }>;
  redeem(attempt: Attempt, answer: Answer): Promise<OAuthTokens>;
  renew(grant: Grant): Promise<Prepared & { readonly tokens: OAuthTokens }>;
  /** Asks the authorization server to forget what it gave. */
  revoke(grant: Grant): Promise<void>;
}

const discovering = 'finding out how';

// The official client is large: what uses it is loaded when the first server wants it.
const flow = () => import('./authorization-flow.ts');

export function negotiate(options: NegotiationOptions): Negotiation {
  const { server, url, oauth } = options;
  /** Learnt since the start, so that a renewal need not ask again. */
  let known: Authority | undefined;
  const fetching = fetchingFor(options);
  const step = stepsOf(options);

  /** Where the tokens of a grant are from. A refresh token goes to its issuer, whatever the server says meanwhile. */
  async function authorityOf({ issuer, resource }: Grant, fetch: Fetch): Promise<Authority> {
    if (known && (issuer === undefined || known.issuer === issuer)) return known;
    const { authorityMetadata, discover } = await flow();
    if (issuer === undefined)
      return discover({ server, url, oauth, challenge: undefined, heldScope: undefined, fetch });
    const metadata = await authorityMetadata(issuer, oauth, fetch);
    if (!metadata) throw new HubError('upstream_failed', 'its authorization server says nothing of itself any more.');
    return { issuer, metadata, resource, scope: undefined };
  }

  async function clientFor(authority: Authority, held: Grant | undefined, fetch: Fetch): Promise<OAuthClient> {
    const redirectUri = options.redirectUri();
    const own = configured(oauth, redirectUri);
    if (own) return own;
    const { issuer, metadata } = authority;
    const document = oauth.redirectUri === undefined ? options.documentUrl() : undefined;
    if (document !== undefined && metadata.client_id_metadata_document_supported === true)
      return { id: document, redirectUri, kind: 'document' };
    const kept = held?.issuer === issuer ? held.client : undefined;
    const isOver = kept?.expiresAt !== undefined && kept.expiresAt <= Date.now();
    if (kept?.kind === 'registered' && kept.redirectUri === redirectUri && !isOver) return kept;
    if (oauth.dynamicRegistration === false)
      throw new HubError('upstream_failed', 'the hub may not register itself there. Set oauth.clientId.');
    const { register } = await flow();
    return register(authority, redirectUri, oauth.initialAccessToken, fetch);
  }

  return {
    prepare(challenge, held, heldScope) {
      const attempt = `Cannot sign in to server "${server}"`;
      const found = fetching(attempt, async (fetch) => {
        const { discover } = await flow();
        const authority = await discover({ server, url, oauth, challenge, heldScope, fetch });
        const client = await clientFor(authority, held, fetch);
        known = authority;
        return { authority, client };
      });
      return inTime(`${attempt}: ${discovering} took longer than ${upstreamLimits.oauthPrepareMs / 1_000} s.`, found);
    },
    async authorizationUrl({ authority, client }, state) {
      const { authorizationUrl, refusalOf } = await flow();
      try {
        return await authorizationUrl(authority, client, state);
      } catch (error) {
        throw refusalOf(error, `Cannot sign in to server "${server}"`);
      }
    },
    redeem({ authority, client, verifier }, answer) {
      const redeeming = async (fetch: Fetch) => {
        const { redeem } = await flow();
        return redeem(authority, client, { ...answer, verifier }, fetch);
      };
      return step('redeem', () => fetching(`Cannot finish signing in to server "${server}"`, redeeming));
    },
    renew(grant) {
      const attempt = `Cannot renew the sign-in to server "${server}"`;
      const renewing = async (fetch: Fetch) => {
        const { renew } = await flow();
        const late = `${discovering} took longer than ${upstreamLimits.oauthPrepareMs / 1_000} s.`;
        // A bound that ends before another hub may try: of two that use the same refresh token one loses.
        const authority = await inTime(late, authorityOf(grant, fetch));
        const client = configured(oauth, options.redirectUri()) ?? grant.client;
        const { tokens } = grant;
        if (!client || tokens?.refresh === undefined)
          throw new HubError('upstream_failed', 'the settings have no oauth.clientId for the tokens in them.');
        // Forgotten when it fails: the address of its token endpoint may be what changed.
        known = undefined;
        const renewed = await renew(authority, client, { ...tokens, refresh: tokens.refresh }, fetch);
        known = authority;
        return { authority, client, tokens: renewed };
      };
      return step('renew', () => fetching(attempt, renewing, `${attempt} now. Try again in a moment.`));
    },
    revoke: (grant) =>
      fetching(`Cannot revoke the tokens of server "${server}"`, async (fetch) => {
        const { client, issuer, tokens } = grant;
        if (!client || issuer === undefined) return;
        const { revoke } = await flow();
        const { metadata } = await authorityOf(grant, fetch);
        // The refresh token first: without it no other access token can be fetched.
        if (tokens?.refresh !== undefined)
          await revoke(metadata, client, { hint: 'refresh_token', value: tokens.refresh }, fetch);
        if (tokens?.access !== undefined)
          await revoke(metadata, client, { hint: 'access_token', value: tokens.access }, fetch);
      }),
  };
}

/** Runs what is a span of its own where traces are exported: no request is its parent, since many may wait for it. */
function stepsOf({ server, tracing }: NegotiationOptions) {
  return async <T>(name: 'redeem' | 'renew', work: () => Promise<T>): Promise<T> => {
    const part = tracing?.()?.work(`sign-in ${name}`, { 'toolhub.server.name': server });
    if (!part) return work();
    try {
      const done = await work();
      part.end();
      return done;
    } catch (error) {
      part.end(failureOf(error));
      throw error;
    }
  };
}

/**
 * Runs a request to an authorization server. Throws HubError that says what was attempted; `told` is for callers of the
 * tool server meanwhile.
 */
function fetchingFor({ url, policy, userAgent }: NegotiationOptions) {
  return async <T>(attempt: string, work: (fetch: Fetch) => Promise<T>, told?: string): Promise<T> => {
    const { refusalOf } = await flow();
    try {
      return await withFetch({ policy: await policyBeside(url, policy()), userAgent }, work);
    } catch (error) {
      throw refusalOf(error, attempt, told);
    }
  };
}

function configured({ clientId, clientSecret }: OAuthSettings, redirectUri: string): OAuthClient | undefined {
  if (clientId === undefined) return undefined;
  return { id: clientId, ...(clientSecret !== undefined && { secret: clientSecret }), redirectUri, kind: 'configured' };
}

async function inTime<T>(lateText: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new HubError('timeout', lateText)), upstreamLimits.oauthPrepareMs).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

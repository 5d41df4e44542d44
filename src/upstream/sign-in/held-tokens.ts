import { createHash } from 'node:crypto';
import { HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { upstreamLimits } from '../limits.ts';
import { type Authority, failureCode } from './authorization-server.ts';
import type { OAuthSettings } from '../../core/settings/server.ts';
import type { Grant, Grants, OAuthTokens } from './grants.ts';
import type { OAuthClient } from './oauth-client.ts';

/** Whose tokens, and for what they are good. */
export interface HeldTokensOptions {
  readonly server: string;
  /** The user whose sign-in it is; undefined: all users share it. */
  readonly holder: string | undefined;
  /** When this user was made, as the settings say it. */
  readonly userSince: (username: string) => string | undefined;
  /** Origin and path of the server's url: all that tokens are sent to. */
  readonly address: string;
  readonly oauth: OAuthSettings;
  readonly log: Logger;
  /** The tokens, or whether a user has to sign in, have changed. Raise a flag and return. */
  readonly changed: () => void;
}

/** The tokens of one server: at hand without waiting, renewed once for all requests that wait. */
export interface HeldTokens {
  readonly grant: Grant | undefined;
  /** `endpoints` of the grants that count with these settings. */
  readonly endpoints: string | undefined;
  /** The value of `authorization`. Begins to fetch a new token when the old one ends soon. */
  header(): string | undefined;
  pending(): Promise<void> | undefined;
  /**
   * Fetches a new token, unless another request just did. False when a user has to sign in. Throws HubError when it
   * failed for now.
   */
  renew(sent: string | undefined): Promise<boolean>;
  /** A user has signed in. */
  adopt(grant: Grant): Promise<void>;
  /** Without `all` the hub's registration with the authorization server stays. */
  drop(all: boolean): Promise<void>;
  /**
   * The server has new settings: tokens that arrive here from now on must not replace what is kept for those settings.
   */
  close(): void;
}

export interface HeldTokensEvents {
  /** A user signed in, at this hub or another. */
  readonly gained: () => void;
  /**
   * The tokens are gone, and no request of this hub was refused for it: another hub has signed out, or heard that they
   * have ended.
   */
  readonly lost: () => void;
}

/** Fetches new tokens for a grant. Throws HubError. */
export type Renew = (grant: Grant) => Promise<{
  readonly tokens: OAuthTokens;
  readonly authority: Authority;
  readonly client: OAuthClient;
}>;

/** Begins with what is kept for this server at this address, or with the tokens of its settings. */
export function holdTokens(
  options: HeldTokensOptions,
  grants: Grants,
  renewGrant: Renew,
  { gained, lost }: HeldTokensEvents,
): HeldTokens {
  const { server, holder, address, oauth, log } = options;
  const key = { server, holder };
  const mark = importMark(options);
  const endpoints = endpointsOf(oauth);
  const kept = keptGrant(options, grants.get(key), mark);
  const imported = kept ? undefined : importedGrant(options, mark);
  let grant = kept ?? imported;
  let header = headerOf(grant);
  let closed = false;
  let dropping = false;
  const renewal = createRenewal(
    // After `close` the account with the current settings renews the tokens.
    () => (closed ? undefined : grant),
    async (old) => {
      await grants.replace(old, (current) => renewed(current, renewGrant, options));
      // As read from the store: a change of the settings may have come between.
      reload();
    },
  );
  const unwatch = grants.watch(key, reload);

  /** What is stored counts, whether this hub or another wrote it. */
  function reload(): void {
    const stored = grants.get(key);
    const next = stored ? keptGrant(options, stored, mark) : grant === imported ? imported : undefined;
    if (closed || next === grant) return;
    const wasIn = grant?.tokens !== undefined;
    const isNew = next?.tokens !== undefined && next.since !== grant?.since;
    grant = next;
    header = headerOf(next);
    renewal.forgive();
    if (isNew) gained();
    if (wasIn && !next?.tokens && !renewal.isRunning && !dropping) lost();
    options.changed();
  }

  async function keep(next: Grant): Promise<void> {
    if (!closed) await grants.set(next);
  }

  /** A failure is not reported here: a request that the server refuses gets the error. */
  function renewQuietly(): Promise<void> {
    return renewal.once().then(
      () => undefined,
      (error: unknown) => log.debug('access token not renewed', { error: error instanceof Error ? error.message : '' }),
    );
  }

  return {
    get grant() {
      return grant;
    },
    endpoints,
    header() {
      const renewAt = grant?.tokens?.renewAt;
      if (renewAt !== undefined && Date.now() >= renewAt && !renewal.isRunning) void renewQuietly();
      return header;
    },
    pending() {
      const tokens = grant?.tokens;
      if (tokens?.refresh === undefined) return undefined;
      const isOver = tokens.access === undefined || (tokens.expiresAt !== undefined && Date.now() >= tokens.expiresAt);
      return isOver ? renewQuietly() : undefined;
    },
    async renew(sent) {
      if (header !== undefined && header !== sent) return true;
      return renewal.once();
    },
    adopt: (next) =>
      keep({
        ...next,
        ...key,
        address,
        endpoints,
        ...(mark !== undefined && { imported: mark }),
        ...(holder !== undefined && { holderSince: options.userSince(holder) }),
        since: Date.now(),
      }),
    async drop(all) {
      if (!grant || closed) return;
      dropping = true;
      if (holder === undefined) await keep(withoutTokens(grant, !all));
      else await grants.delete(key);
      dropping = false;
    },
    close() {
      closed = true;
      unwatch();
    },
  };
}

interface Renewal {
  readonly isRunning: boolean;
  /**
   * One request for all callers that wait. False when a user has to sign in. Throws HubError when it failed for now.
   */
  once(): Promise<boolean>;
  /** Forgets an earlier failure, so that the next attempt is not refused because of it. */
  forgive(): void;
}

function createRenewal(current: () => Grant | undefined, replace: (old: Grant) => Promise<void>): Renewal {
  let running: Promise<boolean> | undefined;
  let failed: { readonly error: HubError; readonly until: number } | undefined;

  async function run(old: Grant): Promise<boolean> {
    try {
      await replace(old);
    } catch (error) {
      // Meanwhile a user signed in again or signed out: that counts.
      if (current() === old) {
        const failure =
          error instanceof HubError ? error : new HubError('upstream_failed', 'The token was not renewed.');
        failed = { error: failure, until: Date.now() + upstreamLimits.tokenRetryMs };
        throw failure;
      }
    }
    return current()?.tokens !== undefined;
  }

  return {
    get isRunning() {
      return running !== undefined;
    },
    once() {
      const grant = current();
      if (!grant?.tokens?.refresh) return Promise.resolve(false);
      if (failed && failed.until > Date.now()) return Promise.reject(failed.error);
      running ??= run(grant).finally(() => {
        running = undefined;
      });
      return running;
    },
    forgive() {
      failed = undefined;
    },
  };
}

/** The grant with new tokens, or without any when its refresh token is of no more use. Throws what `renew` throws. */
async function renewed(old: Grant, renew: Renew, { log, holder }: HeldTokensOptions): Promise<Grant> {
  try {
    const { tokens, authority, client } = await renew(old);
    log.debug('access token renewed');
    return { ...old, issuer: authority.issuer, resource: authority.resource, client, tokens };
  } catch (error) {
    const code = failureCode(error);
    if (code === undefined || !ends.has(code)) throw error;
    log.warn('the sign-in has ended', { reason: code, ...(holder !== undefined && { user: holder }) });
    return withoutTokens(old, code === 'invalid_grant');
  }
}

/**
 * What is left when the tokens are gone; `imported` stays, so those of the settings do not come back with the next
 * start.
 */
function withoutTokens({ tokens: _tokens, since: _since, client, ...rest }: Grant, keepsClient: boolean): Grant {
  return { ...rest, ...(keepsClient && client && { client }) };
}

/** Codes after which the same refresh token will never work again. */
const ends = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

function headerOf(grant: Grant | undefined): string | undefined {
  const access = grant?.tokens?.access;
  return access === undefined ? undefined : `Bearer ${access}`;
}

/**
 * Never for another address, not for another client than the settings name, and not with endpoints that were put in
 * place of those it came from.
 */
export function keptGrant(
  { address, oauth, holder }: Pick<HeldTokensOptions, 'address' | 'oauth' | 'holder'>,
  kept: Grant | undefined,
  mark?: string,
): Grant | undefined {
  if (kept?.address !== address || kept.endpoints !== endpointsOf(oauth)) return undefined;
  if (mark !== undefined && kept.imported !== mark) return undefined;
  const isOtherClient = oauth.clientId !== undefined && kept.client !== undefined && kept.client.id !== oauth.clientId;
  if (isOtherClient) return undefined;
  // Where each user signs in alone, the tokens that all users shared before are not used.
  return oauth.perUser === true && holder === undefined ? withoutTokens(kept, true) : kept;
}

/** Who may change the settings could otherwise have the tokens of others sent wherever they like. */
function endpointsOf(oauth: OAuthSettings): string | undefined {
  const { issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint } = oauth;
  const named = [issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint];
  if (named.every((address) => address === undefined)) return undefined;
  return createHash('sha256').update(JSON.stringify(named)).digest('hex');
}

function importedGrant({ server, address, oauth }: HeldTokensOptions, mark: string | undefined): Grant | undefined {
  if (mark === undefined) return undefined;
  const access = oauth.accessToken;
  // A text that no header can carry is no token.
  const usable = access !== undefined && /^[\x21-\x7e]+$/.test(access);
  const tokens = { ...(usable && { access }), refresh: oauth.refreshToken };
  return { server, address, endpoints: endpointsOf(oauth), imported: mark, tokens };
}

/** Undefined where the settings have no tokens, or where each user signs in alone. */
function importMark({ oauth: { accessToken, refreshToken, perUser } }: HeldTokensOptions): string | undefined {
  if ((accessToken === undefined && refreshToken === undefined) || perUser === true) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([accessToken, refreshToken]))
    .digest('hex');
}

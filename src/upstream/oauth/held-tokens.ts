import { createHash } from 'node:crypto';
import { HubError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import { failureCode } from './failure.ts';
import type { Authority, Grant, OAuthClient, OAuthTokens } from './grant.ts';
import type { Grants } from './grants.ts';
import type { AccountOptions } from './account.ts';

/** The tokens of one server: at hand without waiting, renewed once for everybody. */
export interface HeldTokens {
  readonly grant: Grant | undefined;
  /** The value of `authorization`. Begins to fetch a new token when the old one ends soon. */
  header(): string | undefined;
  pending(): Promise<void> | undefined;
  /** Fetches a new token, unless somebody just did. False when there is no way without a person. Throws HubError when it failed for now. */
  renew(sent: string | undefined): Promise<boolean>;
  adopt(grant: Grant): Promise<void>;
  /** Without `all` the hub's registration with the authorization server stays. */
  drop(all: boolean): Promise<void>;
  /** The server is set up anew: what comes from here on must not take the place of what is kept for that. */
  close(): void;
}

/** Fetches new tokens for a grant. Throws HubError. */
export type Renew = (grant: Grant) => Promise<{
  readonly tokens: OAuthTokens;
  readonly authority: Authority;
  readonly client: OAuthClient;
}>;

/** Begins with what is kept for this server at this address, or with the tokens of its settings. */
export function holdTokens(options: AccountOptions, grants: Grants, renewGrant: Renew): HeldTokens {
  const { server, address, log } = options;
  const mark = importMark(options);
  let grant = keptGrant(options, grants.get(server), mark) ?? importedGrant(options, mark);
  let header = headerOf(grant);
  let renewing: Promise<boolean> | undefined;
  let closed = false;
  let failed: { readonly error: HubError; readonly until: number } | undefined;

  async function keep(next: Grant): Promise<void> {
    if (closed) return;
    grant = next;
    header = headerOf(next);
    failed = undefined;
    const saved = grants.set(next);
    options.changed();
    await saved;
  }

  /** What is left when the tokens are gone; `imported` stays, so those of the settings do not come back with the next start. */
  function withoutTokens({ tokens: _tokens, client, ...rest }: Grant, keepsClient: boolean): Grant {
    return { ...rest, ...(keepsClient && client && { client }) };
  }

  async function fetchNew(old: Grant): Promise<boolean> {
    try {
      const { tokens, authority, client } = await renewGrant(old);
      // Signed in anew or out meanwhile: that counts.
      if (grant !== old) return grant?.tokens !== undefined;
      await keep({ ...old, issuer: authority.issuer, resource: authority.resource, client, tokens });
      log.debug('access token renewed');
      return true;
    } catch (error) {
      const code = failureCode(error);
      if (grant !== old) return grant?.tokens !== undefined;
      if (code !== undefined && ends.has(code)) {
        log.warn('the sign-in has ended', { reason: code });
        await keep(withoutTokens(old, code === 'invalid_grant'));
        return false;
      }
      const failure = error instanceof HubError ? error : new HubError('upstream_failed', 'The token was not renewed.');
      failed = { error: failure, until: Date.now() + limits.tokenRetryMs };
      throw failure;
    }
  }

  /** One request for everybody who waits. */
  function renewOnce(): Promise<boolean> {
    if (!grant?.tokens?.refresh) return Promise.resolve(false);
    if (failed && failed.until > Date.now()) return Promise.reject(failed.error);
    renewing ??= fetchNew(grant).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  /** Nobody has to know yet: whoever is refused hears it. */
  function renewQuietly(): Promise<void> {
    return renewOnce().then(
      () => undefined,
      (error: unknown) => log.debug('access token not renewed', { error: error instanceof Error ? error.message : '' }),
    );
  }

  return {
    get grant() {
      return grant;
    },
    header() {
      const renewAt = grant?.tokens?.renewAt;
      if (renewAt !== undefined && Date.now() >= renewAt && !renewing) void renewQuietly();
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
      return renewOnce();
    },
    adopt: (next) => keep({ ...next, address, ...(mark !== undefined && { imported: mark }) }),
    async drop(all) {
      if (grant) await keep(withoutTokens(grant, !all));
    },
    close() {
      closed = true;
    },
  };
}

/** Codes after which the same refresh token will never work again. */
const ends = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

function headerOf(grant: Grant | undefined): string | undefined {
  const access = grant?.tokens?.access;
  return access === undefined ? undefined : `Bearer ${access}`;
}

/** Never for another address, and not for another client than the settings name. */
function keptGrant({ address, oauth }: AccountOptions, kept: Grant | undefined, mark: string | undefined) {
  if (kept?.address !== address) return undefined;
  if (mark !== undefined && kept.imported !== mark) return undefined;
  const isOtherClient = oauth.clientId !== undefined && kept.client !== undefined && kept.client.id !== oauth.clientId;
  return isOtherClient ? undefined : kept;
}

function importedGrant({ server, address, oauth }: AccountOptions, mark: string | undefined): Grant | undefined {
  if (mark === undefined) return undefined;
  const access = oauth.accessToken;
  // A text that no header can carry is no token.
  const usable = access !== undefined && /^[\x21-\x7e]+$/.test(access);
  const tokens = { ...(usable && { access }), refresh: oauth.refreshToken };
  return { server, address, imported: mark, tokens };
}

function importMark({ oauth: { accessToken, refreshToken } }: AccountOptions): string | undefined {
  if (accessToken === undefined && refreshToken === undefined) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([accessToken, refreshToken]))
    .digest('hex');
}

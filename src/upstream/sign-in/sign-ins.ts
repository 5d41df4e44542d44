import { createHash, timingSafeEqual } from 'node:crypto';
import { HubError } from '../../core/errors.ts';
import { saying } from '../../core/sentences.ts';
import { isPerUser } from '../../core/access/per-user.ts';
import type { RemoteTransport, ServerSettings, TransportSettings } from '../../core/settings/server.ts';
import type { Credential } from '../channels/credential.ts';
import {
  type Account,
  type AccountsOptions,
  type Begun,
  createAccounts,
  ownSignInRequired,
  setupOf,
} from './accounts.ts';
import { type Attempt, type Attempts, hashOf, only, readAnswer } from './attempts.ts';
import { createRenaming, createStaleGrants, type StaleGrantsOptions } from './changed-servers.ts';
import type { Grant, GrantKey } from './grants.ts';
import { clientDocument, clientDocumentUrl, startUrl } from './oauth-client.ts';

export interface SignInsOptions extends AccountsOptions, StaleGrantsOptions {
  readonly attempts: Attempts;
  /** A user has signed in to a server. */
  readonly finished: (server: string, by: string) => void;
}

/** The hub as OAuth client of its servers (MCP, Authorization): who is signed in where, and how to sign in. */
export interface SignIns {
  /**
   * What one channel to a server authorizes itself with: the sign-in of this user, or, where all users share one
   * sign-in, the shared one. A server that each user signs in to alone lists its tools with the sign-in of one of them.
   */
  readonly credential: (server: ServerSettings, transport: RemoteTransport, user?: string) => Credential;
  /** The page to open before the hub can use the server. */
  readonly authorizationUrl: (server: string) => string | undefined;
  /**
   * For a server that each user signs in to alone: why this user cannot use it yet (HubError `oauth_required`), or why
   * no user can; undefined when this user can.
   */
  readonly refusal: (server: ServerSettings, user: string) => HubError | undefined;
  /**
   * Begins a sign-in for a user. Throws HubError `conflict` when the server has no use for one, or why it cannot be
   * begun.
   */
  readonly begin: (server: ServerSettings, by: string) => Promise<Begun>;
  /**
   * Takes the answer of an authorization server, as its query says it, from the browser with that secret; gives the
   * server's name. Throws HubError with what to do.
   */
  readonly finish: (query: URLSearchParams, browser: string | undefined) => Promise<string>;
  /** Signs out: this user, or all users. With `all` the hub forgets its registration there too. */
  readonly disconnect: (server: ServerSettings, user: string | undefined, all: boolean) => Promise<void>;
  /**
   * A server has another name from now on, and keeps its sign-ins as far as they are good for how it is set up. Call it
   * as soon as the settings say so.
   */
  readonly renamed: (from: string, to: string) => Promise<void>;
  /**
   * A server was deleted: who makes one of that name in the next moment has none of its sign-ins. Call it as soon as
   * the settings say so.
   */
  readonly deleted: (server: string) => Promise<void>;
  /** Forgets what is kept for servers and users that are gone, or at another address now. */
  readonly reconcile: () => void;
  /** The hub's document for authorization servers; undefined when they could not fetch it. */
  readonly clientDocument: () => object | undefined;
  readonly close: () => Promise<void>;
}

export function createSignIns(options: SignInsOptions): SignIns {
  const { attempts, log } = options;
  const renaming = createRenaming({ ...options, forget: (key) => accounts.forget(key) });
  const grants = renaming.seen;
  const accounts = createAccounts({ ...options, grants }, attempts);
  const staleGrants = createStaleGrants({ ...options, grants });
  const listingAccounts = createListingAccounts({
    candidates: (server) =>
      grants.all().filter((grant) => grant.server === server.name && grant.tokens && staleGrants.isGood(grant)),
    isWaiting: (key) => accounts.get(key)?.isWaiting === true,
    relist: options.relist,
  });

  function accountOf(server: ServerSettings, user: string | undefined): Account {
    const transport = signInTransport(server, options.expand(server));
    return accounts.of(server, transport, isPerUser(server) ? user : undefined);
  }

  /** The account an answer is for. Throws HubError when it is for none. */
  function accountFor({ server: name, holder, by, bySince, setup }: Attempt): Account {
    const server = options.server(name);
    if (!server) throw saying('not_found', 'sign_in_server_gone');
    if (!options.maySignIn(by, server) || options.userSince(by) !== bySince) throw saying('forbidden', 'sign_in_user');
    const transport = signInTransport(server, options.expand(server));
    if (setupOf(transport) !== setup || isPerUser(server) !== (holder !== undefined))
      throw saying('conflict', 'sign_in_set_up_again', { server: name });
    return accounts.of(server, transport, holder);
  }

  return {
    credential(server, transport, user) {
      const holder = isPerUser(server) ? (user ?? listingAccounts.next(server)) : undefined;
      return accounts.of(server, transport, holder).credential();
    },
    authorizationUrl(name) {
      const server = options.server(name);
      const key = { server: name, holder: server && isPerUser(server) ? listingAccounts.current(name) : undefined };
      return accounts.get(key)?.isWaiting === true ? startUrl(options.publicUrl(), name) : undefined;
    },
    refusal(server, user) {
      try {
        const isSignedIn = accountOf(server, user).isSignedIn;
        const grant = grants.get({ server: server.name, holder: user });
        if (isSignedIn && grant && staleGrants.isGood(grant)) return undefined;
      } catch (error) {
        if (error instanceof HubError) return error;
        throw error;
      }
      return ownSignInRequired(server.name, `needs ${user} to sign in`, startUrl(options.publicUrl(), server.name));
    },
    begin: async (server, by) => accountOf(server, by).begin(by),
    async finish(query, browser) {
      const state = only(query, 'state');
      const attempt = state === undefined ? undefined : await attempts.take(state);
      if (!attempt) throw saying('invalid_input', 'sign_in_over');
      if (!isSame(hashOf(browser ?? ''), attempt.browser)) {
        const where = startUrl(options.publicUrl(), attempt.server);
        throw saying('forbidden', 'sign_in_elsewhere', { where });
      }
      const account = accountFor(attempt);
      await account.redeem(attempt, await readAnswer(query, attempt), () => accountFor(attempt));
      log(`server:${attempt.server}`).info('signed in', { by: attempt.by });
      options.finished(attempt.server, attempt.by);
      return attempt.server;
    },
    async disconnect(server, user, all) {
      await renaming.arrived(server.name);
      const own = accountOf(server, user);
      const others = all && isPerUser(server) ? grants.all().filter(({ server: name }) => name === server.name) : [];
      await own.disconnect(all);
      for (const { holder } of others) await accountOf(server, holder).disconnect(true);
      if (others.length > 0) await grants.delete({ server: server.name });
    },
    renamed: renaming.rename,
    deleted: renaming.deleted,
    reconcile() {
      staleGrants.forget((key) => accounts.forget(key));
      for (const key of accounts.keys()) {
        const server = options.server(key.server);
        if (!server || (key.holder !== undefined && !options.maySignIn(key.holder, server))) accounts.forget(key);
      }
      listingAccounts.reconcile(options.server);
    },
    clientDocument: () => documentAt(options.publicUrl()),
    async close() {
      staleGrants.close();
      for (const key of accounts.keys()) accounts.forget(key);
      await grants.close();
    },
  };
}

function documentAt(publicUrl: string): object | undefined {
  const documentUrl = clientDocumentUrl(publicUrl);
  return documentUrl === undefined ? undefined : clientDocument(publicUrl, documentUrl);
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}

/** Throws HubError `conflict` for a server that users cannot sign in to. */
function signInTransport({ name }: ServerSettings, transport: TransportSettings): RemoteTransport {
  const attempt = `Cannot sign in to server "${name}"`;
  if (transport.type === 'stdio' || transport.type === 'openapi' || transport.type === 'invalid')
    throw new HubError('conflict', `${attempt}: it is not a remote MCP server.`);
  const hasOwn = Object.keys(transport.headers).some((header) => header.toLowerCase() === 'authorization');
  const { username, password } = new URL(transport.url);
  if (hasOwn || username !== '' || password !== '')
    throw new HubError('conflict', `${attempt}: its settings have a credential. Remove that first.`);
  return transport;
}

interface ListingAccountsOptions {
  /** The sign-ins of users to this server that can be used. */
  readonly candidates: (server: ServerSettings) => readonly Grant[];
  /** The server wants this user to sign in again. */
  readonly isWaiting: (key: GrantKey) => boolean;
  readonly relist: (server: string) => void;
}

/**
 * Whose sign-in is used to list the tools of a server that each user signs in to alone: the owner's, else that of the
 * user who signed in first. It is used for nothing else, and changes only when that user cannot use the server any
 * more.
 */
interface ListingAccounts {
  /** The user whose sign-in lists the tools from now on; undefined: no user has signed in. */
  next(server: ServerSettings): string | undefined;
  current(server: string): string | undefined;
  /** Has the server listed again where the listing account has to be another user. */
  reconcile(server: (name: string) => ServerSettings | undefined): void;
}

function createListingAccounts({ candidates, isWaiting, relist }: ListingAccountsOptions): ListingAccounts {
  const listingAccounts = new Map<string, string | undefined>();

  function best(server: ServerSettings): string | undefined {
    const usable = candidates(server).filter((grant) => grant.holder !== undefined && !isWaiting(grant));
    const [first] = [...usable].sort((a, b) => (a.since ?? 0) - (b.since ?? 0));
    return (usable.find(({ holder }) => holder === server.owner) ?? first)?.holder;
  }

  function isUsable(server: ServerSettings, holder: string): boolean {
    return candidates(server).some((grant) => grant.holder === holder && !isWaiting(grant));
  }

  return {
    next(server) {
      const holder = best(server);
      listingAccounts.set(server.name, holder);
      return holder;
    },
    current: (server) => listingAccounts.get(server),
    reconcile(serverNow) {
      for (const [name, holder] of listingAccounts) {
        const server = serverNow(name);
        if (!server) {
          listingAccounts.delete(name);
          continue;
        }
        if (holder !== undefined && isUsable(server, holder)) continue;
        const now = best(server);
        if (now === holder) continue;
        listingAccounts.set(name, now);
        relist(name);
      }
    },
  };
}

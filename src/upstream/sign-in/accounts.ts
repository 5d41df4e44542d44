import { createHash } from 'node:crypto';
import type { LoggerFor } from '../../core/logger.ts';
import type { RemoteTransport, ServerSettings } from '../../core/settings/server.ts';
import type { AddressPolicy } from '../channels/safe-address.ts';
import { type Account, createAccount } from './account.ts';
import type { Attempts } from './attempts.ts';
import { type Grant, grantId, type GrantKey, type Grants } from './grants.ts';
import type { NegotiationOptions } from './negotiation.ts';
import { callbackPath, clientDocumentUrl, startUrl } from './oauth-client.ts';

export interface AccountsOptions {
  readonly grants: Grants;
  /** The hub's address as browsers reach it, without a slash at the end and without `BASE_PATH`. */
  readonly publicUrl: () => string;
  readonly addresses: (server: ServerSettings) => AddressPolicy;
  /** The server of that name now. */
  readonly server: (name: string) => ServerSettings | undefined;
  /** When this user was made, as the settings say it: tells two of one name apart that were never there together. */
  readonly userSince: (username: string) => string | undefined;
  readonly userAgent: string;
  /** See `NegotiationOptions`. */
  readonly tracing?: NegotiationOptions['tracing'];
  /** A user signed in, at this hub or another: what waits for that may go on. */
  readonly signedIn: (key: GrantKey) => void;
  /**
   * The server has to be connected again: the sign-in it was connected with is gone, or its tools are to be listed with
   * another.
   */
  readonly relist: (server: string) => void;
  /** Tokens, or who has to sign in, are not what they were. Raise a flag and return. */
  readonly changed: () => void;
  readonly log: LoggerFor;
}

/**
 * The accounts of all servers, and of users where they sign in alone, that were used or signed in to, each as its
 * server is set up now.
 */
export interface Accounts {
  /** Made when it is not there, and made again when the server is now reached in another way. */
  of(server: ServerSettings, transport: RemoteTransport, holder: string | undefined): Account;
  get(key: GrantKey): Account | undefined;
  keys(): GrantKey[];
  forget(key: GrantKey): void;
}

export function createAccounts(options: AccountsOptions, attempts: Attempts): Accounts {
  const accounts = new Map<string, { readonly key: GrantKey; readonly account: Account; readonly setup: string }>();
  const preparing = new Map<string, Promise<unknown>>();

  /**
   * Whatever comes of the one that is under way: only the first is waited for, or a dead authorization server would
   * keep a queue waiting.
   */
  async function afterOther<T>(server: string, work: () => Promise<T>): Promise<T> {
    const other = preparing.get(server);
    if (other) {
      await other.catch(() => undefined);
      return work();
    }
    const own = work();
    preparing.set(server, own);
    try {
      return await own;
    } finally {
      preparing.delete(server);
    }
  }

  function open(server: ServerSettings, { url: text, oauth = {} }: RemoteTransport, key: GrantKey, setup: string) {
    const { name } = server;
    const url = new URL(text);
    url.username = '';
    url.password = '';
    const about = {
      server: name,
      holder: key.holder,
      userSince: options.userSince,
      url,
      address: addressOf(text),
      oauth,
      setup,
      policy: () => options.addresses(options.server(name) ?? server),
      userAgent: options.userAgent,
      tracing: options.tracing,
      redirectUri: () => oauth.redirectUri ?? options.publicUrl() + callbackPath,
      startUrl: () => startUrl(options.publicUrl(), name),
      documentUrl: () => clientDocumentUrl(options.publicUrl()),
      afterOther: <T>(work: () => Promise<T>) => afterOther(name, work),
      log: options.log(`server:${name}`),
      changed: options.changed,
      signedIn: () => options.signedIn(key),
      // For servers that each user signs in to alone, the listing accounts decide with whose sign-in the tools are
      // listed (`ListingAccounts`).
      signedOut: () => (key.holder === undefined ? options.relist(name) : undefined),
    };
    return createAccount(about, options.grants, attempts);
  }

  return {
    of(server, transport, holder) {
      const key = { server: server.name, holder };
      const id = grantId(key);
      const setup = setupOf(transport);
      const known = accounts.get(id);
      if (known?.setup === setup) return known.account;
      known?.account.close();
      const account = open(server, transport, key, setup);
      accounts.set(id, { key, account, setup });
      return account;
    },
    get: (key) => accounts.get(grantId(key))?.account,
    keys: () => [...accounts.values()].map(({ key }) => key),
    forget(key) {
      accounts.get(grantId(key))?.account.close();
      accounts.delete(grantId(key));
    },
  };
}

/** Everything that a sign-in depends on, as one mark. */
export function setupOf({ url, oauth }: RemoteTransport): string {
  return createHash('sha256')
    .update(JSON.stringify([url, oauth]))
    .digest('base64url');
}

/** All of a server's url that tokens are bound to: on a shared host the path tells whose they are. */
export function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

export interface ListingAccountsOptions {
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
export interface ListingAccounts {
  /** The user whose sign-in lists the tools from now on; undefined: no user has signed in. */
  next(server: ServerSettings): string | undefined;
  current(server: string): string | undefined;
  /** Has the server listed again where the listing account has to be another user. */
  reconcile(server: (name: string) => ServerSettings | undefined): void;
}

export function createListingAccounts({ candidates, isWaiting, relist }: ListingAccountsOptions): ListingAccounts {
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

import type { ServerSettings } from '../../core/settings/types.ts';
import type { Grant, GrantKey } from './grants.ts';

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

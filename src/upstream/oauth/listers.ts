import type { ServerSettings } from '../../core/settings/types.ts';
import type { Grant, GrantKey } from './grant.ts';

export interface ListersOptions {
  /** The sign-ins of users to this server that can be used. */
  readonly candidates: (server: ServerSettings) => readonly Grant[];
  /** The server wants this user to sign in again. */
  readonly isWaiting: (key: GrantKey) => boolean;
  readonly relist: (server: string) => void;
}

/**
 * With whose sign-in the tools of a server are listed that users sign in to alone: the owner's, else that of whoever signed in first. It is used for nothing
 * else, and changes only when that user cannot use the server any more.
 */
export interface Listers {
  /** Who lists from now on; undefined: nobody has signed in. */
  next(server: ServerSettings): string | undefined;
  current(server: string): string | undefined;
  /** Has the server listed anew where that takes somebody else. */
  reconcile(server: (name: string) => ServerSettings | undefined): void;
}

export function createListers({ candidates, isWaiting, relist }: ListersOptions): Listers {
  const listers = new Map<string, string | undefined>();

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
      listers.set(server.name, holder);
      return holder;
    },
    current: (server) => listers.get(server),
    reconcile(serverNow) {
      for (const [name, holder] of listers) {
        const server = serverNow(name);
        if (!server) {
          listers.delete(name);
          continue;
        }
        if (holder !== undefined && isUsable(server, holder)) continue;
        const now = best(server);
        if (now === holder) continue;
        listers.set(name, now);
        relist(name);
      }
    },
  };
}

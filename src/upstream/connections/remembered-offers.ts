import type { Offer } from '../../core/catalogue.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { SavedOffer } from './saved-catalogue.ts';

/** What servers offered that do not run: when the hub last ran, or before they were switched off. */
export interface RememberedOffers {
  /** Undefined for a server that is off, and where it was set up in another way. */
  of(server: ServerSettings): Offer | undefined;
  /** For when the server is switched on again. */
  keep(fingerprint: string, offer: Offer | undefined): void;
  forget(server: string): void;
  /**
   * To be called when the settings change. What is remembered goes along with a server that has another name now, and
   * is forgotten with one that is gone or another owner's: the next server of the name may belong to another user.
   */
  follow(before: Settings | undefined, next: Settings): void;
  /** All but those of these servers. */
  without(servers: { has(name: string): boolean }): SavedOffer[];
}

/** `fingerprint`: as `SavedOffer` has it, of a server as it is set up now. */
export function rememberOffers(
  first: readonly SavedOffer[],
  fingerprint: (server: ServerSettings) => string,
): RememberedOffers {
  const known = new Map(first.map((one) => [one.offer.server, one]));

  /** What `before` had under another name: the same owner's, reached in the same way. */
  function renamed(one: SavedOffer, owner: string, before: Settings, { servers }: Settings) {
    return [...servers.values()].find(
      (server) => !before.servers.has(server.name) && server.owner === owner && fingerprint(server) === one.fingerprint,
    );
  }

  return {
    of(server) {
      const one = server.enabled ? known.get(server.name) : undefined;
      return one?.fingerprint === fingerprint(server) ? one.offer : undefined;
    },
    keep(made, offer) {
      if (offer) known.set(offer.server, { fingerprint: made, offer });
    },
    forget: (server) => void known.delete(server),
    follow(before, next) {
      for (const [name, one] of Array.from(known)) {
        const [owner, now] = [before?.servers.get(name)?.owner, next.servers.get(name)];
        if (now && (owner === undefined || owner === now.owner)) continue;
        known.delete(name);
        const other = now || !before || owner === undefined ? undefined : renamed(one, owner, before, next);
        if (other) known.set(other.name, { ...one, offer: { ...one.offer, server: other.name } });
      }
    },
    without: (servers) => [...known].flatMap(([name, one]) => (servers.has(name) ? [] : [one])),
  };
}

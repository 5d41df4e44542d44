import { type Catalogue, emptyCatalogue, type Offer, sameOffer } from '../../core/catalogue.ts';
import { upstreamLimits } from '../limits.ts';

/** What all servers together are said to offer. */
export interface PublishedCatalogue {
  readonly catalogue: Catalogue;
  /**
   * By server, and what `Catalogue.restarted` says. What is the same as before makes no new version. What servers
   * offered that are away is looked at again when their grace period is over.
   */
  show(offers: ReadonlyMap<string, Offer>, restarted: ReadonlySet<string>, isAway: (server: string) => boolean): void;
  close(): void;
}

/** `late` is called when the grace period of a server that is away may be over. */
export function createPublishedCatalogue(late: () => void): PublishedCatalogue {
  let catalogue = emptyCatalogue;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  return {
    get catalogue() {
      return catalogue;
    },
    show(offers, restarted, isAway) {
      if (!sameOffers(catalogue.offers, offers) || !sameNames(catalogue.restarted, restarted))
        catalogue = { version: catalogue.version + 1, offers, restarted: new Set(restarted) };
      clearTimeout(timer);
      if (!closed && [...offers.keys()].some(isAway))
        timer = setTimeout(late, upstreamLimits.catalogueGraceMs + 1_000).unref();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

function sameNames(a: ReadonlySet<string> = new Set(), b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}

function sameOffers(a: ReadonlyMap<string, Offer>, b: ReadonlyMap<string, Offer>): boolean {
  const names = [...b.keys()];
  return (
    a.size === b.size &&
    [...a.keys()].every((name, i) => name === names[i]) &&
    [...a].every(([name, offer]) => {
      const other = b.get(name);
      return other !== undefined && (other === offer || sameOffer(other, offer));
    })
  );
}

import { authLimits } from '../limits.ts';
import type { OAuthClient } from './client.ts';
import { type ClientDocuments, isDocumentId } from './client-documents.ts';
import type { Consents } from './consents.ts';
import { hashOf, type Tickets } from './tickets.ts';

/** What a client's id has in it: name, redirect addresses, and when it was registered. */
export type Registration = readonly [name: string, redirectUris: readonly string[], at: number];

export interface Clients {
  /** Registers a client (RFC 7591). Nothing is kept of it: its id says it all. */
  register(client: Pick<OAuthClient, 'name' | 'redirectUris'>): OAuthClient;
  /**
   * Undefined for an id that was not given out here, or to a client that no user let in within a day. `fetching` and
   * what is thrown are as in `ClientDocuments`.
   */
  find(id: string, fetching?: () => void): Promise<OAuthClient | undefined>;
}

export function createClients(options: {
  tickets: Tickets<Registration>;
  consents: Pick<Consents, 'knows'>;
  documents: ClientDocuments;
  now: () => number;
}): Clients {
  const { tickets, consents, documents, now } = options;
  return {
    register({ name, redirectUris }) {
      return { id: tickets.make([name, redirectUris, now()]), name, redirectUris, isProven: false };
    },
    async find(id, fetching = () => {}) {
      if (isDocumentId(id)) return documents.read(id, fetching);
      const registration = tickets.read(id);
      if (!registration) return undefined;
      const [name, redirectUris, at] = registration;
      const isFresh = now() - at <= authLimits.unusedClientMs;
      if (!isFresh && !(await consents.knows(hashOf(id)))) return undefined;
      return { id, name, redirectUris, isProven: false };
    },
  };
}

import type { Logger } from '../../core/logger.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import { authLimits } from '../limits.ts';
import type { Claims } from '../tokens.ts';
import { type ClientDocumentsOptions, createClientDocuments } from './client-documents.ts';
import { type Clients, createClients, type Registration } from './clients.ts';
import { openFileConsents } from './consents-in-file.ts';
import { consentsInTable } from './consents-in-table.ts';
import { type Consent, tellingOfEnds, type ToldConsents } from './consents.ts';
import { createTickets, type Tickets } from './tickets.ts';

/** What a client asked for, and everything that was checked of it. */
export interface Asked {
  readonly clientId: string;
  readonly redirectUri: string;
  /** Whether the client named it: then it has to name it again for its tokens. */
  readonly namedRedirect: boolean;
  /** PKCE S256 (RFC 7636). */
  readonly challenge: string;
  readonly state: string | undefined;
  readonly endpoint: string;
  readonly resource: string;
  /** Whether it asked for the scope `api`, and for an endpoint that this goes with. */
  readonly wantsApi: boolean;
}

/** A user who gave their password on the page of the authorization server, and what the client of it asked for. */
export interface LoggedInFor {
  readonly asked: Asked;
  readonly login: Claims;
}

/** A login at a provider that was begun in a browser (`auth/oidc`), whose cookie has it. */
export interface OidcLogin {
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  /** See `OidcRequest`. */
  readonly fresh: boolean;
  /** What a client asked for, as the login page had it; undefined for a login to the dashboard. */
  readonly request?: string | undefined;
  /** The path of the hub to go to afterwards. */
  readonly back: string;
}

/** What is in a code: the consent that it becomes, and what has to fit. */
export interface Code {
  readonly consent: Omit<Consent, 'createdAt' | 'usedAt' | 'generation' | 'rotatedAt'>;
  readonly redirectUri: string;
  readonly namedRedirect: boolean;
  readonly challenge: string;
  readonly login: Claims;
}

/** What is in a refresh token. */
export type Refresh = readonly [consent: string, generation: number, client: string, endpoint: string];

/** The hub as authorization server: who asks, what users let them do, and the texts that carry it from step to step. */
export interface Authorization {
  readonly clients: Clients;
  readonly consents: ToldConsents;
  readonly requests: Tickets<Asked>;
  readonly logins: Tickets<LoggedInFor>;
  /** Logins at a provider, and the way from there to the consent, which `browser` has to fit. */
  readonly oidcLogins: Tickets<OidcLogin>;
  readonly backs: Tickets<LoggedInFor & { readonly browser: string }>;
  readonly codes: Tickets<Code>;
  readonly refreshes: Tickets<Refresh>;
}

export interface OpenAuthorization {
  /** The same for all hubs that share a database (`JWT_SECRET`). */
  readonly secret: string;
  /** The file of consents in `DATA_DIR`. */
  readonly path: string;
  /** The database of hubs that share one; undefined for a hub alone. */
  readonly shared: DatabaseHandle | undefined;
  /** See `ClientDocuments`. */
  readonly fetchDocument: ClientDocumentsOptions['fetch'];
  readonly log: Logger;
  readonly now?: () => number;
}

export async function openAuthorization(options: OpenAuthorization): Promise<Authorization> {
  const { path, shared, fetchDocument, log, now = Date.now } = options;
  const consents = tellingOfEnds(shared ? consentsInTable(shared) : await openFileConsents(path, log, now));
  const secret = Buffer.from(options.secret);
  const toleranceMs = shared ? authLimits.clockToleranceMs : 0;
  const tickets = <T>(purpose: string, lifeMs?: number): Tickets<T> =>
    createTickets<T>({ secret, purpose: `oauth ${purpose}`, lifeMs, toleranceMs, now });
  return {
    clients: createClients({
      tickets: tickets<Registration>('client'),
      consents,
      documents: createClientDocuments({ fetch: fetchDocument, log, now }),
      now,
    }),
    consents,
    requests: tickets('request', authLimits.authorizePageMs),
    logins: tickets('login', authLimits.authorizePageMs),
    oidcLogins: tickets('login at a provider', authLimits.authorizePageMs),
    backs: tickets('back from a provider', authLimits.backFromProviderMs),
    codes: tickets('code', authLimits.codeMs),
    refreshes: tickets('refresh'),
  };
}

import { sessionOf } from '../../core/access/client-session.ts';
import { isGone, userOf } from '../../core/access/identity.ts';
import { HubError } from '../../core/errors.ts';
import { isPerUser, isUsedAlone } from '../../core/access/per-user.ts';
import { type Principal, principalId, principalOf } from '../../core/access/principal.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { Connection } from './connection.ts';
import type { OwnValues } from '../channels/credential.ts';
import { type ClientHeaders, type PassedHeaders, passedHeaders, type WithoutCredentials } from './passed-headers.ts';

/**
 * For whom a server keeps state: no other client may see that state, not even the same principal in another session.
 */
export interface ConnectionOwner {
  readonly principal: Principal;
  /**
   * Names the session among those of the principal. `''`: all that belongs to no session, possibly of several clients.
   */
  readonly session: string;
  /** Names the headers of the client that the server gets, where it gets any: `PassedHeaders.hash`. */
  readonly passed?: string | undefined;
}

/** For whom a connection is asked for. */
export interface ConnectionAsker extends Pick<ConnectionOwner, 'principal' | 'session'> {
  /** Those of the request; undefined: none that a server could get. */
  readonly clientHeaders?: ClientHeaders | undefined;
}

/** What decides whose a connection is. */
export interface OwnershipOptions {
  readonly settings: () => Settings;
  /** The connection that is there for all. It knows what the server offers, and no dedicated connection outlives it. */
  readonly shared: (server: string) => Connection | undefined;
  /** Why a user cannot use a server yet that users sign in to alone. */
  readonly refusal?: (server: ServerSettings, user: string) => HubError | undefined;
  readonly withoutCredentials: WithoutCredentials;
  /** What users set for themselves at servers with a `credentialTemplate`. */
  readonly credentials?: OwnCredentialsOf | undefined;
}

export interface OwnCredentialsOf {
  of(server: ServerSettings, user: UserSettings): OwnValues | undefined;
  /** Why a caller cannot use the server. */
  refusal(server: ServerSettings, user: UserSettings | undefined): HubError | undefined;
}

/** What a dedicated connection is opened with besides the settings of its server. */
export interface OpenedFor {
  /** Who it is signed in as, where users sign in alone. */
  readonly user?: string | undefined;
  /** What that user set for the server. */
  readonly own?: OwnValues | undefined;
  /** The headers of the client that the server gets. */
  readonly headers?: PassedHeaders['headers'] | undefined;
  /** It is for one session alone, of one caller. */
  readonly isOfSession?: boolean | undefined;
}

/** For whom a connection is made, and with what. */
export type OpenedOwner = ConnectionOwner & { readonly opened: OpenedFor };

/**
 * The owner of a connection to this server; undefined where all clients share one connection. Callers whose headers go
 * to the server never share one with callers of other values. Throws HubError
 * `oauth_required` for a user who has to sign in first, and `unauthenticated` or `forbidden` for a caller that is not a
 * user, where only users may use the server.
 */
export function connectionOwnerOf(
  server: ServerSettings | undefined,
  { principal, session, clientHeaders }: ConnectionAsker,
  { settings, refusal: refusalOf, withoutCredentials, credentials }: Omit<OwnershipOptions, 'shared'>,
): OpenedOwner | undefined {
  if (!server) return undefined;
  const names = 'passthroughHeaders' in server.transport ? server.transport.passthroughHeaders : undefined;
  const passed = names && clientHeaders && passedHeaders(names, clientHeaders, withoutCredentials);
  const own = { session: server.perSessionClient ? session : '', passed: passed?.hash };
  const isOfSession = isOfOneCaller(principal, own.session);
  if (!isUsedAlone(server)) {
    if (!server.perSessionClient && !passed) return undefined;
    return { principal, ...own, opened: { headers: passed?.headers, isOfSession } };
  }
  const account = userOf(settings(), principal);
  if (!account && isPerUser(server)) throw notSignedIn(server.name, principal);
  const refused = credentials?.refusal(server, account);
  if (refused) throw refused;
  if (!account) throw notSignedIn(server.name, principal);
  const user = account.username;
  const refusal = isPerUser(server) ? refusalOf?.(server, user) : undefined;
  if (refusal) throw refusal;
  // A user's access key is that user there.
  const holder = server.perSessionClient ? principal : principalOf(account);
  return {
    principal: holder,
    ...own,
    opened: { user, own: credentials?.of(server, account), headers: passed?.headers, isOfSession },
  };
}

/** Anonymous callers are all one principal, and each can name a session as another has named its own. */
function isOfOneCaller(principal: Principal, session: string): boolean {
  return session !== '' && (principal.kind !== 'anonymous' || sessionOf(session) !== undefined);
}

/** One text for each connection owner of a server, and what their connection is opened with. */
export function ownerKey(server: string, { principal, session, passed, opened }: OpenedOwner): string {
  return JSON.stringify([server, principalId(principal), session, opened.user, opened.own?.hash, passed]);
}

/**
 * Whether a dedicated connection to a server is of no more use with the current settings. `isAtWork`: it is kept, after
 * a sign-out or with other credentials, until its calls are answered: their own errors say more.
 */
export function isOver(
  entry: Readonly<Record<'connection' | 'shared', Connection>> & {
    readonly owner: ConnectionOwner;
    readonly opened: OpenedFor;
    readonly beside: Connection | undefined;
  },
  now: Pick<OwnershipOptions, 'shared' | 'refusal' | 'credentials'> & { readonly settings: Settings },
  isAtWork = entry.connection.inFlight > 0,
): boolean {
  const { owner, opened, beside } = entry;
  const { user } = opened;
  const { name } = entry.shared.server;
  const server = now.settings.servers.get(name);
  if (!server || now.shared(name) !== entry.shared || isUsedAlone(server) !== (user !== undefined)) return true;
  // A new user with the name of a deleted user must not get that user's sessions.
  if (isGone(now.settings, owner.principal)) return true;
  if (user === undefined) return owner.passed === undefined && server.perSessionClient === (beside === entry.shared);
  if (isAtWork) return false;
  const account = userOf(now.settings, owner.principal);
  if (account && now.credentials?.of(server, account)?.hash !== opened.own?.hash) return true;
  return isPerUser(server) && now.refusal?.(server, user) !== undefined;
}

/** Each call is made as a user, and here is none. */
function notSignedIn(server: string, principal: Principal): HubError {
  const text = `Server "${server}" is used by each user with a sign-in of their own`;
  if (principal.kind === 'anonymous') return new HubError('unauthenticated', `${text}. Log in to the hub first.`);
  return new HubError('forbidden', `${text}, and this access key has no owner. Use one of your own.`);
}

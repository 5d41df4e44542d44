import { isGone, userOf } from '../../core/access/rules.ts';
import { HubError } from '../../core/errors.ts';
import { isPerUser } from '../../core/access/per-user.ts';
import { type Principal, principalOf } from '../../core/access/principal.ts';
import type { ServerSettings, Settings } from '../../core/settings/types.ts';
import type { Connection } from './connection.ts';

/**
 * For whom a server keeps state: no other client may see that state, not even the same principal in another session.
 */
export interface ConnectionOwner {
  readonly principal: Principal;
  /**
   * Names the session among those of the principal. `''`: all that belongs to no session, possibly of several clients.
   */
  readonly session: string;
}

/** What decides whose a connection is. */
export interface OwnershipOptions {
  readonly settings: () => Settings;
  /** The connection that is there for all. It knows what the server offers, and no dedicated connection outlives it. */
  readonly shared: (server: string) => Connection | undefined;
  /** Why a user cannot use a server yet that users sign in to alone. */
  readonly refusal?: (server: ServerSettings, user: string) => HubError | undefined;
}

/** For whom a connection is made; `user` is who it is signed in as, where users sign in alone. */
export type SignedInOwner = ConnectionOwner & { readonly user: string | undefined };

/**
 * The owner of a connection to this server; undefined where all clients share one connection. Throws HubError
 * `oauth_required` for a user who has to sign in first, and `unauthenticated` or `forbidden` for a caller that is not a
 * user, where only users may use the server.
 */
export function connectionOwnerOf(
  server: ServerSettings | undefined,
  asked: ConnectionOwner,
  { settings, refusal: refusalOf }: Pick<OwnershipOptions, 'settings' | 'refusal'>,
): SignedInOwner | undefined {
  if (!server || !isPerUser(server)) return server?.perSessionClient ? { ...asked, user: undefined } : undefined;
  const account = userOf(settings(), asked.principal);
  if (!account) throw nobodySignedIn(server.name, asked.principal);
  const user = account.username;
  const refusal = refusalOf?.(server, user);
  if (refusal) throw refusal;
  if (server.perSessionClient) return { ...asked, user };
  // A user's access key is that user there.
  return { principal: principalOf(account), session: '', user };
}

/** Whether a dedicated connection to a server is of no more use with the current settings. */
export function isOver(
  entry: Readonly<Record<'connection' | 'shared', Connection>> & {
    readonly owner: ConnectionOwner;
    readonly user: string | undefined;
    readonly isTemporary: boolean;
  },
  now: Pick<OwnershipOptions, 'shared'> & {
    readonly settings: Settings;
    readonly refusal: OwnershipOptions['refusal'] | undefined;
  },
): boolean {
  const { user, owner, isTemporary } = entry;
  const { name } = entry.shared.server;
  const server = now.settings.servers.get(name);
  if (!server || now.shared(name) !== entry.shared || isPerUser(server) !== (user !== undefined)) return true;
  // A new user with the name of a deleted user must not get that user's sessions.
  if (isGone(now.settings, owner.principal)) return true;
  if (user === undefined) return server.perSessionClient === isTemporary;
  // After a sign-out also existing connections end. A connection with calls under way is kept until they are answered:
  // their own errors say more.
  return now.refusal?.(server, user) !== undefined && entry.connection.inFlight === 0;
}

/** Each call is made as a user, and here is none. */
function nobodySignedIn(server: string, principal: Principal): HubError {
  const text = `Server "${server}" is used by each user with a sign-in of their own`;
  if (principal.kind === 'anonymous') return new HubError('unauthenticated', `${text}. Log in to the hub first.`);
  return new HubError('forbidden', `${text}, and this access key is nobody's. Use one of your own.`);
}

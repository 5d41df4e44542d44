import { isGone, userOf } from '../core/access/rules.ts';
import { HubError } from '../core/errors.ts';
import { isPerUser } from '../core/access/per-user.ts';
import { type Principal, principalOf } from '../core/access/principal.ts';
import type { ServerSettings, Settings } from '../core/settings/types.ts';
import type { Connection } from './connection.ts';
import type { LeaseOptions, Tenant } from './leases.ts';

/** For whom a connection is made; `user` is who it is signed in as, where users sign in alone. */
export type SignedInTenant = Tenant & { readonly user: string | undefined };

/**
 * Who a connection to this server would be for; undefined where everybody shares one. Throws HubError `oauth_required` to a user who has to sign in first, and
 * `unauthenticated` or `forbidden` to who is no user where only users are served.
 */
export function tenantOf(
  server: ServerSettings | undefined,
  asked: Tenant,
  { settings, refusal: refusalOf }: Pick<LeaseOptions, 'settings' | 'refusal'>,
): SignedInTenant | undefined {
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

/** Whether somebody's connection to a server is of no more use with the settings of now. */
export function isOver(
  lease: Readonly<Record<'connection' | 'shared', Connection>> & {
    readonly tenant: Tenant;
    readonly user: string | undefined;
    readonly isTemporary: boolean;
  },
  now: Pick<LeaseOptions, 'shared'> & {
    readonly settings: Settings;
    readonly refusal: LeaseOptions['refusal'] | undefined;
  },
): boolean {
  const { user, tenant, isTemporary } = lease;
  const { name } = lease.shared.server;
  const server = now.settings.servers.get(name);
  if (!server || now.shared(name) !== lease.shared || isPerUser(server) !== (user !== undefined)) return true;
  // Whoever gets the name of a deleted user must not find that user's sessions.
  if (isGone(now.settings, tenant.principal)) return true;
  if (user === undefined) return server.perSessionClient === isTemporary;
  // Signed out is out, also of what was connected before. A call under way is about to hear it in better words, or was answered before.
  return now.refusal?.(server, user) !== undefined && lease.connection.inFlight === 0;
}

/** Each call is made as a user, and here is none. */
function nobodySignedIn(server: string, principal: Principal): HubError {
  const text = `Server "${server}" is used by each user with a sign-in of their own`;
  if (principal.kind === 'anonymous') return new HubError('unauthenticated', `${text}. Log in to the hub first.`);
  return new HubError('forbidden', `${text}, and this access key is nobody's. Use one of your own.`);
}

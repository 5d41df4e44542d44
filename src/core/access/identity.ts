import type { Principal, Reach } from './principal.ts';
import type { KeySettings } from '../settings/key.ts';
import type { Settings } from '../settings/settings.ts';
import type { UserSettings } from '../settings/user.ts';

/** Who a principal is by the settings of this moment: the user, the key or the groups behind it. */

export type Identity =
  | { readonly kind: 'anonymous'; readonly only: 'public' | undefined }
  /** `readOnly`: through an access key of theirs that only reads. `reach`: of what the user reaches, this alone. */
  | {
      readonly kind: 'user';
      readonly user: UserSettings;
      readonly readOnly?: boolean | undefined;
      readonly reach?: Reach | undefined;
    }
  | { readonly kind: 'key'; readonly key: KeySettings }
  /** `groups`: names and ids that the token of a trusted issuer is mapped to. */
  | { readonly kind: 'issued'; readonly groups: readonly string[] };

export function identity(settings: Settings, principal: Principal): Identity | undefined {
  if (principal.kind === 'anonymous') return { kind: 'anonymous', only: principal.only };
  if (principal.kind === 'issued') {
    const issuer = settings.system.trustedIssuers?.find(({ issuer }) => issuer === principal.issuer);
    return issuer && { kind: 'issued', groups: principal.values.flatMap((value) => issuer.groups.get(value) ?? []) };
  }
  const user = userOf(settings, principal);
  if (principal.kind === 'user') return user && { kind: 'user', user };
  if (principal.kind === 'app') return user && { kind: 'user', user, reach: principal.reach };
  const key = settings.keys.find((key) => key.id === principal.id && isInForce(key));
  if (!key) return undefined;
  // A user's key acts as its owner, with the owner's rights of this moment; of its own limits only `readOnly` cuts
  // them.
  if (key.kind === 'user') return user && { kind: 'user', user, readOnly: key.readOnly };
  return { kind: 'key', key };
}

/** The user or key behind a principal, live; undefined when it is gone or disabled. */
export function userOf(settings: Settings, principal: Principal): UserSettings | undefined {
  if (principal.kind === 'user' || principal.kind === 'app')
    return settings.users.find(
      ({ username, createdAt }) => username === principal.username && createdAt === principal.since,
    );
  if (principal.kind !== 'key') return undefined;
  const key = settings.keys.find((key) => key.id === principal.id && isInForce(key));
  return key?.kind === 'user' ? settings.users.find((user) => user.username === key.owner) : undefined;
}

/** True while an access key is enabled and has not expired. */
export function isInForce({ enabled, expiresAt }: KeySettings): boolean {
  return enabled && (expiresAt === undefined || Date.now() < expiresAt);
}

/**
 * True when a principal is no longer valid: the user is gone, the key is gone, disabled or expired, or the owner of a
 * user's key is. Anonymous is never gone.
 */
export function isGone(settings: Settings, principal: Principal): boolean {
  return identity(settings, principal) === undefined;
}

/** True for admins; an access key never is one, nor is a client that an admin let in. */
export function isAdmin(settings: Settings, principal: Principal): boolean {
  return principal.kind === 'user' && userOf(settings, principal)?.role === 'admin';
}

/** True for those who may know of every server: admins, their own access keys, and keys that open everything. */
export function seesEverything(settings: Settings, principal: Principal): boolean {
  const who = identity(settings, principal);
  if (who?.kind === 'key') return who.key.accessType === 'all';
  return who?.kind === 'user' && who.user.role === 'admin' && principal.kind !== 'app';
}

/**
 * True when MCP endpoints ask for a credential: as the settings say, and where they are silent for what may come from
 * others (`outside.ts`; CONTRACT §7).
 */
export function needsCredential({ system }: Pick<Settings, 'system'>, outside: boolean): boolean {
  return system.routing.enableBearerAuth ?? outside;
}

/** True for users whom the settings demand a second factor of at a login with a password. */
export function needsFactor({ system }: Pick<Settings, 'system'>, { role }: Pick<UserSettings, 'role'>): boolean {
  const { requireSecondFactor } = system;
  return requireSecondFactor === 'everyone' || (requireSecondFactor === 'admins' && role === 'admin');
}

/**
 * True for a user who has logged in without the second factor that the settings demand: until it is set up, or shown,
 * they may do nothing else. Access keys, clients that a user let in and logins at a provider are not meant.
 */
export function mustSetUpFactor(settings: Settings, principal: Principal): boolean {
  if (principal.kind !== 'user' || principal.passwordAlone !== true) return false;
  const user = userOf(settings, principal);
  return user !== undefined && needsFactor(settings, user);
}

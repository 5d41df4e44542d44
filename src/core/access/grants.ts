import type { Identity } from './identity.ts';
import type { Reach } from './principal.ts';
import type { GroupSettings, Selection } from '../settings/group.ts';
import type { KeySettings } from '../settings/key.ts';
import type { ServerSettings } from '../settings/server.ts';
import type { Settings } from '../settings/settings.ts';
import type { UserSettings } from '../settings/user.ts';

/** What gives access to a server or a group: ownership, a share, a group, a key, being public (CONTRACT §2, §7). */

/** Which items of a server a caller may see, before the switches of the server itself. */
export interface Grant extends Selections {
  /** Of the tools only those that only read. */
  readonly readOnly: boolean;
}

interface Selections {
  readonly tools: Selection;
  readonly prompts: Selection;
  readonly resources: Selection;
}

export const everything: Selections = { tools: 'all', prompts: 'all', resources: 'all' };
const none: Selections = { tools: [], prompts: [], resources: [] };

/** What of this server may be called; undefined when the server is out of reach. */
export function grantOf(settings: Settings, who: Identity, server: ServerSettings): Grant | undefined {
  switch (who.kind) {
    case 'key':
      return cut(keyGrant(settings, who.key, server), who.key.readOnly);
    case 'anonymous':
      return cut(anonymousGrant(settings, server, who.only));
    case 'issued':
      return cut(memberGrant(settings, who, server));
    case 'user':
      return cut(within(settings, who, server, userGrant(settings, who.user, server)), who.readOnly);
  }
}

function cut(selections: Selections | undefined, readOnly = false): Grant | undefined {
  return selections && { ...selections, readOnly };
}

/** What a user may see cut down to the reach of a consent: a server that it names, or what its groups select. */
function within(
  settings: Settings,
  who: Extract<Identity, { kind: 'user' }>,
  server: ServerSettings,
  seen: Selections | undefined,
): Selections | undefined {
  const { reach } = who;
  if (!reach || !seen || reach.servers.includes(server.name)) return seen;
  const entries = settings.groups
    .filter((group) => reach.groups.includes(group.id) && seesGroup(who, group))
    .flatMap((group) => group.servers.filter((entry) => entry.name === server.name));
  return entries.length === 0 ? undefined : narrowed(seen, entries.reduce<Selections>(widened, none));
}

/** Whether a group has anything that a consent reaches. */
function touches({ groups, servers }: Reach, group: GroupSettings): boolean {
  return groups.includes(group.id) || group.servers.some(({ name }) => servers.includes(name));
}

/** A server without a visibility is open to callers without a credential on this machine, unless a user added it. */
export function anonymousGrant(
  settings: Settings,
  server: ServerSettings,
  only: 'public' | undefined,
): Selections | undefined {
  if (isPublic(settings, server)) return everything;
  const isPlain = server.visibility === undefined && isOfAdmin(settings, server);
  return only === undefined && isPlain ? everything : undefined;
}

/** A key opens what it names. A key that opens everything does not open what users added for themselves. */
function keyGrant(settings: Settings, { accessType }: KeySettings, server: ServerSettings): Selections | undefined {
  const isForAll = isOfAdmin(settings, server) || isPublic(settings, server);
  return accessType !== 'all' || isForAll ? everything : undefined;
}

function userGrant(settings: Settings, user: UserSettings, server: ServerSettings): Selections | undefined {
  // A user's server is not shown to every admin's model: its texts come from the user, and the model would read them
  // with the rights of an admin.
  if (user.role === 'admin' && isOfAdmin(settings, server)) return everything;
  if (server.owner === user.username || user.servers.includes(server.name)) return everything;
  if (isPublic(settings, server)) return everything;
  // A user's server that says public, but that no admin made public, counts as shared.
  const isShared = server.visibility === 'group' || server.visibility === 'public';
  if (isShared && server.sharedWithUsers.includes(user.username)) return everything;
  return memberGrant(settings, user, server);
}

/**
 * Access that comes from groups only is what the groups select, on every endpoint. Otherwise the selection would have
 * no effect.
 */
function memberGrant(settings: Settings, member: Member, server: ServerSettings): Selections | undefined {
  const entries = settings.groups
    .filter((group) => isMember(member, group))
    .flatMap((group) => group.servers.filter((entry) => entry.name === server.name));
  return entries.length === 0 ? undefined : entries.reduce<Selections>(widened, none);
}

function widened(a: Selections, b: Selections): Selections {
  return combine(a, b, (x, y) => (x === 'all' || y === 'all' ? 'all' : [...new Set([...x, ...y])]));
}

export function narrowed(a: Selections, b: Selections): Selections {
  return combine(a, b, (x, y) => (x === 'all' ? y : y === 'all' ? x : x.filter((name) => y.includes(name))));
}

function combine(a: Selections, b: Selections, both: (x: Selection, y: Selection) => Selection): Selections {
  return {
    tools: both(a.tools, b.tools),
    prompts: both(a.prompts, b.prompts),
    resources: both(a.resources, b.resources),
  };
}

/**
 * True for a server that an admin owns now. A server without an owner belongs to `admin`, also in a file whose users
 * have other names.
 */
export function isOfAdmin({ users }: Pick<Settings, 'users'>, { owner }: ServerSettings): boolean {
  let roles = rolesOf.get(users);
  if (!roles) {
    roles = new Map(users.map(({ username, role }) => [username, role]));
    rolesOf.set(users, roles);
  }
  return (roles.get(owner) ?? (owner === 'admin' ? 'admin' : 'user')) === 'admin';
}

/** Made once per snapshot: views ask it of each server. */
const rolesOf = new WeakMap<Settings['users'], ReadonlyMap<string, UserSettings['role']>>();

/**
 * True for a server that every caller may use: an admin has explicitly made it public (CONTRACT §7). That its owner
 * calls it public is not enough.
 */
export function isPublic(settings: Pick<Settings, 'users'>, server: ServerSettings): boolean {
  return server.visibility === 'public' && (server.publishedBy !== undefined || isOfAdmin(settings, server));
}

/**
 * True for a server that an admin vouches for: one an admin owns, or a program, which only admins can set up. Servers
 * of other users may not read the hub's environment nor reach private addresses.
 */
export function isTrusted(settings: Settings, server: ServerSettings): boolean {
  return server.transport.type === 'stdio' || isOfAdmin(settings, server);
}

export function seesGroup(who: Identity, group: GroupSettings): boolean {
  if (who.kind === 'key') return true;
  if (who.kind === 'issued') return isMember(who, group);
  if (who.kind === 'user' && who.reach && !touches(who.reach, group)) return false;
  // A group without a visibility in the file is open to every caller that reaches its servers, as in MCPHub.
  if (group.visibility === undefined || group.visibility === 'public') return true;
  if (who.kind === 'anonymous') return false;
  const { username, role } = who.user;
  if (role === 'admin' || group.owner === username || isMember(who.user, group)) return true;
  return group.visibility === 'group' && group.sharedWithUsers.includes(username);
}

type Member = Pick<UserSettings, 'groups'>;

export function isMember({ groups }: Member, group: GroupSettings): boolean {
  return groups.includes(group.id) || groups.includes(group.name);
}

export function keyOpensGroup(key: KeySettings, group: GroupSettings): boolean {
  const named = key.allowedGroups.includes(group.id) || key.allowedGroups.includes(group.name);
  // Full containment: one server outside the key's list closes the whole group to it.
  const contained = group.servers.length > 0 && group.servers.every((entry) => key.allowedServers.includes(entry.name));
  switch (key.accessType) {
    case 'all':
      return true;
    case 'groups':
      return named;
    case 'servers':
      return contained;
    case 'custom':
      return named || contained;
  }
}

export function keyOpensServer(key: KeySettings, server: string): boolean {
  if (key.accessType === 'all') return true;
  return key.accessType !== 'groups' && key.allowedServers.includes(server);
}

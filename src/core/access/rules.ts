import { HubError } from '../errors.ts';
import type { Principal, Reach } from './principal.ts';
import type { Scope } from './scope.ts';
import type { GroupServer, GroupSettings, Selection } from '../settings/group.ts';
import type { KeySettings } from '../settings/key.ts';
import type { ServerSettings } from '../settings/server.ts';
import type { Settings } from '../settings/settings.ts';
import type { UserSettings } from '../settings/user.ts';

/**
 * Who may reach what (CONTRACT §2): the only place that decides it. Every surface asks `resolve` or `reaches`, so what
 * may not be seen is absent everywhere in the same way.
 */

/** A server as one scope shows it: under which prefix, and which of its items. */
export interface ScopeMember {
  readonly server: ServerSettings;
  readonly prefix: string;
  readonly tools: Selection;
  readonly prompts: Selection;
  readonly resources: Selection;
  /** Of the tools only those are shown that only read. */
  readonly readOnly: boolean;
  readonly pinnedTools: readonly string[];
  /** What the group shows of tools in place of what their server says. */
  readonly overrides?: GroupServer['overrides'];
}

export interface Resolved {
  /**
   * `server`: the scope is this one server, shown under its own names. `nothing`: unknown, or not for this principal;
   * the two look alike.
   */
  readonly kind: 'all' | 'group' | 'server' | 'nothing';
  readonly group: GroupSettings | undefined;
  readonly members: readonly ScopeMember[];
}

const nothing: Resolved = { kind: 'nothing', group: undefined, members: [] };

/**
 * The servers that a scope shows to a principal, enabled ones only, in the order of the settings (of the group, in a
 * group).
 */
export function resolve(settings: Settings, principal: Principal, scope: Scope): Resolved {
  const who = identity(settings, principal);
  if (who === undefined) return nothing;
  if (scope.kind === 'server') return resolveServer(settings, scope.name, who);
  const name = scope.kind === 'named' ? scope.name : scope.kind === 'smart' ? scope.group : undefined;
  if (name === undefined) return resolveAll(settings, who);
  const group = groupFor(settings, name, who);
  if (group) {
    if (who.kind === 'key' && !keyOpensGroup(who.key, group)) return nothing;
    return { kind: 'group', group, members: groupMembers(settings, group, who) };
  }
  // `$smart/{group}` is about groups: a server's name there is an unknown group (SPEC, MCP endpoints, rule 2).
  return scope.kind === 'smart' ? nothing : resolveServer(settings, name, who);
}

/**
 * Why a scope is closed to every caller; undefined when it is not. `routing.enableGlobalRoute: false` closes whatever
 * reaches all servers without naming one: listing, searching or running code over all of them is the same reach.
 */
export function closedScope({ system }: Pick<Settings, 'system'>, scope: Scope): HubError | undefined {
  const isWhole = scope.kind === 'all' || (scope.kind === 'smart' && scope.group === undefined);
  if (!isWhole || system.routing.enableGlobalRoute) return undefined;
  return new HubError(
    'forbidden',
    'The endpoints of all servers are switched off (routing.enableGlobalRoute). Name a group or a server.',
  );
}

function resolveServer(settings: Settings, name: string, who: Identity): Resolved {
  const server = settings.servers.get(name);
  const grant = server?.enabled ? grantOf(settings, who, server) : undefined;
  if (!server || !grant || (who.kind === 'key' && !keyOpensServer(who.key, server.name))) return nothing;
  return { kind: 'server', group: undefined, members: [whole(server, grant)] };
}

/**
 * True when the principal may know of this server, whether or not it is enabled: who may call it, and every admin, who
 * manages it.
 */
export function reaches(settings: Settings, principal: Principal, server: ServerSettings): boolean {
  return granted(settings, principal, server) !== undefined;
}

/**
 * What of this server the principal may know, the server's own switches aside; undefined when it is out of reach.
 * Admins know of everything, since they manage it; what they are shown to call (`resolve`) is less.
 */
export function granted(settings: Settings, principal: Principal, server: ServerSettings): Grant | undefined {
  if (isAdmin(settings, principal)) return { ...everything, readOnly: false };
  const who = identity(settings, principal);
  if (who === undefined) return undefined;
  if (who.kind === 'key' && !keyOpensServer(who.key, server.name)) return undefined;
  return grantOf(settings, who, server);
}

/**
 * True when the principal knows of this server in this group: a key that opens a group opens everything in it, but what
 * is for its owner only.
 */
export function reachesMember(
  settings: Settings,
  principal: Principal,
  group: GroupSettings,
  server: ServerSettings,
): boolean {
  if (isAdmin(settings, principal)) return true;
  const who = identity(settings, principal);
  if (who === undefined || (who.kind === 'key' && !keyOpensGroup(who.key, group))) return false;
  return grantOf(settings, who, server) !== undefined;
}

/**
 * True for a server that an admin vouches for: one an admin owns, or a program, which only admins can set up. Servers
 * of other users may not read the hub's environment nor reach private addresses.
 */
export function isTrusted(settings: Settings, server: ServerSettings): boolean {
  return server.transport.type === 'stdio' || isOfAdmin(settings, server);
}

/**
 * True for a server that an admin owns now. A server without an owner belongs to `admin`, also in a file whose users
 * have other names.
 */
function isOfAdmin({ users }: Pick<Settings, 'users'>, { owner }: ServerSettings): boolean {
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

/** True when an endpoint shows something to some principals that it does not show to one without a credential. */
export function showsMoreToSome(settings: Settings, scope: Scope): boolean {
  const name = scope.kind === 'named' || scope.kind === 'server' ? scope.name : undefined;
  const group = name === undefined ? undefined : groupNamed(settings, name);
  const names = group?.servers.map((entry) => entry.name) ?? (name === undefined ? undefined : [name]);
  const servers = [...settings.servers.values()].filter((server) => names?.includes(server.name) ?? true);
  const hidden = (server: ServerSettings): boolean => !anonymousGrant(settings, server, undefined);
  return (group !== undefined && !seesGroup({ kind: 'anonymous', only: undefined }, group)) || servers.some(hidden);
}

/** True when the principal may see this group. */
export function reachesGroup(settings: Settings, principal: Principal, group: GroupSettings): boolean {
  const who = identity(settings, principal);
  return who !== undefined && seesGroup(who, group) && (who.kind !== 'key' || keyOpensGroup(who.key, group));
}

/**
 * True when MCP endpoints ask for a credential: as the settings say, and where they are silent for what may come from
 * others (`outside.ts`; CONTRACT §7).
 */
export function needsCredential({ system }: Pick<Settings, 'system'>, outside: boolean): boolean {
  return system.routing.enableBearerAuth ?? outside;
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

/** Why a principal reaches a server, in a sentence; undefined when it does not. `ref` names what gives access. */
export function whyReached(
  settings: Settings,
  principal: Principal,
  server: ServerSettings,
): { readonly reason: string; readonly ref?: string } | undefined {
  const who = identity(settings, principal);
  if (who === undefined || grantOf(settings, who, server) === undefined) return undefined;
  if (who.kind === 'key') {
    if (!keyOpensServer(who.key, server.name))
      return { reason: `The access key "${who.key.name}" opens a group with it.` };
    return { reason: `The access key "${who.key.name}" opens it (${who.key.accessType}).`, ref: who.key.id };
  }
  if (who.kind === 'user') {
    const { user } = who;
    if (server.owner === user.username) return { reason: `${user.username} owns the server.` };
    if (user.servers.includes(server.name)) return { reason: `The server is on the list of ${user.username}.` };
    if (user.role === 'admin' && isOfAdmin(settings, server)) return { reason: `${user.username} is an admin.` };
  }
  if (isPublic(settings, server)) return { reason: 'The server is public.' };
  if (who.kind === 'anonymous') return { reason: 'The server has no visibility, and the caller is on this machine.' };
  const shared = who.kind === 'user' && server.sharedWithUsers.includes(who.user.username);
  if (shared) return { reason: `The server is shared with ${who.user.username}.` };
  const member = who.kind === 'user' ? who.user : who;
  const group = settings.groups.find(
    (one) => isMember(member, one) && one.servers.some(({ name }) => name === server.name),
  );
  return { reason: `The group "${group?.name ?? ''}" gives access.`, ...(group && { ref: group.name }) };
}

/** The groups that a principal is in: those of a user, those that a key names, those that a token is mapped to. */
export function groupsOf(settings: Settings, principal: Principal): readonly GroupSettings[] {
  const who = identity(settings, principal);
  if (who === undefined || who.kind === 'anonymous') return [];
  if (who.kind === 'key') {
    const { allowedGroups } = who.key;
    return settings.groups.filter(({ id, name }) => allowedGroups.includes(id) || allowedGroups.includes(name));
  }
  const member = who.kind === 'user' ? who.user : who;
  return settings.groups.filter((group) => isMember(member, group));
}

/** The group whose endpoint a scope is, as this principal can know it. */
export function groupOf(settings: Settings, principal: Principal, scope: Scope): GroupSettings | undefined {
  const name = scope.kind === 'named' ? scope.name : scope.kind === 'smart' ? scope.group : undefined;
  const who = name === undefined ? undefined : identity(settings, principal);
  return name === undefined || who === undefined ? undefined : groupFor(settings, name, who);
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

/** True for those who may know of every server: admins, their own access keys, and keys that open everything. */
export function seesEverything(settings: Settings, principal: Principal): boolean {
  const who = identity(settings, principal);
  if (who?.kind === 'key') return who.key.accessType === 'all';
  return who?.kind === 'user' && who.user.role === 'admin' && principal.kind !== 'app';
}

type Identity =
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

function identity(settings: Settings, principal: Principal): Identity | undefined {
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

function resolveAll(settings: Settings, who: Identity): Resolved {
  // A key limited to some groups or servers opens their endpoints, never the global one (reference: MCPHub §2.3).
  if (who.kind === 'key' && who.key.accessType !== 'all') return nothing;
  const members = [...settings.servers.values()].flatMap((server) => {
    const grant = server.enabled ? grantOf(settings, who, server) : undefined;
    return grant ? [whole(server, grant)] : [];
  });
  return { kind: 'all', group: undefined, members };
}

function groupMembers(settings: Settings, group: GroupSettings, who: Identity): ScopeMember[] {
  return group.servers.flatMap((entry) => {
    const server = settings.servers.get(entry.name);
    const grant = server?.enabled ? grantOf(settings, who, server) : undefined;
    if (!server || !grant) return [];
    const { readOnly } = grant;
    const { pinnedTools, overrides } = entry;
    const shown = { ...narrowed(entry, grant), readOnly, pinnedTools, ...(overrides && { overrides }) };
    return [{ server, prefix: entry.alias ?? server.name, ...shown }];
  });
}

function whole(server: ServerSettings, grant: Grant): ScopeMember {
  return { server, prefix: server.name, ...grant, pinnedTools: [] };
}

/** The group a path names, as far as this principal can know. */
function groupFor(settings: Settings, name: string, who: Identity): GroupSettings | undefined {
  const group = groupNamed(settings, name);
  return group && seesGroup(who, group) ? group : undefined;
}

/** By id first, then by name, unless `routing.enableGroupNameRoute` is false. */
function groupNamed({ groups, system }: Settings, name: string): GroupSettings | undefined {
  const byId = groups.find((group) => group.id === name);
  return byId ?? (system.routing.enableGroupNameRoute ? groups.find((group) => group.name === name) : undefined);
}

/** The name by which the group's endpoint is reached: its own, or its id where its own leads nowhere or elsewhere. */
export function endpointNameOf(settings: Settings, group: GroupSettings): string {
  return groupNamed(settings, group.name) === group ? group.name : group.id;
}

function seesGroup(who: Identity, group: GroupSettings): boolean {
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

const everything: Selections = { tools: 'all', prompts: 'all', resources: 'all' };
const none: Selections = { tools: [], prompts: [], resources: [] };

/** What of this server may be called; undefined when the server is out of reach. */
function grantOf(settings: Settings, who: Identity, server: ServerSettings): Grant | undefined {
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
function anonymousGrant(
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

function narrowed(a: Selections, b: Selections): Selections {
  return combine(a, b, (x, y) => (x === 'all' ? y : y === 'all' ? x : x.filter((name) => y.includes(name))));
}

function combine(a: Selections, b: Selections, both: (x: Selection, y: Selection) => Selection): Selections {
  return {
    tools: both(a.tools, b.tools),
    prompts: both(a.prompts, b.prompts),
    resources: both(a.resources, b.resources),
  };
}

type Member = Pick<UserSettings, 'groups'>;

function isMember({ groups }: Member, group: GroupSettings): boolean {
  return groups.includes(group.id) || groups.includes(group.name);
}

function keyOpensGroup(key: KeySettings, group: GroupSettings): boolean {
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

function keyOpensServer(key: KeySettings, server: string): boolean {
  if (key.accessType === 'all') return true;
  return key.accessType !== 'groups' && key.allowedServers.includes(server);
}

import { anonymousGrant, everything, grantOf, isMember, isOfAdmin, isPublic } from './grants.ts';
import { keyOpensGroup, keyOpensServer, narrowed, seesGroup, type Grant } from './grants.ts';
import { identity, isAdmin, type Identity } from './identity.ts';
import { HubError } from '../errors.ts';
import { groupNamed } from './endpoint.ts';
import type { Principal } from './principal.ts';
import type { Scope } from './scope.ts';
import { because, type Because } from '../remarks.ts';
import type { GroupServer, GroupSettings, Selection } from '../settings/group.ts';
import type { ServerSettings } from '../settings/server.ts';
import type { Settings } from '../settings/settings.ts';

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

/** Why a principal reaches a server, in a sentence; undefined when it does not. `ref` names what gives access. */
export function whyReached(
  settings: Settings,
  principal: Principal,
  server: ServerSettings,
): (Because & { readonly ref?: string }) | undefined {
  const who = identity(settings, principal);
  if (who === undefined || grantOf(settings, who, server) === undefined) return undefined;
  if (who.kind === 'key') {
    const { name } = who.key;
    if (!keyOpensServer(who.key, server.name)) return because('why_key_group', { name });
    return { ...because('why_key', { name, scope: who.key.accessType }), ref: who.key.id };
  }
  if (who.kind === 'user') {
    const { user } = who;
    if (server.owner === user.username) return because('why_owner', { user: user.username });
    if (user.servers.includes(server.name)) return because('why_listed', { user: user.username });
    if (user.role === 'admin' && isOfAdmin(settings, server)) return because('why_admin', { user: user.username });
  }
  if (isPublic(settings, server)) return because('why_public');
  if (who.kind === 'anonymous') return because('why_local');
  if (who.kind === 'user' && server.sharedWithUsers.includes(who.user.username))
    return because('why_shared', { user: who.user.username });
  const member = who.kind === 'user' ? who.user : who;
  const group = settings.groups.find(
    (one) => isMember(member, one) && one.servers.some(({ name }) => name === server.name),
  );
  return { ...because('why_group', { name: group?.name ?? '' }), ...(group && { ref: group.name }) };
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
  return group && seesGroup(who, group) && !isHiddenOutside(settings, group, who) ? group : undefined;
}

/**
 * True for a group that is open to who reaches its servers, and a caller without a credential who reaches none of them:
 * its name must not be found by guessing (CONTRACT §4). One without a server that is there is hidden from outside
 * alone: on this machine it is no secret, and its clients hear what becomes of their lists.
 */
function isHiddenOutside(settings: Settings, group: GroupSettings, who: Identity): boolean {
  if (who.kind !== 'anonymous' || group.visibility !== undefined) return false;
  const all = group.servers.flatMap(({ name }) => settings.servers.get(name) ?? []);
  if (all.length === 0) return who.only !== undefined;
  return !all.some((server) => grantOf(settings, who, server));
}

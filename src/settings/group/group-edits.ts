import type { Group, GroupServer as GroupServerAnswer } from '../../core/answers/settings.ts';
import { saying } from '../../core/sentences.ts';
import { invalid } from '../../core/input.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { GroupServer, GroupSettings, Selection } from '../../core/settings/group.ts';
import type { Visibility } from '../../core/settings/server.ts';
import { callLimitsAnswer, setLimits } from '../document/call-limits.ts';
import {
  type Draft,
  type Editor,
  type Entry,
  hasServer,
  listOf,
  memberName,
  ownerOf,
  renameIn,
  textOf,
  textsOf,
} from '../document/document.ts';
import { isGivenGroup } from '../document/given-names.ts';
import { overrideAnswer } from '../document/tool-override.ts';
import { nameKey } from '../user/user-names.ts';
import type { GroupServerInput, GroupUpdate, NewGroup, ServerToAdd } from './group-input.ts';
import {
  beyondGrant,
  checkOverrides,
  checkPrefixes,
  groupEntry,
  type GroupEditor,
  groupServers,
  ownNames,
  readMember,
  unknownServer,
  unknownTools,
} from './group-servers.ts';
import { problemText } from '../../core/problems.ts';

/**
 * Edits of the groups in the settings document (SPEC, Groups; CONTRACT §4), to be run inside one change of the
 * settings. `idOrName` may be either, the id wins. Throws HubError: `not_found` for a group that does not exist or may
 * not be seen, `forbidden` for one of another user, `conflict` for a name that is taken, `invalid_input` for everything
 * else.
 */

export interface GroupChange {
  /** As it is now. */
  readonly group: GroupSettings;
  /** What was accepted and may still be a mistake, in sentences. */
  readonly notes: readonly string[];
}

export function addGroup(draft: Draft, by: GroupEditor, input: NewGroup): GroupChange {
  const attempt = `Cannot create group "${input.name}"`;
  checkName(draft, by, input.name, attempt);
  const group: Entry = { id: crypto.randomUUID(), name: input.name };
  setText(group, 'description', input.description);
  group['servers'] = groupServers(draft, by, { attempt, old: [], wanted: input.servers ?? [], plain: 'all' });
  group['owner'] = newOwner(draft, by, input.owner ?? by.username, attempt);
  // What users make for themselves is theirs until they say otherwise, as their servers are (reference: MCPHub §1.4).
  setVisibility(group, by, by.isAdmin ? input.visibility : (input.visibility ?? 'private'), attempt);
  if (input.sharedWithUsers) group['sharedWithUsers'] = checkUsers(draft, input.sharedWithUsers, attempt);
  setLimits(group, input.limits);
  setResultTokens(group, input.maxResultTokens);
  listOf(draft, 'groups').push(group);
  return changed(
    draft,
    group,
    by,
    (input.servers ?? []).map(({ name }) => name),
  );
}

/**
 * A plain name in `servers` keeps what the group showed of that server before: a client that sends back the list it got
 * changes nothing.
 */
export function updateGroup(draft: Draft, by: GroupEditor, idOrName: string, input: GroupUpdate): GroupChange {
  const attempt = `Cannot change group "${idOrName}"`;
  const group = ownGroup(draft, by, idOrName, attempt);
  const { name, description, servers, visibility, sharedWithUsers, owner, limits, maxResultTokens } = input;
  if (name !== undefined && name !== group['name']) {
    checkName(draft, by, name, attempt, group);
    renameReferences(draft, textOf(group['name']) ?? '', name);
    group['name'] = name;
  }
  if (description !== undefined) setText(group, 'description', description);
  setLimits(group, limits);
  setResultTokens(group, maxResultTokens);
  if (servers)
    group['servers'] = groupServers(draft, by, { attempt, old: group['servers'], wanted: servers, plain: 'keep' });
  const isSentBack = !by.isAdmin && isOpen(visibility) && isOpen(group['visibility']);
  if (visibility !== undefined && !isSentBack) setVisibility(group, by, visibility, attempt);
  if (sharedWithUsers) group['sharedWithUsers'] = checkUsers(draft, sharedWithUsers, attempt);
  if (owner !== undefined && owner !== ownerOf(draft, group)) group['owner'] = newOwner(draft, by, owner, attempt);
  return changed(
    draft,
    group,
    by,
    (servers ?? []).map(({ name }) => name),
  );
}

/** Users and keys lose the group too: the next group of that name is another one. */
export function deleteGroup(draft: Draft, by: GroupEditor, idOrName: string): void {
  const group = ownGroup(draft, by, idOrName, `Cannot delete group "${idOrName}"`);
  draft.groups = listOf(draft, 'groups').filter((other) => other !== group);
  forgetGroup(draft, group);
}

/** Takes a group that is gone off the lists of users and keys. */
export function forgetGroup(draft: Draft, group: Readonly<Entry>): void {
  const [id, name] = [textOf(group['id']) ?? '', textOf(group['name']) ?? ''];
  const others = listOf(draft, 'groups');
  const gone = (reference: string) => {
    const isTheirs = others.some((other) => other['id'] === reference);
    return (reference === id || reference === name) && !isTheirs ? undefined : reference;
  };
  renameIn(listOf(draft, 'users'), 'groups', gone);
  renameIn(listOf(draft, 'bearerKeys'), 'allowedGroups', gone);
}

/** Adding a server that is in the group already changes nothing but the tools that are given. */
export function addServerToGroup(draft: Draft, by: GroupEditor, idOrName: string, input: ServerToAdd): GroupChange {
  const { server, tools } = input;
  const attempt = `Cannot add server "${server}" to group "${idOrName}"`;
  const group = ownGroup(draft, by, idOrName, attempt);
  if (!hasServer(draft, server) || !by.seesServer(server)) throw unknownServer(draft, by, attempt, server);
  const old: unknown[] = Array.isArray(group['servers']) ? group['servers'] : [];
  if (old.some((element) => memberName(element) === server)) {
    return tools ? setGroupTools(draft, by, idOrName, { server, tools }) : changed(draft, group, by, []);
  }
  const entry = groupEntry({
    name: server,
    tools: Array.isArray(tools) ? ownNames(by, server, undefined, tools) : tools,
  });
  checkGrant(by, entry, undefined, { attempt, path: 'serverName' });
  const list = [...old, entry];
  checkPrefixes(list, attempt);
  group['servers'] = list;
  return changed(draft, group, by, [server]);
}

/** Removing a server that is not in the group changes nothing; one that may not be seen is as good as not in it. */
export function removeServerFromGroup(draft: Draft, by: GroupEditor, idOrName: string, server: string): GroupChange {
  const group = ownGroup(draft, by, idOrName, `Cannot remove server "${server}" from group "${idOrName}"`);
  // A server that is gone from the settings can be removed by every user who may change the group.
  if (Array.isArray(group['servers']) && (by.seesServer(server) || !hasServer(draft, server))) {
    group['servers'] = group['servers'].filter((element) => memberName(element) !== server);
  }
  return changed(draft, group, by, []);
}

/**
 * Replaces the whole list (SPEC): a plain name means everything the server has. Servers the editor may not see stay.
 */
export function setGroupServers(
  draft: Draft,
  by: GroupEditor,
  idOrName: string,
  wanted: readonly GroupServerInput[],
): GroupChange {
  const attempt = `Cannot set the servers of group "${idOrName}"`;
  const group = ownGroup(draft, by, idOrName, attempt);
  group['servers'] = groupServers(draft, by, { attempt, old: group['servers'], wanted, plain: 'all' });
  return changed(
    draft,
    group,
    by,
    wanted.map(({ name }) => name),
  );
}

export function setGroupTools(
  draft: Draft,
  by: GroupEditor,
  idOrName: string,
  choice: { server: string; tools: Selection },
): GroupChange {
  const { server, tools } = choice;
  const attempt = `Cannot set the tools of server "${server}" in group "${idOrName}"`;
  const { group, list, at } = memberOf(draft, by, idOrName, server, attempt);
  const entry = groupEntry(list[at]);
  const selection = tools === 'all' ? tools : ownNames(by, server, textOf(entry['alias']), tools);
  const next = { ...entry, tools: selection };
  checkGrant(by, next, entry, { attempt, path: 'tools' });
  list[at] = next;
  return changed(draft, group, by, [server]);
}

/** The group and the place of the server in its list. Throws HubError `not_found` where it is not in it. */
function memberOf(draft: Draft, by: GroupEditor, idOrName: string, server: string, attempt: string) {
  const group = ownGroup(draft, by, idOrName, attempt);
  const list: unknown[] = Array.isArray(group['servers']) ? group['servers'] : [];
  const at = list.findIndex((element) => memberName(element) === server);
  if (at === -1 || !by.seesServer(server)) {
    throw saying('not_found', 'not_in_group', { attempt });
  }
  return { group, list, at };
}

/** Sets what the group shows of a tool in place of what its server says; undefined: nothing else. */
export function overrideGroupTool(
  draft: Draft,
  by: GroupEditor,
  idOrName: string,
  choice: { server: string; tool: string; override: Readonly<Record<string, unknown>> | undefined },
): GroupChange {
  const { server, tool, override } = choice;
  const attempt = `Cannot override "${tool}" of server "${server}" in group "${idOrName}"`;
  const { group, list, at } = memberOf(draft, by, idOrName, server, attempt);
  const { overrides, ...entry } = groupEntry(list[at]);
  const others = Object.entries(isObject(overrides) ? overrides : {}).filter(([name]) => name !== tool);
  const next = Object.fromEntries(override ? [...others, [tool, override]] : others);
  const written = { ...entry, ...(Object.keys(next).length > 0 && { overrides: next }) };
  checkOverrides(by, written, list[at], attempt);
  list[at] = written;
  return changed(draft, group, by, []);
}

function setResultTokens(group: Entry, tokens: number | null | undefined): void {
  if (tokens === null) delete group['maxResultTokens'];
  else if (tokens !== undefined) group['maxResultTokens'] = tokens;
}

/** How answers show a group: servers by name, those the caller may see (SPEC, Group). */
export function groupAnswer(group: GroupSettings, sees: (server: string) => boolean): Group {
  const { id, name, description = '', owner, visibility, sharedWithUsers, limits, maxResultTokens } = group;
  const servers = group.servers.map((server) => server.name).filter(sees);
  // A group without a visibility is open to every caller that reaches its servers (core/access/grants.ts), which is the
  // same as public.
  const more = { ...(limits && { limits }), ...(maxResultTokens !== undefined && { maxResultTokens }) };
  return { id, name, description, servers, owner, visibility: visibility ?? 'public', sharedWithUsers, ...more };
}

/** What the group shows of each of its servers. */
export function serverConfigsAnswer(
  group: GroupSettings,
  sees: (server: string) => boolean,
  mayChange = false,
): GroupServerAnswer[] {
  return group.servers.filter(({ name }) => sees(name)).map((entry) => serverConfigAnswer(entry, mayChange));
}

/**
 * What the group shows of one of its servers (SPEC, Group server config). Overrides have values that clients do not
 * see: they are for those who may change the group.
 */
export function serverConfigAnswer(
  { name, alias, tools, prompts, resources, pinnedTools, overrides }: GroupServer,
  mayChange: boolean,
): GroupServerAnswer {
  const more = {
    ...(alias !== undefined && { alias }),
    ...(pinnedTools.length > 0 && { pinnedTools }),
    ...(mayChange &&
      overrides && {
        overrides: Object.fromEntries([...overrides].map(([tool, one]) => [tool, overrideAnswer(one)])),
      }),
  };
  return { name, tools, prompts, resources, ...more };
}

/** The group of that id, else of that name, among those the caller may see. Throws HubError `not_found`. */
export function findGroup<G extends { id?: unknown; name?: unknown }>(
  groups: readonly G[],
  idOrName: string,
  sees: (id: string) => boolean,
): G {
  const visible = groups.filter(({ id }) => sees(textOf(id) ?? ''));
  const group = visible.find(({ id }) => id === idOrName) ?? visible.find(({ name }) => name === idOrName);
  if (!group) throw saying('not_found', 'no_group', { name: idOrName });
  return group;
}

function ownGroup(draft: Draft, by: GroupEditor, idOrName: string, attempt: string): Entry {
  const group = findGroup<Entry>(listOf(draft, 'groups'), idOrName, by.seesGroup);
  if (by.isAdmin || ownerOf(draft, group) === by.username) return group;
  throw saying('forbidden', 'not_yours', { attempt, owner: ownerOf(draft, group) });
}

function checkGrant(
  by: GroupEditor,
  entry: Entry,
  old: Entry | undefined,
  { attempt, path }: { attempt: string; path: string },
): void {
  const problems = beyondGrant(by, entry, old).map((message) => ({ path, message }));
  if (problems.length > 0) throw invalid(attempt, problems);
}

/** Names are told apart without regard to case, and from ids: either may stand in a path. */
function checkName(draft: Draft, by: Editor, name: string, attempt: string, self?: Entry): void {
  const key = nameKey(name);
  const isTaken = listOf(draft, 'groups').some(
    (other) => other !== self && (nameKey(textOf(other['name']) ?? '') === key || other['id'] === name),
  );
  if (isTaken || (!by.isAdmin && isGivenGroup(draft, by.username, name)))
    throw saying('conflict', 'name_taken', { attempt, name });
}

function checkUsers(draft: Draft, usernames: readonly string[], attempt: string): string[] {
  const known = new Set(listOf(draft, 'users').map((user) => user['username']));
  const problems = usernames.flatMap((username, i) =>
    known.has(username)
      ? []
      : [{ path: `sharedWithUsers[${i}]`, message: problemText('unknown_user', { name: username }) }],
  );
  if (problems.length > 0) throw invalid(attempt, problems);
  return [...usernames];
}

function newOwner(draft: Draft, by: Editor, owner: string, attempt: string): string {
  if (owner === by.username) return owner;
  if (!by.isAdmin) throw saying('forbidden', 'owner_for_admins', { attempt });
  if (!listOf(draft, 'users').some((user) => user['username'] === owner)) {
    throw invalid(attempt, [{ path: 'owner', message: problemText('unknown_user', { name: owner }) }]);
  }
  return owner;
}

/**
 * A group without a visibility is open to every caller, as a public one is. Throws HubError `forbidden` when a user who
 * is no admin asks for either (CONTRACT §7).
 */
function setVisibility(group: Entry, by: Editor, visibility: Visibility | null | undefined, attempt: string): void {
  if (!by.isAdmin && isOpen(visibility)) {
    throw saying('forbidden', 'public_for_admins', { attempt, things: 'groups' });
  }
  setText(group, 'visibility', visibility);
}

function isOpen(visibility: unknown): boolean {
  return visibility === 'public' || visibility === undefined || visibility === null;
}

function setText(entry: Entry, member: string, value: string | null | undefined): void {
  if (value === null || value === undefined || value === '') delete entry[member];
  else entry[member] = value;
}

/** References by name follow the group; one that is the id of another group is that group's. */
function renameReferences(draft: Draft, from: string, to: string): void {
  if (listOf(draft, 'groups').some((group) => group['id'] === from)) return;
  const follow = (reference: string) => (reference === from ? to : reference);
  renameIn(listOf(draft, 'users'), 'groups', follow);
  renameIn(listOf(draft, 'bearerKeys'), 'allowedGroups', follow);
}

/** `touched`: the servers whose selections were given. */
function changed(draft: Draft, entry: Entry, by: GroupEditor, touched: readonly string[]): GroupChange {
  const group = readGroup(draft, entry);
  const servers = group.servers.filter(({ name }) => touched.includes(name));
  return { group, notes: servers.flatMap(({ name, tools }) => unknownTools(by, name, tools)) };
}

function readGroup(draft: Draft, group: Entry): GroupSettings {
  const list: unknown[] = Array.isArray(group['servers']) ? group['servers'] : [];
  return {
    id: textOf(group['id']) ?? '',
    name: textOf(group['name']) ?? '',
    description: textOf(group['description']),
    owner: ownerOf(draft, group),
    visibility: textOf(group['visibility']) as Visibility | undefined,
    sharedWithUsers: textsOf(group['sharedWithUsers']),
    servers: list.flatMap((element) => readMember(element) ?? []),
    limits: callLimitsAnswer(group['limits']),
    maxResultTokens: numberOf(group['maxResultTokens']),
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

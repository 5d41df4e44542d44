import { saying } from '../../core/sentences.ts';
import { invalid } from '../../core/input.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import {
  type Draft,
  type Editor,
  type Entry,
  hasServer,
  listOf,
  memberName,
  ownerOf,
  renameIn,
  serversOf,
  textOf,
} from '../document/document.ts';
import { isGivenServer } from '../document/given-names.ts';
import type { NewServer, ServerUpdate } from './server-input.ts';
import { leadsElsewhere } from './server-places.ts';
import { checkAdmin, checkMembers, checkRights, isOfAdmin, startsProcess } from './server-rights.ts';
import { hidesSecrets, maskServer, unmaskServer } from './server-secrets.ts';
import { problemText } from '../../core/problems.ts';

/**
 * Edits of the servers in the settings document (CONTRACT §4; reference: MCPHub §1.5), to be run inside one change of
 * the settings, which checks the configuration itself. Throws HubError: `not_found` for a server that does not exist or
 * may not be seen, `forbidden` for one of another user and for what only admins may do, `conflict` for a name that is
 * taken, `invalid_input` for everything else.
 */

/**
 * `isRequested`: the members of `config` are the request's own, not those of an imported text. Only a request of an
 * admin makes a user's server public.
 */
export function addServer(draft: Draft, by: Editor, { name, config }: NewServer, isRequested = true): void {
  const attempt = `Cannot add server "${name}"`;
  checkFree(draft, by, name, attempt);
  const entry = withoutNulls(unmaskServer(config, {}, attempt));
  const owner = textOf(entry['owner']) ?? by.username;
  checkMembers(entry, attempt);
  checkRights(draft, by, attempt, { before: { owner: by.username }, after: { ...entry, owner } });
  checkOwner(draft, by, owner, attempt);
  // What users bring for themselves is theirs until they share it; anonymous callers would see it otherwise.
  const after = { ...(!by.isAdmin && { visibility: 'private' }), ...entry, owner };
  serversOf(draft)[name] = withPublisher(draft, by, { before: {}, after, asked: isRequested });
}

/**
 * Members that `config` does not have stay as they are, except that a new transport replaces the old one as a whole;
 * `null` takes a member out.
 */
export function updateServer(draft: Draft, by: Editor, name: string, { config, newName }: ServerUpdate): void {
  const attempt = `Cannot change server "${name}"`;
  const before = ownServer(draft, by, name, attempt);
  if (startsProcess(before)) checkAdmin(by, attempt);
  if (config) {
    const after = merged(before, unmaskServer(config, before, attempt));
    checkMembers(after, attempt);
    checkRights(draft, by, attempt, { before, after });
    if (after['owner'] !== before['owner']) checkOwner(draft, by, ownerOf(draft, after), attempt);
    const moved = leadsElsewhere(before, after);
    // What one address was trusted with is not for the next one to have.
    if (moved && config['oauth'] === undefined) after['oauth'] = withoutTokens(after['oauth']);
    if (moved && !by.isAdmin && (hidesSecrets(config) || keepsSecrets(config, after))) {
      const message = 'holds hidden values; a new address needs them sent again';
      throw invalid(attempt, [{ path: 'config', message }]);
    }
    if (after['oauth'] === undefined) delete after['oauth'];
    // Of a user's server it means the same, and goes on meaning it should the user become an admin.
    if (!by.isAdmin && before['visibility'] !== undefined) after['visibility'] ??= 'private';
    const asked = config['visibility'] === 'public' || after['owner'] !== before['owner'];
    serversOf(draft)[name] = withPublisher(draft, by, { before, after, asked });
  }
  if (newName !== undefined && newName !== name) renameServer(draft, by, name, newName);
}

/** Takes it out of every group, and off the lists of users and keys: the next server of that name is another one. */
export function deleteServer(draft: Draft, by: Editor, name: string): void {
  ownServer(draft, by, name, `Cannot delete server "${name}"`);
  delete serversOf(draft)[name];
  forgetServer(draft, name);
}

/** What a server that is gone leaves in lists of groups, users and keys. */
export function forgetServer(draft: Draft, name: string): void {
  rename(draft, name, undefined);
}

export function toggleServer(draft: Draft, by: Editor, name: string, enabled: boolean): void {
  const attempt = `Cannot ${enabled ? 'enable' : 'disable'} server "${name}"`;
  const server = ownServer(draft, by, name, attempt);
  if (enabled && startsProcess(server)) checkAdmin(by, attempt);
  setEnabled(server, enabled);
}

/** Arguments and results of its calls are kept until then (ISO 8601); undefined: no more. */
export function keepPayloads(draft: Draft, by: Editor, name: string, until: string | undefined): void {
  const server = ownServer(draft, by, name, `Cannot change what is kept of server "${name}"`);
  if (until === undefined) delete server['keepPayloadsUntil'];
  else server['keepPayloadsUntil'] = until;
}

/**
 * Switches off a server that passes to an admin from a user whose servers no admin vouches for: as an admin's server
 * (`isTrusted`) it would get the hub's environment and reach its network without an admin's decision. False for a
 * program, which an admin has vouched for before.
 */
export function switchOffUnvouched(server: Entry): boolean {
  if (startsProcess(server)) return false;
  setEnabled(server, false);
  return true;
}

/** Takes the tokens for the server itself out of its `oauth`; what the hub keeps elsewhere is not here. */
export function forgetTokens(draft: Draft, by: Editor, name: string): void {
  const server = ownServer(draft, by, name, `Cannot sign out of server "${name}"`);
  if (isObject(server['oauth'])) server['oauth'] = withoutTokens(server['oauth']);
}

function setEnabled(server: Entry, enabled: boolean): void {
  server['enabled'] = enabled;
  // Other programs' spelling of the opposite.
  delete server['disabled'];
}

export function ownServer(draft: Draft, by: Editor, name: string, attempt: string): Entry {
  if (!hasServer(draft, name) || !by.seesServer(name)) throw saying('not_found', 'no_server', { name });
  // An entry that is no object can still be replaced and deleted.
  const written: unknown = serversOf(draft)[name];
  const server: Entry = isObject(written) ? written : {};
  if (by.isAdmin || ownerOf(draft, server) === by.username) return server;
  throw saying('forbidden', 'not_yours', { attempt, owner: ownerOf(draft, server) });
}

/**
 * Keeps in the entry which admin made a user's server public, which is what makes it so (`isPublic`). It ends when the
 * user has it lead elsewhere: that is not what the admin looked at.
 */
function withPublisher(
  draft: Draft,
  by: Editor,
  { before, after, asked }: { before: Entry; after: Entry; asked: boolean },
): Entry {
  const { publishedBy: _given, ...entry } = after;
  if (after['visibility'] !== 'public' || isOfAdmin(draft, after)) return entry;
  if (by.isAdmin && asked) return { ...entry, publishedBy: by.username };
  const { publishedBy } = before;
  const stays = publishedBy !== undefined && (by.isAdmin || !leadsElsewhere(before, after));
  return stays ? { ...entry, publishedBy } : entry;
}

function checkOwner(draft: Draft, by: Editor, owner: string, attempt: string): void {
  if (owner === by.username || listOf(draft, 'users').some((user) => user['username'] === owner)) return;
  throw invalid(attempt, [{ path: 'config.owner', message: problemText('unknown_user', { name: owner }) }]);
}

function checkFree(draft: Draft, by: Editor, name: string, attempt: string): void {
  if (hasServer(draft, name) || (!by.isAdmin && isGivenServer(draft, by.username, name))) {
    throw saying('conflict', 'name_taken', { attempt, name });
  }
}

/** Members that say where a server is and how to talk to it: of two transports, half of each is none. */
const transportMembers = [
  'type',
  'transport',
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'serverUrl',
  'httpUrl',
  'headers',
  'openapi',
];
const transportMarks = ['type', 'transport', 'command', 'url', 'serverUrl', 'httpUrl', 'openapi'];

function merged(before: Entry, given: Entry): Entry {
  const replaces = transportMarks.some((member) => given[member] !== undefined && given[member] !== null);
  const kept = Object.entries(before).filter(([key]) => !(replaces && transportMembers.includes(key)));
  return withoutNulls({ ...Object.fromEntries(kept), ...given });
}

function withoutNulls(config: Entry): Entry {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
}

/** True when `oauth`, which stays unless it is sent, has something that answers hide. */
function keepsSecrets(config: Entry, { oauth }: Entry): boolean {
  return config['oauth'] === undefined && hidesSecrets(maskServer({ oauth }));
}

function withoutTokens(oauth: unknown): unknown {
  if (!isObject(oauth)) return oauth;
  const tokens = ['accessToken', 'refreshToken', 'pendingAuthorization'];
  return Object.fromEntries(Object.entries(oauth).filter(([key]) => !tokens.includes(key)));
}

function renameServer(draft: Draft, by: Editor, from: string, to: string): void {
  checkFree(draft, by, to, `Cannot rename server "${from}"`);
  const separator = separatorOf(draft);
  // In its place: where two servers offer the same resource the order decides.
  draft.mcpServers = Object.fromEntries(
    Object.entries(serversOf(draft)).map(([name, entry]) =>
      name === from ? [to, withItemsRenamed(entry, `${from}${separator}`, `${to}${separator}`)] : [name, entry],
    ),
  );
  rename(draft, from, to);
}

/** Everywhere but in `mcpServers`; undefined takes it out. */
function rename(draft: Draft, from: string, to: string | undefined): void {
  const each = (name: string) => (name === from ? to : name);
  for (const group of listOf(draft, 'groups')) {
    const list = group['servers'];
    if (!Array.isArray(list)) continue;
    group['servers'] = list.flatMap((element: unknown) => {
      if (memberName(element) !== from) return [element];
      if (to === undefined) return [];
      return [isObject(element) ? { ...element, name: to } : to];
    });
  }
  renameIn(listOf(draft, 'users'), 'servers', each);
  renameIn(listOf(draft, 'bearerKeys'), 'allowedServers', each);
  const guards = draft.systemConfig?.['guards'];
  if (Array.isArray(guards)) renameIn(guards.filter(isObject), 'servers', each);
}

/**
 * Items under their exposed names (see `changeItems`) follow the server. The old entry stays: it may as well be the own
 * name of an item, which a renaming must not switch on.
 */
function withItemsRenamed(entry: Entry, from: string, to: string): Entry {
  const renamed = { ...entry };
  for (const kind of ['tools', 'prompts', 'resources']) {
    const items = renamed[kind];
    if (!isObject(items)) continue;
    renamed[kind] = Object.fromEntries(
      Object.entries(items).flatMap(([key, item]) => {
        const same: [string, unknown] = [key, item];
        return key.startsWith(from) ? [same, [to + key.slice(from.length), item]] : [same];
      }),
    );
  }
  return renamed;
}

export function separatorOf(draft: Draft): string {
  return textOf(draft.systemConfig?.['nameSeparator']) ?? '-';
}

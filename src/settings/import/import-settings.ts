import type { HubError, Problem } from '../../core/errors.ts';
import { invalid, isForbiddenName } from '../../core/input.ts';
import { childPath } from '../../core/json/path.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { type Draft, type Entry, listOf, renameIn, textOf } from '../document/document.ts';
import { found } from '../document/report.ts';
import { exportSettings } from '../export/export-settings.ts';
import { forgetGroup } from '../group/group-edits.ts';
import { forgetServer, switchOffUnvouched } from '../server/server-edits.ts';
import { leadsElsewhere } from '../server/server-places.ts';

/** What an import of settings does to one thing; `before` and `after` are as an export shows them, without secrets. */
export interface SettingsChange {
  readonly kind: 'server' | 'group' | 'user' | 'system';
  /** Of the server, group or user; the section of `systemConfig`. */
  readonly name: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly before?: unknown;
  readonly after?: unknown;
}

/** `merge` leaves alone what the file does not speak of, `replace` removes such servers and groups. */
export type ImportMode = 'merge' | 'replace';

/**
 * Takes a settings file in, to be run inside one change of the settings. What an export of these very settings says of
 * a secret (a variable in its place, or nothing) leaves the secret as it is. Users that are there stay as they are,
 * access keys and what the hub does not know are passed over (`passedOver`). Throws HubError `invalid_input`.
 */
export function importSettings(draft: Draft, given: unknown, mode: ImportMode, by: string): SettingsChange[] {
  const attempt = 'Cannot import the settings';
  if (!isObject(given)) throw invalid(attempt, [{ path: '', message: 'must be a settings file, a JSON object' }]);
  const { mcpServers, groups, users, systemConfig, prompts, resources } = given;
  if ([mcpServers, groups, users, systemConfig, prompts, resources].every((part) => part === undefined)) {
    const message = 'has none of mcpServers, groups, users, prompts, resources and systemConfig';
    throw invalid(attempt, [{ path: '', message }]);
  }
  const problems = [...wrongKinds(given), ...forbiddenNames(given)];
  if (problems.length > 0) throw invalid(attempt, problems);
  const before = exportSettings(draft) as Draft;
  if (isObject(mcpServers)) takeServers(draft, mcpServers, { before, mode, by });
  const idOf = Array.isArray(groups) ? takeGroups(draft, groups, mode, by) : undefined;
  if (Array.isArray(users)) takeUsers(draft, users, idOf);
  if (isObject(mcpServers)) adoptServers(draft, mcpServers, before, by);
  for (const kind of ['prompts', 'resources'] as const)
    if (Array.isArray(given[kind])) takeOwn(draft, kind, given[kind], mode);
  if (isObject(systemConfig)) draft.systemConfig = kept(systemConfig, before.systemConfig, draft.systemConfig, mode);
  return differences(before, exportSettings(draft));
}

/** What each member of a settings file has to be; `null` is as good as nothing. */
const kinds = {
  mcpServers: 'object',
  groups: 'array',
  users: 'array',
  systemConfig: 'object',
  prompts: 'array',
  resources: 'array',
  bearerKeys: 'array',
} as const;

/** Members that would be passed over because they are of another kind, also single ones of a list. */
function wrongKinds(given: Readonly<Entry>): Problem[] {
  return Object.entries(kinds).flatMap(([member, kind]) => {
    const value = given[member] ?? undefined;
    if (value === undefined) return [];
    const isRight = kind === 'array' ? Array.isArray(value) : isObject(value);
    if (!isRight) return [{ path: member, message: `expected ${kind}, found ${found(value, [member])}` }];
    return (Array.isArray(value) ? value : []).flatMap((each: unknown, index) =>
      isObject(each)
        ? []
        : [{ path: `${member}[${index}]`, message: `expected object, found ${found(each, [member])}` }],
    );
  });
}

/**
 * Names that other programs which read the file could take for an object's prototype: of servers and in `systemConfig`
 * as the routes for these refuse them, and `__proto__` everywhere.
 */
function forbiddenNames(given: Readonly<Entry>): Problem[] {
  const problems: Problem[] = [];
  const look = (
    value: unknown,
    path: string,
    isForbidden: (key: string) => boolean,
    isForbiddenBelow = isForbidden,
  ) => {
    for (const [key, member] of typeof value === 'object' && value !== null ? Object.entries(value) : []) {
      const at = Array.isArray(value) ? `${path}[${key}]` : childPath(path, key);
      if (isForbidden(key)) problems.push({ path: at, message: 'is not accepted' });
      else look(member, at, isForbiddenBelow);
    }
  };
  const isPrototype = (key: string): boolean => key === '__proto__';
  look(given['mcpServers'], 'mcpServers', isForbiddenName, isPrototype);
  look(given['systemConfig'], 'systemConfig', isForbiddenName);
  for (const member of ['groups', 'users', 'prompts', 'resources']) look(given[member], member, isPrototype);
  return problems;
}

interface Place {
  readonly before: Draft;
  readonly mode: ImportMode;
  readonly by: string;
}

/**
 * Secrets that were given to one address must not go to another: the author of the file may be a person who does not
 * know the secrets.
 */
function staysThere(entry: unknown, exported: Readonly<Entry> | undefined): boolean {
  return isObject(entry) && exported !== undefined && !leadsElsewhere(exported, entry);
}

/**
 * True for a server that a file calls public by an admin's word, where this hub does not know that of a server at that
 * address: a file can be written by hand, or be another hub's (decisions/0031).
 */
export function isPublishedElsewhere(
  entry: unknown,
  existing: Readonly<Entry> | undefined,
  exported: Readonly<Entry> | undefined,
): boolean {
  if (!isObject(entry) || (entry['publishedBy'] ?? undefined) === undefined) return false;
  const isThere = [existing, exported].some((known) => known !== undefined && !leadsElsewhere(known, entry));
  return !isThere || entry['publishedBy'] !== existing?.['publishedBy'];
}

function withoutPublisher(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  const { publishedBy: _given, ...rest } = entry;
  return rest;
}

/**
 * True for a server of a file whose owner is unknown here, and was not its owner here before. Files call the person who
 * runs the hub `admin`.
 */
export function hasUnknownOwner(
  users: readonly Entry[],
  entry: unknown,
  existing: Readonly<Entry> | undefined,
): boolean {
  if (!isObject(entry)) return false;
  const { owner } = entry;
  if (typeof owner !== 'string' || owner === 'admin' || owner === existing?.['owner']) return false;
  return !users.some(({ username }) => username === owner);
}

/**
 * A server whose owner is unknown here becomes the importer's, and no admin has approved it yet. Otherwise the next
 * user of that name would have it.
 */
function adoptServers(draft: Draft, given: Readonly<Entry>, before: Draft, by: string): void {
  const servers = draft.mcpServers ?? {};
  for (const name of Object.keys(given)) {
    const entry = servers[name];
    if (!entry || entry['owner'] === by || !hasUnknownOwner(listOf(draft, 'users'), entry, before.mcpServers?.[name]))
      continue;
    servers[name] = { ...entry, owner: by };
    switchOffUnvouched(servers[name]);
  }
}

function takeServers(draft: Draft, given: Readonly<Entry>, { before, mode, by }: Place): void {
  const old = draft.mcpServers ?? {};
  const next = new Map<string, unknown>(mode === 'merge' ? Object.entries(old) : []);
  for (const [name, entry] of Object.entries(given)) {
    const existing = Object.hasOwn(old, name) ? old[name] : undefined;
    // A server replaces the one of its name as a whole: what its file leaves out is not meant to stay, secrets aside.
    const exported = before.mcpServers?.[name];
    const whole = existing && staysThere(entry, exported) ? restored(entry, exported, existing) : entry;
    next.set(
      name,
      owned(isPublishedElsewhere(entry, existing, exported) ? withoutPublisher(whole) : whole, existing, by),
    );
  }
  draft.mcpServers = Object.fromEntries(next) as Record<string, Entry>;
  // Before groups and users are taken in: what the file itself lists is meant.
  for (const name of Object.keys(old)) if (!next.has(name)) forgetServer(draft, name);
}

/**
 * A group is the one of its id, else the one of its name that the file has no other id for, and keeps the id it has
 * here: users and keys know it by that. Returns what an id of the file is here.
 */
function takeGroups(draft: Draft, given: readonly unknown[], mode: ImportMode, by: string): (id: string) => string {
  const old = draft.groups ?? [];
  const idsGiven = new Set(
    given.flatMap((group) => (isObject(group) && group['id'] !== undefined ? [group['id']] : [])),
  );
  const others = new Set(old);
  const ids = new Map<string, string>();
  const taken = given.map((group, index) => {
    const existing = isObject(group) ? (hasId(old, group['id']) ?? hasName(old, group['name'], idsGiven)) : undefined;
    const own = owned(group, existing, by);
    if (!existing || !isObject(own)) return own;
    if (!others.delete(existing)) throw sameTwice(index, `is the group "${textOf(existing['name']) ?? ''}" once more`);
    if (existing['id'] === undefined) return own;
    if (typeof own['id'] === 'string') ids.set(own['id'], textOf(existing['id']) ?? '');
    return { ...own, id: existing['id'] };
  });
  const staying = mode === 'merge' ? [...others] : [];
  for (const [index, group] of taken.entries())
    if (isObject(group) && hasName(staying, group['name']))
      throw sameTwice(index, `has the id of one group and the name of another, "${textOf(group['name']) ?? ''}"`);
  draft.groups = [...staying, ...taken] as Entry[];
  if (mode === 'replace') for (const group of others) forgetGroup(draft, group);
  return (id) => ids.get(id) ?? id;
}

function hasId(groups: readonly Entry[], id: unknown): Entry | undefined {
  return id === undefined ? undefined : groups.find((group) => group['id'] === id);
}

function hasName(groups: readonly Entry[], name: unknown, but: ReadonlySet<unknown> = new Set()): Entry | undefined {
  return groups.find((group) => group['name'] === name && !but.has(group['id']));
}

function sameTwice(index: number, message: string): HubError {
  return invalid('Cannot import the settings', [{ path: `groups[${index}]`, message }]);
}

/** The hub's own prompts and resources: one of the same name or URI is replaced as a whole. */
function takeOwn(draft: Draft, kind: 'prompts' | 'resources', given: readonly unknown[], mode: ImportMode): void {
  const key = kind === 'prompts' ? 'name' : 'uri';
  const keys = new Set(given.map((one) => (isObject(one) ? one[key] : undefined)));
  const old: unknown[] = mode === 'merge' && Array.isArray(draft[kind]) ? draft[kind] : [];
  draft[kind] = [...old.filter((one) => !isObject(one) || !keys.has(one[key])), ...given];
}

/** New ones only. Those of an export come without a password, and cannot log in until they are given one. */
function takeUsers(draft: Draft, given: readonly unknown[], idOf: (group: string) => string = (group) => group): void {
  const old = draft.users ?? [];
  const isNew = (user: unknown) => isObject(user) && !old.some(({ username }) => username === user['username']);
  const taken = structuredClone(given.filter(isNew)) as Entry[];
  renameIn(taken, 'groups', idOf);
  draft.users = [...old, ...taken];
}

/** What is new belongs to who imports it, what was there to whom it did, unless the file says otherwise. */
function owned(entry: unknown, existing: Readonly<Entry> | undefined, by: string): unknown {
  const owner = existing ? existing['owner'] : by;
  return isObject(entry) && owner !== undefined ? { owner, ...entry } : entry;
}

/** A section of its own is merged; in it, what is given replaces. */
function kept(given: Entry, exported: unknown, existing: Entry = {}, mode: ImportMode): Entry {
  const next = restored(given, exported, existing);
  return mode === 'merge' ? { ...existing, ...(next as Entry) } : (next as Entry);
}

/** The given value with the secrets of the existing one wherever it says what an export of that one says. */
function restored(given: unknown, exported: unknown, existing: unknown): unknown {
  if (same(given, exported)) return existing;
  if (
    Array.isArray(given) &&
    Array.isArray(exported) &&
    Array.isArray(existing) &&
    exported.length === existing.length
  ) {
    return given.map((each, index) =>
      index < exported.length ? restored(each, exported[index], existing[index]) : each,
    );
  }
  if (!isObject(given) || !isObject(exported) || !isObject(existing)) return given;
  const hidden = Object.entries(existing).filter(([key]) => !(key in exported) && !(key in given));
  const shown = Object.entries(given).map(
    ([key, value]) => [key, restored(value, exported[key], existing[key])] as const,
  );
  return Object.fromEntries([...shown, ...hidden]);
}

function differences(before: Draft, after: Draft): SettingsChange[] {
  const named = (list: readonly Entry[] | undefined, key: string) =>
    Object.fromEntries((list ?? []).map((entry) => [String(entry[key]), entry]));
  return [
    ...between('server', before.mcpServers ?? {}, after.mcpServers ?? {}),
    ...between('group', named(before.groups, 'name'), named(after.groups, 'name')),
    ...between('user', named(before.users, 'username'), named(after.users, 'username')),
    ...between('system', before.systemConfig ?? {}, after.systemConfig ?? {}),
  ];
}

function between(kind: SettingsChange['kind'], old: Readonly<Entry>, next: Readonly<Entry>): SettingsChange[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])];
  return names.flatMap((name): SettingsChange[] => {
    const [before, after] = [old[name], next[name]];
    if (same(before, after)) return [];
    if (before === undefined) return [{ kind, name, change: 'added', after }];
    if (after === undefined) return [{ kind, name, change: 'removed', before }];
    return [{ kind, name, change: 'changed', before, after }];
  });
}

function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => same(each, b[index]));
  if (!isObject(a) || !isObject(b)) return Object.is(a, b);
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

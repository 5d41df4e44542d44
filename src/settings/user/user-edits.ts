import type { User, UserStatistics } from '../../core/answers/settings.ts';
import { listed } from '../../core/errors.ts';
import { saying } from '../../core/sentences.ts';
import { invalid } from '../../core/input.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { GroupSettings } from '../../core/settings/group.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import { callLimitsAnswer, setLimits } from '../document/call-limits.ts';
import {
  type Draft,
  type Entry,
  listOf,
  ownerOf,
  renameIn,
  roleOf,
  serversOf,
  textOf,
  textsOf,
} from '../document/document.ts';
import { systemKeysNote } from '../key/key-edits.ts';
import { switchOffUnvouched } from '../server/server-edits.ts';
import type { NewUser, UserUpdate } from './user-input.ts';
import { nameKey } from './user-names.ts';
import { problemTable } from '../../core/problems.ts';

/**
 * Edits of the users in the settings document (SPEC, Users; CONTRACT §4), to be run inside one change of the settings
 * and for admins only. Passwords come hashed: hashing takes too long for an edit. Code that deletes a user or sets a
 * password also ends the user's access tokens. Throws HubError `not_found`, `conflict` (name taken) and
 * `invalid_input`.
 */

export interface UserChange {
  readonly user: User;
  /** Names and ids of the access keys that ended with the old password. */
  readonly endedKeys: readonly { readonly id: string; readonly name: string }[];
  /** What was accepted and may still be a mistake, in sentences. */
  readonly notes: readonly string[];
}

/** What the settings keep of a password. */
export interface NewPassword {
  readonly passwordHash: string;
  /** Programs that guess would find it soon (`auth/password-strength.ts`). */
  readonly isWeak: boolean;
}

/**
 * A user without a password waits for a login at a provider (`provider-login.ts`). `at` is now, in ISO 8601; tokens
 * issued before it are not this user's.
 */
export function addUser(
  draft: Draft,
  input: NewUser,
  made: (NewPassword | { readonly passwordHash?: undefined }) & { readonly at: string },
): UserChange {
  const users = listOf(draft, 'users');
  const key = nameKey(input.username);
  if (users.some((user) => nameKey(usernameOf(user)) === key)) {
    throw saying('conflict', 'name_taken', { attempt: 'Cannot create the user', name: input.username });
  }
  const user: Entry = { username: input.username };
  if (made.passwordHash !== undefined) setPassword(user, made);
  setRole(user, input.role ?? 'user');
  user['servers'] = [...(input.servers ?? [])];
  user['groups'] = groupIds(draft, input.groups ?? []);
  if (input.email) user['email'] = input.email;
  setLimits(user, input.limits);
  user['createdAt'] = made.at;
  users.push(user);
  return { user: readUser(user), endedKeys: [], notes: unknownNames(draft, input) };
}

/**
 * `made` is of `input.password`. The access keys of the user end with the old password, unless `input.keepKeys`
 * (CONTRACT §8).
 */
export function updateUser(draft: Draft, username: string, input: UserUpdate, made?: NewPassword): UserChange {
  const user = findUser(draft, username);
  if (input.role === 'user' && isLastAdmin(draft, user)) {
    throw invalid(`Cannot change user "${username}"`, [{ path: 'role', message: problemTable.last_admin }]);
  }
  const isDemoted = input.role === 'user' && roleOf(user) === 'admin';
  if (input.role) setRole(user, input.role);
  if (made) setPassword(user, made);
  const endedKeys = made === undefined || input.keepKeys ? [] : endKeys(draft, username);
  if (input.servers) user['servers'] = [...input.servers];
  if (input.groups) user['groups'] = groupIds(draft, input.groups);
  if (input.email === null || input.email === '') delete user['email'];
  else if (input.email !== undefined) user['email'] = input.email;
  setLimits(user, input.limits);
  const keysNote = isDemoted ? systemKeysNote(draft, username) : [];
  return { user: readUser(user), endedKeys, notes: [...unknownNames(draft, input), ...keysNote] };
}

/** Sets one's own new password. Only while `replaces` is still the one in force; false when it is not. */
export function changePassword(draft: Draft, username: string, made: NewPassword, replaces: string): boolean {
  const user = findUser(draft, username);
  if (user['password'] !== replaces) return false;
  setPassword(user, made);
  return true;
}

/**
 * Notes what a login has shown of a password that stays: a newer hash of it, and whether it is weak. Only while
 * `replaces` is still the one in force.
 */
export function keepPassword(draft: Draft, username: string, shown: NewPassword, replaces: string): void {
  const user = findUser(draft, username);
  if (user['password'] !== replaces) return;
  const isInitial = user['passwordIsInitial'];
  setPassword(user, shown);
  if (isInitial !== undefined) user['passwordIsInitial'] = isInitial;
}

/** A hash says nothing of its password: what is to be known later is noted beside it. */
function setPassword(user: Entry, { passwordHash, isWeak }: NewPassword): void {
  user['password'] = passwordHash;
  delete user['passwordIsInitial'];
  if (isWeak) user['passwordIsWeak'] = true;
  else delete user['passwordIsWeak'];
}

/**
 * Removes everything that the next user of that name must not inherit: access keys, shares, settings and tokens of
 * their own. What they owned belongs to `by` from now on, and what a user who is no admin made is switched off. Gives
 * what is left to do, in sentences.
 */
export function deleteUser(draft: Draft, username: string, by: string): readonly string[] {
  const user = findUser(draft, username);
  const attempt = `Cannot delete user "${username}"`;
  if (usernameOf(user) === by) throw saying('invalid_input', 'own_account', { attempt });
  if (isLastAdmin(draft, user)) {
    throw saying('invalid_input', 'no_other_admin', { attempt });
  }
  const things = [...listOf(draft, 'groups'), ...Object.values(serversOf(draft))].filter(isObject);
  const isAdmin = roleOf(user) === 'admin';
  const switchedOff = isAdmin
    ? []
    : namesOf(draft, username).filter((name) => switchOffUnvouched(serversOf(draft)[name] ?? {}));
  for (const thing of things) if (ownerOf(draft, thing) === username) thing['owner'] = by;
  draft.users = listOf(draft, 'users').filter((other) => other !== user);
  endKeys(draft, username);
  renameIn(things, 'sharedWithUsers', (name) => (name === username ? undefined : name));
  const configs = draft['userConfigs'];
  if (isObject(configs) && Object.hasOwn(configs, username)) delete configs[username];
  const tokens = draft['oauthTokens'];
  if (Array.isArray(tokens)) {
    draft['oauthTokens'] = tokens.filter((token: unknown) => !isObject(token) || token['username'] !== username);
  }
  return isAdmin ? systemKeysNote(draft, username) : switchedOffNote(switchedOff);
}

/** Takes the access keys of a user out of the draft. */
function endKeys(draft: Draft, username: string): { id: string; name: string }[] {
  const keys = listOf(draft, 'bearerKeys');
  const ended = keys.filter((key) => key['owner'] === username);
  draft.bearerKeys = keys.filter((key) => key['owner'] !== username);
  return ended.map((key) => ({ id: textOf(key['id']) ?? '', name: textOf(key['name']) ?? '' }));
}

/** The servers a user owns. */
function namesOf(draft: Draft, owner: string): string[] {
  return Object.entries(serversOf(draft)).flatMap(([name, server]) =>
    isObject(server) && ownerOf(draft, server) === owner ? [name] : [],
  );
}

function switchedOffNote(servers: readonly string[]): string[] {
  if (servers.length === 0) return [];
  return [
    `These servers are yours now, and switched off: ${listed(servers)}. As an admin's they may read the hub's environment and reach its network: look where they lead and what they send before you switch them on.`,
  ];
}

/**
 * Who the admins are, and by which password or provider: what differs between two of these is a change to an admin's
 * account.
 */
export function adminAccounts(draft: Draft): string {
  const admins = listOf(draft, 'users').filter((user) => roleOf(user) === 'admin');
  const accounts = admins.map((user) =>
    JSON.stringify([usernameOf(user), user['password'], user['email'], user['identities']]),
  );
  return accounts.sort().join();
}

/** A user as answers show them: never with a hash. */
export function userAnswer({ username, role, servers, groups, email, createdAt, limits }: UserSettings): User {
  const more = {
    ...(email !== undefined && { email }),
    ...(createdAt !== undefined && { createdAt }),
    ...(limits && { limits }),
  };
  return { username, role, isAdmin: role === 'admin', servers, groups, ...more };
}

/**
 * SPEC, User statistics. A user counts once per server, whether it is on their list, in one of their groups, or both.
 */
export function usersStats(settings: {
  users: readonly UserSettings[];
  groups: readonly GroupSettings[];
}): UserStatistics {
  const perServer = new Map<string, number>();
  const perGroup = new Map<string, number>();
  for (const user of settings.users) {
    const groups = new Set<string>();
    const servers = new Set(user.servers);
    for (const reference of user.groups) {
      const group =
        settings.groups.find(({ id }) => id === reference) ?? settings.groups.find(({ name }) => name === reference);
      groups.add(group?.id ?? reference);
      for (const { name } of group?.servers ?? []) servers.add(name);
    }
    for (const name of servers) perServer.set(name, (perServer.get(name) ?? 0) + 1);
    for (const id of groups) perGroup.set(id, (perGroup.get(id) ?? 0) + 1);
  }
  const adminUsers = settings.users.filter(({ role }) => role === 'admin').length;
  return {
    totalUsers: settings.users.length,
    adminUsers,
    regularUsers: settings.users.length - adminUsers,
    usersPerServer: Object.fromEntries(perServer),
    usersPerGroup: Object.fromEntries(perGroup),
  };
}

function findUser(draft: Draft, username: string): Entry {
  const user = listOf(draft, 'users').find((user) => user['username'] === username);
  if (!user) throw saying('not_found', 'no_user', { name: username });
  return user;
}

/** True for an admin beside whom there is no other. */
export function isLastAdmin(draft: Draft, user: Entry): boolean {
  const isAdmin = (entry: Entry) => roleOf(entry) === 'admin';
  return isAdmin(user) && !listOf(draft, 'users').some((other) => other !== user && isAdmin(other));
}

/** Both spellings, so that MCPHub can read the file too. */
export function setRole(user: Entry, role: 'admin' | 'user'): void {
  user['role'] = role;
  user['isAdmin'] = role === 'admin';
}

function usernameOf(user: Readonly<Entry>): string {
  return textOf(user['username']) ?? '';
}

function readUser(user: Entry): User {
  return userAnswer({
    username: usernameOf(user),
    passwordHash: '',
    role: roleOf(user),
    email: textOf(user['email']),
    servers: textsOf(user['servers']),
    groups: textsOf(user['groups']),
    createdAt: textOf(user['createdAt']),
    limits: callLimitsAnswer(user['limits']),
  });
}

/**
 * Groups may be given by name too; kept is the id (SPEC, User), so that users, groups and statistics speak of the same
 * thing.
 */
export function groupIds(draft: Draft, references: readonly string[]): string[] {
  const groups = listOf(draft, 'groups');
  const idOf = (reference: string): string => {
    if (groups.some(({ id }) => id === reference)) return reference;
    return textOf(groups.find(({ name }) => name === reference)?.['id']) ?? reference;
  };
  return [...new Set(references.map(idOf))];
}

/** Access may be given before the server is there; a typing error looks the same, so the answer says it. */
function unknownNames(
  draft: Draft,
  {
    servers,
    groups,
  }: { servers?: readonly string[] | null | undefined; groups?: readonly string[] | null | undefined },
): string[] {
  const known = new Set(listOf(draft, 'groups').flatMap((group) => [group['id'], group['name']]));
  const noServer = (servers ?? []).filter((name) => !Object.hasOwn(serversOf(draft), name));
  const noGroup = (groups ?? []).filter((reference) => !known.has(reference));
  return [
    ...(noServer.length > 0 ? [`There is no server ${listed(noServer)} yet.`] : []),
    ...(noGroup.length > 0 ? [`There is no group ${listed(noGroup)} yet.`] : []),
  ];
}

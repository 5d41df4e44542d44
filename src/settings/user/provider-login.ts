import { isDeepStrictEqual } from 'node:util';
import { saying } from '../../core/sentences.ts';
import { coreLimits } from '../../core/limits.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { OidcProvider } from '../../core/settings/login.ts';
import type { IssuedIdentity } from '../../core/settings/user.ts';
import { type Draft, type Entry, listOf, roleOf, textOf, textsOf } from '../document/document.ts';
import { groupIds, isLastAdmin, setRole } from './user-edits.ts';
import { usernameInput } from './user-input.ts';
import { lookKey, nameKey, plainName } from './user-names.ts';

/** What a provider says of a person who logged in there. */
export interface ProviderPerson extends IssuedIdentity {
  readonly username: string | undefined;
  /** Only a verified one. */
  readonly email: string | undefined;
  /** Values of the groups claim. */
  readonly values: readonly string[];
}

/** What the settings say about accounts of those whom a provider names. */
export type ProviderRules = Pick<OidcProvider, 'id' | 'signUp' | 'groups' | 'adminGroups'>;

/** The account of a login, and what the login did to it. */
export interface ProviderLogin {
  readonly username: string;
  /** In the order in which it was done. */
  readonly done: readonly LoginEffect[];
}

export type LoginEffect = 'created' | 'bound' | 'groups changed' | 'made an admin' | 'no longer an admin';

/**
 * The account of a person who logged in at a provider (CONTRACT §8), with the groups and the role that the provider
 * says: the one that is bound to this issuer and subject; or one that an admin made for this verified e-mail address,
 * without a password, which is bound now; or, where the provider signs up, a new one. `at` is now, in ISO 8601. Throws
 * HubError `forbidden` for a person without one.
 */
export function logInFrom(draft: Draft, provider: ProviderRules, person: ProviderPerson, at: string): ProviderLogin {
  const done: LoginEffect[] = [];
  const users = listOf(draft, 'users');
  const known = users.find((user) => identitiesOf(user).some((own) => isSame(own, person))) ?? invited(users, person);
  const user = known ?? (provider.signUp === 'auto' ? newUser(draft, person, at) : undefined);
  if (!user) {
    throw saying('forbidden', 'provider_no_account');
  }
  if (!known) done.push('created');
  const identities = identitiesOf(user);
  if (!identities.some((own) => isSame(own, person))) {
    const { issuer, subject } = person;
    user['identities'] = [...identities, { issuer, subject }];
    if (known) done.push('bound');
  }
  const [groups, role] = [textsOf(user['groups']), roleOf(user)];
  takeGroups(draft, user, provider, person.values);
  takeRole(draft, user, provider, person.values);
  if (!isDeepStrictEqual(new Set(groups), new Set(textsOf(user['groups'])))) done.push('groups changed');
  if (roleOf(user) !== role) done.push(role === 'admin' ? 'no longer an admin' : 'made an admin');
  return { username: textOf(user['username']) ?? '', done };
}

/** The account that waits for this address. Two that do are none: either could be another person's. */
function invited(users: readonly Entry[], { email }: ProviderPerson): Entry | undefined {
  if (email === undefined) return undefined;
  const waiting = users.filter(
    (user) =>
      textOf(user['email'])?.toLowerCase() === email.toLowerCase() &&
      !user['password'] &&
      identitiesOf(user).length === 0,
  );
  return waiting.length === 1 ? waiting[0] : undefined;
}

function newUser(draft: Draft, { username, email }: ProviderPerson, at: string): Entry {
  const user: Entry = { username: freeName(draft, username ?? email?.split('@', 1)[0] ?? 'user') };
  setRole(user, 'user');
  Object.assign(user, { servers: [], groups: [], ...(email !== undefined && { email }), createdAt: at });
  listOf(draft, 'users').push(user);
  return user;
}

/**
 * A name like the wanted one that no user has, or one that looks the same; that a user may have, and to which the
 * settings give no right yet.
 */
function freeName(draft: Draft, wanted: string): string {
  const names = [...listOf(draft, 'users').map((user) => textOf(user['username']) ?? ''), ...trustedNames(draft)];
  const taken = new Set(names.map(lookKey));
  const plain = (plainName(wanted) ?? 'user')
    .replace(/[^\p{L}\p{M}\p{N}._@+-]+/gu, '-')
    .slice(0, coreLimits.nameChars - 8);
  const isLookAlike = taken.has(lookKey(plain)) && lookKey(plain) !== nameKey(plain);
  const usable = !isLookAlike && usernameInput.safeParse(plain).success ? plain : 'user';
  for (let i = 1; ; i++) {
    const name = i === 1 ? usable : `${usable}-${i}`;
    if (!taken.has(lookKey(name)) && usernameInput.safeParse(name).success) return name;
  }
}

/** Names of users that files may have before there is such a user. */
function trustedNames(draft: Draft): string[] {
  const { mcpServers = {}, systemConfig = {}, userConfigs = {} } = draft as Readonly<Record<string, Entry | undefined>>;
  const owned = [...Object.values(mcpServers).filter(isObject), ...listOf(draft, 'groups')];
  const auth = isObject(systemConfig['auth']) ? systemConfig['auth'] : {};
  return [
    'admin',
    textOf(auth['breakGlass']) ?? '',
    ...Object.keys(userConfigs),
    ...owned.flatMap((entry) => [textOf(entry['owner']) ?? '', ...textsOf(entry['sharedWithUsers'])]),
  ];
}

/** Groups that the provider gives are the provider's to take; others stay. */
function takeGroups(draft: Draft, user: Entry, { groups }: ProviderRules, values: readonly string[]): void {
  if (!groups) return;
  const managed = new Set([...groups.values()].flat().flatMap((name) => [name, ...groupIds(draft, [name])]));
  const given = groupIds(
    draft,
    values.flatMap((value) => groups.get(value) ?? []),
  );
  user['groups'] = [...new Set([...textsOf(user['groups']).filter((name) => !managed.has(name)), ...given])];
}

/** The last admin stays one: without one, no setting of the hub could be changed. */
function takeRole(draft: Draft, user: Entry, { adminGroups }: ProviderRules, values: readonly string[]): void {
  if (!adminGroups) return;
  const role = values.some((value) => adminGroups.includes(value)) ? 'admin' : 'user';
  if (role !== roleOf(user) && !(role === 'user' && isLastAdmin(draft, user))) setRole(user, role);
}

function identitiesOf(user: Entry): Entry[] {
  return Array.isArray(user['identities']) ? user['identities'].filter(isObject) : [];
}

function isSame(own: Entry, { issuer, subject }: IssuedIdentity): boolean {
  return own['issuer'] === issuer && own['subject'] === subject;
}

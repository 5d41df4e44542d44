import type { AccessKey } from '../../core/answers/settings.ts';
import { listed } from '../../core/errors.ts';
import { saying } from '../../core/sentences.ts';
import { invalid, readTime } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { maskKey } from '../../core/mask.ts';
import { callLimitsAnswer, setLimits } from '../document/call-limits.ts';
import { type Draft, type Editor, type Entry, hasServer, listOf, textOf, textsOf } from '../document/document.ts';
import { unknownServerText } from '../group/group-servers.ts';
import type { KeyUpdate, NewKey } from './key-input.ts';
import { problemText } from '../../core/problems.ts';

/**
 * Edits of the access keys in the settings document (CONTRACT §2; reference: MCPHub §1.7), to be run inside one change
 * of the settings. Admins see and change all keys, others their own; a key of another user is `not_found`. Throws
 * HubError, also `forbidden` and `invalid_input`.
 */

type KeyReader = Pick<Editor, 'username' | 'isAdmin'>;

/** `made` is what the settings keep of the token; the token itself is for the answer of this one request. */
export function addKey(
  draft: Draft,
  by: Editor,
  input: NewKey,
  made: { tokenHash: string; masked: string },
): AccessKey {
  const attempt = `Cannot create access key "${input.name}"`;
  const kind = input.kind ?? (by.isAdmin && !input.owner ? 'system' : 'user');
  const owner = kind === 'user' ? (input.owner ?? by.username) : undefined;
  if (!by.isAdmin && (kind === 'system' || owner !== by.username)) {
    throw saying('forbidden', 'keys_of_others', { attempt });
  }
  const keys = listOf(draft, 'bearerKeys');
  if (owner !== undefined && !listOf(draft, 'users').some((user) => user['username'] === owner)) {
    throw invalid(attempt, [{ path: 'owner', message: problemText('unknown_user', { name: owner }) }]);
  }
  if (keys.filter((key) => key['owner'] === owner).length >= coreLimits.keysPerOwner) {
    throw saying('invalid_input', 'too_many_keys', { attempt, most: `${coreLimits.keysPerOwner}` });
  }
  checkNames(draft, by, attempt, { input });
  checkExpiry(attempt, input.expiresAt);
  const allowedGroups = [...(input.allowedGroups ?? [])];
  const allowedServers = [...(input.allowedServers ?? [])];
  // As in the file: a request that names what the key opens does not mean everything.
  const opened = allowedGroups.length + allowedServers.length > 0 ? 'custom' : 'all';
  const key: Entry = {
    id: crypto.randomUUID(),
    name: input.name,
    tokenHash: made.tokenHash,
    maskedToken: made.masked,
    enabled: input.enabled ?? true,
    kind,
    ...(owner !== undefined && { owner }),
    accessType: input.accessType ?? opened,
    allowedGroups,
    allowedServers,
    ...(input.expiresAt && { expiresAt: input.expiresAt }),
    ...(input.readOnly && { readOnly: true }),
    ...(input.allowedAddresses?.length && { allowedAddresses: input.allowedAddresses }),
  };
  setLimits(key, input.limits);
  keys.push(key);
  return keyAnswer(key);
}

export function updateKey(draft: Draft, by: Editor, id: string, input: KeyUpdate): AccessKey {
  const key = findKey(draft, by, id);
  const attempt = `Cannot change access key "${textOf(key['name']) ?? id}"`;
  checkNames(draft, by, attempt, { input, before: key });
  checkExpiry(attempt, input.expiresAt, timeOf(key['expiresAt']));
  const { limits, ...members } = input;
  setLimits(key, limits);
  for (const [member, value] of Object.entries(members)) {
    if (value === null) delete key[member];
    else if (value !== undefined) key[member] = value;
  }
  return keyAnswer(key);
}

/** Gives a key another token; the one before is accepted for `overlapMs` more, and one before that not at all. */
export function rotateKey(
  draft: Draft,
  by: KeyReader,
  id: string,
  made: { tokenHash: string; masked: string; overlapMs: number },
): AccessKey {
  const key = findKey(draft, by, id);
  delete key['previousTokenHash'];
  delete key['previousUntil'];
  if (made.overlapMs > 0) {
    key['previousTokenHash'] = key['tokenHash'];
    key['previousUntil'] = new Date(Date.now() + made.overlapMs).toISOString();
  }
  key['tokenHash'] = made.tokenHash;
  key['maskedToken'] = made.masked;
  return keyAnswer(key);
}

export function deleteKey(draft: Draft, by: KeyReader, id: string): void {
  const key = findKey(draft, by, id);
  draft.bearerKeys = listOf(draft, 'bearerKeys').filter((other) => other !== key);
}

/** The keys the caller may see. The document is only read. */
export function keyAnswers(document: { readonly bearerKeys?: readonly Readonly<Entry>[] }, by: KeyReader): AccessKey[] {
  return (document.bearerKeys ?? []).filter((key) => sees(by, key)).map(keyAnswer);
}

/**
 * Keys of the system belong to the hub: a former admin may know some of them and can still use them. The admin who
 * takes the right away has to be told this.
 */
export function systemKeysNote(draft: Draft, username: string): string[] {
  const keys = listOf(draft, 'bearerKeys').filter((key) => kindOf(key) === 'system' && key['enabled'] !== false);
  if (keys.length === 0) return [];
  const names = listed(keys.map((key) => textOf(key['name']) ?? textOf(key['id']) ?? ''));
  return [`The access keys of the system stay good: ${names}. Delete those that ${username} knows.`];
}

type Names = Pick<KeyUpdate, 'allowedGroups' | 'allowedServers'>;

/**
 * A typing error would make a key that opens nothing now, and that later opens whatever another user gives that name.
 * Names that the key had before may stay.
 */
function checkNames(
  draft: Draft,
  by: Editor,
  attempt: string,
  { input, before = {} }: { input: { [name in keyof Names]: Names[name] | null }; before?: Entry },
): void {
  const groups = listOf(draft, 'groups').filter(({ id }) => by.seesGroup(textOf(id) ?? ''));
  const isGroup = (reference: string) => groups.some(({ id, name }) => id === reference || name === reference);
  const groupText = (reference: string) =>
    `names an unknown group "${reference}". Known: ${listed(groups.flatMap(({ name }) => textOf(name) ?? []))}`;
  const isServer = (name: string) => hasServer(draft, name) && by.seesServer(name);
  const problemsOf = (member: keyof Names, isThere: (name: string) => boolean, text: (name: string) => string) =>
    (input[member] ?? []).flatMap((name, i) =>
      isThere(name) || textsOf(before[member]).includes(name) ? [] : [{ path: `${member}[${i}]`, message: text(name) }],
    );
  const problems = [
    ...problemsOf('allowedGroups', isGroup, groupText),
    ...problemsOf('allowedServers', isServer, (name) => unknownServerText(draft, by, name)),
  ];
  if (problems.length > 0) throw invalid(attempt, problems);
}

/** A key that has expired is changed or deleted, not made; its own time may be sent back. */
function checkExpiry(attempt: string, expiresAt: string | null | undefined, before?: string): void {
  if (!expiresAt || expiresAt === before || Date.parse(expiresAt) > Date.now()) return;
  throw invalid(attempt, [{ path: 'expiresAt', message: problemText('time_past', { now: new Date().toISOString() }) }]);
}

/** As answers show it. */
function timeOf(value: unknown): string | undefined {
  const at = readTime(textOf(value) ?? '');
  return at === undefined ? undefined : new Date(at).toISOString();
}

function findKey(draft: Draft, by: KeyReader, id: string): Entry {
  const key = listOf(draft, 'bearerKeys').find((key) => key['id'] === id && sees(by, key));
  if (!key) throw saying('not_found', 'no_key', { name: id });
  return key;
}

/** A system key that was made for a user still belongs to the admins. */
function sees(by: KeyReader, key: Readonly<Entry>): boolean {
  return by.isAdmin || (kindOf(key) === 'user' && key['owner'] === by.username);
}

function kindOf(key: Readonly<Entry>): 'system' | 'user' {
  if (key['kind'] === 'system' || key['kind'] === 'user') return key['kind'];
  return key['owner'] === undefined || key['owner'] === null ? 'system' : 'user';
}

/** A key as answers show it: `token` masked, never in full, never its hash. */
function keyAnswer(key: Readonly<Entry>): AccessKey {
  const owner = textOf(key['owner']);
  const expiresAt = timeOf(key['expiresAt']);
  const previousUntil = timeOf(key['previousUntil']);
  const now = new Date().toISOString();
  const limits = callLimitsAnswer(key['limits']);
  const listsAny = Array.isArray(key['allowedGroups']) || Array.isArray(key['allowedServers']);
  return {
    id: textOf(key['id']) ?? '',
    name: textOf(key['name']) ?? '',
    token: textOf(key['maskedToken']) ?? maskKey(textOf(key['token'])?.trim() ?? ''),
    enabled: key['enabled'] !== false,
    kind: kindOf(key),
    ...(owner !== undefined && { owner }),
    accessType: accessTypes.find((type) => type === key['accessType']) ?? (listsAny ? 'custom' : 'all'),
    allowedGroups: textsOf(key['allowedGroups']),
    allowedServers: textsOf(key['allowedServers']),
    ...(expiresAt !== undefined && { expiresAt }),
    readOnly: key['readOnly'] === true,
    ...(previousUntil !== undefined && previousUntil > now && { previousUntil }),
    allowedAddresses: textsOf(key['allowedAddresses']),
    ...(limits && { limits }),
  };
}

const accessTypes = ['all', 'groups', 'servers', 'custom'] as const;

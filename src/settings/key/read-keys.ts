import { parseCidr } from '../../core/address.ts';
import { addressProblem, readTime, timeProblem } from '../../core/input.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { KeySettings } from '../../core/settings/key.ts';
import { readCallLimits } from '../document/call-limits.ts';
import { readElements, readPart } from '../document/read-part.ts';
import { found, type Path, type Report, unique } from '../document/report.ts';
import { stableId } from '../document/stable-id.ts';
import { legacyKeyName, sha256 } from './hashed-keys.ts';
import { keyShape } from './key-shape.ts';

/** What keys may name. `groups` holds ids and names. */
export interface KeyContext {
  readonly usernames: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly isServer: (name: string) => boolean;
}

/** Reads `bearerKeys`, and the one key of old files (`legacyKey`), which opens everything. */
export function readKeys(
  value: unknown,
  legacyKey: string | undefined,
  context: KeyContext,
  report: Report,
): KeySettings[] {
  const keys: KeySettings[] = [];
  const ids = new Map<string, Path>();
  const hashes = new Map<string, Path>();
  for (const [i, raw] of readElements(value, ['bearerKeys'], report).entries()) {
    const path: Path = ['bearerKeys', i];
    const key = readKey(raw, path, context, report);
    if (key === undefined) continue;
    unique(ids, key.id, [...path, 'id'], 'key ids must differ', report);
    unique(
      hashes,
      key.tokenHash,
      [...path, isObject(raw) && 'token' in raw ? 'token' : 'tokenHash'],
      'each key needs a token of its own',
      report,
    );
    keys.push(key);
  }
  const legacyHash = legacyKey === undefined ? undefined : sha256(legacyKey);
  if (legacyHash !== undefined && !hashes.has(legacyHash)) {
    const id = stableId('key', legacyHash);
    keys.push({ ...anyone, id, name: legacyKeyName, tokenHash: legacyHash });
  }
  return keys;
}

const anyone = {
  enabled: true,
  kind: 'system',
  owner: undefined,
  accessType: 'all',
  allowedGroups: [],
  allowedServers: [],
} as const;

function readKey(raw: unknown, path: Path, context: KeyContext, report: Report): KeySettings | undefined {
  const part = readPart(keyShape, raw, path, report);
  if (part === undefined) return undefined;
  const { data: key, broken } = part;
  const tokenHash =
    broken.has('token') || broken.has('tokenHash') ? undefined : readToken(key.token, key.tokenHash, path, report);
  const kind = key.kind ?? (key.owner === undefined ? 'system' : 'user');
  if (kind === 'user' && !broken.has('owner')) {
    if (key.owner === undefined || key.owner === '')
      report.problem([...path, 'owner'], 'a key of kind "user" needs the name of its owner');
    else if (!context.usernames.has(key.owner))
      report.warn([...path, 'owner'], `there is no user ${JSON.stringify(key.owner)}, so the key opens nothing`);
  }
  if (tokenHash === undefined) return undefined;
  const id = key.id === undefined || key.id === '' ? stableId('key', tokenHash) : key.id;
  const [allowedGroups, allowedServers] = [key.allowedGroups ?? [], key.allowedServers ?? []];
  if (kind === 'system') warnOfUnknown({ allowedGroups, allowedServers }, path, context, report);
  return {
    id,
    name: key.name ?? id,
    tokenHash,
    enabled: key.enabled ?? true,
    kind,
    owner: key.owner,
    // Lists in an entry that does not say what they are for were meant to restrict.
    accessType:
      key.accessType ?? (key.allowedGroups === undefined && key.allowedServers === undefined ? 'all' : 'custom'),
    allowedGroups,
    allowedServers,
    expiresAt: readTimeAt(key.expiresAt, [...path, 'expiresAt'], report),
    allowedAddresses: readAddresses(key.allowedAddresses, path, report),
    readOnly: key.readOnly,
    limits: readCallLimits(key.limits),
    previous: readPrevious(key.previousTokenHash, readTimeAt(key.previousUntil, [...path, 'previousUntil'], report)),
  };
}

function readTimeAt(text: string | undefined, path: Path, report: Report): number | undefined {
  if (text === undefined) return undefined;
  const at = readTime(text);
  if (at === undefined) report.problem(path, timeProblem);
  return at;
}

/** Without its end, or with a hash that is none, the token before is not accepted. */
function readPrevious(tokenHash: string | undefined, until: number | undefined): KeySettings['previous'] {
  return tokenHash === undefined || until === undefined ? undefined : { tokenHash: tokenHash.toLowerCase(), until };
}

function readAddresses(
  texts: readonly string[] | undefined,
  path: Path,
  report: Report,
): readonly string[] | undefined {
  for (const [i, text] of (texts ?? []).entries())
    if (parseCidr(text) === undefined) report.problem([...path, 'allowedAddresses', i], addressProblem);
  return texts?.length === 0 ? undefined : texts;
}

function warnOfUnknown(
  { allowedGroups, allowedServers }: Pick<KeySettings, 'allowedGroups' | 'allowedServers'>,
  path: Path,
  { groups, isServer }: KeyContext,
  report: Report,
): void {
  for (const [i, name] of allowedGroups.entries()) {
    if (!groups.has(name))
      report.warn(
        [...path, 'allowedGroups', i],
        `there is no group ${JSON.stringify(name)}; kept for when there is one`,
      );
  }
  for (const [i, name] of allowedServers.entries()) {
    if (!isServer(name))
      report.warn(
        [...path, 'allowedServers', i],
        `there is no server ${JSON.stringify(name)}; kept for when there is one`,
      );
  }
}

function readToken(
  token: string | undefined,
  tokenHash: string | undefined,
  path: Path,
  report: Report,
): string | undefined {
  const plain = token?.trim();
  if (plain !== undefined && plain !== '') {
    const hash = sha256(plain);
    if (tokenHash === undefined || tokenHash.toLowerCase() === hash) return hash;
    report.problem([...path, 'tokenHash'], 'is not the hash of "token"; remove one of them');
    return undefined;
  }
  if (tokenHash !== undefined && /^[0-9a-f]{64}$/i.test(tokenHash)) return tokenHash.toLowerCase();
  if (tokenHash === undefined)
    report.problem([...path, 'token'], `a key needs a "token" or a "tokenHash", found ${found(token, path)}`);
  else
    report.problem(
      [...path, 'tokenHash'],
      `expected a SHA-256 in hex (64 characters), found ${tokenHash.length} characters`,
    );
  return undefined;
}

/**
 * The id of a key as it is written, or the one that its token gives to a key written without; undefined for what is no
 * key.
 */
export function keyIdOf(key: Readonly<Record<string, unknown>>): string | undefined {
  const { id, token, tokenHash } = key;
  if (typeof id === 'string' && id !== '') return id;
  const plain = typeof token === 'string' ? token.trim() : '';
  if (plain !== '') return stableId('key', sha256(plain));
  return typeof tokenHash === 'string' ? stableId('key', tokenHash.toLowerCase()) : undefined;
}

import { HubError, type Problem } from '../../core/errors.ts';
import { childPath } from '../../core/json/path.ts';
import { mask } from '../../core/mask.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { hiddenArgs } from '../export/export-server.ts';
import { hideInUrls } from '../export/secret-text.ts';

/**
 * Secrets of a server's configuration: hidden in every answer, and left as they are when the hidden form is sent back
 * (CONTRACT §4, Servers).
 */

type Json = Readonly<Record<string, unknown>>;

/** The configuration with every secret value hidden. The input is not changed. */
export function maskServer(config: Json): Record<string, unknown> {
  return mapSecrets(config, {}, ({ value, hide }) => hide(value));
}

/**
 * The configuration with every hidden value replaced by the one at the very same place of `stored`. A hidden value
 * where nothing was stored (a new or renamed key) is a problem: filling in anything else would put one secret in the
 * place of another. Throws HubError `invalid_input` with their paths, which begin with `config`.
 */
export function unmaskServer(config: Json, stored: Json, attempt: string): Record<string, unknown> {
  const problems: Problem[] = [];
  const each: Each = ({ value, stored, path, hide }) => {
    if (!holdsMask(value)) return value;
    if (stored !== undefined && stored !== null && (value === mask || value === hide(stored))) return stored;
    const message = value === mask ? 'is hidden, but there is no value to keep' : 'contains part of a hidden value';
    problems.push({ path, message });
    return value;
  };
  const result = mapSecrets(config, stored, each, 'config');
  if (problems.length === 0) return result;
  const paths = problems.map(({ path }) => path).join(', ');
  const message = `${attempt}: there is no hidden value to keep at ${paths}. Send the value itself.`;
  throw new HubError('invalid_input', message, { problems });
}

/** The texts of a configuration that answers hide wholly. */
export function hiddenTexts(config: Json): string[] {
  const found: string[] = [];
  mapSecrets(config, {}, ({ value, hide }) => {
    if (typeof value === 'string' && hide(value) === mask) found.push(value);
    return value;
  });
  return found;
}

/** True when some secret of the configuration is hidden. */
export function hidesSecrets(config: Json): boolean {
  let found = false;
  mapSecrets(config, {}, ({ value }) => {
    found ||= holdsMask(value);
    return value;
  });
  return found;
}

function hidden(value: unknown): unknown {
  if (value === null || value === undefined || value === '' || typeof value === 'boolean') return value;
  // A bare reference to a variable or a file is not the secret, and the most helpful thing to see.
  return typeof value === 'string' && /^\$\{(?:[A-Za-z_]\w*|file:[^{}]*)\}$/.test(value) ? value : mask;
}

/**
 * An address with what is secret in it hidden: a login, a token among its parameters or in its path. The rest is what a
 * user who edits the server needs to see.
 */
function hiddenInUrl(value: unknown): unknown {
  return typeof value === 'string' ? hideInUrls(value, () => mask) : value;
}

/** Also as programs write it that put addresses in order. */
function holdsMask(value: unknown): boolean {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return text.includes(mask) || text.toUpperCase().includes(encodedMask);
}

const encodedMask = encodeURIComponent(mask);

/**
 * Members of `oauth` and of an OpenAPI `security` that are no secrets and that a user who edits the server has to see.
 */
const plain = new Set([
  'authorizationEndpoint',
  'bearerFormat',
  'clientId',
  'expiresAt',
  'host',
  'in',
  'issuer',
  'name',
  'perUser',
  'port',
  'redirectUri',
  'registrationEndpoint',
  'resource',
  'revocationEndpoint',
  'scheme',
  'scopes',
  'tokenEndpoint',
  'tokenUrl',
  'type',
  'url',
]);

interface Secret {
  readonly value: unknown;
  /** What `stored` has at the same place, if it has the place. */
  readonly stored: unknown;
  readonly path: string;
  /** What is shown in its place. */
  readonly hide: (value: unknown) => unknown;
}

type Each = (secret: Secret) => unknown;
type Walk = (secret: Secret, each: Each) => unknown;

/** A copy of a configuration in which `each` has replaced every secret. */
function mapSecrets(config: Json, stored: Json, each: Each, path = ''): Record<string, unknown> {
  const parts: Readonly<Record<string, Walk>> = {
    args: commandLine,
    url: address,
    serverUrl: address,
    httpUrl: address,
    env: everyMember,
    headers: everyMember,
    oauth: unknownMembers,
    proxy: unknownMembers,
    openapi: (secret, each) =>
      members(secret, (key, member) => {
        if (key === 'security' || key === 'specSecurity') return unknownMembers(member, each);
        if (key === 'url' || key === 'baseUrl') return address(member, each);
        return key === 'headers' ? everyMember(member, each) : member.value;
      }),
  };
  return members({ value: config, stored, path, hide: hidden }, (key, member) => {
    const walk = Object.hasOwn(parts, key) ? parts[key] : undefined;
    return walk ? walk(member, each) : member.value;
  }) as Record<string, unknown>;
}

function address(secret: Secret, each: Each): unknown {
  return each({ ...secret, hide: hiddenInUrl });
}

/**
 * Arguments, hidden as an export hides them. Others may stand between them when they come back, so a hidden one is
 * known by its text, and by the option before it where nothing of it is shown.
 */
function commandLine({ value, stored, path }: Secret, each: Each): unknown {
  if (!Array.isArray(value)) return value;
  const before: readonly unknown[] = Array.isArray(stored) ? stored : [];
  const [shown, shownBefore] = [shownArgs(value), shownArgs(before)];
  const keptAt = value.some(holdsMask) ? samePlaces(value, shownBefore) : new Map<number, number>();
  return value.map((arg: unknown, i) => {
    const at = holdsMask(arg) ? keptAt.get(i) : undefined;
    const kept = at === undefined ? undefined : { arg: before[at], shown: shownBefore[at] };
    const hide = (one: unknown) => (kept && one === kept.arg ? kept.shown : shown[i]);
    return each({ value: arg, stored: kept?.arg, path: `${path}[${i}]`, hide });
  });
}

function shownArgs(args: readonly unknown[]): unknown[] {
  return hiddenArgs(args, () => mask);
}

/**
 * Where `others` has each of the arguments. Of those that look alike there is none where it has more or fewer of them:
 * any could be meant.
 */
function samePlaces(args: readonly unknown[], others: readonly unknown[]): Map<number, number> {
  const found = new Map<number, number>();
  const theirs = placesByLook(others);
  for (const [look, places] of placesByLook(args)) {
    const there = theirs.get(look) ?? [];
    if (there.length === places.length) for (const [nth, i] of places.entries()) found.set(i, there[nth] ?? i);
  }
  return found;
}

function placesByLook(args: readonly unknown[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [i, arg] of args.entries()) {
    if (typeof arg !== 'string') continue;
    const look = JSON.stringify([arg, arg === mask ? optionAt(args, i - 1) : undefined]);
    const known = places.get(look);
    if (known) known.push(i);
    else places.set(look, [i]);
  }
  return places;
}

function optionAt(args: readonly unknown[], i: number): string | undefined {
  const arg = args[i];
  return typeof arg === 'string' && arg.startsWith('-') ? arg : undefined;
}

/** `env` and `headers`: all values, whatever they are called. */
function everyMember(secret: Secret, each: Each): unknown {
  return isObject(secret.value) ? members(secret, (_key, member) => each(member)) : each(secret);
}

/** Everything but what is known to be no secret: an unknown member is more likely one. */
function unknownMembers(secret: Secret, each: Each): unknown {
  if (!isObject(secret.value)) return each(secret);
  return members(secret, (key, member) => {
    if (isObject(member.value)) return unknownMembers(member, each);
    return plain.has(key) ? member.value : each(member);
  });
}

function members({ value, stored, path, hide }: Secret, each: (key: string, member: Secret) => unknown): unknown {
  if (!isObject(value)) return value;
  const before = isObject(stored) ? stored : {};
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    return [key, each(key, { value: member, stored: old, path: childPath(path, key), hide })];
  });
  return Object.fromEntries(entries);
}

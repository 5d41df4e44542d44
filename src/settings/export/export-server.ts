import { isObject } from '../../core/protocol/rpc.ts';
import { variableName } from '../server/variables.ts';
import { type Found, hideInCommands, hideInUrls, hideKnownForms, isSecretName, isVariables } from './secret-text.ts';
import { strip } from './strip-secrets.ts';

/** Variables of the hub itself: a placeholder must not happen to be one of them. */
const hubVariables = new Set(['JWT_SECRET', 'ADMIN_PASSWORD', 'DB_URL', 'DATABASE_URL']);

/**
 * Members that connect a server; the hub expands variables in them, so secrets in them become variables. The others
 * lose theirs.
 */
const connecting = new Set(['command', 'args', 'env', 'cwd', 'url', 'serverUrl', 'httpUrl', 'headers', 'openapi']);

/** Settings of single tools, by name: a tool may be called `get_token`. */
const byItem = new Set(['tools', 'prompts', 'resources']);

/** Gives each secret a variable of its own. */
export type NameVariable = (wanted: string, secret: string) => string;

export function createVariableNames(): NameVariable {
  const taken = new Map<string, string>();
  return (wanted, secret) => {
    const base = hubVariables.has(wanted) ? `SERVER_${wanted}` : wanted;
    let name = base;
    for (let i = 2; taken.has(name) && taken.get(name) !== secret; i++) name = `${base}_${i}`;
    taken.set(name, secret);
    return name;
  };
}

/** A server entry without its secrets, and without members that are null. */
export function serverWithoutSecrets(
  name: string,
  entry: Readonly<Record<string, unknown>>,
  nameVariable: NameVariable,
  found: Found,
): Record<string, unknown> {
  const own: [string, string][] = [];
  const variable = (what: string, secret: string, isNamed = true): string => {
    // `github` and `GITHUB_TOKEN` make GITHUB_TOKEN, not GITHUB_GITHUB_TOKEN.
    const isPrefixed = variableName(what).startsWith(`${variableName(name)}_`);
    const text = `\${${nameVariable(isPrefixed ? variableName(what) : variableName(name, what), secret)}}`;
    own.push([secret, text]);
    found(secret, text, isNamed);
    return text;
  };

  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(entry)) {
    if (value === null) continue;
    if (connecting.has(key)) result[key] = hidden(key, value, variable);
    else if (byItem.has(key) && isObject(value)) result[key] = stripEach(value, found);
    else Object.assign(result, strip({ [key]: value }, found));
  }
  // The same secret once more: in an argument, in the description. The API document is left to what is known to be a
  // secret.
  const { openapi, ...others } = result;
  return { ...hideAgain(others, own), ...(openapi !== undefined && { openapi }) };
}

function stripEach(items: Readonly<Record<string, unknown>>, found: Found): Record<string, unknown> {
  return Object.fromEntries(Object.entries(items).map(([name, item]) => [name, strip(item, found)]));
}

type Variable = (what: string, secret: string, isNamed?: boolean) => string;

function hidden(key: string, value: unknown, variable: Variable): unknown {
  if (key === 'env' || key === 'headers') return hiddenRecord(value, variable);
  if (key === 'args' && Array.isArray(value)) return hiddenArgs(value, variable);
  if (key === 'openapi' && isObject(value)) return hiddenApi(value, variable);
  return typeof value === 'string' ? hiddenText(value, key, variable) : value;
}

/** Every value of `env` and `headers`, but for variables and switches. The scheme of a credential stays. */
function hiddenRecord(value: unknown, variable: Variable): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, text]) => {
      const isScalar = typeof text === 'string' || typeof text === 'number' || typeof text === 'boolean';
      return isScalar ? [[name, hiddenValue(name, String(text), variable)]] : [];
    }),
  );
}

function hiddenValue(name: string, text: string, variable: Variable): string {
  const [, scheme = '', rest = ''] = /^((?:Bearer|Basic|Token|Bot|ApiKey|Digest)\s+)?(.*)$/is.exec(text) ?? [];
  if (isVariables(rest) || /^(true|false)$/i.test(text)) return text;
  return scheme + variable(name, rest, isSecretName(name) || scheme !== '');
}

/** A text without the tokens of known forms, values in command lines, and logins in addresses that are in it. */
export function hiddenText(text: string, what: string, variable: Variable): string {
  const known = hideKnownForms(text, (secret) => variable(what, secret));
  const given = hideInCommands(known, (name, secret) => variable(name, secret));
  return hideInUrls(given, (part, secret) => (isVariables(secret) ? secret : variable(`${what}_${part}`, secret)));
}

/**
 * Values of options that are called like secrets, variables and headers handed on to another program, and what looks
 * like a secret.
 */
export function hiddenArgs(args: readonly unknown[], variable: Variable): unknown[] {
  return args.map((arg, i) => {
    const before = args[i - 1];
    if (typeof arg !== 'string') return arg;
    const flag = (typeof before === 'string' && /^--?([A-Za-z][\w-]*)$/.exec(before)?.[1]) || '';
    if (isSecretOption(flag) && !arg.startsWith('-')) return hiddenValue(flag, arg, variable);
    const [, option = '', pair = arg] = /^(--?(?:env|header)=)(.*)$/s.exec(arg) ?? [];
    const [, name = '', mark = '', value = ''] = /^(-{0,2}[\w.-]+)(=|:\s*)(.+)$/s.exec(pair) ?? [];
    const isHandedOn = option !== '' || /^(e|env|H|header)$/.test(flag);
    const isUrl = mark === ':' && value.startsWith('//');
    if (name !== '' && !isUrl && (isHandedOn || isSecretOption(name.replace(/^-+/, '')))) {
      return `${option}${name}${mark}${hiddenValue(name.replace(/^-+/, ''), value, variable)}`;
    }
    return hiddenText(arg, `arg_${i}`, variable);
  });
}

function isSecretOption(name: string): boolean {
  return isSecretName(name) || /^(key|auth|pass)$/.test(name);
}

/** Members of `openapi.security` that are no secret. */
const openMembers = new Set([
  'type',
  'name',
  'in',
  'scheme',
  'bearerFormat',
  'clientId',
  'scopes',
  'expiresAt',
  'url',
  'tokenUrl',
  'authorizationUrl',
]);

/** The API document itself stays: it is what the server offers. */
function hiddenApi(openapi: Readonly<Record<string, unknown>>, variable: Variable): Record<string, unknown> {
  const deep = (value: unknown, key: string, isSecurity: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => deep(item, key, isSecurity));
    if (isObject(value)) {
      if (key === 'headers' || key === 'env') return hiddenRecord(value, variable);
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, deep(member, name, isSecurity)]));
    }
    if (typeof value !== 'string') return value;
    const isSecret = isSecretName(key) || (isSecurity && !openMembers.has(key));
    return isSecret ? hiddenValue(`openapi_${key}`, value, variable) : hiddenText(value, `openapi_${key}`, variable);
  };
  return Object.fromEntries(
    Object.entries(openapi).map(([key, value]) => [
      key,
      key === 'schema' ? value : deep(value, key, /security/i.test(key)),
    ]),
  );
}

/** Replaces secrets wherever they occur once more. */
export function hideAgain<T>(value: T, secrets: readonly (readonly [string, string])[]): T {
  // Longest first: one may be part of another.
  const sought = secrets.filter(([secret]) => isDistinct(secret)).sort(([a], [b]) => b.length - a.length);
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string')
      return sought.reduce((text, [secret, by]) => text.replaceAll(secret, () => by), value);
    if (Array.isArray(value)) return value.map(deep);
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, deep(member)]))
      : value;
  };
  return deep(value) as T;
}

/** A password like `postgres` would take every server and group of that name with it. */
function isDistinct(secret: string): boolean {
  return secret.length >= 16 || (secret.length >= 8 && /\d/.test(secret) && /[A-Za-z]/.test(secret));
}

import type { JsonObject } from '../../api/types.ts';
import { isObject } from '../../lib/json.ts';
import { storage } from '../../lib/storage.ts';
import { resolved } from './schema.ts';

// Arguments that were tried, and examples that were saved: in this browser alone, for each user apart.

export interface Tried {
  readonly at: number;
  /** The tool answered without an error. */
  readonly ok: boolean;
  readonly args: JsonObject;
}

export interface Example {
  readonly name: string;
  readonly args: JsonObject;
}

type Kind = 'tried' | 'examples';
interface Entries {
  readonly tried: Tried;
  readonly examples: Example;
}

/** Of each tool, and tools of each user: those used last. */
const most = { tried: 10, examples: 20 } as const;
const mostTools = 60;
/** Longer arguments are not kept: a browser keeps five million characters of a site. */
export const mostArgumentChars = 8_000;

/** What is kept of one tool of one user. */
export function keptOf<K extends Kind>(kind: K, user: string, tool: string): readonly Entries[K][] {
  return listsOf(kind, user).find(([name]) => name === tool)?.[1] ?? [];
}

/** Keeps it as the newest, in the place of an equal one. False where it is too long. */
export function keep<K extends Kind>(kind: K, user: string, tool: string, entry: Entries[K]): boolean {
  if (JSON.stringify(entry.args).length > mostArgumentChars) return false;
  const others = keptOf(kind, user, tool).filter((other) => !isSame(other, entry));
  write(kind, user, tool, [entry, ...others].slice(0, most[kind]));
  return true;
}

export function drop<K extends Kind>(kind: K, user: string, tool: string, entry: Entries[K]): void {
  const rest = keptOf(kind, user, tool).filter((other) => !isSame(other, entry));
  write(kind, user, tool, rest);
}

function isSame(a: Tried | Example, b: Tried | Example): boolean {
  if ('name' in a && 'name' in b) return a.name === b.name;
  return JSON.stringify(a.args) === JSON.stringify(b.args);
}

function write<K extends Kind>(kind: K, user: string, tool: string, entries: readonly Entries[K][]): void {
  const others = listsOf(kind, user).filter(([name]) => name !== tool);
  const lists = [...(entries.length > 0 ? [[tool, entries] as const] : []), ...others].slice(0, mostTools);
  storage.set(`${kind}.${user}`, lists.length > 0 ? JSON.stringify(lists) : undefined);
}

/** By tool, the one used last first. What another version of this page wrote may look different. */
function listsOf<K extends Kind>(kind: K, user: string): readonly (readonly [string, readonly Entries[K][]])[] {
  try {
    const lists = JSON.parse(storage.get(`${kind}.${user}`) ?? '[]') as unknown;
    if (!Array.isArray(lists)) return [];
    return (lists as unknown[]).flatMap((pair) => {
      if (!Array.isArray(pair)) return [];
      const [tool, entries] = pair as unknown[];
      if (typeof tool !== 'string' || !Array.isArray(entries)) return [];
      return [[tool, entries.filter((entry) => isEntry(kind, entry)) as Entries[K][]] as const];
    });
  } catch {
    return [];
  }
}

function isEntry(kind: Kind, entry: unknown): boolean {
  if (!isObject(entry) || !isObject(entry['args'])) return false;
  return kind === 'tried' ? typeof entry['at'] === 'number' : typeof entry['name'] === 'string';
}

const secretName =
  /pass(?:word|wd|phrase|code)|secret|token|api[-_]?key|credential|private[-_]?key|authoriz|cookie|otp/i;
const secretValue =
  /mcphub_[0-9a-f]{64}|eyJ[\w-]+\.[\w-]+\.|\b(?:sk|pk|ghp|gho|ghs|xox[abp]|glpat|AKIA)[-_]?\w{16,}|-----BEGIN /;

/** Whether the arguments of a tool can hold a secret, by its schema: then none of them are kept. */
export function takesSecrets(schema: unknown, root: JsonObject, depth = 6): boolean {
  const found = resolved(schema, root);
  if (depth === 0) return false;
  if (found['format'] === 'password' || found['writeOnly'] === true) return true;
  const properties = isObject(found['properties']) ? Object.entries(found['properties']) : [];
  const isSecret = ([name, inner]: [string, unknown]): boolean => {
    const { type } = resolved(inner, root);
    const holdsText = type !== 'integer' && type !== 'number' && type !== 'boolean';
    return (holdsText && secretName.test(name)) || takesSecrets(inner, root, depth - 1);
  };
  if (properties.some(isSecret)) return true;
  const parts = [found['items'], found['anyOf'], found['oneOf'], found['allOf']].flat();
  return parts.some((part) => isObject(part) && takesSecrets(part, root, depth - 1));
}

/** Whether a value looks like a secret, or is named as one. */
export function hasSecrets(value: unknown): boolean {
  if (typeof value === 'string') return secretValue.test(value);
  if (Array.isArray(value)) return value.some(hasSecrets);
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([name, inner]) => (typeof inner === 'string' && secretName.test(name)) || hasSecrets(inner),
  );
}

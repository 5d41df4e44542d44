import { mask } from '../../core/mask.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { hiddenText } from '../export/export-server.ts';
import { maskServer } from '../server/server-secrets.ts';
import type { Draft } from './document.ts';
import { maskDeep } from './mask-deep.ts';

type Members = Readonly<Record<string, unknown>>;

/** What is different between two documents: the changed members alone, each list of entries by the names of these. */
export interface ChangedMembers {
  /** Like `server.update`; of several entries `settings.update`. */
  readonly action: string;
  /** The names of the changed entries or sections. */
  readonly names: readonly string[];
  readonly before: Members;
  readonly after: Members;
}

const nouns: Readonly<Record<string, string>> = {
  mcpServers: 'server',
  groups: 'group',
  users: 'user',
  bearerKeys: 'key',
  systemConfig: 'system-config',
};

/** Behind the mask of a secret that is another one now. */
const other = `${mask} (changed)`;

/** Undefined where both say the same. Secrets are masked; that one was changed can be seen. */
export function changedMembers(before: Readonly<Draft>, after: Readonly<Draft>): ChangedMembers | undefined {
  const [was, is] = [differing(before, after), differing(after, before)];
  const found = compared(was, is, shown(was) as Members, shown(is) as Members);
  if (!found) return undefined;
  const parts = Object.keys({ ...found.before, ...found.after });
  const changed = parts.flatMap((part) => {
    const [old, now] = [membersOf(found.before[part]), membersOf(found.after[part])];
    return Object.keys({ ...old, ...now }).map((name) => ({ part, name }));
  });
  const [first] = changed;
  const isOne = first !== undefined && (changed.length === 1 || (parts.length === 1 && first.part === 'systemConfig'));
  const noun = isOne ? nouns[first.part] : undefined;
  const how = isOne ? howOf(first, before, after) : 'update';
  return { ...found, action: `${noun ?? 'settings'}.${how}`, names: changed.map(({ part, name }) => name || part) };
}

/**
 * The document without the entries that the other one has as well. Only what is left is looked at closely: a hub may
 * have thousands of servers, and a change is about one.
 */
function differing(document: Readonly<Draft>, other: Readonly<Draft>): Draft {
  const parts = Object.entries(document).map(([part, value]): [string, unknown] => {
    const beside = own(other, part);
    if (isObject(value) && isObject(beside))
      return [part, Object.fromEntries(Object.entries(value).filter(([name, one]) => !isSame(one, own(beside, name))))];
    if (!Array.isArray(value) || !Array.isArray(beside)) return [part, value];
    const known = new Set(beside.map((entry) => JSON.stringify(entry)));
    return [part, value.filter((entry) => !known.has(JSON.stringify(entry)))];
  });
  return Object.fromEntries(parts);
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function howOf({ part, name }: { part: string; name: string }, before: Readonly<Draft>, after: Readonly<Draft>) {
  if (part === 'systemConfig') return 'update';
  const has = (document: Readonly<Draft>) => Object.hasOwn(membersOf(byName(document[part], before[part])), name);
  return has(before) ? (has(after) ? 'update' : 'delete') : 'create';
}

function membersOf(value: unknown): Members {
  return isObject(value) ? value : {};
}

/** The document without a secret. */
function shown(document: Readonly<Draft>): unknown {
  const { mcpServers, users, bearerKeys, oauthTokens, ...others } = document;
  return {
    ...(maskDeep(others) as Members),
    ...(mcpServers && { mcpServers: mapped(mcpServers, shownServer) }),
    ...(users && { users: users.map(withoutHashes) }),
    ...(bearerKeys && { bearerKeys: bearerKeys.map(withoutHashes) }),
    ...(oauthTokens !== undefined && { oauthTokens: mask }),
  };
}

/** The command too, as in an export: the audit log is kept for long and passed on to other programs. */
function shownServer(entry: Members): unknown {
  const { command, ...others } = maskServer(entry);
  return {
    ...(command !== undefined && {
      command: typeof command === 'string' ? hiddenText(command, '', () => mask) : command,
    }),
    ...(maskDeep(others) as Members),
  };
}

function mapped(entries: Members, each: (entry: Members) => unknown): Members {
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [name, isObject(entry) ? each(entry) : entry]),
  );
}

/** What proves who a user is, or is the key itself, whatever form it has. */
function withoutHashes(entry: unknown): unknown {
  if (!isObject(entry)) return maskDeep(entry);
  const members = Object.entries(maskDeep(entry) as Members);
  return Object.fromEntries(
    members.map(([name, value]) => [name, /password$|token|hash|secret/i.test(name) && value !== null ? mask : value]),
  );
}

interface Different {
  readonly before: Members;
  readonly after: Members;
}

/** Compares what is, and gives what may be shown of it. */
function compared(before: Members, after: Members, shownBefore: Members, shownAfter: Members): Different | undefined {
  const was: [string, unknown][] = [];
  const is: [string, unknown][] = [];
  for (const name of Object.keys({ ...before, ...after })) {
    const [old, now] = [own(before, name), own(after, name)];
    if (isSame(old, now)) continue;
    const [seenOld, seenNow] = [own(shownBefore, name), own(shownAfter, name)];
    const below = comparedBelow({ old, now, seenOld, seenNow });
    if (below) {
      was.push([name, below.before]);
      is.push([name, below.after]);
      continue;
    }
    if (old !== undefined) was.push([name, seenOld]);
    if (now !== undefined)
      is.push([name, JSON.stringify(seenOld) === JSON.stringify(seenNow) ? marked(seenNow) : seenNow]);
  }
  if (was.length + is.length === 0) return undefined;
  return { before: Object.fromEntries(was), after: Object.fromEntries(is) };
}

interface Pair {
  readonly old: unknown;
  readonly now: unknown;
  readonly seenOld: unknown;
  readonly seenNow: unknown;
}

/** The same inside two objects, or two lists of entries with names; undefined where these are compared as a whole. */
function comparedBelow({ old, now, seenOld, seenNow }: Pair): Different | undefined {
  const isNothing = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);
  if (Array.isArray(old) || Array.isArray(now)) {
    if (isNothing(old) && isNothing(now)) return undefined;
    const [was, is] = [byName(old ?? [], now), byName(now ?? [], old)];
    if (!was || !is) return undefined;
    return compared(was, is, byName(seenOld ?? [], seenNow) ?? {}, byName(seenNow ?? [], seenOld) ?? {});
  }
  const isContainer = (value: unknown) => isObject(value) || value === undefined;
  if (!isContainer(old) || !isContainer(now) || !isObject(seenOld ?? {}) || !isObject(seenNow ?? {})) return undefined;
  return compared(membersOf(old), membersOf(now), membersOf(seenOld), membersOf(seenNow));
}

/** A list of entries by the names of these; undefined where they have none, or the same. */
function byName(value: unknown, beside: unknown): Members | undefined {
  if (!Array.isArray(value)) return isObject(value) ? value : undefined;
  const all: unknown[] = [...(value as unknown[]), ...(Array.isArray(beside) ? (beside as unknown[]) : [])];
  const key = ['username', 'name', 'id'].find((member) => {
    const isText = all.every((entry) => isObject(entry) && typeof entry[member] === 'string');
    const names = (value as unknown[]).map((entry) => membersOf(entry)[member]);
    return isText && new Set(names).size === names.length;
  });
  if (key === undefined) return undefined;
  return Object.fromEntries((value as Members[]).map((entry) => [String(entry[key]), entry]));
}

function own(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Something in it is another one now, and nothing that may be shown. */
function marked(value: unknown): unknown {
  if (typeof value === 'string') return value === mask ? other : `${value} (changed)`;
  if (Array.isArray(value)) return value.map((each) => (each === mask ? other : (each as unknown)));
  return isObject(value) ? { ...value, '': other } : value;
}

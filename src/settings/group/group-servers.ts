import type { Grant } from '../../core/access/grants.ts';
import { type HubError, listed, type Problem } from '../../core/errors.ts';
import { invalid } from '../../core/input.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { GroupServer, Selection } from '../../core/settings/group.ts';
import type { ToolOverride } from '../../core/settings/server.ts';
import {
  type Draft,
  type Editor,
  type Entry,
  hasServer,
  memberName,
  serversOf,
  textOf,
  textsOf,
} from '../document/document.ts';
import type { GroupServerInput } from './group-input.ts';
import { problemText } from '../../core/problems.ts';
import { saying } from '../../core/sentences.ts';
import { overridesIn } from '../document/tool-override.ts';

/** The list of servers of one group: which of them, and what of each. */

/** Who changes a group, and what is known of the tools of its servers. */
export interface GroupEditor extends Editor {
  /** What of a server the editor may use; undefined when it is out of reach. */
  readonly granted: (server: string) => Grant | undefined;
  /** Whether the editor may change the server itself. */
  readonly manages: (server: string) => boolean;
  /** The tools a server offers now, by its own names; undefined while it is away. */
  readonly knownTools: (server: string) => readonly string[] | undefined;
  /** The name under which clients see a tool, in a place where its server goes by `prefix`. */
  readonly shownTool: (prefix: string, tool: string) => string;
}

export interface NewList {
  readonly attempt: string;
  /** The list so far, as the document has it. */
  readonly old: unknown;
  readonly wanted: readonly GroupServerInput[];
  /** What a plain name means: everything of the server, or what the group showed of it before. */
  readonly plain: 'all' | 'keep';
}

/**
 * The list to write in place of the old one. Entries the editor may not see stay, behind the others. Throws HubError
 * `invalid_input` naming every server that does not exist, is listed twice with different settings, of which too much
 * is selected, or whose tools could not be told from those of another; `forbidden` as `checkOverrides` does.
 */
export function groupServers(draft: Draft, by: GroupEditor, { attempt, old, wanted, plain }: NewList): Entry[] {
  const before: unknown[] = Array.isArray(old) ? old : [];
  const problems: Problem[] = [];
  const chosen = new Map<string, Entry>();
  for (const [i, input] of wanted.entries()) {
    const { name } = input;
    if (!hasServer(draft, name) || !by.seesServer(name)) {
      problems.push({ path: `servers[${i}]`, message: unknownServerText(draft, by, name) });
      continue;
    }
    const last = before.find((element) => memberName(element) === name);
    const entry = newEntry(by, input, last, plain);
    checkOverrides(by, entry, last, attempt);
    problems.push(...beyondGrant(by, entry, last).map((message) => ({ path: `servers[${i}]`, message })));
    const twin = chosen.get(name);
    if (twin && JSON.stringify(twin) !== JSON.stringify(entry)) {
      problems.push({ path: `servers[${i}]`, message: `lists server "${name}" again with other settings` });
    }
    chosen.set(name, entry);
  }
  const hidden = before.filter((element) => {
    const name = memberName(element);
    return name !== undefined && hasServer(draft, name) && !by.seesServer(name);
  });
  const list = [...chosen.values(), ...hidden.map(groupEntry)];
  problems.push(...samePrefixes(list));
  if (problems.length > 0) throw invalid(attempt, problems);
  return list;
}

export function unknownServer(draft: Draft, by: Editor, attempt: string, name: string): HubError {
  return invalid(attempt, [{ path: 'serverName', message: unknownServerText(draft, by, name) }]);
}

/** Of a server that does not exist, and alike of one that may not be seen. */
export function unknownServerText(draft: Draft, by: Editor, name: string): string {
  return `names an unknown server "${name}". Known: ${listed(Object.keys(serversOf(draft)).filter(by.seesServer))}`;
}

/**
 * What an entry selects beyond what the group had of the server before (`old`) and its editor may use: members and keys
 * of the group get all that it selects, the editor among them.
 */
export function beyondGrant(by: GroupEditor, entry: Entry, old: unknown): string[] {
  const name = textOf(entry['name']) ?? '';
  const own = by.granted(name);
  const before = old === undefined ? undefined : readMember(old);
  return (['tools', 'prompts', 'resources'] as const).flatMap((kind) => {
    const [had, may, wanted] = [before?.[kind] ?? [], own?.[kind] ?? [], selectionOf(entry[kind])];
    if (had === 'all' || may === 'all') return [];
    const allowed = [...new Set([...had, ...may])];
    if (wanted !== 'all' && wanted.every((item) => allowed.includes(item))) return [];
    return [`selects more ${kind} of server "${name}" than you may use; you may select ${listed(allowed)}`];
  });
}

/**
 * Texts and arguments that a group shows reach the calls of all who use it: they are for those who may change the
 * server itself. Others give its tools other names. Throws HubError `forbidden` where `entry` changes more of what
 * `old` had.
 */
export function checkOverrides(by: GroupEditor, entry: Entry, old: unknown, attempt: string): void {
  const server = textOf(entry['name']) ?? '';
  if (by.manages(server)) return;
  const before = isObject(old) ? overridesIn(old['overrides']) : undefined;
  const wanted = overridesIn(entry['overrides']);
  for (const tool of new Set([...(before?.keys() ?? []), ...(wanted?.keys() ?? [])]))
    checkOverride(wanted?.get(tool), before?.get(tool), { attempt, server, tool });
}

/** The same for the override of one tool, and an editor who may not change its server. */
export function checkOverride(
  wanted: ToolOverride | undefined,
  old: ToolOverride | undefined,
  { attempt, server, tool }: { readonly attempt: string; readonly server: string; readonly tool: string },
): void {
  if (allButName(wanted) === allButName(old)) return;
  throw saying('forbidden', 'override_name_only', { attempt, tool, server });
}

function allButName({ title, description, annotations, arguments: rules }: ToolOverride = {}): string {
  return JSON.stringify([title, description, annotations, rules]);
}

/** An element of a group's `servers` as the document keeps it from now on; members it does not know stay. */
export function groupEntry(element: unknown): Entry {
  const entry: Entry = isObject(element) ? element : { name: element };
  return {
    ...entry,
    tools: entry['tools'] ?? 'all',
    prompts: entry['prompts'] ?? 'all',
    resources: entry['resources'] ?? 'all',
  };
}

/** The same for readers; undefined for what names no server. */
export function readMember(element: unknown): GroupServer | undefined {
  const name = memberName(element);
  if (name === undefined) return undefined;
  const entry = groupEntry(element);
  const overrides = overridesIn(entry['overrides']);
  return {
    name,
    alias: textOf(entry['alias']),
    tools: selectionOf(entry['tools']),
    prompts: selectionOf(entry['prompts']),
    resources: selectionOf(entry['resources']),
    pinnedTools: textsOf(entry['pinnedTools']),
    ...(overrides && { overrides }),
  };
}

/**
 * A sentence when tools are selected that the server does not have, or of which the hub does not know whether it has
 * them.
 */
export function unknownTools(by: GroupEditor, server: string, tools: Selection): string[] {
  if (tools === 'all' || tools.length === 0) return [];
  const known = by.knownTools(server);
  if (!known) return [`Server "${server}" is not connected, so its tool names could not be checked.`];
  const unknown = tools.filter((tool) => !known.includes(tool));
  if (unknown.length === 0) return [];
  return [`Server "${server}" offers no tool ${listed(unknown.map((tool) => `"${tool}"`))} now.`];
}

/**
 * Names of tools as the settings keep them, the server's own: a user who copies the names that clients see means the
 * same tools.
 */
export function ownNames(
  by: GroupEditor,
  server: string,
  alias: string | undefined,
  tools: readonly string[],
): string[] {
  const known = by.knownTools(server) ?? [];
  const prefixes = [server, ...(alias ? [alias] : [])];
  const shown = new Map(known.flatMap((tool) => prefixes.map((prefix) => [by.shownTool(prefix, tool), tool] as const)));
  return [...new Set(tools.map((tool) => (known.includes(tool) ? tool : (shown.get(tool) ?? tool))))];
}

const members = new Set(['name', 'alias', 'tools', 'prompts', 'resources', 'pinnedTools']);

function newEntry(
  by: GroupEditor,
  { plain: isPlain, ...config }: GroupServerInput,
  old: unknown,
  plain: 'all' | 'keep',
): Entry {
  if (isPlain && plain === 'keep' && old !== undefined) return groupEntry(old);
  const kept = isObject(old) ? Object.entries(old).filter(([key]) => !members.has(key)) : [];
  const given = Object.entries(config).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const entry = groupEntry(Object.fromEntries([...kept, ...given]));
  const wanted = 'overrides' in config ? config.overrides : undefined;
  if (wanted === null || (wanted && Object.keys(wanted).length === 0)) delete entry['overrides'];
  for (const kind of ['tools', 'prompts', 'resources', 'pinnedTools']) {
    if (Array.isArray(entry[kind])) entry[kind] = [...new Set(entry[kind])];
  }
  for (const kind of ['tools', 'pinnedTools']) {
    if (Array.isArray(entry[kind]))
      entry[kind] = ownNames(by, config.name, textOf(entry['alias']), textsOf(entry[kind]));
  }
  return entry;
}

/** Throws HubError `invalid_input` when two servers of the list would go by the same name. */
export function checkPrefixes(list: readonly unknown[], attempt: string): void {
  const problems = samePrefixes(list.map(groupEntry));
  if (problems.length > 0) throw invalid(attempt, problems);
}

/** Two servers under one prefix would have tools of the same name. */
function samePrefixes(list: readonly Entry[]): Problem[] {
  const seen = new Set<string>();
  return list.flatMap((entry) => {
    const prefix = textOf(entry['alias']) || textOf(entry['name']) || '';
    if (!seen.has(prefix)) {
      seen.add(prefix);
      return [];
    }
    return [{ path: 'servers', message: problemText('alias_twice', { name: prefix }) }];
  });
}

function selectionOf(value: unknown): Selection {
  return Array.isArray(value) ? textsOf(value) : 'all';
}

import { isForbiddenName } from '../../core/input.ts';
import type { GroupServer, GroupSettings } from '../../core/settings/group.ts';
import { readCallLimits } from '../document/call-limits.ts';
import { readElements, readPart } from '../document/read-part.ts';
import type { Path, Report } from '../document/report.ts';
import { found, unique } from '../document/report.ts';
import { groupIdOf } from '../document/stable-id.ts';
import { checkNames, readOverrides } from '../document/tool-override.ts';
import { groupNameInput } from './group-input.ts';
import { groupServerShape, groupShape } from './group-shape.ts';

/** What of the rest of the document groups are read by. */
export interface GroupsContext {
  /** Whether a server of that name is in the document, right or wrong. */
  readonly isServer: (name: string) => boolean;
  /** See `settings/document/document.ts`. */
  readonly systemOwner: string;
  /** Between server and tool in the names that clients see. */
  readonly separator: string;
}

/** Reads `groups`. */
export function readGroups(value: unknown, context: GroupsContext, report: Report): GroupSettings[] {
  const groups: GroupSettings[] = [];
  const names = new Map<string, Path>();
  const ids = new Map<string, Path>();
  for (const [i, raw] of readElements(value, ['groups'], report).entries()) {
    const path: Path = ['groups', i];
    const part = readPart(groupShape, raw, path, report);
    if (part === undefined) continue;
    const { data, broken } = part;
    const servers = readGroupServers(data.servers, [...path, 'servers'], context, report);
    if (broken.has('name') || !checkName(data.name, [...path, 'name'], report)) continue;
    const given = data.id === '' ? undefined : data.id;
    unique(
      names,
      data.name.toLowerCase(),
      [...path, 'name'],
      'group names must differ by more than their case',
      report,
    );
    if (given !== undefined)
      unique(ids, given, [...path, 'id'], 'group ids must differ; remove this one to get a new one', report);
    groups.push({
      id: given ?? groupIdOf(data.name),
      name: data.name,
      description: data.description,
      owner: data.owner ?? context.systemOwner,
      visibility: data.visibility,
      sharedWithUsers: data.sharedWithUsers ?? [],
      servers,
      limits: readCallLimits(data.limits),
      maxResultTokens: data.maxResultTokens,
    });
  }
  return groups;
}

function checkName(name: string | undefined, path: Path, report: Report): name is string {
  if (name === undefined || name.trim() === '' || isForbiddenName(name)) {
    const why =
      name !== undefined && isForbiddenName(name)
        ? 'this name is reserved; give the group another'
        : `expected the group's name, found ${found(name, [])}`;
    report.problem(path, why);
    return false;
  }
  const checked = groupNameInput.safeParse(name);
  const against = checked.success
    ? checked.data !== name && 'has blanks around it, or accents apart from their letters'
    : checked.error.issues[0]?.message;
  if (against) report.warn(path, `group name accepted, but new ones may not be like this (it ${against})`);
  return true;
}

function readGroupServers(
  value: readonly unknown[] | undefined,
  path: Path,
  { isServer, separator }: GroupsContext,
  report: Report,
): GroupServer[] {
  const servers: GroupServer[] = [];
  const prefixes = new Map<string, Path>();
  for (const [i, raw] of (value ?? []).entries()) {
    const at = [...path, i];
    const server = readGroupServer(raw, at, report);
    if (server === undefined) continue;
    if (!isServer(server.name))
      report.warn(at, `there is no server ${JSON.stringify(server.name)}; kept for when there is one`);
    if (servers.some((known) => known.name === server.name)) {
      report.warn(at, `server ${JSON.stringify(server.name)} is in this group twice; the first entry counts`);
      continue;
    }
    const rule = 'names of their tools could not be told apart; give one another "alias"';
    unique(prefixes, server.alias ?? server.name, server.alias === undefined ? at : [...at, 'alias'], rule, report);
    warnOfShownNames(server, separator, at, report);
    servers.push(server);
  }
  return servers;
}

/** A name as clients see it selects nothing, and an endpoint without tools says nothing of why. */
function warnOfShownNames({ name, alias, tools, prompts }: GroupServer, separator: string, path: Path, report: Report) {
  for (const [kind, selection] of Object.entries({ tools, prompts })) {
    for (const [i, item] of (selection === 'all' ? [] : selection).entries()) {
      const prefix = [name, alias ?? name].map((each) => `${each}${separator}`).find((each) => item.startsWith(each));
      if (prefix === undefined) continue;
      const own = JSON.stringify(item.slice(prefix.length));
      report.warn(
        [...path, kind, i],
        `has the server's name in front; if the server itself calls it ${own}, write that`,
      );
    }
  }
}

function readGroupServer(raw: unknown, path: Path, report: Report): GroupServer | undefined {
  const part = readPart(groupServerShape, typeof raw === 'string' ? { name: raw } : raw, path, report);
  if (part === undefined || part.broken.has('name')) return undefined;
  const { name, alias, tools, prompts, resources, pinnedTools, overrides: given } = part.data;
  if (name === undefined || name === '' || isForbiddenName(name)) {
    report.problem(
      [...path, 'name'],
      `expected a server's name, found ${name === undefined || name === '' ? found(name, []) : 'a reserved one'}`,
    );
    return undefined;
  }
  const overrides = readOverrides(given);
  checkNames(overrides ?? [], [...path, 'overrides'], report);
  return {
    name,
    alias: alias?.trim() === '' ? undefined : alias?.trim(),
    tools: tools ?? 'all',
    prompts: prompts ?? 'all',
    resources: resources ?? 'all',
    pinnedTools: pinnedTools ?? [],
    ...(overrides && { overrides }),
  };
}

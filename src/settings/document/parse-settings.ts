import { isDeepStrictEqual } from 'node:util';
import { isPublic } from '../../core/access/grants.ts';
import type { Problem } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { readGroups } from '../group/read-groups.ts';
import { readKeys } from '../key/read-keys.ts';
import { checkName, readServer, type ServerContext, unusableServer } from '../server/read-server.ts';
import { readOwn } from '../own/read-own.ts';
import { readSystem } from '../system/read-system.ts';
import { readUsers } from '../user/read-users.ts';
import { systemOwner } from './document.ts';
import { isTooDeep, readEntries, withoutNulls } from './read-part.ts';
import { found, newReport, notAccepted, type Report } from './report.ts';
import { warnOfMissingFeatures } from './unsupported-members.ts';

export interface ParsedSettings {
  readonly settings: Settings;
  /** What was accepted, but is probably not what was meant. */
  readonly warnings: readonly Problem[];
  /**
   * Servers whose entry cannot be used, with every problem of it. In `settings` they have a transport of type
   * `invalid`.
   */
  readonly faults: ReadonlyMap<string, readonly Problem[]>;
}

/**
 * The settings that a document (`mcp_settings.json`, reference §4.1) stands for, with defaults. The document is not
 * changed, so what the hub does not know stays in it. An entry of `mcpServers` that cannot be used is that server's
 * error and stops no other. Throws HubError `invalid_input` with every other problem at its JSON path, and nothing else
 * for any JSON.
 */
export function parseSettings(document: unknown): ParsedSettings {
  const report = newReport();
  if (!isObject(document)) report.problem([], `expected object, found ${found(document, [])}`);
  else if (isTooDeep(document)) report.problem([], 'is nested too deeply to be settings');
  if (report.problems.length > 0) throw notAccepted(report.problems);
  const clean = withoutNulls(document) as Record<string, unknown>;
  const isServer = serverExists(clean['mcpServers']);
  const { system, legacyKey } = readSystem(clean['systemConfig'], isServer, report);
  const owner = systemOwner(clean['users']);
  const { servers, faults, warnings } = readServers(
    clean,
    { separator: system.nameSeparator, systemOwner: owner, sandbox: system.sandbox, install: system.install },
    report,
  );
  const settings = {
    system,
    servers,
    groups: readGroups(clean['groups'], { isServer, systemOwner: owner, separator: system.nameSeparator }, report),
    users: readUsers(clean['users'], report),
  };
  const usernames = new Set(settings.users.map((user) => user.username));
  const groups = new Set(settings.groups.flatMap(({ id, name }) => [id, name]));
  warnOfMissingFeatures(clean, report);
  warnOfUnpublished(settings, report);
  warnOfLockout(settings, report);
  const own = readOwn(clean, report);
  const keys = readKeys(clean['bearerKeys'], legacyKey, { usernames, groups, isServer }, report);
  // A user who corrects the document needs all of its problems.
  if (report.problems.length > 0) throw notAccepted([...report.problems, ...[...faults.values()].flat()]);
  return { settings: { ...settings, keys, ...(own && { own }) }, warnings: [...report.warnings, ...warnings], faults };
}

/**
 * The same for a document that was changed from `before`, whose settings are those in force: what is read beside it may
 * be broken by now. Throws HubError `invalid_input` also for an entry of
 * `mcpServers` that cannot be used, unless it is as it was: what is wrong in the file already prevents no other change.
 */
export function parseChanged(
  document: unknown,
  before: { readonly document: unknown; readonly settings: Settings },
): ParsedSettings {
  const parsed = parseSettings(document);
  const refused = [...parsed.faults].flatMap(([name, problems]) => {
    const [entry, old] = [entryOf(document, name), entryOf(before.document, name)];
    return isDeepStrictEqual(entry, old) || isSwitched(entry, old) ? [] : problems;
  });
  if (refused.length > 0) throw notAccepted(refused);
  if (locksOut(parsed.settings) && !locksOut(before.settings))
    throw notAccepted([{ path: breakGlassPath.join('.'), message: lockedOut }]);
  return parsed;
}

function entryOf(document: unknown, name: string): unknown {
  const servers = isObject(document) ? document['mcpServers'] : undefined;
  return isObject(servers) && Object.hasOwn(servers, name) ? servers[name] : undefined;
}

/** True when the two differ only in whether the server is on and whose it is. */
function isSwitched(entry: unknown, before: unknown): boolean {
  if (!isObject(entry) || !isObject(before)) return false;
  const { enabled, disabled, owner, ...rest } = entry;
  const { enabled: _enabled, disabled: _disabled, owner: _owner, ...restBefore } = before;
  const isRight =
    [enabled, disabled].every((flag) => flag === undefined || typeof flag === 'boolean') &&
    (owner === undefined || typeof owner === 'string');
  return isRight && isDeepStrictEqual(rest, restBefore);
}

function readServers(document: Record<string, unknown>, context: ServerContext, report: Report) {
  const servers = new Map<string, ServerSettings>();
  const faults = new Map<string, readonly Problem[]>();
  const warnings: Problem[] = [];
  for (const [name, value] of readEntries(document['mcpServers'], ['mcpServers'], report)) {
    if (!checkName(name, ['mcpServers', name], report)) continue;
    const own = newReport();
    const server = readServer(name, value, context, own);
    const { problems } = own;
    const isUsable = server !== undefined && problems.length === 0;
    servers.set(name, isUsable ? server : unusableServer(name, value, context, problems));
    warnings.push(...own.warnings);
    if (isUsable) continue;
    faults.set(name, problems);
    const after = 'The server is not connected until this is corrected; the others are.';
    warnings.push(...problems.map(({ path, message }) => ({ path, message: `${message}. ${after}` })));
  }
  for (const other of ['servers', 'mcp_servers', 'mcpservers']) {
    if (document['mcpServers'] === undefined && document[other] !== undefined)
      report.warn([other], 'is not read; servers are listed in "mcpServers"');
  }
  return { servers, faults, warnings };
}

/** Of servers that their owners called public before that was for admins to say. */
function warnOfUnpublished(settings: Pick<Settings, 'servers' | 'users'>, report: Report): void {
  for (const server of settings.servers.values()) {
    if (server.visibility !== 'public' || isPublic(settings, server)) continue;
    const message = `counts as "group": no admin made this server of ${server.owner} public. An admin does so in the dashboard, or with PUT /api/servers/${server.name}`;
    report.warn(['mcpServers', server.name, 'visibility'], message);
  }
}

const breakGlassPath = ['systemConfig', 'auth', 'breakGlass'];
const lockedOut = 'names no admin with a password: while the provider is away, no admin can log in';

/** Of passwords that are switched off for all. In a file it is no error: a new hub has no users yet. */
function warnOfLockout(settings: Pick<Settings, 'system' | 'users'>, report: Report): void {
  if (locksOut(settings)) report.warn(breakGlassPath, lockedOut);
}

/** Whether no admin could log in without a provider. */
function locksOut({ system, users }: Pick<Settings, 'system' | 'users'>): boolean {
  const { passwordLogin, breakGlass } = system;
  const canLogIn = users.some((user) => user.username === breakGlass && user.role === 'admin' && user.passwordHash);
  return passwordLogin === false && !canLogIn && users.length > 0;
}

function serverExists(servers: unknown): (name: string) => boolean {
  return (name) => isObject(servers) && Object.hasOwn(servers, name);
}

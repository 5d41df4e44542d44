import { parseCidr } from '../core/address.ts';
import { systemOwner } from '../core/settings/document.ts';
import type { Problem } from '../core/errors.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { ServerSettings, Settings, SystemSettings } from '../core/settings/types.ts';
import { readBodyLimit } from './body-limit.ts';
import { readGroups } from './groups.ts';
import { headerNameProblem } from './headers.ts';
import { readKeys, readUsers } from './people.ts';
import { isTooDeep, readEntries, readPart, withoutNulls } from './read.ts';
import type { Path, Report } from './report.ts';
import { found, newReport, notAccepted } from './report.ts';
import { readServer, type ServerContext } from './server.ts';
import { systemShape } from './shape.ts';
import { embeddingSettings } from './smart-routing.ts';
import { warnOfMissingFeatures } from './without-effect.ts';

export interface ParsedSettings {
  readonly settings: Settings;
  /** What was accepted, but is probably not what was meant. */
  readonly warnings: readonly Problem[];
}

/**
 * The settings that a document (`mcp_settings.json`, reference §4.1) stands for, with defaults. The document is not changed, so what
 * the hub does not know stays in it. Throws HubError `invalid_input` with every problem at its JSON path, and nothing else for any JSON.
 */
export function parseSettings(document: unknown): ParsedSettings {
  const report = newReport();
  if (!isObject(document)) report.problem([], `expected object, found ${found(document, [])}`);
  else if (isTooDeep(document)) report.problem([], 'is nested too deeply to be settings');
  if (report.problems.length > 0) throw notAccepted(report.problems);
  const clean = withoutNulls(document) as Record<string, unknown>;
  const { system, legacyKey } = readSystem(clean['systemConfig'], report);
  const isServer = serverExists(clean['mcpServers']);
  const owner = systemOwner(clean['users']);
  const settings = {
    system,
    servers: readServers(clean, { separator: system.nameSeparator, systemOwner: owner }, report),
    groups: readGroups(clean['groups'], { isServer, systemOwner: owner, separator: system.nameSeparator }, report),
    users: readUsers(clean['users'], report),
  };
  const usernames = new Set(settings.users.map((user) => user.username));
  const groups = new Set(settings.groups.flatMap(({ id, name }) => [id, name]));
  warnOfMissingFeatures(clean, report);
  const keys = readKeys(clean['bearerKeys'], legacyKey, { usernames, groups, isServer }, report);
  if (report.problems.length > 0) throw notAccepted(report.problems);
  return { settings: { ...settings, keys }, warnings: report.warnings };
}

function readServers(
  document: Record<string, unknown>,
  context: ServerContext,
  report: Report,
): Map<string, ServerSettings> {
  const servers = new Map<string, ServerSettings>();
  for (const [name, value] of readEntries(document['mcpServers'], ['mcpServers'], report)) {
    const server = readServer(name, value, context, report);
    if (server !== undefined) servers.set(name, server);
  }
  for (const other of ['servers', 'mcp_servers', 'mcpservers']) {
    if (document['mcpServers'] === undefined && document[other] !== undefined)
      report.warn([other], 'is not read; servers are listed in "mcpServers"');
  }
  return servers;
}

function serverExists(servers: unknown): (name: string) => boolean {
  return (name) => isObject(servers) && Object.hasOwn(servers, name);
}

/** MCPHub's defaults (reference §4.2), but for what CONTRACT §2 decides otherwise. */
function readSystem(value: unknown, report: Report): { system: SystemSettings; legacyKey: string | undefined } {
  const part = readPart(systemShape, value ?? {}, ['systemConfig'], report);
  const { nameSeparator = '-', listPageSize = 0, smartRouting = {}, routing = {} } = part?.data ?? {};
  const { activityLog = {}, network = {}, install = {} } = part?.data ?? {};
  const { enableGlobalRoute = true, enableBearerAuth, openApiAccess = 'open' } = routing;
  checkSeparator(nameSeparator, ['systemConfig', 'nameSeparator'], report);
  const headerName = readHeaderName(
    routing.bearerAuthHeaderName,
    ['systemConfig', 'routing', 'bearerAuthHeaderName'],
    report,
  );
  const limitPath = ['systemConfig', 'routing', 'jsonBodyLimit'];
  const jsonBodyBytes = readBodyLimit(routing.jsonBodyLimit, limitPath, report);
  checkRanges(network.allowedCidrs ?? [], ['systemConfig', 'network', 'allowedCidrs'], report);
  return {
    system: {
      nameSeparator,
      routing: { enableGlobalRoute, enableBearerAuth, openApiAccess, bearerAuthHeaderName: headerName, jsonBodyBytes },
      listPageSize,
      progressiveDisclosure: smartRouting.progressiveDisclosure,
      serverDescriptionMode: smartRouting.serverDescriptionMode,
      embedding: part?.data.smartRouting && embeddingSettings(smartRouting),
      storeSearchQueries: activityLog.storeSearchQueries,
      allowedCidrs: network.allowedCidrs,
      storeToolPayload: activityLog.storeToolPayload ?? false,
      ...readBaseUrl(install.baseUrl, ['systemConfig', 'install', 'baseUrl'], report),
    },
    legacyKey: legacyKeyIn(routing),
  };
}

/** The one key of old files, where it counts. */
function legacyKeyIn(routing: { enableBearerAuth?: boolean | undefined; bearerAuthKey?: string | undefined }) {
  const key = routing.bearerAuthKey?.trim() ?? '';
  return routing.enableBearerAuth === true && key !== '' ? key : undefined;
}

function checkRanges(ranges: readonly string[], path: Path, report: Report): void {
  for (const [i, range] of ranges.entries()) {
    if (parseCidr(range) === undefined)
      report.problem([...path, i], 'expected a range of addresses like "10.1.0.0/16" or a single address');
  }
}

function checkSeparator(separator: string, path: Path, report: Report): void {
  if (!/^[^\s/]{1,8}$/.test(separator)) {
    report.problem(path, 'expected 1 to 8 characters without spaces and "/", for example "-" or "__"');
  } else if (!/^[A-Za-z0-9_-]+$/.test(separator)) {
    report.warn(
      path,
      'has characters that tool names cannot have; they will be replaced in every name. Use "-" or "_"',
    );
  }
}

/** MCPHub files always have one; what cannot be used is no reason not to start. */
function readBaseUrl(given: string | undefined, path: Path, report: Report): Pick<SystemSettings, 'baseUrl'> {
  const text = given?.trim() ?? '';
  if (text === '') return {};
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:')
    return { baseUrl: `${url.origin}${url.pathname}`.replace(/\/+$/, '') };
  report.warn(path, 'is ignored: expected the address of the hub, like https://hub.example.com');
  return {};
}

/** `Authorization` is always read, so naming it says nothing. */
function readHeaderName(name: string | undefined, path: Path, report: Report): string | undefined {
  const lower = name?.trim().toLowerCase() ?? '';
  if (lower === '' || lower === 'authorization') return undefined;
  const fault = headerNameProblem(lower);
  if (fault !== undefined) report.problem(path, fault);
  return lower;
}

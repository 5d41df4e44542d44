import type { z } from 'zod';
import { parseCidr } from '../../core/address.ts';
import type { SystemSettings } from '../../core/settings/system.ts';
import { readCallLimits } from '../document/call-limits.ts';
import { settingsLimits } from '../limits.ts';
import { readPart } from '../document/read-part.ts';
import { type Path, type Report, shown } from '../document/report.ts';
import { headerNameProblem } from '../server/headers.ts';
import { readAuth } from './auth-shape.ts';
import { readBodyLimit } from './body-limit.ts';
import { readGuards } from './guards-shape.ts';
import { readPolicies } from './policies-shape.ts';
import { policyFilesIn } from './policy-folder.ts';
import { embeddingSettings } from './smart-routing-shape.ts';
import { systemShape } from './system-shape.ts';
import { problemText } from '../../core/problems.ts';

/** Reads `systemConfig`, with MCPHub's defaults (reference §4.2), but for what CONTRACT §2 decides otherwise. */
export function readSystem(
  value: unknown,
  isServer: (name: string) => boolean,
  report: Report,
): { system: SystemSettings; legacyKey: string | undefined } {
  const given = readPart(systemShape, value ?? {}, ['systemConfig'], report)?.data ?? {};
  const { nameSeparator = '-', listPageSize = 0, routing = {} } = given;
  const { activityLog = {}, network = {}, install = {}, auth = {}, oauthServer = {} } = given;
  const { enableGlobalRoute = true, enableGroupNameRoute = true, enableBearerAuth, openApiAccess = 'open' } = routing;
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
      routing: {
        enableGlobalRoute,
        enableGroupNameRoute,
        enableBearerAuth,
        openApiAccess,
        bearerAuthHeaderName: headerName,
        jsonBodyBytes,
      },
      oauthServer: readOAuthServer(oauthServer),
      listPageSize,
      ...readContext(given),
      ...readSmartRouting(given.smartRouting),
      storeSearchQueries: activityLog.storeSearchQueries,
      allowedCidrs: network.allowedCidrs,
      ...readAuth(auth, report),
      storeToolPayload: activityLog.storeToolPayload ?? false,
      ...readGovernance(given, { value, isServer }, report),
      ...readBaseUrl(install.baseUrl, ['systemConfig', 'install', 'baseUrl'], report),
      ...readInstall(install, report),
    },
    legacyKey: legacyKeyIn(routing),
  };
}

/** What clients get of long results, and what code of theirs may take (CONTRACT §11). */
function readContext({
  codeMode,
  skills,
  maxResultTokens,
  toolResultCompression,
}: Partial<z.output<typeof systemShape>> = {}): Pick<SystemSettings, 'codeMode' | 'skillFolder' | 'maxResultTokens'> {
  const skillFolder = skills?.folder?.trim() || undefined;
  return { codeMode, skillFolder, maxResultTokens: maxResultTokens ?? compressed(toolResultCompression) };
}

/** MCPHub's member: it shortens results, and here they come in parts. */
function compressed(given: z.output<typeof systemShape>['toolResultCompression']): number | undefined {
  if (given?.enabled !== true) return undefined;
  const tokens = given.maxOutputTokens ?? settingsLimits.compressedResultTokens;
  return Math.min(settingsLimits.resultTokensMost, Math.max(settingsLimits.resultTokensLeast, Math.round(tokens)));
}

function readSmartRouting(
  given: z.output<typeof systemShape>['smartRouting'],
): Pick<SystemSettings, 'progressiveDisclosure' | 'serverDescriptionMode' | 'embedding'> {
  const { progressiveDisclosure, serverDescriptionMode } = given ?? {};
  return { progressiveDisclosure, serverDescriptionMode, embedding: given && embeddingSettings(given) };
}

/** What is decided about calls besides access, where records of it go (CONTRACT §9), and how programs are held. */
function readGovernance(
  { limits, policies, approvals, pins, guards, audit, sandbox, secretsInCalls }: Partial<z.output<typeof systemShape>>,
  { value, isServer }: { readonly value: unknown; readonly isServer: (name: string) => boolean },
  report: Report,
): Pick<
  SystemSettings,
  | 'defaultLimits'
  | 'approvalMs'
  | 'approvalWebhook'
  | 'policies'
  | 'pinMode'
  | 'guards'
  | 'audit'
  | 'sandbox'
  | 'secretsInCalls'
> {
  const seconds = approvals?.expireSeconds;
  return {
    audit,
    secretsInCalls,
    sandbox: sandbox?.default,
    ...readGuards(guards, isServer, report),
    defaultLimits: readCallLimits(limits?.default),
    pinMode: pins?.mode,
    approvalMs: seconds === undefined ? undefined : seconds * 1_000,
    approvalWebhook: approvals?.webhook,
    ...readPolicies(policies, policyFilesIn(value), report),
  };
}

function readOAuthServer(given: {
  enabled?: boolean | undefined;
  dynamicRegistration?: { enabled?: boolean | undefined } | undefined;
}): SystemSettings['oauthServer'] {
  return { enabled: given.enabled ?? true, registration: given.dynamicRegistration?.enabled ?? true };
}

/** The one key of old files, where it counts. */
function legacyKeyIn(routing: { enableBearerAuth?: boolean | undefined; bearerAuthKey?: string | undefined }) {
  const key = routing.bearerAuthKey?.trim() ?? '';
  return routing.enableBearerAuth === true && key !== '' ? key : undefined;
}

function checkRanges(ranges: readonly string[], path: Path, report: Report): void {
  for (const [i, range] of ranges.entries()) {
    const at = [...path, i];
    if (parseCidr(range) === undefined)
      report.problem(at, problemText('address_range_expected', { found: shown(range, at) }));
  }
}

function checkSeparator(separator: string, path: Path, report: Report): void {
  if (!/^[^\s/]{1,8}$/.test(separator)) {
    report.problem(path, problemText('separator', { found: shown(separator, path) }));
  } else if (!/^[A-Za-z0-9_-]+$/.test(separator)) {
    report.warn(
      path,
      'has characters that tool names cannot have; they will be replaced in every name. Use "-" or "_"',
    );
  }
}

function readInstall(
  given: { npmRegistry?: string | undefined; pythonIndexUrl?: string | undefined },
  report: Report,
): Pick<SystemSettings, 'install'> {
  const address = (member: 'npmRegistry' | 'pythonIndexUrl'): string | undefined => {
    const text = given[member]?.trim() ?? '';
    if (text === '' || /^https?:\/\/\S+$|\$\{/.test(text)) return text === '' ? undefined : text;
    report.warn(
      ['systemConfig', 'install', member],
      'is ignored: expected an address, like https://packages.example.com',
    );
    return undefined;
  };
  const [npmRegistry, pythonIndexUrl] = [address('npmRegistry'), address('pythonIndexUrl')];
  return npmRegistry === undefined && pythonIndexUrl === undefined ? {} : { install: { npmRegistry, pythonIndexUrl } };
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

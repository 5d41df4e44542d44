import type { z } from 'zod';
import type { Problem } from '../../core/errors.ts';
import { isForbiddenName } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { ownServer } from '../../core/own-items.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { ItemSettings, SandboxSettings, ServerSettings, TransportSettings } from '../../core/settings/server.ts';
import type { InstallSettings } from '../../core/settings/system.ts';
import { readCallLimits } from '../document/call-limits.ts';
import { readEntries, readPart } from '../document/read-part.ts';
import type { Path, Report } from '../document/report.ts';
import { found, newReport } from '../document/report.ts';
import { checkNames, readOverride } from '../document/tool-override.ts';
import { settingsLimits } from '../limits.ts';
import { warnOfPlaceholders } from './placeholder-advice.ts';
import { readTemplate } from './credential-template.ts';
import { withLaunchEnv } from './launch-env.ts';
import { inDefaultSandbox, readTransport } from './read-transport.ts';
import { serverNameProblem } from './server-entry.ts';
import { itemShape, serverShape, toolShape } from './server-shape.ts';
import { problemTable } from '../../core/problems.ts';

/** What of the rest of the document an entry of `mcpServers` is read by. */
export interface ServerContext {
  readonly separator: string;
  /** See `settings/document/document.ts`. */
  readonly systemOwner: string;
  /** Of programs that say nothing of it themselves. */
  readonly sandbox?: SandboxSettings | undefined;
  readonly install?: InstallSettings | undefined;
}

/**
 * Reads one entry of `mcpServers`, whose name was checked; undefined when it is too wrong to use, which the report then
 * says.
 */
export function readServer(
  name: string,
  value: unknown,
  { separator, systemOwner, sandbox, install }: ServerContext,
  report: Report,
): ServerSettings | undefined {
  const path: Path = ['mcpServers', name];
  const part = readPart(serverShape, value, path, report);
  if (part === undefined || !isObject(value)) return undefined;
  const config = part.data;
  warnOfStrangers(value, path, report);
  warnOfPlaceholders(value, path, report);
  const own = inDefaultSandbox(config.sandbox, readTransport(part, value, path, report), sandbox);
  const transport = withLaunchEnv(own, { install, proxy: value['proxy'] }, path, report);
  const items = (kind: 'tools' | 'prompts' | 'resources', read = readItem) =>
    readItems(value[kind], { prefix: `${name}${separator}`, read }, [...path, kind], report);
  const [tools, prompts, resources] = [items('tools', readTool), items('prompts'), items('resources')];
  checkNames(
    [...tools].map(([tool, { override }]) => [tool, override] as const),
    [...path, 'tools'],
    report,
  );
  if (transport === undefined) return undefined;
  if (config.enabled !== undefined && config.disabled !== undefined && config.enabled === config.disabled) {
    report.warn([...path, 'disabled'], `contradicts "enabled": ${config.enabled}, which wins. Remove one of them.`);
  }
  return {
    name,
    enabled: isEnabled(config),
    description: config.description,
    owner: config.owner ?? systemOwner,
    visibility: config.visibility,
    publishedBy: config.publishedBy,
    sharedWithUsers: config.sharedWithUsers ?? [],
    transport,
    tools,
    prompts,
    resources,
    timeoutMs: config.options?.timeout,
    resetTimeoutOnProgress: config.options?.resetTimeoutOnProgress ?? true,
    maxTotalTimeoutMs: config.options?.maxTotalTimeout,
    keepAlive: config.enableKeepAlive,
    keepAliveMs: config.keepAliveInterval ?? settingsLimits.keepAliveMs,
    maxMessageBytes: config.options?.maxBufferSize ?? coreLimits.upstreamMessageBytes,
    perSessionClient: isPerSession(config, transport, path, report),
    ...onDemandOf(config, transport.type === 'stdio', path, report),
    era: config.era === 'auto' ? undefined : config.era,
    limits: readCallLimits(config.limits),
    pinMode: config.pins?.mode,
    maxResultTokens: config.maxResultTokens,
    ...(config.secretsInCalls && { secretsInCalls: config.secretsInCalls }),
    ...(config.keepPayloadsUntil !== undefined && { keepPayloadsUntil: Date.parse(config.keepPayloadsUntil) }),
    ...readTemplate(config.credentialTemplate, transport, [...path, 'credentialTemplate'], report),
  };
}

/**
 * A server whose entry cannot be used: there to be seen, corrected and deleted, never connected. Who may manage it is
 * as the entry says where that can be read; where it cannot, only its owner and admins see it.
 */
export function unusableServer(
  name: string,
  value: unknown,
  { systemOwner }: ServerContext,
  problems: readonly Problem[],
): ServerSettings {
  const part = readPart(serverShape, value, ['mcpServers', name], newReport());
  const config: Partial<z.output<typeof serverShape>> = part?.data ?? {};
  const isUnclear =
    part === undefined || ['owner', 'visibility', 'sharedWithUsers'].some((one) => part.broken.has(one));
  return {
    name,
    enabled: isEnabled(config),
    description: config.description,
    owner: config.owner ?? systemOwner,
    visibility: isUnclear ? 'private' : config.visibility,
    publishedBy: config.publishedBy,
    sharedWithUsers: isUnclear ? [] : (config.sharedWithUsers ?? []),
    transport: { type: 'invalid', problems },
    tools: new Map(),
    prompts: new Map(),
    resources: new Map(),
    timeoutMs: undefined,
    resetTimeoutOnProgress: true,
    maxTotalTimeoutMs: undefined,
    keepAlive: undefined,
    keepAliveMs: settingsLimits.keepAliveMs,
    maxMessageBytes: coreLimits.upstreamMessageBytes,
    perSessionClient: false,
  };
}

/** The cookies of an API are kept for each session, which takes a connection for each. */
function isPerSession(
  { perSessionClient }: Pick<z.output<typeof serverShape>, 'perSessionClient'>,
  transport: TransportSettings,
  path: Path,
  report: Report,
): boolean {
  const keepsCookies = transport.type === 'openapi' && transport.openapi['cookieSession'] === true;
  if (keepsCookies && perSessionClient === false)
    report.warn([...path, 'perSessionClient'], 'has no effect beside "openapi.cookieSession", which sets it');
  return keepsCookies || perSessionClient === true;
}

function onDemandOf(
  {
    startOnDemand,
    idleTimeoutMs = settingsLimits.idleMs,
  }: Pick<z.output<typeof serverShape>, 'startOnDemand' | 'idleTimeoutMs'>,
  isProgram: boolean,
  path: Path,
  report: Report,
): Pick<ServerSettings, 'onDemand'> {
  if (startOnDemand !== true) return {};
  if (isProgram) return { onDemand: { idleMs: idleTimeoutMs } };
  report.warn([...path, 'startOnDemand'], 'has no effect: it is for programs (stdio), which the hub starts and stops');
  return {};
}

/** `disabled` is other programs' spelling of the opposite. */
function isEnabled({ enabled, disabled = false }: { enabled?: boolean | undefined; disabled?: boolean | undefined }) {
  return enabled ?? !disabled;
}

/** False for a name that no server can have, which is reported. */
export function checkName(name: string, path: Path, report: Report): boolean {
  if (name === '' || name === ownServer || isForbiddenName(name)) {
    report.problem(path, name === '' ? 'a server needs a name' : problemTable.taken_by_hub);
    return false;
  }
  const against = serverNameProblem(name);
  if (against !== undefined)
    report.warn(path, `server name accepted, but new ones may not be like this (it ${against})`);
  return true;
}

/**
 * `tools`, `prompts`, `resources` of a server, keyed by the upstream's own name. MCPHub's dashboard writes the prefixed
 * form; whether `fetch-get` is that or a tool's own name is not knowable here, so it counts for both, and the bare
 * entry wins.
 */
function readItems(
  value: unknown,
  { prefix, read }: { readonly prefix: string; readonly read: typeof readItem },
  path: Path,
  report: Report,
): ReadonlyMap<string, ItemSettings> {
  const items = new Map<string, ItemSettings>();
  const prefixed = new Map<string, ItemSettings>();
  for (const [name, raw] of readEntries(value, path, report)) {
    const at = [...path, name];
    if (name === '' || isForbiddenName(name)) {
      report.problem(at, 'no tool, prompt or resource can have this name');
      continue;
    }
    const item = read(raw, at, report);
    if (item === undefined) continue;
    items.set(name, item);
    if (name.startsWith(prefix) && name.length > prefix.length) prefixed.set(name.slice(prefix.length), item);
  }
  for (const [name, item] of prefixed) if (!items.has(name)) items.set(name, item);
  return items;
}

function readItem(raw: unknown, at: Path, report: Report): ItemSettings | undefined {
  if (typeof raw === 'boolean') return { enabled: raw, description: undefined };
  const item = readPart(itemShape, raw, at, report)?.data;
  return item && { enabled: item.enabled ?? true, description: item.description };
}

function readTool(raw: unknown, at: Path, report: Report): ItemSettings | undefined {
  if (typeof raw === 'boolean') return readItem(raw, at, report);
  const tool = readPart(toolShape, raw, at, report)?.data;
  if (!tool) return undefined;
  const { enabled = true, description, name, title, annotations, arguments: args, maxResultTokens } = tool;
  const override = readOverride({ name, title, annotations, arguments: args });
  return {
    enabled,
    description,
    ...(override && { override }),
    ...(maxResultTokens !== undefined && { maxResultTokens }),
  };
}

/** Members that other programs have, or that are easily mistyped, and the member that does it here. */
const strangers: Readonly<Record<string, string>> = {
  cmd: 'command',
  arguments: 'args',
  environment: 'env',
  uri: 'url',
  endpoint: 'url',
  header: 'headers',
  timeout: 'options.timeout (in milliseconds)',
  keepAlive: 'enableKeepAlive',
  active: 'enabled',
};

function warnOfStrangers(value: Record<string, unknown>, path: Path, report: Report): void {
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(strangers, key))
      report.warn([...path, key], `has no effect; the member is called ${strangers[key]}`);
  }
  const options = isObject(value['options']) ? value['options'] : {};
  for (const [at, time] of [
    [['options', 'timeout'], options['timeout']],
    [['options', 'maxTotalTimeout'], options['maxTotalTimeout']],
    [['keepAliveInterval'], value['keepAliveInterval']],
    [['idleTimeoutMs'], value['idleTimeoutMs']],
  ] as const) {
    if (typeof time === 'number' && time >= 1 && time < 1000) {
      report.warn([...path, ...at], `is in milliseconds, found ${found(time, [])}: ${time * 1000} would be ${time} s`);
    }
  }
}

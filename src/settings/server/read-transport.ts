import type { z } from 'zod';
import { isObject } from '../../core/protocol/rpc.ts';
import type { OAuthSettings, SandboxSettings, TransportSettings } from '../../core/settings/server.ts';
import type { Part } from '../document/read-part.ts';
import type { Path, Report } from '../document/report.ts';
import { found } from '../document/report.ts';
import { settingsLimits } from '../limits.ts';
import { headerNameProblem, passedNameProblem } from './headers.ts';
import type { serverShape } from './server-shape.ts';
import { problemTable, problemText } from '../../core/problems.ts';

type Config = z.output<typeof serverShape>;

/**
 * How a server is reached, from the members that say so; what is missing or contradicts itself is reported with the
 * fix.
 */
export function readTransport(
  part: Part<Config>,
  value: Record<string, unknown>,
  path: Path,
  report: Report,
): TransportSettings | undefined {
  const { data: config, broken } = part;
  const type = config.type ?? config.transport ?? guess(config);
  if (broken.has('type') || broken.has('transport')) return undefined;
  switch (type) {
    case 'stdio':
      return readStdio(part, value, path, report);
    case 'openapi':
      return readOpenApi(part, value, path, report);
    case 'streamable-http':
    case 'sse':
    case 'auto':
      return readRemote(type, part, value, path, report);
    case undefined:
      // A member that was refused has its own problem, which is enough.
      if (!['command', 'url', 'serverUrl', 'httpUrl', 'openapi'].some((key) => broken.has(key))) {
        report.problem(
          path,
          'needs a "command" (a program to start), a "url" (a remote server) or "openapi" (an API), found none of them',
        );
      }
      return undefined;
  }
}

/**
 * Reference §4.1, for an entry without a type. A bare `url` says nothing about the transport, so both will be tried.
 */
function guess(config: Config): 'stdio' | 'openapi' | 'streamable-http' | 'auto' | undefined {
  if (config.openapi !== undefined) return 'openapi';
  if (config.command !== undefined || config.container !== undefined) return 'stdio';
  if (config.url !== undefined || config.serverUrl !== undefined) return 'auto';
  return config.httpUrl === undefined ? undefined : 'streamable-http';
}

function readStdio(
  part: Part<Config>,
  value: Record<string, unknown>,
  path: Path,
  report: Report,
): TransportSettings | undefined {
  const { data: config, broken } = part;
  const command = config.command?.trim() ?? '';
  const { container } = config;
  if (command === '' && container === undefined) {
    const help = urlOf(config) === undefined ? '' : '. To use the url instead, remove "type".';
    if (!broken.has('command')) {
      report.problem([...path, 'command'], problemText('no_command', { found: `${found(config.command, [])}${help}` }));
    }
    return undefined;
  }
  if (urlOf(config) !== undefined) {
    report.warn(
      path,
      'has a "command" and a url: the command is used. Remove one of them, or say which is meant with "type".',
    );
  }
  if (/^[^\s/\\]+\s/.test(command) && config.args === undefined) {
    report.warn(
      [...path, 'command'],
      'contains spaces: only the program goes here, its arguments go into "args", one string each',
    );
  }
  for (const key of ['headers', 'oauth'] as const) {
    if (config[key] !== undefined) report.warn([...path, key], 'has no effect on a program that is started; use "env"');
  }
  if ((config.passthroughHeaders ?? []).length > 0) report.warn([...path, 'passthroughHeaders'], noHeadersOfPrograms);
  if (config.cwd?.trim() === '') report.warn([...path, 'cwd'], 'is empty and ignored');
  const cwd = config.cwd?.trim() === '' ? undefined : config.cwd;
  const sandbox = config.sandbox === false ? undefined : config.sandbox;
  const env = readEnv(config, value, path, report);
  return {
    type: 'stdio',
    command,
    args: config.args ?? [],
    env,
    cwd,
    ...(sandbox && { sandbox }),
    ...(container && { container }),
  };
}

/** A program that says nothing of a sandbox itself is in that of the hub's settings. */
export function inDefaultSandbox(
  own: Config['sandbox'],
  transport: TransportSettings | undefined,
  fallback: SandboxSettings | undefined,
): TransportSettings | undefined {
  if (transport?.type !== 'stdio' || own !== undefined || fallback === undefined) return transport;
  return { ...transport, sandbox: fallback };
}

function readRemote(
  type: 'streamable-http' | 'sse' | 'auto',
  part: Part<Config>,
  value: Record<string, unknown>,
  path: Path,
  report: Report,
): TransportSettings | undefined {
  const { data: config, broken } = part;
  const [key, url] = urlOf(config) ?? ['url', undefined];
  if (['url', 'serverUrl', 'httpUrl'].some((member) => broken.has(member))) return undefined;
  const fault = urlFault(url);
  if (fault !== undefined) report.problem([...path, key], fault);
  if (config.command !== undefined) {
    report.warn(
      [...path, 'command'],
      `has no effect: "type" says that the server is reached by its url. Remove one of them.`,
    );
  }
  const headers = readHeaders(config, value, path, report);
  const env = readEnv(config, value, path, report);
  if (Object.keys(env).length > 0 && !Object.values(headers).some((header) => header.includes('${'))) {
    report.warn([...path, 'env'], 'has no effect on a remote server; what it needs goes into "headers"');
  }
  if (config.oauth?.dynamicRegistration?.['metadata'] !== undefined)
    report.warn(
      [...path, 'oauth', 'dynamicRegistration', 'metadata'],
      'has no effect; the hub says itself who it is where it registers',
    );
  if (url === undefined || fault !== undefined) return undefined;
  const passed = readPassedHeaders([[config.passthroughHeaders, [...path, 'passthroughHeaders']]], report);
  return { type, url: url.trim(), headers, env, ...passed, ...readOAuth(config.oauth) };
}

/** Programs have no headers. */
export const noHeadersOfPrograms = 'has no effect on a program that is started: it gets no headers';

/** `passthroughHeaders`, wherever they stand: each name once, in lower case. */
function readPassedHeaders(
  lists: readonly (readonly [readonly string[] | undefined, Path])[],
  report: Report,
): { passthroughHeaders?: readonly string[] } {
  const names = new Set<string>();
  for (const [list = [], path] of lists) {
    for (const [index, written] of list.entries()) {
      const name = written.trim().toLowerCase();
      const fault = passedNameProblem(name);
      if (fault === undefined) names.add(name);
      else report.problem([...path, index], fault);
    }
    if (names.size > settingsLimits.passthroughHeaders)
      report.problem(path, `has ${names.size} headers; ${settingsLimits.passthroughHeaders} at most`);
  }
  return names.size === 0 ? {} : { passthroughHeaders: [...names] };
}

function readOAuth(oauth: Config['oauth']): { oauth?: OAuthSettings } {
  if (oauth === undefined) return {};
  const { dynamicRegistration: { enabled, ...registration } = {}, ...own } = oauth;
  const given: Record<string, unknown> = { ...own, ...registration, dynamicRegistration: enabled };
  // Forms of dashboards leave empty texts behind.
  const members = oauthMembers.filter((key) => given[key] !== undefined && given[key] !== '');
  return { oauth: Object.fromEntries(members.map((key) => [key, given[key]])) };
}

const oauthMembers = [
  'clientId',
  'clientSecret',
  'redirectUri',
  'scopes',
  'accessToken',
  'refreshToken',
  'resource',
  'authorizationEndpoint',
  'tokenEndpoint',
  'revocationEndpoint',
  'codeChallengeMethod',
  'issuer',
  'registrationEndpoint',
  'initialAccessToken',
  'dynamicRegistration',
  'perUser',
] as const satisfies readonly (keyof OAuthSettings)[];

function readOpenApi(
  part: Part<Config>,
  value: Record<string, unknown>,
  path: Path,
  report: Report,
): TransportSettings | undefined {
  if (part.broken.has('openapi')) return undefined;
  const { openapi } = part.data;
  if (openapi === undefined || (openapi.url === undefined && openapi['schema'] === undefined)) {
    report.problem(
      [...path, 'openapi'],
      'needs a "url" (address of the API document) or a "schema" (the document itself)',
    );
    return undefined;
  }
  for (const member of ['url', 'baseUrl'] as const) {
    // Forms leave an empty base behind, which is none.
    if (openapi[member] === undefined || (member === 'baseUrl' && openapi.baseUrl === '')) continue;
    const fault = urlFault(openapi[member]);
    if (fault !== undefined) report.problem([...path, 'openapi', member], fault);
  }
  if (openapi['schema'] !== undefined && !isObject(openapi['schema'])) {
    report.problem(
      [...path, 'openapi', 'schema'],
      `expected object (the API document), found ${found(openapi['schema'], [])}`,
    );
  }
  // As written, and not as the schema library would rebuild it.
  const document = isObject(value['openapi']) ? value['openapi'] : {};
  return {
    type: 'openapi',
    openapi: document,
    headers: readHeaders(part.data, value, path, report),
    env: readEnv(part.data, value, path, report),
    ...readPassedHeaders(
      [
        [part.data.passthroughHeaders, [...path, 'passthroughHeaders']],
        [openapi.passthroughHeaders, [...path, 'openapi', 'passthroughHeaders']],
      ],
      report,
    ),
  };
}

function urlOf(config: Config): ['url' | 'serverUrl' | 'httpUrl', string] | undefined {
  for (const key of ['url', 'serverUrl', 'httpUrl'] as const) {
    const url = config[key];
    if (url !== undefined) return [key, url];
  }
  return undefined;
}

/**
 * What is wrong with an address, or undefined. One that begins with a `${VAR}` is judged when it is expanded. Never
 * shows the query: it may contain keys.
 */
export function urlFault(given: string | undefined): string | undefined {
  const url = given?.trim() ?? '';
  if (url === '') return problemText('no_url', { found: found(given, []) });
  if (url.startsWith('${')) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) return problemTable.url_scheme;
  if (scheme !== 'http' && scheme !== 'https') return problemText('url_other_scheme', { scheme: `${scheme}://` });
  // Readers of addresses skip what is missing: `https:///mcp` would send the headers to a host called `mcp`.
  if (/^https?:\/\/(?:[/?#:]|$)/i.test(url)) return problemTable.url_host;
  // Whatever the variables hold must be able to stand there, so a sample does.
  const sample = url.replace(/\$\{[^}]*\}/g, '1');
  return URL.canParse(sample) ? undefined : problemTable.url_form;
}

function readEnv(config: Config, value: Record<string, unknown>, path: Path, report: Report): Record<string, string> {
  const at = [...path, 'env'];
  const env = texts(config.env, value['env'], at, report);
  for (const name of Object.keys(env)) {
    if (name === '' || /[=\0]/.test(name)) report.problem([...at, name], problemTable.variable_name);
  }
  return env;
}

/** A record of strings in the order of the file; numbers and booleans are taken by their text, with a word about it. */
function texts(parsed: Config['env'], raw: unknown, path: Path, report: Report): Record<string, string> {
  if (parsed === undefined || !isObject(raw)) return {};
  const entries: [string, string][] = [];
  for (const [name, value] of Object.entries(parsed)) {
    entries.push([name, String(value)]);
    if (typeof value !== 'string')
      report.warn([...path, name], `is a ${typeof value} and used by its text; put it in quotes`);
  }
  return Object.fromEntries(entries);
}

function readHeaders(
  config: Config,
  value: Record<string, unknown>,
  path: Path,
  report: Report,
): Record<string, string> {
  const at = [...path, 'headers'];
  const headers = texts(config.headers, value['headers'], at, report);
  const seen = new Set<string>();
  for (const name of Object.keys(headers)) {
    const fault = headerNameProblem(name);
    if (fault !== undefined) report.warn([...at, name], `${fault}; the server cannot be connected like this`);
    if (seen.has(name.toLowerCase())) report.warn([...at, name], 'is there twice, in different spelling; keep one');
    seen.add(name.toLowerCase());
  }
  return headers;
}

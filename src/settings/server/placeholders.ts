import { HubError } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { OAuthSettings, SandboxSettings, ServerSettings, UsableTransport } from '../../core/settings/server.ts';
import { settingsLimits } from '../limits.ts';
import { headerNameProblem, headerValueProblem } from './headers.ts';
import { urlFault } from './read-transport.ts';
import { problemTable } from '../../core/problems.ts';

export interface ExpandedServer {
  readonly transport: UsableTransport;
  /** Variables that are not set and have no default, each once; they became nothing. */
  readonly missing: readonly string[];
}

type Variables = Readonly<Record<string, string>>;
type Expand = (text: string) => string;
/**
 * The text of a file for `${file:/path}`; throws HubError `misconfigured` that says, as the beginning of a sentence,
 * what is wrong with the file.
 */
export type ReadFile = (path: string) => string;

/**
 * A server's transport with `${VAR}`, `${VAR:-default}` and `${file:/path}` filled in and white space at both ends
 * gone, so that a pasted token with a line break works. What a variable or a file holds is never expanded again.
 * `variables` and `readFile` decide what the server's author can read out of this process and its machine: give none of
 * them for a server whose owner is not an admin. Throws HubError `misconfigured` that names the member when the result
 * cannot be used.
 */
export function expandServer(server: ServerSettings, variables: Variables, readFile?: ReadFile): ExpandedServer {
  const missing = new Set<string>();
  const fromFile = (path: string): string => {
    const cannot = `Cannot connect server "${server.name}"`;
    if (readFile === undefined)
      throw new HubError('misconfigured', `${cannot}: only servers of admins may use \${file:…}. Take it out.`);
    try {
      return readFile(path);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      const advice = `Correct \${file:${path}} in its settings, or the file`;
      throw new HubError('misconfigured', `${cannot}: ${error.message}. ${advice}.`, { cause: error });
    }
  };
  const expand = (text: string, own: Variables = {}) => expandText(text, [own, variables], missing, fromFile);
  const transport = expandTransport(
    server,
    (text) => expand(text).trim(),
    (text, own) => expand(text, own).trim(),
  );
  return { transport, missing: [...missing] };
}

function expandTransport(
  server: ServerSettings,
  expand: Expand,
  expandHeader: (text: string, own: Variables) => string,
): UsableTransport {
  const { transport } = server;
  const fault = (member: string, why: string) =>
    new HubError(
      'misconfigured',
      `Cannot connect server "${server.name}": ${member} ${why}. Correct the settings or the variable it comes from.`,
    );
  const expandHeaders = (env: Variables) => {
    const headers: Record<string, string> = {};
    for (const [name, text] of Object.entries('headers' in transport ? transport.headers : {})) {
      const value = expandHeader(text, env);
      const why = headerNameProblem(name) ?? headerValueProblem(value);
      if (why !== undefined) throw fault(`header ${JSON.stringify(name)}`, why);
      headers[name] = value;
    }
    return headers;
  };
  switch (transport.type) {
    case 'invalid': {
      const words = transport.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
      throw new HubError('misconfigured', `Cannot connect server "${server.name}": ${words}. Correct its settings.`, {
        problems: transport.problems,
      });
    }
    case 'stdio': {
      const command = expand(transport.command);
      if (command === '' && transport.container === undefined) throw fault('"command"', problemTable.no_text);
      const cwd = transport.cwd === undefined ? undefined : expand(transport.cwd);
      const expanded = {
        ...transport,
        command,
        args: transport.args.map((arg) => expandArgument(arg, expand)),
        env: expandAll(transport.env, expand),
        cwd: cwd === '' ? undefined : cwd,
        ...(transport.sandbox && { sandbox: expandSandbox(transport.sandbox, expand) }),
      };
      const texts = {
        command,
        cwd: expanded.cwd ?? '',
        ...prefixed('args', expanded.args),
        ...prefixed('env.', expanded.env),
        ...prefixed('sandbox.read', expanded.sandbox?.read ?? []),
        ...prefixed('sandbox.write', expanded.sandbox?.write ?? []),
      };
      for (const [member, text] of Object.entries(texts))
        if (text.includes('\0')) throw fault(`"${member}"`, problemTable.nul);
      return expanded;
    }
    case 'openapi': {
      const env = expandAll(transport.env, expand);
      return { ...transport, openapi: expandApi(transport.openapi, expand), headers: expandHeaders(env), env };
    }
    default: {
      const env = expandAll(transport.env, expand);
      const url = expand(transport.url);
      const wrong =
        urlFault(url) ?? (URL.canParse(url) ? undefined : 'is no address after its variables were filled in');
      if (wrong !== undefined) throw fault('"url":', wrong);
      const oauth = transport.oauth && (expandDeep(transport.oauth, expand) as OAuthSettings);
      return { ...transport, url, headers: expandHeaders(env), env, ...(oauth && { oauth }) };
    }
  }
}

function expandSandbox(sandbox: SandboxSettings, expand: Expand): SandboxSettings {
  return { ...sandbox, read: sandbox.read.map(expand), write: sandbox.write.map(expand) };
}

/** An argument that is nothing but white space is meant: `--delimiter " "`. */
function expandArgument(arg: string, expand: Expand): string {
  return arg.trim() === '' ? arg : expand(arg);
}

function expandAll(record: Readonly<Record<string, string>>, expand: Expand): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([name, text]) => [name, expand(text)]));
}

function prefixed(name: string, values: Readonly<Record<string, string>> | readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, text]) => [Array.isArray(values) ? `${name}[${key}]` : `${name}${key}`, text]),
  );
}

/** Every text of the member but the inline API document, which was not written by the operator. */
function expandApi(openapi: Readonly<Record<string, unknown>>, expand: Expand): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(openapi).map(([key, value]) => [key, key === 'schema' ? value : expandDeep(value, expand)]),
  );
}

function expandDeep(value: unknown, expand: Expand): unknown {
  if (typeof value === 'string') return expand(value);
  if (Array.isArray(value)) return value.map((element) => expandDeep(element, expand));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, expandDeep(member, expand)]));
}

/** One text, read once from left to right. The first of `scopes` that has a variable gives its value. */
export function expandText(
  text: string,
  scopes: readonly Variables[],
  missing: Set<string>,
  readFile: ReadFile,
  depth = 0,
): string {
  const closing = closings(text);
  let result = '';
  let at = 0;
  for (let open = text.indexOf('${'); open !== -1; open = text.indexOf('${', at)) {
    result += text.slice(at, open);
    const placeholder = readPlaceholder(text, open, closing.get(open));
    if (placeholder === undefined) {
      result += '${';
      at = open + 2;
      continue;
    }
    const { name, path, fallback, end } = placeholder;
    at = end;
    if (path !== undefined) {
      // The folder may be a variable: `${file:${CREDENTIALS_DIRECTORY}/token}`.
      const whole =
        depth < settingsLimits.placeholderDepth ? expandText(path, scopes, missing, readFile, depth + 1) : path;
      result += readFile(whole);
      continue;
    }
    const value = scopes.find((scope) => Object.hasOwn(scope, name))?.[name];
    // As in a shell: `:-` counts an empty variable as not set.
    if (fallback !== undefined && (value ?? '') === '') {
      result +=
        depth < settingsLimits.placeholderDepth ? expandText(fallback, scopes, missing, readFile, depth + 1) : fallback;
    } else if (value === undefined) missing.add(name);
    else result += value;
  }
  return result + text.slice(at);
}

/**
 * The index of the `}` that belongs to each `${`, found in one pass, so that untrusted text cannot cause many passes.
 */
function closings(text: string): ReadonlyMap<number, number> {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: mark, index } of text.matchAll(/\$\{|\}/g)) {
    if (mark === '${') open.push(index);
    else {
      const from = open.pop();
      if (from !== undefined) closing.set(from, index);
    }
  }
  return closing;
}

/** `${NAME}`, `${NAME:-default}` or `${file:path}`; a default and a path may hold placeholders of their own. */
function readPlaceholder(
  text: string,
  open: number,
  close: number | undefined,
): { name: string; path?: string; fallback?: string | undefined; end: number } | undefined {
  if (close === undefined) return undefined;
  const [, path] = /^file:([^]*)$/.exec(text.slice(open + 2, close)) ?? [];
  if (path !== undefined) return { name: 'file', path, end: close + 1 };
  const [, name, colon, fallback] = /^([A-Za-z_]\w*)(?:(:-)([^]*))?$/.exec(text.slice(open + 2, close)) ?? [];
  if (name === undefined) return undefined;
  return { name, fallback: colon === undefined ? undefined : (fallback ?? ''), end: close + 1 };
}

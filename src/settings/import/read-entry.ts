import { isObject } from '../../core/protocol/rpc.ts';
import type { RequiredConfig } from '../server/required-config.ts';
import type { ServerEntry } from '../server/server-entry.ts';
import { literal } from '../server/variables.ts';
import { createTranslator, type Translator } from './client-variables.ts';
import { splitWords } from './shell-words.ts';
import { at, type Inputs, type Sink } from './sink.ts';
import { problemTable, problemText } from '../../core/problems.ts';

export interface ReadEntry {
  readonly config: ServerEntry;
  readonly requiredConfig: readonly RequiredConfig[];
}

/** Members of ours that other programs' files may carry along because they were exported from a hub. */
const ours = (
  'description owner visibility sharedWithUsers passthroughHeaders enableKeepAlive keepAliveInterval options proxy oauth ' +
  'perSessionClient sandbox container era startOnDemand idleTimeoutMs openapi tools prompts resources'
).split(' ');

/**
 * One server as any client writes it, as an entry of our settings. Members that only the client understands are
 * dropped. Undefined, with the problems in the sink, when there is nothing to connect to.
 */
export function readEntry(raw: unknown, path: string, inputs: Inputs, sink: Sink): ReadEntry | undefined {
  if (!isObject(raw)) {
    sink.problem(path, problemTable.pasted_object);
    return undefined;
  }
  const before = sink.problems.length;
  const translator = createTranslator(inputs, sink);
  const reader: Reader = { raw, path, sink, translator };
  const start = startOf(reader);
  if (start === undefined || sink.problems.length > before) return undefined;
  const config: ServerEntry = { ...start, ...toolSwitches(reader), ...kept(reader), ...timeout(reader) };
  const isOff = raw['enabled'] === false || raw['disabled'] === true || raw['isActive'] === false;
  if (isOff) config.enabled = false;
  askForDockerVariables(config, translator);
  return { config, requiredConfig: translator.required() };
}

interface Reader {
  readonly raw: Record<string, unknown>;
  readonly path: string;
  readonly sink: Sink;
  readonly translator: Translator;
}

/** How the server is reached; the members of a stdio server, or of a remote one. */
function startOf(reader: Reader): ServerEntry | undefined {
  const { raw, path, sink } = reader;
  const type = typeOf(reader);
  const url = textMember(reader, 'url', 'httpUrl', 'serverUrl', 'endpoint', 'uri');
  if (isObject(raw['openapi']) && type !== 'stdio') {
    const headers = headersOf(reader);
    return { type: 'openapi', ...(headers && { headers }), ...envOf(reader) };
  }
  if (type === 'stdio' || (type === undefined && url === undefined)) return stdioOf(reader);
  if (url === undefined) {
    if (!('url' in raw)) sink.problem(at(path, 'url'), problemTable.pasted_missing);
    return undefined;
  }
  if (!url.includes('${') && !isHttpUrl(url)) {
    sink.problem(at(path, 'url'), problemTable.http_address);
    return undefined;
  }
  const guessed = type ?? (raw['url'] === undefined && raw['httpUrl'] !== undefined ? 'streamable-http' : undefined);
  const headers = headersOf(reader);
  return { ...(guessed && { type: guessed }), url, ...(headers && { headers }), ...envOf(reader) };
}

function stdioOf(reader: Reader): ServerEntry | undefined {
  const { raw, path, sink, translator } = reader;
  const { command, args, env } = spreadCommand(raw);
  if (typeof command !== 'string' || command.trim() === '') {
    sink.problem(at(path, 'command'), command === undefined ? noStart(raw) : problemTable.pasted_program);
    return undefined;
  }
  const list = textsOf({ ...reader, raw: { args } }, 'args');
  let words = [command.trim()];
  // "npx -y thing" as one text, without args: split where no path with blanks can be meant.
  if (list === undefined && /^[\w.-]+\s/.test(words[0] ?? '')) {
    words = splitWords(command);
    sink.note(at(path, 'command'), problemTable.pasted_split);
  }
  const [program = '', ...more] = words.map((word) => translator.translate(word, at(path, 'command')));
  const cwd = textMember(reader, 'cwd', 'workingDirectory');
  const own = envOf({ ...reader, raw: { ...raw, ...(env !== undefined && { env }) } });
  return {
    type: 'stdio',
    command: program,
    args: [...more, ...(list ?? [])].map((arg) => leaveToProgram(arg, own.env)),
    ...own,
    ...(cwd !== undefined && { cwd }),
  };
}

/**
 * A variable of the server's own `env` in an argument is for the program to fill in (`mcp-remote --header A:${TOKEN}`):
 * it stays as it is.
 */
function leaveToProgram(arg: string, env: Readonly<Record<string, string>> = {}): string {
  return arg.replace(/\$\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(env, name) ? literal(whole) : whole));
}

function noStart(raw: Readonly<Record<string, unknown>>): string {
  // Zed: the extension brings its own program.
  if ('settings' in raw || raw['source'] === 'extension') return problemTable.pasted_extension;
  return problemTable.pasted_no_start;
}

/** `command` may be the whole command line (opencode) or an object of its own (older files of Zed). */
function spreadCommand(raw: Readonly<Record<string, unknown>>): { command: unknown; args: unknown; env: unknown } {
  const { command, args, env } = raw;
  if (Array.isArray(command))
    return { command: command[0], args: [...command.slice(1), ...(Array.isArray(args) ? args : [])], env };
  if (isObject(command))
    return {
      command: command['path'] ?? command['command'],
      args: command['args'] ?? args,
      env: command['env'] ?? env,
    };
  return { command, args, env };
}

const types: Readonly<Record<string, 'stdio' | 'streamable-http' | 'sse'>> = {
  stdio: 'stdio',
  local: 'stdio',
  command: 'stdio',
  http: 'streamable-http',
  streamable: 'streamable-http',
  streamablehttp: 'streamable-http',
  httpstream: 'streamable-http',
  sse: 'sse',
};

function typeOf({ raw, path, sink }: Reader): 'stdio' | 'streamable-http' | 'sse' | undefined {
  const key = ['type', 'transport', 'transportType'].find((name) => typeof raw[name] === 'string');
  if (key === undefined) return undefined;
  const word = String(raw[key])
    .toLowerCase()
    .replace(/[^a-z]/g, '');
  // "remote" does not say which of the two transports, so both will be tried.
  if (word === 'remote' || word === 'openapi') return undefined;
  if (Object.hasOwn(types, word)) return types[word];
  sink.note(at(path, key), problemText('pasted_transport', { found: JSON.stringify(raw[key]) }));
  return undefined;
}

function headersOf(reader: Reader): Record<string, string> | undefined {
  const { raw, path } = reader;
  const nested = isObject(raw['requestInit']) ? raw['requestInit']['headers'] : undefined;
  const own = recordOf({ ...reader, raw: { headers: raw['headers'] ?? raw['http_headers'] ?? nested } }, 'headers');
  const headers: Record<string, string> = { ...own };
  // Codex: headers, and the bearer token, from the environment.
  const fromEnvironment = isObject(raw['env_http_headers']) ? Object.entries(raw['env_http_headers']) : [];
  for (const [name, variable] of fromEnvironment) headers[name] = `\${${String(variable)}}`;
  const variable = textMember(reader, 'bearer_token_env_var');
  const token = variable === undefined ? textMember(reader, 'bearer_token') : `\${${variable}}`;
  if (token !== undefined) headers['Authorization'] = `Bearer ${token}`;
  if (variable !== undefined) reader.translator.require(secret(variable, `The token for ${path}`));
  return Object.keys(headers).length > 0 ? headers : undefined;
}

function envOf(reader: Reader): { env?: Record<string, string> } {
  const { raw } = reader;
  const env: Record<string, string> = {
    ...recordOf({ ...reader, raw: { env: raw['env'] ?? raw['environment'] } }, 'env'),
  };
  // Codex: variables that are handed on.
  for (const variable of Array.isArray(raw['env_vars']) ? raw['env_vars'] : []) {
    const name: unknown = isObject(variable) ? variable['name'] : variable;
    if (typeof name === 'string' && /^[A-Za-z_]\w*$/.test(name)) env[name] ??= `\${${name}}`;
  }
  if ('envFile' in raw) reader.sink.note(at(reader.path, 'envFile'), problemTable.pasted_env_file);
  return Object.keys(env).length > 0 ? { env } : {};
}

function kept({ raw }: Reader): Record<string, unknown> {
  const isUsable = (key: string) =>
    raw[key] !== undefined && raw[key] !== null && !(key === 'tools' && !isObject(raw[key]));
  return Object.fromEntries(ours.filter(isUsable).map((key) => [key, raw[key]]));
}

/** Switched-off tools stay off. A list of the only ones allowed cannot be kept: the hub has that in groups. */
function toolSwitches({ raw, path, sink }: Reader): { tools?: Record<string, { enabled: boolean }> } {
  const off = ['disabled_tools', 'disabledTools', 'excludeTools'].flatMap((key) =>
    Array.isArray(raw[key]) ? raw[key] : [],
  );
  const only = ['enabled_tools', 'includeTools'].find((key) => Array.isArray(raw[key]));
  if (only !== undefined) sink.note(at(path, only), problemTable.pasted_only_tools);
  const names = off.filter((name): name is string => typeof name === 'string' && name !== '');
  return names.length > 0 ? { tools: Object.fromEntries(names.map((name) => [name, { enabled: false }])) } : {};
}

/**
 * Seconds in the files of Cline and Codex, milliseconds in those of Gemini CLI; no author of a file means 600 ms or 600
 * 000 s.
 */
function timeout({ raw }: Reader): { options?: Record<string, unknown> } {
  const seconds = raw['tool_timeout_sec'];
  const either = raw['timeout'];
  const ms =
    typeof seconds === 'number'
      ? seconds * 1000
      : typeof either === 'number'
        ? either < 1000
          ? either * 1000
          : either
        : 0;
  if (!(ms >= 1) || !Number.isSafeInteger(Math.round(ms))) return {};
  return { options: { timeout: Math.round(ms), ...(isObject(raw['options']) && raw['options']) } };
}

/** `docker run -e NAME` hands a variable on that the hub must have to begin with. */
function askForDockerVariables(config: ServerEntry, translator: Translator): void {
  const { command = '', args = [] } = config;
  if (!/(^|[/\\])(docker|podman)(\.exe)?$/.test(command) || args[0] !== 'run') return;
  for (const [i, arg] of args.entries()) {
    const name = arg === '-e' || arg === '--env' ? args[i + 1] : /^--env=(.*)$/.exec(arg)?.[1];
    if (name === undefined || !/^[A-Za-z_]\w*$/.test(name) || Object.hasOwn(config.env ?? {}, name)) continue;
    config.env = { ...config.env, [name]: `\${${name}}` };
    translator.require(secret(name, `Handed on to the container`));
  }
}

function secret(key: string, description: string): RequiredConfig {
  return { key, title: key, type: 'string', description, sensitive: true };
}

/** The first of these members that is there, translated. */
function textMember({ raw, path, sink, translator }: Reader, ...keys: readonly string[]): string | undefined {
  const key = keys.find((name) => raw[name] !== undefined && raw[name] !== null);
  if (key === undefined) return undefined;
  const value = raw[key];
  if (typeof value === 'string' && value.trim() !== '') return translator.translate(value.trim(), at(path, key));
  sink.problem(at(path, key), problemTable.pasted_some_text);
  return undefined;
}

function textsOf({ raw, path, sink, translator }: Reader, key: string): string[] | undefined {
  const value = raw[key];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) {
    sink.problem(at(path, key), problemTable.pasted_texts);
    return undefined;
  }
  return value.map((item: unknown, i) => {
    const where = at(at(path, key), i);
    if (isScalar(item)) return translator.translate(String(item), where);
    sink.problem(where, problemTable.pasted_text);
    return '';
  });
}

function recordOf({ raw, path, sink, translator }: Reader, key: string): Record<string, string> | undefined {
  const value = raw[key];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) {
    sink.problem(at(path, key), problemTable.pasted_object);
    return undefined;
  }
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(
    entries.map(([name, item]) => {
      const where = at(at(path, key), name);
      if (isScalar(item)) return [name, translator.translate(String(item), where)];
      sink.problem(where, problemTable.pasted_text);
      return [name, ''];
    }),
  );
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

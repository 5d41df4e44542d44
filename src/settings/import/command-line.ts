import { problemTable, problemText } from '../../core/problems.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { parseLoose } from './loose-json.ts';
import { splitLines } from './shell-words.ts';
import { at, type Sink } from './sink.ts';

/** A server read from a command line: `name` when the line says it, `raw` in the members that clients' files have. */
export interface Found {
  readonly name: string | undefined;
  readonly raw: unknown;
  readonly path: string;
}

/**
 * Servers from lines of a terminal: `claude mcp add …` and its like, or the command that starts a server. Undefined
 * when it does not look like one.
 */
export function fromCommandLines(text: string, sink: Sink): Found[] | undefined {
  const lines = splitLines(text)
    .map(withoutPrompt)
    .filter((line) => line.length > 0);
  if (lines.length === 0 || !lines.every(looksLikeCommand)) return undefined;
  return lines.flatMap((line, i) => {
    const path = lines.length === 1 ? 'command' : `command[${i}]`;
    const found = fromLine(line, path, sink);
    return found === undefined ? [] : [found];
  });
}

function withoutPrompt(words: string[]): string[] {
  return words[0] === '$' || words[0] === '>' || words[0] === '%' || words[0] === 'sudo' ? words.slice(1) : words;
}

const programs =
  /^(npx|bunx|pnpx|uvx|uv|pipx|pnpm|yarn|npm|bun|deno|node|tsx|python[\d.]*|docker|podman|java|dotnet|go|cargo|ruby|php|sh|bash|cmd)(\.exe|\.cmd)?$/;

function looksLikeCommand(words: readonly string[]): boolean {
  const [first = ''] = words.slice(assignments(words).length);
  if (isAdd(words) || words[1] === '--add-mcp') return true;
  return programs.test(first) || /^(\.{0,2}|~|[A-Za-z]:)[/\\]/.test(first) || /mcp/i.test(first);
}

/** `NAME=value` before the program. */
function assignments(words: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (const word of words) {
    const match = /^([A-Za-z_]\w*)=(.*)$/s.exec(word);
    if (match === null) break;
    found.push([match[1] ?? '', match[2] ?? '']);
  }
  return found;
}

function isAdd(words: readonly string[]): boolean {
  return words[1] === 'mcp' && (words[2] === 'add' || words[2] === 'add-json');
}

function fromLine(words: readonly string[], path: string, sink: Sink): Found | undefined {
  if (words[1] === '--add-mcp') return fromJson(words[2], undefined, path, sink);
  if (isAdd(words) && words[2] === 'add-json') return fromAddJson(words.slice(3), path, sink);
  if (isAdd(words)) return fromAdd(words.slice(3), path, sink);
  const env = assignments(words);
  const [command, ...args] = words.slice(env.length);
  return { name: undefined, path, raw: { command, args, ...(env.length > 0 && { env: Object.fromEntries(env) }) } };
}

function fromJson(json: string | undefined, name: string | undefined, path: string, sink: Sink): Found | undefined {
  const { value, error } = parseLoose(json ?? '');
  if (isObject(value))
    return { name: name ?? (typeof value['name'] === 'string' ? value['name'] : undefined), raw: value, path };
  sink.problem(
    path,
    error === undefined ? problemTable.pasted_quotes : problemText('pasted_quotes_json', { why: error }),
  );
  return undefined;
}

function fromAddJson(words: readonly string[], path: string, sink: Sink): Found | undefined {
  const { positional } = readFlags(words);
  return fromJson(positional[1], positional[0], path, sink);
}

/** `[options] <name> <command or URL> [args…]`, as Claude Code, Codex, Gemini CLI and others have it. */
function fromAdd(words: readonly string[], path: string, sink: Sink): Found | undefined {
  const { flags, positional } = readFlags(words);
  const [name, target, ...args] = positional;
  if (name === undefined) {
    sink.problem(path, problemTable.pasted_no_name);
    return undefined;
  }
  const url = flags.get('url')?.[0] ?? (/^https?:\/\//.test(target ?? '') ? target : undefined);
  if (url === undefined && target === undefined) {
    sink.problem(at(path, name), problemTable.pasted_neither);
    return undefined;
  }
  const env = Object.fromEntries((flags.get('env') ?? []).map((pair) => cut(pair, '=')));
  const headers = Object.fromEntries((flags.get('header') ?? []).map((line) => cut(line, ':')));
  const transport = flags.get('transport')?.[0];
  const tokenVariable = flags.get('bearer-token-env-var')?.[0];
  const common = { ...(transport !== undefined && { type: transport }), ...(Object.keys(env).length > 0 && { env }) };
  const remote = { url, headers, ...(tokenVariable !== undefined && { bearer_token_env_var: tokenVariable }) };
  return {
    name,
    path: at(path, name),
    raw: { ...common, ...(url === undefined ? { command: target, args } : remote) },
  };
}

const short: Readonly<Record<string, string>> = { e: 'env', H: 'header', t: 'transport', s: 'scope' };
const lists = new Set(['env', 'header']);
const switches = new Set(['trust', 'help', 'verbose', 'debug', 'no-trust', 'global']);

/** Options and the rest. After `--`, and after a program has been named, everything is the program's own. */
function readFlags(words: readonly string[]): { flags: Map<string, string[]>; positional: string[] } {
  const flags = new Map<string, string[]>();
  const positional: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    const isProgramNamed = positional.length >= 2 && !/^https?:\/\//.test(positional[1] ?? '');
    if (word === '--') return { flags, positional: [...positional, ...words.slice(i + 1)] };
    const match = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word);
    if (match === null || isProgramNamed) {
      positional.push(word);
      continue;
    }
    const key = short[match[1] ?? ''] ?? match[1] ?? '';
    const values = flags.get(key) ?? [];
    flags.set(key, values);
    if (match[2] !== undefined) values.push(match[2]);
    else if (!switches.has(key)) {
      values.push(words[++i] ?? '');
      // `--env A=1 B=2 name`: such an option takes what looks like its values.
      while (lists.has(key) && isListValue(key, words[i + 1])) values.push(words[++i] ?? '');
    }
  }
  return { flags, positional };
}

function isListValue(key: string, word: string | undefined): boolean {
  return word !== undefined && (key === 'env' ? /^[A-Za-z_]\w*=/.test(word) : /^[\w-]+:\s/.test(word));
}

function cut(text: string, mark: string): [string, string] {
  const end = text.indexOf(mark);
  return end === -1 ? [text, ''] : [text.slice(0, end).trim(), text.slice(end + 1).trim()];
}

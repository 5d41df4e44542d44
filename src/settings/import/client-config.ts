import { parse as parseToml, TomlError } from 'smol-toml';
import type { Problem } from '../../core/errors.ts';
import { coreLimits } from '../../core/limits.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { RequiredConfig } from '../server/required-config.ts';
import { serverNameFrom, serverNameProblem, type ServerEntry } from '../server/server-entry.ts';
import { type Found, fromCommandLines } from './command-line.ts';
import { deriveName } from './derive-name.ts';
import { fromInstallLink } from './install-link.ts';
import { findServers, type Layout } from './layouts.ts';
import { parseLoose } from './loose-json.ts';
import { readEntry } from './read-entry.ts';
import { createSink, type Sink } from './sink.ts';
import { problemTable, problemText } from '../../core/problems.ts';

/** What a pasted text was taken for. */
export type ImportFormat = Layout['format'] | 'command' | 'url' | 'link' | 'unknown';

export interface ImportedServer {
  /** Allowed, and different from the others of this import. */
  readonly name: string;
  /** For `mcpServers` of the settings. */
  readonly config: ServerEntry;
  /** Values that the entry refers to as `${KEY}` and that the user has to give. */
  readonly requiredConfig: readonly RequiredConfig[];
}

export interface ClientConfig {
  readonly format: ImportFormat;
  readonly servers: readonly ImportedServer[];
  /** Groups of a hub's settings file, as they are in it; absent when the text is none. */
  readonly groups?: readonly Record<string, unknown>[];
  /** What was changed or left out, by path. */
  readonly notes: readonly Problem[];
  /** What could not be used, by path; the servers above could. */
  readonly problems: readonly Problem[];
}

/**
 * Reads whatever describes tool servers for some client: its settings file or a piece of it (Claude, Cursor, Windsurf,
 * Cline, Gemini CLI, VS Code, Codex, Zed, opencode), a hub's own settings, one server, a command line, an install link,
 * a URL. Never throws; a bad server does not cost the others.
 */
export function parseClientConfig(text: string): ClientConfig {
  const sink = createSink();
  const { format, found, inputs, groups } = recognise(text, sink);
  const taken = new Set<string>();
  const servers: ImportedServer[] = [];
  if (found.length > coreLimits.importServers)
    sink.problem('', problemText('pasted_too_many', { count: `${found.length}`, most: `${coreLimits.importServers}` }));
  for (const { name, raw, path } of found.slice(0, coreLimits.importServers)) {
    const entry = format === 'mcphub' ? asItIs(raw, path, sink) : readEntry(raw, path, inputs, sink);
    if (entry === undefined) continue;
    servers.push({ name: nameOf(name, entry.config, path, taken, sink), ...entry });
  }
  const { notes, problems } = sink;
  return { format, servers, ...(groups && { groups }), notes, problems };
}

type Recognised = Omit<Layout, 'format'> & { format: ImportFormat };

const nothing: Recognised = { format: 'unknown', found: [], inputs: new Map() };

function recognise(pasted: string, sink: Sink): Recognised {
  if (pasted.length > coreLimits.importChars) {
    sink.problem('', problemText('longer', { most: `${coreLimits.importChars}` }));
    return nothing;
  }
  const text = withoutFence(pasted.replace(/^\uFEFF/, '')).trim();
  if (/^\s*\[\s*"?(mcp_servers|mcpServers)\b/m.test(text)) return fromToml(text, sink);
  if (/^([{["]|\/\/|\/\*)/.test(text)) return fromJson(text, sink);
  const linked = fromInstallLink(text);
  if (linked !== undefined) return { ...nothing, format: 'link', found: [linked] };
  const lines = text.split(/\s+/);
  if (text !== '' && lines.every((line) => /^https?:\/\/[^\s]+$/.test(line))) {
    const found = lines.map((url, i): Found => ({
      name: undefined,
      raw: { url },
      path: lines.length === 1 ? 'url' : `url[${i}]`,
    }));
    return { ...nothing, format: 'url', found };
  }
  const commands = fromCommandLines(text, sink);
  if (commands !== undefined) return { ...nothing, format: 'command', found: commands };
  sink.problem('', text === '' ? problemTable.no_text : unknownText);
  return nothing;
}

const unknownText = problemTable.pasted_unknown;

/** The inside of a Markdown code block. */
function withoutFence(text: string): string {
  return /^\s*```[^\n]*\n(.*?)\n\s*```\s*$/s.exec(text)?.[1] ?? text;
}

function fromJson(text: string, sink: Sink): Recognised {
  const { value, error } = parseLoose(text);
  if (error !== undefined) {
    sink.problem('', problemText('pasted_json', { why: error }));
    return nothing;
  }
  return findServers(value, sink) ?? unknown(sink);
}

function fromToml(text: string, sink: Sink): Recognised {
  try {
    return findServers(parseToml(text), sink) ?? unknown(sink);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    sink.problem(
      '',
      `is not valid TOML: ${error.message.split('\n')[0] ?? ''} in line ${error.line}, column ${error.column}`,
    );
    return nothing;
  }
}

function unknown(sink: Sink): Recognised {
  sink.problem('', unknownText);
  return nothing;
}

/** An entry in the hub's own format: the settings module checks it, and every member of it counts. */
function asItIs(raw: unknown, path: string, sink: Sink): { config: ServerEntry; requiredConfig: [] } | undefined {
  if (isObject(raw)) return { config: raw, requiredConfig: [] };
  sink.problem(path, problemTable.pasted_object);
  return undefined;
}

function nameOf(said: string | undefined, config: ServerEntry, path: string, taken: Set<string>, sink: Sink): string {
  const wanted = said ?? deriveName(config);
  const problem = serverNameProblem(wanted);
  const base = problem === undefined ? wanted : serverNameFrom(wanted);
  let name = base;
  for (let i = 2; taken.has(name); i++) name = `${base}-${i}`;
  taken.add(name);
  if (said !== undefined && problem !== undefined)
    sink.note(path, problemText('pasted_renamed', { name, why: problem }));
  else if (said !== undefined && name !== said)
    sink.note(path, problemText('pasted_renumbered', { name, other: said }));
  return name;
}

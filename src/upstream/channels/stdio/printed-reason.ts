import type { Reason, ReasonCode } from '../../../core/reasons.ts';
import { upstreamLimits } from '../../limits.ts';

/** What launchers and runtimes print that says nothing of the failure. */
const linesWithoutCause = [
  /^npm (notice|warn|WARN|http|verb|sill|timing)\b/,
  /^npm (error|ERR!)\s*(code \S+|404|40\d)?\s*$/,
  /^npm (error|ERR!) A complete log of this run can be found in/,
  /^npm (error|ERR!) (404 )?(Note that you can also install from a|tarball, folder, http url, or git (?:folder|url)\.?)\s*$/,
  /^npm (error|ERR!) (errno|syscall|dest|cwd|stack)\b/,
  /^Node\.js v\d/,
  /^\s*at .*[:(]\d+/,
  /^\s*at (async |new |Object\.|Module\.|node:)/,
  /^\s*\^+\s*$/,
  /^\s*[{}]\s*,?\s*$/,
  /^\s*$/,
  /^Downloading |^Installed \d+ packages? in /,
];

/** A pattern of a line, and the reason it gives; `$1` names the first group, `$line` the whole line. */
type Sign = readonly [pattern: RegExp, code: ReasonCode, values: Readonly<Record<string, string>>];

const npm = String.raw`^npm (?:error|ERR!) `;

/** The first one that fits wins, over all lines: what a launcher says comes before what its package could have said. */
const signs: readonly Sign[] = [
  [/^bwrap: execvp (\S+): /, 'sandbox_program', { command: '$1' }],
  [/^bwrap: (.+)$/, 'sandbox_forbidden', { line: '$line' }],
  [
    new RegExp(`${npm}404 +(?:The requested resource )?'(@?[^'@\\s]+)(?:@[^'\\s]*)?' (?:could not be found|is not in)`),
    'npm_package_not_found',
    { package: '$1' },
  ],
  [new RegExp(`${npm}404 Not Found - GET \\S+?/([^/\\s]+)(?: |$)`), 'npm_package_not_found', { package: '$1' }],
  [
    new RegExp(`${npm}notarget No matching version found for (\\S+?)\\.?$`),
    'package_version_not_found',
    { package: '$1' },
  ],
  [new RegExp(`${npm}could not determine executable to run`), 'package_without_program', {}],
  [new RegExp(`${npm}code (E401|E403|ENEEDAUTH)$`), 'registry_refused', { code: '$1' }],
  [
    new RegExp(
      `${npm}code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ECONNRESET|[A-Z_]*CERT[A-Z_]*|UNABLE_TO_\\w+)$`,
    ),
    'registry_unreachable',
    { code: '$1' },
  ],
  [/ENOSPC|[Nn]o space left on device/, 'disk_full', {}],
  [/\bBecause (\S+) was not found in the package registry/, 'python_package_not_found', { package: '$1' }],
  [/\bNo matching distribution found for (\S+)/, 'python_package_not_found', { package: '$1' }],
  [/\bBecause there is no version of (\S+)/, 'package_version_not_found', { package: '$1' }],
  [/\bexecutable named `?([^`\s]+)`? is not provided by package/, 'package_without_program', {}],
  [
    /\b(?:Failed to fetch|error sending request|dns error)\b.{0,200}(pypi\.org|simple)/i,
    'registry_unreachable',
    { code: '$1' },
  ],
  [
    /Cannot connect to the Docker daemon|docker daemon is not running|failed to connect to the docker API/i,
    'docker_not_running',
    {},
  ],
  [/pull access denied for ([^,\s]+)/, 'image_not_found', { image: '$1' }],
  [/manifest for (\S+) not found/, 'image_not_found', { image: '$1' }],
  // A file that another one imports is a part of the program: no argument names it.
  [/Cannot find (?:module|package) '([^']+)' imported from /, 'module_not_found', { module: '$1' }],
  [/Cannot find (?:module|package) '((?:\/|[A-Za-z]:\\)[^']+)'/, 'script_not_found', { file: '$1' }],
  [/Cannot find (?:module|package) '([^']+)'/, 'module_not_found', { module: '$1' }],
  [/\bNo module named '?([\w.]+)/, 'module_not_found', { module: '$1' }],
  [/can't open file '([^']+)'/, 'script_not_found', { file: '$1' }],
  [
    /^(?:\S*sh|env): (?:line )?(?:\d+: )?['"‘]?([^\s:'"’]+)['"’]?: (?:command not found|not found|No such file or directory)$/,
    'program_not_found',
    { command: '$1' },
  ],
  [
    /\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b["'`]?.{0,60}\b(?:missing|required|not set|not defined|not provided|not found|must be (?:set|provided)|undefined|empty)\b/,
    'value_missing',
    { name: '$1', line: '$line' },
  ],
  [
    /\b(?:missing|required|set|provide|need|needs)\b.{0,60}?\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b/i,
    'value_missing',
    { name: '$1', line: '$line' },
  ],
  [/EADDRINUSE|[Aa]ddress already in use/, 'port_taken', { line: '$line' }],
  [
    /\b(?:401 Unauthorized|bad credentials|invalid (?:api[ -]?key|token|credentials)|authentication failed|login failed|password authentication failed|invalid_auth)\b/i,
    'value_refused',
    { line: '$line' },
  ],
  [
    /\b(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|[Cc]onnection refused|[Nn]ame or service not known)\b/,
    'peer_unreachable',
    { line: '$line' },
  ],
  [/\b(?:EACCES|EPERM|[Pp]ermission denied)\b/, 'not_permitted', { line: '$line' }],
  [
    /\b(?:unrecognized arguments?|unknown (?:option|argument|flag|command)|unexpected argument|invalid option|bad option)\b/i,
    'wrong_arguments',
    { line: '$line' },
  ],
];

/** What the last lines of a program say is wrong; undefined when they say nothing that is known. */
export function printedReason(lines: readonly string[]): Reason | undefined {
  const short = ownMembersLast(lines.map((line) => line.slice(0, upstreamLimits.reasonLineChars)));
  for (const [pattern, code, values] of signs) {
    for (const line of short) {
      const found = pattern.exec(line);
      if (!found) continue;
      const value = (text: string) => (text === '$line' ? quoted(line) : text.replace('$1', decoded(found[1] ?? '')));
      return { code, values: Object.fromEntries(Object.entries(values).map(([name, text]) => [name, value(text)])) };
    }
  }
  return undefined;
}

/** Lines of an error as Node shows it, which have its code alone, after those in which it has its message. */
function ownMembersLast(lines: readonly string[]): readonly string[] {
  const isMember = (line: string): boolean => /^\s*(?:code|errno|syscall|hostname|address|port): /.test(line);
  return [...lines.filter((line) => !isMember(line)), ...lines.filter(isMember)];
}

/** The lines without what says nothing of the failure; all of them when nothing else is there. */
export function withoutNoise(lines: readonly string[]): readonly string[] {
  const rest = lines.filter(isTelling);
  return rest.length === 0 ? lines.filter((line) => line.trim() !== '') : rest;
}

/** Whether a line may say something of the failure: not what npm says of every package. */
export function isTelling(line: string): boolean {
  return !linesWithoutCause.some((pattern) => pattern.test(line.slice(0, upstreamLimits.reasonLineChars)));
}

/** Whether a program begins with this line to tell how it is used. */
export function beginsHelp(line: string): boolean {
  return /^\s*usage:/i.test(line);
}

/** Whether such a text goes on: what is indented, a heading, or an empty line. */
export function goesOnAsHelp(line: string): boolean {
  return /^(?:\s|$)/.test(line) || /^\S.{0,40}:$/.test(line);
}

/** The one line that says most: the last that names an error, or else the last. */
export function tellingLine(lines: readonly string[]): string {
  const useful = withoutNoise(lines);
  const line = useful.findLast((one) => /error|exception|fatal|fail|cannot|unable|invalid|missing|denied/i.test(one));
  return quoted(line ?? useful.at(-1) ?? '');
}

function quoted(line: string): string {
  return line.trim().slice(0, upstreamLimits.strayLineChars);
}

/** npm writes scoped names as they stand in addresses. */
function decoded(name: string): string {
  return name.replace(/%2f/i, '/');
}

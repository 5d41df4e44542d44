import { statSync } from 'node:fs';
import { HubError, errorText } from '../../../core/errors.ts';
import { type Reason, type ReasonCode, reasonWords } from '../../../core/reasons.ts';
import { upstreamLimits } from '../../limits.ts';
import type { Printed } from '../channel.ts';
import { beginsHelp, goesOnAsHelp, isTelling, printedReason, tellingLine, withoutNoise } from './printed-reason.ts';
import { similarCommand } from './similar-command.ts';

/** The usual launchers, and what has to be installed for each. */
const launchers: Readonly<Record<string, string>> = {
  uvx: 'uv',
  uv: 'uv',
  npx: 'Node.js',
  node: 'Node.js',
  bunx: 'Bun',
  bun: 'Bun',
  deno: 'Deno',
  docker: 'Docker',
  python: 'Python',
  python3: 'Python',
};

interface Started {
  readonly name: string;
  readonly command: string;
  readonly cwd: string | undefined;
  /** Where the command is looked for. */
  readonly path: string;
}

/** Why a server's process could not be started, in words that say what to do. */
export async function startError(started: Started, error: unknown): Promise<HubError> {
  const { name, command, cwd } = started;
  const because = (code: ReasonCode, values: Reason['values']): HubError => {
    const reason = { code, values };
    const { text, advice } = reasonWords(reason);
    const message = `Cannot start server "${name}": ${text} ${advice}`;
    return new HubError('upstream_unavailable', message, { cause: error, reason });
  };
  // A missing working directory is reported by the system as if the command were missing.
  if (cwd !== undefined && !isDirectory(cwd)) return because('folder_not_found', { folder: cwd });
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'ENOENT':
      if (/[\\/]/.test(command)) return because('file_not_found', { command });
      return because(...(await notFound(command, started.path)));
    case 'EACCES':
      return because('not_executable', { command });
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return because('no_room', { error: errorText(error) });
    case 'E2BIG':
      return new HubError(
        'upstream_unavailable',
        `Cannot start server "${name}": its arguments and environment are too large for the system.`,
        { cause: error },
      );
    default:
      return new HubError('upstream_unavailable', `Cannot start server "${name}": ${errorText(error)}.`, {
        cause: error,
      });
  }
}

async function notFound(command: string, path: string): Promise<[ReasonCode, Reason['values']]> {
  const product = launchers[command.toLowerCase()];
  if (product !== undefined) return ['launcher_not_found', { command, product }];
  const suggestion = await similarCommand(command, path);
  return suggestion === undefined
    ? ['command_not_found', { command }]
    : ['command_misspelled', { command, suggestion }];
}

/** A child that has ended, as its callers hear of it. */
export function exitError(
  name: string,
  code: number | null,
  signal: NodeJS.Signals | null,
  printed: Printed,
): HubError {
  const how = signal ? `was ended by ${signal}` : `exited with code ${code ?? 'unknown'}`;
  const reason = printed.reason ?? exitReason(String(code ?? 'unknown'), signal, printed);
  return endError(`Server "${name}" ${how}.`, reason, printed);
}

function exitReason(code: string, signal: NodeJS.Signals | null, { stray, line }: Printed): Reason {
  if (signal) return { code: 'killed', values: { signal } };
  if (stray) return { code: 'exited_after_noise', values: { code, line: stray } };
  return isTelling(line) ? { code: 'exited', values: { code, line } } : { code: 'exited_silently', values: { code } };
}

/** A child that closed its stdin or stdout and did not end. */
export function hungUpError(name: string, pipe: string, printed: Printed): HubError {
  const reason = printed.reason ?? { code: 'hung_up' as const, values: { pipe } };
  return endError(`Server "${name}" closed its ${pipe} but kept running, so it was ended.`, reason, printed);
}

function endError(text: string, reason: Reason, printed: Printed): HubError {
  const { output } = printed;
  const said = output === '' ? '' : ` It said last:\n${output}`;
  return new HubError('upstream_unavailable', `${text}${strayWords(printed)}${said}`, { reason, output });
}

function strayWords({ stray }: Printed): string {
  return stray && ` It printed to stdout what is no MCP message: "${stray}".`;
}

interface LastWords {
  /** A line of stderr. */
  add(line: string): void;
  /** A line of stdout that is no message. */
  noMessage(line: string): void;
  readonly printed: Printed;
}

/**
 * Keeps the last lines a child wrote to stderr, and the first one on stdout that is no message: when it dies, or does
 * not answer, they are usually the reason. What a program prints of its usage, behind the error or before it, may be
 * long and names none, so the lines without it are kept as well.
 */
export function lastWords(): LastWords {
  const lines: string[] = [];
  const told: string[] = [];
  let stray = '';
  let isHelp = false;
  return {
    noMessage(line) {
      stray ||= line.trim().slice(0, upstreamLimits.strayLineChars);
    },
    add(line) {
      isHelp = beginsHelp(line) || (isHelp && goesOnAsHelp(line));
      keep(lines, line);
      if (!isHelp) keep(told, line);
    },
    get printed() {
      const output = withoutNoise(lines).join('\n').slice(-upstreamLimits.lastWordsBytes);
      const telling = told.some(isTelling) ? told : lines;
      return { stray, output, line: tellingLine(telling), reason: printedReason(telling) };
    },
  };
}

function keep(lines: string[], line: string): void {
  if (lines.length === upstreamLimits.lastWordsLines) lines.shift();
  lines.push(line.slice(0, upstreamLimits.lastWordsBytes));
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

import { statSync } from 'node:fs';
import { HubError, errorText } from '../../../core/errors.ts';
import { upstreamLimits } from '../../limits.ts';

/** What to do when one of the usual launchers is not there. */
const launchers: Readonly<Record<string, string>> = {
  uvx: 'Install uv',
  uv: 'Install uv',
  npx: 'Install Node.js',
  node: 'Install Node.js',
  bunx: 'Install Bun',
  bun: 'Install Bun',
  deno: 'Install Deno',
  docker: 'Install Docker',
  python: 'Install Python',
  python3: 'Install Python',
};

/** Why a server's process could not be started, in words that say what to do. */
export function startError(
  { name, command, cwd }: { readonly name: string; readonly command: string; readonly cwd: string | undefined },
  error: unknown,
): HubError {
  const because = (text: string): HubError =>
    new HubError('upstream_unavailable', `Cannot start server "${name}": ${text}`, { cause: error });
  // A missing working directory is reported by the system as if the command were missing.
  if (cwd !== undefined && !isDirectory(cwd)) return because(`its working directory "${cwd}" does not exist.`);
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'ENOENT':
      return because(notFound(command));
    case 'EACCES':
      return because(
        `"${command}" may not be executed. Check its permissions (chmod +x), or start it through its interpreter.`,
      );
    case 'E2BIG':
      return because('its arguments and environment are too large for the system.');
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return because(`the system has no room for another process (${errorText(error)}).`);
    default:
      return because(`${errorText(error)}.`);
  }
}

/** A child that has ended, as its callers hear of it. */
export function exitError(name: string, code: number | null, signal: NodeJS.Signals | null, words: string): HubError {
  const how = signal ? `was ended by ${signal}` : `exited with code ${code ?? 'unknown'}`;
  return new HubError('upstream_unavailable', `Server "${name}" ${how}.${words}`);
}

/** A child that closed its stdin or stdout and did not end. */
export function hungUpError(name: string, what: string, words: string): HubError {
  const text = `Server "${name}" closed its ${what} but kept running, so it was ended.${words}`;
  return new HubError('upstream_unavailable', text);
}

interface LastWords {
  /** A line of stderr. */
  add(line: string): void;
  /** A line of stdout that is no message. */
  noMessage(line: string): void;
  text(): string;
}

/**
 * Keeps the last lines a child wrote to stderr, and the first one on stdout that is no message: when it dies, or does
 * not answer, they are usually the reason.
 */
export function lastWords(): LastWords {
  const lines: string[] = [];
  let stray = '';
  return {
    noMessage(line) {
      stray ||= line.trim().slice(0, upstreamLimits.strayLineChars);
    },
    add(line) {
      if (lines.length === upstreamLimits.lastWordsLines) lines.shift();
      lines.push(line);
    },
    text() {
      const onStdout = stray && ` It printed to stdout what is no MCP message: "${stray}".`;
      if (lines.length === 0) return onStdout;
      return `${onStdout} It said last:\n${lines.join('\n').slice(-upstreamLimits.lastWordsBytes)}`;
    },
  };
}

function notFound(command: string): string {
  if (/[\\/]/.test(command)) return `"${command}" does not exist.`;
  const install = launchers[command.toLowerCase()] ?? 'Install it';
  const windows =
    process.platform === 'win32' ? ` For a .cmd file use "cmd" with the arguments ["/c", "${command}", …].` : '';
  return `command "${command}" was not found on PATH. ${install} or give an absolute path.${windows}`;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

import type { ParseArgsConfig } from 'node:util';
import type { ExitCode } from './exit.ts';

/** One subcommand. Its module is loaded when it runs, so that help and version answer at once. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Lines for each option, shown below the summary. */
  readonly help: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** What its arguments besides options are called in its help, such as `"query"`; undefined when it takes none. */
  readonly argument?: string;
  /** Its words come as they are: the options that it takes depend on more than this table. Help is asked for first. */
  readonly takesAnyOption?: true;
  run(flags: Flags, given: readonly string[]): Promise<ExitCode>;
}

/** Parsed options by long name. */
export type Flags = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** Options that stand for an environment variable and win over it. */
export const environmentOptions = {
  port: { type: 'string', short: 'p' },
  host: { type: 'string' },
  settings: { type: 'string', short: 's' },
  'data-dir': { type: 'string' },
  'log-level': { type: 'string' },
} as const satisfies Command['options'];

export const environmentHelp = `  -p, --port <number>      port to listen on, 0 = any free one   (PORT, default 3000)
      --host <address>     address to listen on                  (HOST, default 127.0.0.1)
  -s, --settings <file>    settings file                         (SETTINGS_PATH, default ./mcp_settings.json)
      --data-dir <folder>  what the hub keeps on disk            (DATA_DIR, default ./data)
      --log-level <level>  debug, info, warn or error            (LOG_LEVEL, default info)`;

const variableOf: Record<keyof typeof environmentOptions, string> = {
  port: 'PORT',
  host: 'HOST',
  settings: 'SETTINGS_PATH',
  'data-dir': 'DATA_DIR',
  'log-level': 'LOG_LEVEL',
};

/**
 * The variables that the flags set. An empty value would count as "not set"; it is passed on so that the reader of the
 * environment can say so.
 */
export function variablesFrom(flags: Flags): Record<string, string> {
  const set = Object.entries(variableOf).flatMap(([flag, variable]) => {
    const value = flags[flag];
    return typeof value === 'string' ? [[variable, value] as const] : [];
  });
  return Object.fromEntries(set);
}

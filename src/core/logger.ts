/** Fields of a log entry; values are printed as JSON. Never a secret, never tool arguments. */
export type LogFields = Record<string, string | number | boolean | null | undefined>;

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Writes entries for one service (`hub`, `gateway`, `api`, `search`, `server:<name>`; CONTRACT §4, Logs). Never throws,
 * never blocks.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Gives the logger of a service. */
export type LoggerFor = (service: string) => Logger;

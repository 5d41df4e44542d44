import type { LogFields, LogLevel } from './logger.ts';

/** One log entry as `GET /api/logs` gives it (CONTRACT §4, Logs). */
export interface LogEntry {
  /** Grows with every entry, across restarts too: it begins at the time of the start in microseconds. */
  readonly id: number;
  /** ISO 8601, UTC, milliseconds. */
  readonly timestamp: string;
  readonly level: LogLevel;
  readonly service: string;
  /** One line: what was said, then the fields as `name=value`. */
  readonly message: string;
  /** It says who tried to get in, or what was done with accounts and secrets: kept when the others are too many. */
  readonly security?: true;
  /** Only in the hub that wrote it, and only until it restarts. */
  readonly fields?: LogFields;
}

export type LogEvent = { readonly type: 'log'; readonly log: LogEntry } | { readonly type: 'clear' };

/** What the log's store and streams see of the log book. */
export interface LogFeed {
  /**
   * The newest entries, oldest first: at most `logLimits.securityRing` about security and `logLimits.logRing` others,
   * of which each service has its share.
   */
  entries(): readonly LogEntry[];
  /** Listeners are called at once, in order; what one throws is dropped. They must not log. */
  subscribe(listener: (event: LogEvent) => void): () => void;
  clear(): void;
}

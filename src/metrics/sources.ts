import type { ServerState } from '../core/hub.ts';
import type { LogLevel } from '../core/logger.ts';
import type { CallCounts } from './calls.ts';

/** What is read for each request of the metrics, and where from. */
export interface MetricSources {
  readonly version: string;
  readonly calls: CallCounts;
  readonly servers: () => readonly ServerState[];
  /** Sessions of clients that have a call or a stream open. */
  readonly sessions: () => number;
  /** Open streams by who reads them. */
  readonly streams: () => Readonly<Record<string, number>>;
  /** Connections of clients. */
  readonly connections: () => Readonly<Record<'open' | 'refused', number>>;
  /** Bodies of requests while they are received: bytes in memory, and bodies refused for want of it. */
  readonly bodies: () => Readonly<Record<'used' | 'refused', number>>;
  readonly database: () => DatabaseState;
  /** Rows for the database, by what they are. */
  readonly rows: () => Readonly<Record<string, RowCounts>>;
  readonly logEntries: Readonly<Record<LogLevel, number>>;
}

/** As `database/` names them. */
export const databaseStates = ['opening', 'ready', 'down', 'off'] as const;
export type DatabaseState = (typeof databaseStates)[number];

export interface RowCounts {
  readonly waiting: number;
  readonly written: number;
  readonly dropped: number;
  /** Not worth writing: the database keeps as many newer ones. */
  readonly skipped: number;
  /** The database is there and takes none. */
  readonly failing: boolean;
}

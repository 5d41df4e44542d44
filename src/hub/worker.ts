import type { Socket } from 'node:net';
import type { Closers } from '../core/closers.ts';
import type { LogEntry } from '../core/log-entry.ts';
import type { LogBook } from '../logs/log.ts';
import type { Records } from '../logs/records.ts';
import type { ProgramClient } from '../upstream/channels/shared/program-client.ts';

/**
 * What a hub knows that is one of several processes of one hub (`WORKERS`, decisions/0092): they share a port, the
 * database, and the programs of stdio servers, which another process has started.
 */
export interface Worker {
  /** From 1. */
  readonly number: number;
  readonly count: number;
  /** `DATA_DIR` as it is set: that of the first worker; the others have folders in it. */
  readonly dataDir: string;
  readonly programs: ProgramClient;
  /** The one worker that answers everything but MCP, so that all of it comes from one place. */
  readonly lead: {
    readonly isHere: boolean;
    /**
     * Hands it a connection, with what was read of it. False where it is here, or nowhere. The connection is closed
     * here once it is there.
     */
    give(connection: Socket, unread: Buffer): boolean;
    /** Called with the connections that other workers hand over. */
    onGiven(taken: (connection: Socket, unread: Buffer) => void): void;
    /** Shows it what this worker has logged. */
    tellLogged(entry: LogEntry): void;
    onLogged(heard: (entry: LogEntry) => void): void;
    /** What happened to other workers, for its log. */
    onNote(heard: (note: WorkerNote) => void): void;
  };
  /** The pages of metrics of the other workers, by their numbers, as far as they come in time. */
  othersMetrics(form: 'plain' | 'openMetrics'): Promise<ReadonlyMap<number, string>>;
  /** Called when the lead asks for those of this one. */
  onMetricsAsked(page: (form: 'plain' | 'openMetrics') => Promise<string>): void;
}

export interface WorkerNote {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  readonly fields: Readonly<Record<string, string | number>>;
}

/** The stream of the log at the lead has the entries of all workers. */
export function joinLogs({ lead }: Worker, book: LogBook, { logStream }: Records, closers: Closers): void {
  closers.add(
    book.subscribe((event) => {
      if (event.type === 'log' && !lead.isHere) lead.tellLogged(event.log);
    }),
  );
  lead.onLogged((entry) => logStream.hear(entry));
  lead.onNote(({ level, text, fields }) => book.for('hub')[level](text, fields));
}

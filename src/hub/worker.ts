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
  readonly secrets: HubSecrets;
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
    /** Live pages of the log are open at it. */
    readonly isRead: boolean;
    /** Says so where this worker is the lead. */
    tellRead(isRead: boolean): void;
    /** Shows it what this worker has logged. False where too much is on its way already. */
    tellLogged(entry: LogEntry): boolean;
    onLogged(heard: (entry: LogEntry) => void): void;
    /** What happened to other workers, for its log. */
    onNote(heard: (note: WorkerNote) => void): void;
  };
  /** Servers that an admin starts again. */
  readonly restarts: {
    /** Has the other workers connect to the server again. */
    tell(server: string): void;
    onTold(heard: (server: string) => void): void;
  };
  /** The pages of metrics of the other workers, by their numbers, as far as they come in time. */
  othersMetrics(form: 'plain' | 'openMetrics'): Promise<ReadonlyMap<number, string>>;
  /** Called when the lead asks for those of this one. */
  onMetricsAsked(page: (form: 'plain' | 'openMetrics') => Promise<string>): void;
}

/** The secrets in `DATA_DIR` that are used, by their names (`DataDir.secret`); 32 bytes each. */
export type HubSecrets = Readonly<Partial<Record<string, Uint8Array>>>;

export interface WorkerNote {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  readonly fields: Readonly<Record<string, string | number>>;
}

/** A server is started again, which was asked of this worker alone. */
export function restartedByAll({ programs, restarts }: Worker, server: string): void {
  programs.end(server);
  restarts.tell(server);
}

/** Whether this process does what is done once for all workers: the lead, or the only process. */
export function isLead(worker: Pick<Worker, 'lead'> | undefined): boolean {
  return worker?.lead.isHere ?? true;
}

/** The stream of the log at the lead has the entries of all workers. */
export function joinLogs({ lead }: Worker, book: LogBook, { logStream }: Records, closers: Closers): void {
  let missed = 0;
  closers.add(
    book.subscribe((event) => {
      if (event.type !== 'log' || lead.isHere || !lead.isRead) return;
      if (!lead.tellLogged(event.log)) missed++;
      else if (missed > 0) {
        const entries = missed;
        missed = 0;
        const text = 'Entries of the log were not shown in live pages: there were too many';
        setImmediate(() => book.for('hub').warn(text, { entries }));
      }
    }),
  );
  logStream.onReaders((are) => lead.tellRead(are));
  lead.onLogged((entry) => logStream.hear(entry));
  lead.onNote(({ level, text, fields }) => book.for('hub')[level](text, fields));
}

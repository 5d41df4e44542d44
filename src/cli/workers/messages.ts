import type { LogEntry } from '../../core/log-entry.ts';
import type { Env } from '../../env/env.ts';
import type { HubSecrets, WorkerNote } from '../../hub/worker.ts';
import type { ExitCode } from '../exit.ts';

// What the process that starts the workers and they tell each other, besides what goes to programs.

/** The variable by which a process knows that it is a worker: the id of the process that started it. */
export const workerMark = 'TOOLHUB_WORKER';

export interface WorkerStart {
  readonly env: Env;
  readonly number: number;
  readonly count: number;
  /** `DATA_DIR` of the hub. */
  readonly dataDir: string;
  readonly secrets: HubSecrets;
  /** It tells on the terminal that the hub is up. */
  readonly reports: boolean;
}

export type MetricsForm = 'plain' | 'openMetrics';

export type ToWorker =
  | { readonly kind: 'start'; readonly start: WorkerStart }
  | { readonly kind: 'stop' }
  /** `isRead`: live pages of the log are open at the lead. */
  | { readonly kind: 'lead'; readonly number: number | undefined; readonly isRead: boolean }
  /** With the connection itself. */
  | { readonly kind: 'connection'; readonly unread: Buffer }
  | { readonly kind: 'logged'; readonly entry: LogEntry }
  | { readonly kind: 'note'; readonly note: WorkerNote }
  /** Another worker starts a server again: this worker connects to it again. */
  | { readonly kind: 'restart'; readonly server: string }
  | { readonly kind: 'metrics wanted'; readonly id: number; readonly form: MetricsForm }
  | { readonly kind: 'metrics of all'; readonly id: number; readonly pages: ReadonlyMap<number, string> };

export type FromWorker =
  /** It takes messages from now on. */
  | { readonly kind: 'hello' }
  | { readonly kind: 'ready' }
  /** It could not start, and has said why. */
  | { readonly kind: 'not started'; readonly code: ExitCode }
  /** With the connection itself, for the lead. */
  | { readonly kind: 'connection'; readonly unread: Buffer }
  | { readonly kind: 'logged'; readonly entry: LogEntry }
  /** Live pages of the log are open here, or the last was closed. */
  | { readonly kind: 'read'; readonly isRead: boolean }
  | { readonly kind: 'restart'; readonly server: string }
  | { readonly kind: 'metrics of others'; readonly id: number; readonly form: MetricsForm }
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string };

/** Messages of one kind that are on their way: so many at most. */
export class OnTheirWay {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Calls `send`, which says when the message is there or cannot be. False where too many are on their way. */
  take(send: (sent: () => void) => void): boolean {
    if (this.#count >= this.#most) return false;
    this.#count++;
    send(() => this.#count--);
    return true;
  }
}

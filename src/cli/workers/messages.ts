import type { LogEntry } from '../../core/log-entry.ts';
import type { Env } from '../../env/env.ts';
import type { WorkerNote } from '../../hub/worker.ts';
import type { ExitCode } from '../exit.ts';

// What the process that starts the workers and they tell each other, besides what goes to programs.

export interface WorkerStart {
  readonly env: Env;
  readonly number: number;
  readonly count: number;
  /** `DATA_DIR` of the hub. */
  readonly dataDir: string;
  /** It tells on the terminal that the hub is up. */
  readonly reports: boolean;
}

export type MetricsForm = 'plain' | 'openMetrics';

export type ToWorker =
  | { readonly kind: 'start'; readonly start: WorkerStart }
  | { readonly kind: 'stop' }
  | { readonly kind: 'lead'; readonly number: number | undefined }
  /** With the connection itself. */
  | { readonly kind: 'connection'; readonly unread: Buffer }
  | { readonly kind: 'logged'; readonly entry: LogEntry }
  | { readonly kind: 'note'; readonly note: WorkerNote }
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
  | { readonly kind: 'metrics of others'; readonly id: number; readonly form: MetricsForm }
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string };

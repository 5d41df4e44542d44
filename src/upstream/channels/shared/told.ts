import { HubError, type ErrorCode } from '../../../core/errors.ts';
import type { LogFields, LogLevel } from '../../../core/logger.ts';
import type { Reason } from '../../../core/reasons.ts';
import type { ContainerSettings, SandboxSettings } from '../../../core/settings/server.ts';
import type { Printed, StartProgress } from '../channel.ts';

/** How a worker wants a program to be started: all that decides which program it is, with every value filled in. */
export interface WantedProgram {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly maxMessageBytes: number;
  readonly sandbox: SandboxSettings | undefined;
  readonly container: ContainerSettings | undefined;
  readonly isShared: boolean;
}

/** What a worker tells the process that has the programs. `end` goes on channel 0. */
export type ToldByWorker =
  | { readonly kind: 'open'; readonly program: WantedProgram }
  | { readonly kind: 'ready' }
  | { readonly kind: 'close' }
  /** The program of this server ends for all workers, and each starts it again. */
  | { readonly kind: 'end'; readonly server: string };

/** What it is told, on the channel that it opened. */
export type ToldByHost =
  | { readonly kind: 'launched'; readonly isKnown: boolean }
  | { readonly kind: 'progress'; readonly progress: StartProgress }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly message: string; readonly fields?: LogFields }
  | { readonly kind: 'failed'; readonly id: number; readonly error: ToldError }
  | { readonly kind: 'printed'; readonly printed: Printed }
  /** Whether calls that other workers gave up may still be on. */
  | { readonly kind: 'contested'; readonly isContested: boolean }
  /** `logs`: its last log entries come here, until `ended`. */
  | { readonly kind: 'closed'; readonly error: ToldError; readonly printed?: Printed; readonly logs?: true }
  /** Answers `close`, and ends what `logs` announced. */
  | { readonly kind: 'ended' };

/** A HubError without its cause. */
export interface ToldError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  readonly told?: string | undefined;
  readonly unreachable?: string | undefined;
  readonly reason?: Reason | undefined;
  readonly output?: string | undefined;
}

export function toldError({ code, message, retryAfterMs, told, unreachable, reason, output }: HubError): ToldError {
  return { code, message, retryAfterMs, told, unreachable, reason, output };
}

export function errorOf({ code, message, retryAfterMs, told, unreachable, reason, output }: ToldError): HubError {
  return new HubError(code, message, {
    reason,
    output,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(told !== undefined && { told }),
    ...(unreachable !== undefined && { unreachable }),
  });
}

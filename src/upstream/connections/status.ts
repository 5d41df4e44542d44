import { HubError } from '../../core/errors.ts';
import { statelessRevision } from '../../core/protocol/stateless.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { StartPhase } from '../channels/channel.ts';
import type { ConnectionOptions } from './options.ts';

/** What one connection is doing. `attempts` counts the failures since it last held for a while. */
export type ConnectionStatus =
  | {
      readonly kind: 'connecting';
      readonly attempts: number;
      readonly phase: StartPhase;
      /** Since when it is in this phase, milliseconds since the epoch. */
      readonly phaseSince: number;
      /** Other starts come first. */
      readonly isWaiting: boolean;
      /** It slept, and a caller waits for it. */
      readonly isWaking: boolean;
      /** Why the last attempt failed. */
      readonly error: HubError | undefined;
    }
  | { readonly kind: 'connected'; readonly sinceMs: number; readonly tookMs: number }
  | {
      readonly kind: 'disconnected';
      readonly error: HubError;
      readonly attempts: number;
      /** Time of the next attempt, milliseconds since the epoch. */
      readonly nextRetryAt: number;
      /** That time has come, and its server starts on demand: the next call is the next attempt. */
      readonly waitsForCall?: boolean;
    }
  /** It waits for a person, so nothing is tried again by itself. */
  | { readonly kind: 'oauth_required'; readonly error: HubError; readonly attempts: number }
  /** Its server starts on demand, and has no process or session now. */
  | { readonly kind: 'asleep' }
  | { readonly kind: 'stopped' };

/**
 * Whether a server can be called: callers of one that sleeps, wakes up or is on its first attempt to connect wait for
 * that. So what was known before a restart can be found at once; an installation takes longer than callers wait.
 */
export function isCallable(status: ConnectionStatus): boolean {
  if (status.kind !== 'connecting') return status.kind === 'connected' || waitsForCall(status);
  return status.isWaking || (status.attempts === 0 && status.error === undefined && status.phase !== 'installing');
}

/** Whether the next call starts the server, and nothing else does. */
export function waitsForCall(status: ConnectionStatus): boolean {
  return status.kind === 'asleep' || (status.kind === 'disconnected' && status.waitsForCall === true);
}

type TrackerOptions = Pick<ConnectionOptions, 'changed' | 'sessionEnded'> & {
  readonly server: { readonly name: string; readonly transport: Pick<ServerSettings['transport'], 'type'> };
};

/** The status of one connection, with the callers that wait for the next status. */
export class StatusTracker {
  readonly #server: string;
  /** A REST API has no sessions. */
  readonly #hasSessions: boolean;
  readonly #options: TrackerOptions;
  readonly #revision: () => string | undefined;
  readonly #waiters = new Set<() => void>();
  #now: ConnectionStatus = { kind: 'stopped' };
  /** On the clock of `performance.now()`. */
  #connectedAt = 0;

  /** `revision`: that which the server speaks. */
  constructor(options: TrackerOptions, revision: () => string | undefined) {
    this.#server = options.server.name;
    this.#hasSessions = options.server.transport.type !== 'openapi';
    this.#options = options;
    this.#revision = revision;
  }

  get now(): ConnectionStatus {
    return this.#now;
  }

  set(status: ConnectionStatus): void {
    if (this.#now.kind === 'connected') this.renewed('error' in status ? status.error?.code : undefined);
    if (status.kind === 'connected') this.#connectedAt = performance.now();
    this.#now = status;
    for (const wake of this.#waiters) wake();
    this.#options.changed();
  }

  /** The session with the server is over, and another one may have begun. `error`: why it broke off. */
  renewed(error: string | undefined): void {
    const [now, revision] = [performance.now(), this.#revision()];
    const ms = now - this.#connectedAt;
    this.#connectedAt = now;
    if (!this.#hasSessions || revision === statelessRevision) return;
    this.#options.sessionEnded?.({ server: this.#server, revision, error }, ms);
  }

  /** The time of the next attempt has come, and is left to the next call. */
  waitForCall(): void {
    if (this.#now.kind === 'disconnected') this.set({ ...this.#now, waitsForCall: true });
  }

  /**
   * Resolves once the server can be called, after `waitMs` at the latest; throws HubError `upstream_unavailable` or
   * `oauth_required` when it is not connected and not about to be. `isOnDemand`: callers start the server, and hear by
   * name why that failed.
   */
  async available(waitMs: number, isOnDemand = false): Promise<void> {
    const end = performance.now() + waitMs;
    // A second attempt may follow at once.
    while (this.#now.kind === 'connecting' && performance.now() < end) await this.#next(end - performance.now());
    const status = this.#now;
    if (status.kind === 'connected') return;
    const name = `Server "${this.#server}"`;
    if (status.kind === 'oauth_required') throw status.error;
    if (status.kind === 'stopped') throw new HubError('upstream_unavailable', `${name} was stopped.`);
    if (status.kind !== 'disconnected') {
      const isInstalling = status.kind === 'connecting' && status.phase === 'installing';
      const text = isInstalling
        ? `${name} is still being installed, which may take minutes. Try again later.`
        : `${name} is still connecting. Try again in a moment.`;
      throw new HubError('upstream_unavailable', text, { retryAfterMs: isInstalling ? 10_000 : 2_000 });
    }
    const retryAfterMs = Math.max(0, status.nextRetryAt - Date.now());
    const text = `${name} is not connected: ${status.error.message} Next attempt in ${Math.ceil(retryAfterMs / 1_000)} s.`;
    const { unreachable, reason } = status.error;
    throw new HubError('upstream_unavailable', text, {
      cause: status.error,
      reason,
      retryAfterMs,
      // The name alone: its values may quote what is not for every caller.
      ...(isOnDemand && reason && { data: { reason: reason.code } }),
      ...(unreachable !== undefined && { unreachable }),
    });
  }

  #next(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      this.#waiters.add(done);
    });
  }
}

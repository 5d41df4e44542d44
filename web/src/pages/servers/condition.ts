import type { ServerStatus, ServerSummary } from '../../api/types.ts';

/**
 * The status of a server; of one that is connecting what that waits for, and whether its entry of the settings cannot
 * be used.
 */
export type Condition = ServerStatus | 'installing' | 'waitsToInstall' | 'waitsToStart' | 'unusable';

export type Described = Pick<ServerSummary, 'type' | 'status' | 'phase' | 'waiting'>;

export function conditionOf({ type, status, phase, waiting }: Described): Condition {
  if (type === 'invalid' && status !== 'disabled') return 'unusable';
  if (status !== 'connecting') return status;
  const installs = phase === 'installing';
  if (waiting === true) return installs ? 'waitsToInstall' : 'waitsToStart';
  return installs ? 'installing' : 'connecting';
}

/** Whether its tools can be called: one that sleeps starts with its next call. */
export function isReady({ status }: Pick<ServerSummary, 'status'>): boolean {
  return status === 'connected' || status === 'asleep';
}

/**
 * True for a server that stays away until a person does something about it, or that failed. One that is trying again
 * after a failure is still among them; one that has not failed is not, however long its installation takes.
 */
export function needsPerson(server: Pick<ServerSummary, 'type' | 'enabled' | 'status' | 'error'>): boolean {
  const { type, enabled, status, error } = server;
  if (!enabled || isReady(server)) return false;
  return status !== 'connecting' || error !== null || type === 'invalid';
}

import type { ServerStatus, ServerSummary } from '../../api/types.ts';

/** The status of a server, and of one that is connecting what that waits for. */
export type Condition = ServerStatus | 'installing' | 'waitsToInstall' | 'waitsToStart';

export type Described = Pick<ServerSummary, 'status' | 'phase' | 'waiting'>;

export function conditionOf({ status, phase, waiting }: Described): Condition {
  if (status !== 'connecting') return status;
  const installs = phase === 'installing';
  if (waiting === true) return installs ? 'waitsToInstall' : 'waitsToStart';
  return installs ? 'installing' : 'connecting';
}

/**
 * True for a server that stays away until a person does something about it, or that failed. One that is trying again after a failure is still
 * among them; one that has not failed is not, however long its installation takes.
 */
export function needsPerson(server: Pick<ServerSummary, 'enabled' | 'status' | 'error'>): boolean {
  const { enabled, status, error } = server;
  return enabled && status !== 'connected' && (status !== 'connecting' || error !== null);
}

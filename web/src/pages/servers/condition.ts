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

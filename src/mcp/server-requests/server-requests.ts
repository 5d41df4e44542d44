import type { ServerRequest } from '../../core/protocol/server-requests.ts';
import type { HubId } from '../../core/hub-id.ts';
import { rpcErrors } from '../../core/protocol/rpc.ts';
import type { Sealer } from '../../core/seal.ts';
import { mcpLimits } from '../limits.ts';
import type { Reply } from '../reply.ts';
import type { LiveSession } from '../sessions.ts';
import { type RequestsToClients, createRequestsToClients } from './requests-to-clients.ts';
import { createElicitations, type Elicitations } from './elicitations.ts';
import { createSuspendedCalls, type SuspendedCallLimits, type SuspendedCalls } from './suspended-calls.ts';
import { createRequestStates, type RequestStates } from './request-state.ts';

/** Server requests to clients, for all four pairs of session era and stateless (DESIGN, Asks; decisions/0019). */
export interface ServerRequests {
  /** Sent to clients of the session era. */
  readonly clients: RequestsToClients;
  /** Calls of stateless clients that wait for them to come back. */
  readonly suspendedCalls: SuspendedCalls;
  readonly states: RequestStates;
  readonly elicitations: Elicitations;
}

/**
 * Sends a server request to the client of a session, as a part of the call whose answer the client waits for, if there
 * is one. Remembers the session of an elicitation, which may end after the call.
 */
export function requestFromSession(
  session: LiveSession | undefined,
  ask: ServerRequest,
  { clients, elicitations }: Pick<ServerRequests, 'clients' | 'elicitations'>,
  reply?: Reply,
): void {
  if (!session) return ask.refuse(noClientToAsk);
  elicitations.note(ask.server, ask.params['elicitationId'], session.facts.sid);
  clients.put(ask, session, reply ?? session.inFlight.values().next().value?.reply);
}

/**
 * Sends a server request that belongs to no call to the client whose connection it came on. Clients open their stream a
 * moment after they have begun, often after their first call, and for that long the request waits. `find` gives the
 * session while it has something going on.
 */
export function requestBetweenCalls(
  find: () => LiveSession | undefined,
  ask: ServerRequest,
  serverRequests: Pick<ServerRequests, 'clients' | 'elicitations'>,
  waitMs: number = mcpLimits.serverRequestStreamWaitMs,
): void {
  const isReachable = (session: LiveSession | undefined): boolean =>
    session !== undefined && (session.streams.size > 0 || session.inFlight.size > 0 || session.away !== undefined);
  const now = find();
  if (isReachable(now)) return requestFromSession(now, ask, serverRequests);
  const until = Date.now() + waitMs;
  const timer = setInterval(() => {
    const session = find();
    if (!isReachable(session) && Date.now() < until) return;
    clearInterval(timer);
    ask.withdrawn = undefined;
    requestFromSession(session, ask, serverRequests);
  }, mcpLimits.serverRequestStreamLookMs).unref();
  ask.withdrawn = () => clearInterval(timer);
}

/** The answer to a server request when the caller is no MCP client, or a client that takes no server requests. */
export const noClientToAsk = {
  code: rpcErrors.methodNotFound,
  message: 'This call was made by a client that cannot be asked.',
};

/** `bounds` and `askMs` differ from `mcpLimits` in tests alone. */
export function createServerRequests(
  sealer: Sealer,
  bounds?: SuspendedCallLimits,
  askMs?: number,
  hub?: HubId,
): ServerRequests {
  const states = createRequestStates(sealer, Date.now, hub);
  return {
    clients: createRequestsToClients(askMs, hub),
    suspendedCalls: createSuspendedCalls(states, bounds),
    states,
    elicitations: createElicitations(),
  };
}

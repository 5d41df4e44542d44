import type { ServerAsk } from '../../core/protocol/asks.ts';
import { limits } from '../../core/limits.ts';
import { rpcErrors } from '../../core/protocol/rpc.ts';
import type { Sealer } from '../../core/seal.ts';
import type { Reply } from '../reply.ts';
import type { LiveSession } from '../sessions.ts';
import { type ClientAsks, createClientAsks } from './client-asks.ts';
import { createElicitations, type Elicitations } from './elicitations.ts';
import { createParkings, type ParkingBounds, type Parkings } from './parking.ts';
import { createRequestStates, type RequestStates } from './request-state.ts';

/** What servers ask of clients, in all four pairs of old and new (DESIGN, Asks; decisions/0019). */
export interface Asks {
  /** Put to clients of the session era. */
  readonly clients: ClientAsks;
  /** Calls of stateless clients that wait for them to come back. */
  readonly parkings: Parkings;
  readonly states: RequestStates;
  readonly elicitations: Elicitations;
}

/** Puts an ask to the client of a session, as a part of the call whose answer it waits for if there is one, and remembers whose it is: it may end without the call. */
export function askSession(
  session: LiveSession | undefined,
  ask: ServerAsk,
  { clients, elicitations }: Pick<Asks, 'clients' | 'elicitations'>,
  reply?: Reply,
): void {
  if (!session) return ask.refuse(nobodyToAsk);
  elicitations.note(ask.server, ask.params['elicitationId'], session.facts.sid);
  clients.put(ask, session, reply ?? session.inFlight.values().next().value?.reply);
}

/**
 * Puts an ask that belongs to no call to the client whose connection it came on. Clients open their stream a moment after they have begun, often after their first call, and for that
 * long it waits. `find` gives the session while it has something going on.
 */
export function askBetweenCalls(
  find: () => LiveSession | undefined,
  ask: ServerAsk,
  asks: Pick<Asks, 'clients' | 'elicitations'>,
  waitMs: number = limits.askStreamWaitMs,
): void {
  const isReachable = (session: LiveSession | undefined): boolean =>
    session !== undefined && (session.streams.size > 0 || session.inFlight.size > 0 || session.away !== undefined);
  const now = find();
  if (isReachable(now)) return askSession(now, ask, asks);
  const until = Date.now() + waitMs;
  const timer = setInterval(() => {
    const session = find();
    if (!isReachable(session) && Date.now() < until) return;
    clearInterval(timer);
    ask.withdrawn = undefined;
    askSession(session, ask, asks);
  }, limits.askStreamLookMs).unref();
  ask.withdrawn = () => clearInterval(timer);
}

/** What a server is answered that asks for the sake of somebody who is no client, or none that takes questions. */
export const nobodyToAsk = {
  code: rpcErrors.methodNotFound,
  message: 'This call was made by a client that cannot be asked.',
};

/** `bounds` and `askMs` differ from `limits` in tests alone. */
export function createAsks(sealer: Sealer, bounds?: ParkingBounds, askMs?: number): Asks {
  const states = createRequestStates(sealer);
  return {
    clients: createClientAsks(askMs),
    parkings: createParkings(states, bounds),
    states,
    elicitations: createElicitations(),
  };
}

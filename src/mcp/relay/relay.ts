import type { Target } from '../../core/access/view.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { wantedLevel } from '../log-levels.ts';
import { abilitiesFor, type ClientRequest, stateOwner } from '../request.ts';
import { stateIn } from '../server-requests/request-state.ts';
import { addressed, type FindTarget, unknownTarget } from './address.ts';
import type { RelayConnection, RelayOptions } from './options.ts';
import { requestKey } from './relayed-call.ts';
import { SessionCall } from './session-call.ts';
import { StatelessCall } from './stateless-call.ts';

/**
 * Sends a request on to the server it names and its answer back. Of the request only the target's name, the progress
 * token and the hop-by-hop `_meta` keys change; of the answer only the id. Throws HubError `not_found` when the view
 * holds no such target.
 */
export function relay(request: ClientRequest, options: RelayOptions): void {
  relayBy(addressed, request, options);
}

/** The same for a request whose target is found in another way. */
export function relayBy(find: FindTarget, request: ClientRequest, options: RelayOptions): void {
  const { target, edits } = find(request);
  const state = stateIn(request, target, options.serverRequests.states);
  if (state?.kind === 'parked') return options.serverRequests.suspendedCalls.resume(state, request);
  const connection = connectionFor(request, target, options);
  if (!connection) throw unknownTarget(request);
  const Call = request.stateless ? StatelessCall : SessionCall;
  const call = new Call(request, { target, find }, connection, options);
  request.reply.gone = () => call.cancel('client disconnected');
  request.session?.inFlight.set(requestKey(request), call);
  const own = state ? { ...edits, requestState: JSON.stringify(state.state) } : edits;
  if (connection.status.kind === 'connected') call.start(own);
  else void call.startWhenAvailable(own);
}

/**
 * The connection that a request goes through to the server of its target; undefined when that is not there any more.
 * May throw HubError.
 */
function connectionFor(
  request: ClientRequest,
  { server, key }: Target,
  { connections, logLevels }: RelayOptions,
): RelayConnection | undefined {
  const owner = { principal: request.principal, session: stateOwner(request) };
  const connection = connections.connection(server, owner);
  if (!connection) return undefined;
  const level = wantedLevel(request);
  // What sessions want is known already where they all share a connection, and where they have their own.
  if (level !== undefined && (request.stateless || connections.ownerOf(connection)?.session === ''))
    void logLevels.need(connection, level);
  if (!connection.hasGivenUp || !mayBeAsked(request)) return connection;
  return connections.forAsking(connection, owner, { tool: key, asker: request.session?.facts.sid });
}

/**
 * Whether the client of a request may be asked something in the middle of it. A call that makes a task does not count:
 * the task is where its call went, and its own requests say what it asks.
 */
function mayBeAsked(request: ClientRequest): boolean {
  const { method, message } = request;
  if (method !== 'tools/call' || !/[fus]/.test(abilitiesFor(request))) return false;
  return !isObject(message.params) || message.params['task'] === undefined;
}

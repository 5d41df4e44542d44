import { addressed, type FindTarget, unknownTarget } from './address.ts';
import { stateIn } from './server-requests/continued-request.ts';
import type { RelayOptions } from './relay-options.ts';
import { RelayedCall, requestKey } from './relayed-call.ts';
import type { ClientRequest } from './request.ts';

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
  const connection = options.connection(target, request);
  if (!connection) throw unknownTarget(request);
  const exchange = new RelayedCall(request, { target, find }, connection, options);
  request.reply.gone = () => exchange.cancel('client disconnected');
  request.session?.inFlight.set(requestKey(request), exchange);
  const own = state ? { ...edits, requestState: JSON.stringify(state.state) } : edits;
  if (connection.status.kind === 'connected') exchange.start(own);
  else void exchange.startWhenAvailable(own);
}

import type { Edits } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Target } from '../../core/access/view.ts';
import type { ClientRequest } from '../request.ts';
import type { RequestStates, StateContent } from './request-state.ts';

/** The methods that a server may answer with questions (2026-07-28, Multi Round-Trip Requests, Supported requests). */
const roundMethods: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/**
 * The state of an earlier round that a stateless client sends back. Throws HubError `invalid_input` for a state that
 * was not given for this request.
 */
export function stateIn(request: ClientRequest, target: Target, states: RequestStates): StateContent | undefined {
  const { params } = request.message;
  if (!request.stateless || !isObject(params) || params['requestState'] === undefined) return undefined;
  return roundMethods.has(request.method) ? states.open(params['requestState'], request, target) : undefined;
}

/**
 * The other changes of a request on its way to a server. Rounds exist only between sides that know them: a server of
 * the session era sends requests itself, and for a client of that era the hub answers, so that nothing this client
 * sends can count as an earlier round.
 */
export function withoutRounds(request: ClientRequest, edits: Edits, serverIsStateless: boolean): Edits {
  const { message, method, stateless } = request;
  const { params } = message;
  if (stateless === serverIsStateless || !isObject(params) || !roundMethods.has(method)) return edits;
  if (params['inputResponses'] === undefined && params['requestState'] === undefined) return edits;
  return stateless ? { ...edits, ...noRounds } : { ...noRounds, ...edits };
}

const noRounds: Edits = { inputResponses: null, requestState: null };

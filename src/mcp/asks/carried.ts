import type { Edits } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Target } from '../../core/access/view.ts';
import type { ClientRequest } from '../request.ts';
import type { RequestStates, StateContent } from './request-state.ts';

/** What may be answered by questions (2026-07-28, Multi Round-Trip Requests, Supported requests). */
const roundMethods: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** What a stateless client brings back of an earlier round. Throws HubError `invalid_input` for what it was not given for this. */
export function stateIn(request: ClientRequest, target: Target, states: RequestStates): StateContent | undefined {
  const { params } = request.message;
  if (!request.stateless || !isObject(params) || params['requestState'] === undefined) return undefined;
  return roundMethods.has(request.method) ? states.open(params['requestState'], request, target) : undefined;
}

/**
 * What else of a request changes on its way to a server. Rounds are between those who know of them: a server of the session era asks by itself, and a client of it has the
 * hub answer, so that nothing of its own can pass for an earlier round.
 */
export function withoutRounds(request: ClientRequest, edits: Edits, serverIsStateless: boolean): Edits {
  const { message, method, stateless } = request;
  const { params } = message;
  if (stateless === serverIsStateless || !isObject(params) || !roundMethods.has(method)) return edits;
  if (params['inputResponses'] === undefined && params['requestState'] === undefined) return edits;
  return stateless ? { ...edits, ...noRounds } : { ...noRounds, ...edits };
}

const noRounds: Edits = { inputResponses: null, requestState: null };

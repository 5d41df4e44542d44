import { type ArgumentRules, withRules } from '../../core/access/tool-override.ts';
import type { Target } from '../../core/access/view.ts';
import { HubError, listed } from '../../core/errors.ts';
import { editObject, type Edits, memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { ApprovalQuestion } from '../../governance/approvals.ts';
import { unknownTarget } from '../failure.ts';
import { wantedLevel } from '../log-levels.ts';
import {
  abilitiesFor,
  calledBy,
  type Addressed,
  type ClientRequest,
  clientRequest,
  type FindTarget,
  stateOwner,
} from '../request.ts';
import { stateIn, type StateContent } from '../server-requests/request-state.ts';
import { admit, unclear } from './admission.ts';
import { requestWithoutSecrets } from './call-secrets.ts';
import { roundOf } from './rounds.ts';
import type { RelayConnection, RelayOptions, ServerConnection } from './options.ts';
import { requestKey } from './relayed-call.ts';
import { SessionCall } from './session-call.ts';
import { StatelessCall } from './stateless-call.ts';
import { changedMeanwhile, yesTo } from './still-allowed.ts';

/** The member of `params` that names the target, by method. */
const nameMembers: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/** The methods that go to the server their params name. */
export const addressedMethods: ReadonlySet<string> = new Set([...nameMembers.keys(), 'completion/complete']);

/**
 * Sends a request on to the server it names and its answer back. Of the request only the target's name, the progress
 * token and the hop-by-hop `_meta` keys change; of the answer only the id. Throws HubError `not_found` when the view
 * holds no such target.
 */
export function relay(request: ClientRequest, options: RelayOptions): void {
  relayBy(addressed, request, options);
}

/**
 * The call with what the settings put into its arguments: from here on, for policies, questions, records and
 * the server, these are its arguments. Throws HubError `invalid_input` for arguments that are not the
 * client's to give, and for those with two readings.
 */
function withOwnArguments(request: ClientRequest, rules: ArgumentRules): ClientRequest {
  const { params = '{}', message } = request;
  const { name, arguments: given = {} } = paramsOf(request);
  const problem = unclear(params, given);
  if (problem !== undefined || !isObject(given))
    throw new HubError('invalid_input', `Cannot call ${String(name)}: ${problem ?? 'its arguments are no object.'}`);
  const text = withRules(String(name), rules, memberText(params, 'arguments') ?? '{}', given);
  const changed = { ...message, params: { ...paramsOf(request), arguments: JSON.parse(text) as unknown } };
  return clientRequest(
    { message: changed, id: request.id, params: editObject(params, { arguments: text }) },
    request,
    request,
  );
}

/** The same for a request whose target is found in another way. */
export function relayBy(find: FindTarget, given: ClientRequest, options: RelayOptions): void {
  const { target, edits } = find(given);
  // What the settings put into a call is not the caller's, and may be a secret.
  const clean = requestWithoutSecrets(given, target, options.governance.settings());
  const request = clean.method === 'tools/call' && target.rules ? withOwnArguments(clean, target.rules) : clean;
  const state = request.stateless ? stateIn(request, target, options.serverRequests.states) : undefined;
  // What policies say now counts for a call that has waited for its client too.
  const admission = admit(request, target, options.governance);
  if (state?.kind === 'parked') return resume(state, request, target, admission?.question, options);
  const connection = connectionFor(request, target, options, admission !== undefined);
  if (!connection) throw unknownTarget(request);
  const round = roundOf(state?.round, request);
  const counted = admission && !admission.question ? admission.count(round) : undefined;
  const Call = request.stateless ? StatelessCall : SessionCall;
  const call = new Call(request, { target, find }, connection, options);
  request.reply.gone = () => call.cancel('client disconnected');
  request.session?.inFlight.set(requestKey(request), call);
  const own = state
    ? { ...edits, requestState: state.state === undefined ? null : JSON.stringify(state.state) }
    : edits;
  if (!admission) return call.begin(own);
  if (admission.isCounted) call.round = round?.number ?? 0;
  if (typeof counted === 'function' && admission.guards.length === 0) {
    call.counted = counted;
    return call.begin(own);
  }
  void call.beginAdmitted({ ...admission, counted, pass: state?.pass, round }, own);
}

/** The client of a suspended call is back. Throws HubError, also where a policy has begun to ask a person. */
function resume(
  state: StateContent & { readonly kind: 'parked' },
  request: ClientRequest,
  target: Target,
  question: ApprovalQuestion | undefined,
  { serverRequests }: RelayOptions,
): void {
  serverRequests.suspendedCalls.resume(state, request, ({ needsYes }) => {
    if (question && needsYes !== yesTo(question)) throw changedMeanwhile(target, question.policy);
  });
}

/**
 * The connection that a request goes through to the server of its target; undefined when that is not there any more.
 * `waits`: it may be sent later, after a person, a limit or a guard has let it through. May throw HubError.
 */
function connectionFor(
  request: ClientRequest,
  target: Target,
  { connections, logLevels }: RelayOptions,
  waits: boolean,
): RelayConnection | undefined {
  const owner = {
    principal: request.principal,
    session: stateOwner(request),
    clientHeaders: request.clientHeaders,
  };
  const connection = connections.connection(target.server, owner);
  if (!connection) return undefined;
  const level = wantedLevel(request);
  // What sessions want is known already where they all share a connection, and where they have their own.
  const chosen = (one: ServerConnection): void => {
    if (level !== undefined && (request.stateless || connections.ownerOf(one)?.session === ''))
      void logLevels.need(one, level);
  };
  chosen(connection);
  if (!waits && !connection.hasGivenUp && (request.session || !connection.isCrowded)) return connection;
  const called = calledBy(request, target);
  if (called === undefined || !mayBeAsked(request)) return connection;
  return connections.forAsking(connection, owner, { called, asker: request.session?.facts.sid }, { waits, chosen });
}

/**
 * Whether the client of a request may be asked something in the middle of it. A call that makes a task does not count:
 * the task is where its call went, and its own requests say what it asks.
 */
function mayBeAsked(request: ClientRequest): boolean {
  const { message, session } = request;
  // Most servers ask for the folders of a session at any time, and do without.
  if (!(session ? /[fus]/ : /[fusr]/).test(abilitiesFor(request))) return false;
  return !isObject(message.params) || message.params['task'] === undefined;
}

/**
 * Finds the target in the request's view. Throws HubError `invalid_input`, or `not_found` alike for what is not there
 * and what may not be seen.
 */
function addressed(request: ClientRequest): Addressed {
  const { method, view } = request;
  const member = nameMembers.get(method);
  if (!member) return completionTarget(request);
  const name = paramsOf(request)[member];
  if (typeof name !== 'string') throw needs(request, `params.${member}, a string`);
  const target =
    method === 'tools/call' ? view.tool(name) : method === 'prompts/get' ? view.prompt(name) : view.resource(name);
  if (!target) throw severalMeant(request, name) ?? unknownTarget(request);
  return { target, edits: { [member]: JSON.stringify(target.key) } };
}

/** A page calls a tool of its server by its own name, which tools of several servers have. */
function severalMeant({ method, view }: ClientRequest, name: string): HubError | undefined {
  const candidates = method === 'tools/call' ? view.meantByPages(name) : [];
  if (candidates.length < 2) return undefined;
  const text = `Several servers have a tool "${name.slice(0, 300)}". Call one of them: ${listed(candidates)}.`;
  return new HubError('invalid_input', text, { data: { candidates } });
}

/** `completion/complete` names a prompt, or a resource by its template. */
function completionTarget(request: ClientRequest): Addressed {
  const { ref } = paramsOf(request);
  if (!isObject(ref)) throw needs(request, 'params.ref');
  const { type, name, uri } = ref;
  if (type === 'ref/prompt' && typeof name === 'string') {
    const target = request.view.prompt(name);
    if (!target) throw unknownTarget(request);
    return { target, edits: refEdits(request, { type, name: target.key }) };
  }
  if (type === 'ref/resource' && typeof uri === 'string') {
    const target = request.view.template(uri) ?? request.view.resource(uri);
    if (!target) throw unknownTarget(request);
    return { target, edits: refEdits(request, { type, uri: target.key }) };
  }
  throw needs(request, 'params.ref with type "ref/prompt" and a name, or "ref/resource" and a uri');
}

/** Gives each duplicate of `ref`, and of its members that count, the value that was checked. */
function refEdits(request: ClientRequest, members: Record<string, string>): Edits {
  const text = memberText(request.params ?? '{}', 'ref') ?? '{}';
  const edits = Object.entries(members).map(([key, value]) => [key, JSON.stringify(value)]);
  return { ref: editObject(text, Object.fromEntries(edits) as Edits) };
}

function needs(request: ClientRequest, what: string): HubError {
  return new HubError('invalid_input', `${request.method} needs ${what}.`);
}

function paramsOf(request: ClientRequest): Record<string, unknown> {
  return isObject(request.message.params) ? request.message.params : {};
}

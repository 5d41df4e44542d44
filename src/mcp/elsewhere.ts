import { cameFrom, isPassedOn } from '../core/access/came-from.ts';
import { type HubId, hubOf } from '../core/hub-id.ts';
import { readResultName } from '../core/large-results.ts';
import { errorTable } from '../core/errors.ts';
import { principalId } from '../core/access/principal.ts';
import { isObject, rpcErrors, type RpcMessage } from '../core/protocol/rpc.ts';
import type { HubPlace } from '../replicas/peers.ts';
import type { Replicas } from '../replicas/replicas.ts';
import { PlainRequest } from '../wire/http.ts';
import { hubOfEvent } from './event-log.ts';
import type { ClientMessage } from './request.ts';
import { refuse, type RequestContext } from './request-context.ts';
import type { SessionFacts, Sessions } from './sessions.ts';

export interface ElsewhereOptions {
  /** The other hubs on the same database; undefined for a hub that shares none. */
  readonly replicas?: Pick<Replicas, 'id' | 'placeOf' | 'heirOf' | 'passOn' | 'tell'> | undefined;
  readonly sessions: Sessions;
}

/** What a request is about. */
interface About {
  readonly messages: readonly ClientMessage[];
  /** The hub that alone has it. */
  readonly at?: HubId | undefined;
  /** Its session. */
  readonly facts?: Pick<SessionFacts, 'sid'> | undefined;
}

/** Hubs may come and go while it is looked for the right one. */
const attempts = 3;

/**
 * Answers a request at the hub that has what it is about: a session, a call that waits for an answer, a stream, the
 * rest of a result (decisions/0085). `here` answers it at this one: when that is the one, or nothing is lost by it. A
 * request that another hub passed on is always answered here. Who may do what is decided by the hub that answers.
 */
export function atItsHub(context: RequestContext, about: About, options: ElsewhereOptions, here: () => void): void {
  const { replicas } = options;
  if (!replicas || isPassedOn(context.req)) return here();
  if (hubsNamedIn(about).length > 1) return refuseSplit(context, about.messages);
  tryFor(attempts);

  function tryFor(left: number): void {
    const wanted = replicas && hubFor(context, about, options);
    if (!replicas || !wanted) return here();
    if (left === 0) return hasAnswer(about) ? refuseLost(context, 'unreachable', about.messages) : here();
    if (wanted.kind === 'lost') return refuseLost(context, wanted.place, about.messages);
    const { req, res, headers, principal } = context;
    const address = cameFrom(req);
    const refused = replicas.passOn(wanted.hub, {
      request: { method: req.method, url: req.url, headers: req.headers },
      res,
      body: bodyOf(context, about.messages),
      address,
      owner: principal.kind === 'anonymous' ? `address ${context.address ?? address ?? ''}` : principalId(principal),
      failed(sent) {
        if (!sent || about.messages.every(isRepeatable)) return tryFor(left - 1);
        const { status, rpc } = errorTable.upstream_failed;
        const text = 'The hub that worked on this is gone, or cannot be reached. Whether it was done is not known.';
        refuse({ res, headers }, status, rpc, text, { id: about.messages[0]?.id });
      },
    });
    if (refused === 'full') return refuseFull(context, about.messages);
    if (refused) tryFor(left - 1);
  }
}

type Wanted = { readonly kind: 'hub'; readonly hub: HubId } | { readonly kind: 'lost'; readonly place: Lost };

type Lost = 'unreachable' | 'gone';

/** Undefined: this one. */
function hubFor({ req }: RequestContext, about: About, { replicas, sessions }: ElsewhereOptions): Wanted | undefined {
  if (!replicas) return undefined;
  const { messages, facts, at } = about;
  const lastEvent = req.method === 'GET' ? req.headers['last-event-id'] : undefined;
  const named = typeof lastEvent === 'string' ? hubOfEvent(lastEvent) : hubsNamedIn(about)[0];
  const place = named === undefined ? undefined : replicas.placeOf(named);
  if (named !== undefined && isPassedTo(place)) return { kind: 'hub', hub: named };
  if (place === 'here') return undefined;
  // Only the call that asked can use an answer.
  if ((place === 'unreachable' || place === 'gone') && hasAnswer(about)) return { kind: 'lost', place };
  if (place === 'unreachable' && messages.some(({ message }) => hubOfState(message) !== undefined))
    return { kind: 'lost', place };
  if (at !== undefined) return undefined;
  // What a session has going on here is known to no other hub.
  if (!facts || sessions.byId(facts.sid)) return undefined;
  const home = hubOf(facts.sid);
  const isThere = home !== undefined && ['here', 'reachable'].includes(replicas.placeOf(home));
  const hub = isThere ? home : replicas.heirOf(facts.sid);
  return hub === replicas.id ? undefined : { kind: 'hub', hub };
}

/** Whether what only a hub has is passed on to it. */
export function isPassedTo(place: HubPlace | undefined): boolean {
  return place === 'reachable' || place === 'leaving' || place === 'silent';
}

/** The hubs that one of these is about: a request can go to one. */
function hubsNamedIn({ messages, at }: About): HubId[] {
  const named = at === undefined ? messages.map(({ message }) => hubNamedIn(message)) : [at];
  return [...new Set(named)].filter((hub) => hub !== undefined);
}

/** The hub that gave out an id which a message comes back with. */
function hubNamedIn(message: RpcMessage | undefined): HubId | undefined {
  if (!message) return undefined;
  if (message.method === undefined) return hubOf(message.id);
  const params = isObject(message.params) ? message.params : {};
  if (message.method === 'notifications/progress') return hubOf(params['progressToken']);
  const state = hubOfState(message);
  if (state !== undefined || message.method !== 'tools/call' || params['name'] !== readResultName) return state;
  return isObject(params['arguments']) ? hubOf(params['arguments']['handle']) : undefined;
}

/** The hub at which the call waits that a stateless client comes back to. */
function hubOfState(message: RpcMessage | undefined): HubId | undefined {
  return message && isObject(message.params) ? hubOf(message.params['requestState']) : undefined;
}

function hasAnswer({ messages }: About): boolean {
  return messages.some(({ message }) => isAnswer(message));
}

function isAnswer(message: RpcMessage | undefined): boolean {
  return message !== undefined && message.method === undefined;
}

/** A call may have been made already, and is never made twice. */
function isRepeatable({ message: { method, id } }: ClientMessage): boolean {
  return id === undefined || typeof method !== 'string' || !/^(?:tools|tasks)\/(?!list$)/.test(method);
}

function bodyOf({ req }: RequestContext, messages: readonly ClientMessage[]): string | Buffer | undefined {
  if (req.method !== 'POST') return undefined;
  if (req instanceof PlainRequest) return req.body;
  const texts = messages.map(({ text }) => text);
  return texts.length === 1 ? texts[0] : `[${texts.join(',')}]`;
}

function refuseLost(context: RequestContext, place: Lost, [first]: readonly ClientMessage[]): void {
  const { status, rpc } = place === 'gone' ? { status: 410, rpc: errorTable.not_ready.rpc } : errorTable.not_ready;
  const text =
    place === 'gone'
      ? 'The hub that asked this has ended, and the call with it. Make the call again.'
      : 'The hub that asked this cannot be reached right now. Send the answer again in a moment.';
  // An answer has the id of the question, which is no request of the client.
  const id = isAnswer(first?.message) ? undefined : first?.id;
  refuse(context, status, rpc, text, place === 'gone' ? {} : { id, headers: { 'retry-after': '2' } });
}

function refuseSplit(context: RequestContext, [first]: readonly ClientMessage[]): void {
  const text = 'The messages of this batch belong to different hubs. Send each by itself.';
  refuse(context, 400, rpcErrors.invalidRequest, text, { id: first?.id });
}

function refuseFull(context: RequestContext, [first]: readonly ClientMessage[]): void {
  const { status, rpc } = errorTable.not_ready;
  const text = 'Too many requests are on their way to the hub that this belongs to. Try again in a moment.';
  refuse(context, status, rpc, text, { id: first?.id, headers: { 'retry-after': '2' } });
}

import { thenMaybe } from '../core/then-maybe.ts';
import { type Edits, members } from '../core/json/text.ts';
import type { AuditWay } from '../core/audit.ts';
import type { Principal } from '../core/access/principal.ts';
import { isObject, type RpcMessage } from '../core/protocol/rpc.ts';
import { type ClientCapabilities, capabilitiesOf, noCapabilities } from '../core/protocol/server-requests.ts';
import { metaKeys } from '../core/protocol/stateless.ts';
import type { Scope } from '../core/access/scope.ts';
import type { Target, View, Views } from '../core/access/view.ts';
import type { RequestTrace } from '../core/tracing.ts';
import { mcpSession } from '../core/access/client-session.ts';
import type { ClientHeaders } from '../upstream/connections/passed-headers.ts';
import type { Reply } from './reply.ts';
import type { LiveSession } from './sessions.ts';

/** One message of a client, as it was read: parsed, and the texts of its parts exactly as the client wrote them. */
export interface ClientMessage {
  readonly message: RpcMessage;
  /** All of it. */
  readonly text: string;
  /** JSON text; undefined when there is none. */
  readonly id: string | undefined;
  /** JSON text; undefined when there are none. */
  readonly params: string | undefined;
}

/** `message` is what `text` says. */
export function clientMessage(message: RpcMessage, text: string): ClientMessage {
  let id: string | undefined;
  let params: string | undefined;
  for (const member of members(text)) {
    if (member.key === 'id') id = text.slice(member.start, member.end);
    else if (member.key === 'params') params = text.slice(member.start, member.end);
  }
  return { message, text, id, params };
}

/** One request of a client, with the snapshot it is answered from. */
export interface ClientRequest {
  readonly method: string;
  readonly message: RpcMessage;
  /** The id as JSON text, exactly as the client wrote it. */
  readonly id: string;
  /** `params` as JSON text, exactly as the client wrote it. */
  readonly params: string | undefined;
  /** True for 2026-07-28: results then carry `resultType` and cache hints. */
  readonly stateless: boolean;
  readonly principal: Principal;
  readonly scope: Scope;
  readonly view: View;
  /** Its HTTP headers, names in lower case: some servers get some of them (CONTRACT §8). */
  readonly clientHeaders: ClientHeaders | undefined;
  /** Where the request came from, as far as it is known. */
  readonly address: string | undefined;
  /** Items per page of a list; 0 = all. */
  readonly pageSize: number;
  /** The session to which the request belongs and in which it can be cancelled. */
  readonly session: LiveSession | undefined;
  /** The caller's own name for its state (`x-session-id`), where there is no session. */
  readonly sessionId?: string | undefined;
  /** Replaced once, where its trace is to end with the answer (`traced`). */
  reply: Reply;
  /** What the client calls itself, for a call that was made for it (`code/code-call.ts`). */
  readonly client?: string | undefined;
  /**
   * Who its sender counts as now, for a request that has waited. Throws HubError, or rejects, where they would not be
   * let in any more. Undefined where what `principal` sees tells that.
   */
  readonly senderNow?: (() => Principal | Promise<Principal>) | undefined;
  /** Its place in a trace, where requests are traced. Set once, when it is dispatched. */
  trace?: RequestTrace | undefined;
  /** The request in the middle of which the hub made this one. */
  readonly within?: RequestTrace | undefined;
  /** How the audit log names its way; over MCP where it is not said. */
  readonly via?: AuditWay | undefined;
}

/** Who sent a message and where to; a `RequestContext` says it. */
export type Sender = Pick<
  ClientRequest,
  'principal' | 'scope' | 'clientHeaders' | 'address' | 'senderNow' | 'client' | 'within' | 'via'
>;

/** How a request is to be answered. */
export type Answering = Pick<
  ClientRequest,
  'stateless' | 'session' | 'sessionId' | 'view' | 'pageSize' | 'reply' | 'trace'
>;

/** The request that a message is. */
export function clientRequest(
  { message, id = 'null', params }: Omit<ClientMessage, 'text'>,
  { principal, scope, clientHeaders, address, senderNow, client, within, via }: Sender,
  { stateless, session, sessionId, view, pageSize, reply, trace }: Answering,
): ClientRequest {
  // Written out: V8 lets what such an object holds outlive the young generation when it is spread and then added to.
  return {
    method: String(message.method),
    message,
    id,
    params,
    stateless,
    principal,
    scope,
    view,
    clientHeaders,
    address,
    pageSize,
    session,
    sessionId,
    reply,
    senderNow,
    client,
    trace,
    within,
    via,
  };
}

/** Where a request goes, and what of its `params` has to change so that the server knows what is meant. */
export interface Addressed {
  readonly target: Target;
  readonly edits: Edits;
}

/** Finds where a request goes in its view. Throws HubError when that leads nowhere. */
export type FindTarget = (request: ClientRequest) => Addressed;

/** What the sender of a request that has waited sees now. Throws what `senderNow` throws, or rejects with it. */
export function viewNow(
  { senderNow, principal, scope }: Pick<ClientRequest, 'senderNow' | 'principal' | 'scope'>,
  views: Views,
): View | Promise<View> {
  return thenMaybe(senderNow?.() ?? principal, (sender) => views.get(sender, scope));
}

/**
 * What the client of a request can be asked: as its session has it, or as the request says itself. A caller over REST
 * cannot be asked anything.
 */
export function abilitiesFor({ session, stateless, message }: ClientRequest): ClientCapabilities {
  if (session) return session.facts.abilities;
  const meta = stateless && isObject(message.params) ? message.params['_meta'] : undefined;
  return isObject(meta) ? capabilitiesOf(meta[metaKeys.clientCapabilities]) : noCapabilities;
}

/** What a request calls in which a server may ask something: `Exchange.called`. */
export function calledBy({ method }: Pick<ClientRequest, 'method'>, { key }: Pick<Target, 'key'>): string | undefined {
  if (method === 'tools/call') return key;
  return method === 'prompts/get' ? `prompts/get ${key}` : undefined;
}

/**
 * The session that a request belongs to, as servers with state of their own are to tell sessions apart; `''` is
 * everything without one.
 */
export function stateOwner({ session, sessionId }: Pick<ClientRequest, 'session' | 'sessionId'>): string {
  if (session) return mcpSession(session.facts.sid);
  return sessionId === undefined ? '' : `id ${sessionId}`;
}

import { capabilitiesOf } from '../core/protocol/server-requests.ts';
import { errorTable, HubError } from '../core/errors.ts';
import { principalId } from '../core/access/principal.ts';
import { isObject, resultText, type RpcMessage, rpcErrors, toRpcError } from '../core/protocol/rpc.ts';
import type { Announcer } from './announcer.ts';
import { batchReplies } from './batch.ts';
import { clientName } from './client-name.ts';
import { dispatch, type DispatchOptions, initializeResult } from './dispatch.ts';
import type { EventLogs } from './event-log.ts';
import { atItsHub, type ElsewhereOptions } from './elsewhere.ts';
import { readMessages } from './incoming.ts';
import { mcpLimits } from './limits.ts';
import { listen } from './listen.ts';
import { beginTrace } from './traced.ts';
import { checkStateless, clientInfoOf, isStateless, mismatch, wrongParamHeader } from './stateless.ts';
import { PostReply } from './reply.ts';
import { type Answering, type ClientMessage, clientRequest } from './request.ts';
import { negotiated, primes, sessionRevisions } from '../core/protocol/revisions.ts';
import { statelessRevision } from '../core/protocol/stateless.ts';
import type { LiveSession, SessionFacts, Sessions } from './sessions.ts';
import { openSessionStream } from './session-stream.ts';
import type { Streams } from './stream.ts';
import { refuse, type RequestContext } from './request-context.ts';

export interface EndpointOptions extends DispatchOptions, ElsewhereOptions {
  readonly sessions: Sessions;
  readonly announcer: Announcer;
  readonly streams: Streams;
  readonly eventLogs: EventLogs;
  /** Items per page of a list where the client's URL does not say (`?pageSize=`); 0 = all. */
  readonly pageSize: () => number;
  /** The roots of a session's client changed. */
  readonly rootsChanged?: (sid: string) => void;
  /** A client has said who it is. Must be quick. */
  readonly introduced?: (sender: Pick<RequestContext, 'principal' | 'scope'>, info: unknown, isStart: boolean) => void;
  /** A client ended its session, or left and its session ended with it. */
  readonly sessionEnded?: (sid: string) => void;
}

/**
 * The streamable HTTP endpoint, all revisions on one URL (CONTRACT §5). A request that has arrived completely is
 * handled at once.
 */
export function serveMcp(context: RequestContext, options: EndpointOptions): void | Promise<void> {
  switch (context.req.method) {
    case 'POST':
      return post(context, options);
    case 'GET':
      return get(context, options);
    case 'DELETE':
      return end(context, options);
    default:
      return refuse(context, 405, rpcErrors.invalidRequest, 'Use POST (or GET and DELETE with a session).', {
        headers: { allow: 'POST, GET, DELETE' },
      });
  }
}

/** Without a step between where the body is here, as that of nearly every call is. */
function post(context: RequestContext, options: EndpointOptions): void | Promise<void> {
  const received = readMessages(context);
  if (!(received instanceof Promise)) return posted(context, received, options);
  return received.then((late) => posted(context, late, options));
}

function posted(
  context: RequestContext,
  received: ClientMessage | ClientMessage[] | undefined,
  options: EndpointOptions,
): void {
  if (!received) return;
  const single = Array.isArray(received) ? undefined : received;
  if (single && isStateless(single.message, context.req.headers)) return postStateless(context, single, options);
  if (single?.message.method === 'initialize' && single.message.id !== undefined)
    return begin(context, single, options);
  const sessionId = context.req.headers['mcp-session-id'];
  let facts: SessionFacts | undefined;
  if (sessionId !== undefined) {
    facts = options.sessions.find(String(sessionId), context.principal, context.scope);
    if (!facts) return sessionGone(context, single?.id);
  }
  const version = context.req.headers['mcp-protocol-version'];
  if (version !== undefined && !sessionRevisions.includes(String(version))) {
    const text = `Unsupported MCP-Protocol-Version "${String(version).slice(0, 50)}".`;
    return refuse(context, 400, rpcErrors.invalidRequest, text);
  }
  if (!options.replicas) return postHere(context, received, facts, options);
  const messages = Array.isArray(received) ? received : [received];
  atItsHub(context, { messages, facts }, options, () => postHere(context, received, facts, options));
}

function postHere(
  context: RequestContext,
  received: ClientMessage | ClientMessage[],
  facts: SessionFacts | undefined,
  options: EndpointOptions,
): void {
  if (Array.isArray(received)) return postBatch(context, received, facts, options);
  if (!isRequest(received)) return accept(context, [received], facts, options);
  const session = facts && options.sessions.live(facts);
  answer(context, received, { stateless: false, session, reply: postReply(context, options, facts) }, options);
  session?.settle({});
}

function begin(context: RequestContext, { message, id = 'null' }: ClientMessage, options: EndpointOptions): void {
  const { protocolVersion, capabilities, clientInfo } = isObject(message.params) ? message.params : {};
  const revision = negotiated(protocolVersion);
  options.introduced?.(context, clientInfo, true);
  const about = { abilities: capabilitiesOf(capabilities), client: clientName(clientInfo) };
  const token = options.sessions.begin(context.principal, context.scope, revision, about);
  const view = options.views.get(context.principal, context.scope);
  const trace = options.tracing && beginTrace(context, { message, id }, revision, options.tracing);
  const reply = new PostReply(context.res, false, { ...context.headers, 'mcp-session-id': token });
  trace?.end();
  reply.answer(resultText(id, initializeResult(view, revision, options)));
}

/** Only 2025-03-26 has batches; every later revision took them out. */
function postBatch(
  context: RequestContext,
  batch: ClientMessage[],
  facts: SessionFacts | undefined,
  options: EndpointOptions,
): void {
  const revision = facts?.revision ?? context.req.headers['mcp-protocol-version'] ?? '2025-03-26';
  if (revision !== '2025-03-26' || batch.some(({ message }) => message.method === 'initialize')) {
    const text = 'Invalid request: this revision has no batches; send one message per request.';
    return refuse(context, 400, rpcErrors.invalidRequest, text);
  }
  const requests = batch.filter(isRequest);
  const others = batch.filter((received) => !isRequest(received));
  if (requests.length === 0) return accept(context, others, facts, options);
  notice(others, facts, options);
  const ids = requests.map(({ id = 'null' }) => id);
  const replies = batchReplies(postReply(context, options), ids);
  const session = facts && options.sessions.live(facts);
  for (const [i, reply] of replies.entries()) {
    const request = requests[i];
    if (request) answer(context, request, { stateless: false, session, reply }, options);
  }
  session?.settle({});
}

function postStateless(context: RequestContext, received: ClientMessage, options: EndpointOptions): void {
  const { message, id = 'null' } = received;
  const refusal = checkStateless(message, context.req.headers) ?? checkParams(context, message, options);
  if (refusal) {
    const body = `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(refusal)}}`;
    return new PostReply(context.res, false, context.headers).answer(body, 400);
  }
  const marked = { ...context, headers: { ...context.headers, 'mcp-protocol-version': statelessRevision } };
  if (!isRequest(received)) return accept(marked, [received], undefined, options);
  // Said with each request: calls, which are most of them, are left out.
  if (message.method !== 'tools/call')
    options.introduced?.(context, clientInfoOf(message), message.method === 'server/discover');
  if (message.method === 'subscriptions/listen') return listen(marked, message, id, options);
  const here = (): void =>
    answer(marked, received, { stateless: true, session: undefined, reply: postReply(marked, options) }, options);
  if (options.replicas) atItsHub(marked, { messages: [received] }, options, here);
  else here();
}

function checkParams({ req, principal, scope }: RequestContext, message: RpcMessage, { views }: EndpointOptions) {
  if (message.method !== 'tools/call') return undefined;
  const header = wrongParamHeader(message, req.headers, views.get(principal, scope));
  return header === undefined ? undefined : mismatch(`${header} must repeat its argument.`);
}

function isRequest({ message }: ClientMessage): boolean {
  return message.id !== undefined && message.method !== undefined;
}

/** Notifications and responses of the client: nothing is answered but that they were received. */
function accept(
  context: RequestContext,
  received: ClientMessage[],
  facts: SessionFacts | undefined,
  options: EndpointOptions,
): void {
  notice(received, facts, options);
  context.res.writeHead(202, { ...context.headers, 'content-length': 0 });
  context.res.end();
}

function notice(received: ClientMessage[], facts: SessionFacts | undefined, options: EndpointOptions): void {
  if (!facts) return;
  for (const { message, text } of received) {
    if (message.method === 'notifications/cancelled') cancelEverywhere(facts, message, options);
    else heard(facts.sid, message, text, options);
  }
}

/** A client's notification, or its response to a server request. */
export function heard(sid: string, message: RpcMessage, text: string, options: EndpointOptions): void {
  if (message.method === undefined) options.serverRequests.clients.answered(sid, message, text);
  else if (message.method === 'notifications/progress') options.serverRequests.clients.progressed(sid, message, text);
  else if (message.method === 'notifications/roots/list_changed') options.rootsChanged?.(sid);
}

/**
 * Cancels what `notifications/cancelled` names; what is not in flight any more is ignored, as the protocol wants.
 * False: nothing of this id is in flight here.
 */
export function cancelInFlight(session: LiveSession, message: RpcMessage): boolean {
  const { id, reason } = cancelledIn(message);
  const call = session.inFlight.get(id);
  call?.cancel(reason);
  session.settle({});
  return call !== undefined;
}

/** A call may run at another hub than its session belongs to now: when hubs came, went or did not reach each other. */
function cancelEverywhere(facts: SessionFacts, message: RpcMessage, { sessions, replicas }: EndpointOptions): void {
  if (cancelInFlight(sessions.live(facts), message)) return;
  replicas?.tell({ kind: 'cancelled', sid: facts.sid, ...cancelledIn(message) });
}

function cancelledIn(message: RpcMessage): { id: string; reason: string } {
  const params = isObject(message.params) ? message.params : {};
  const reason = typeof params['reason'] === 'string' ? params['reason'].slice(0, 500) : 'cancelled by the client';
  return { id: JSON.stringify(params['requestId'] ?? null), reason };
}

function answer(
  context: RequestContext,
  received: ClientMessage,
  how: Pick<Answering, 'stateless' | 'session' | 'reply'>,
  options: EndpointOptions,
): void {
  const { stateless, session, reply } = how;
  const view = options.views.get(context.principal, context.scope);
  const pageSize = pageSizeOf(context.query) ?? options.pageSize();
  dispatch(clientRequest(received, context, { stateless, session, view, pageSize, reply }), options);
}

/**
 * The reply of a POST. While the request is handled, a client that accepts a stream gets comments that keep it open; a
 * client with a session can resume it.
 */
function postReply({ req, res, headers }: RequestContext, options: EndpointOptions, facts?: SessionFacts): PostReply {
  const mayStream = (req.headers.accept ?? '').includes('text/event-stream');
  const resumable = facts &&
    mayStream && {
      logs: options.eventLogs,
      sid: facts.sid,
      owner: () => principalId(facts.principal),
      primes: primes(facts.revision),
    };
  const reply = new PostReply(res, mayStream, headers, resumable || undefined);
  reply.finished = options.streams.onBeat(() => reply.beat());
  return reply;
}

function get(context: RequestContext, options: EndpointOptions): void {
  const { req, principal, scope } = context;
  const sessionId = req.headers['mcp-session-id'];
  if (sessionId === undefined) {
    const text = 'This is an MCP endpoint: clients POST to it. A GET stream needs a session.';
    return refuse(context, 405, rpcErrors.invalidRequest, text, { headers: { allow: 'POST' } });
  }
  if (!(req.headers.accept ?? '').includes('text/event-stream')) {
    return refuse(context, 406, rpcErrors.invalidRequest, 'A GET stream needs "Accept: text/event-stream".');
  }
  const facts = options.sessions.find(String(sessionId), principal, scope);
  if (!facts) return sessionGone(context);
  atItsHub(context, { messages: [], facts }, options, () =>
    openSessionStream(context, options.sessions.live(facts), options),
  );
}

function end(context: RequestContext, options: EndpointOptions): void {
  const sessionId = context.req.headers['mcp-session-id'];
  if (sessionId === undefined) {
    const text = 'DELETE ends a session; none was named.';
    return refuse(context, 405, rpcErrors.invalidRequest, text, { headers: { allow: 'POST' } });
  }
  const token = String(sessionId);
  const facts = options.sessions.find(token, context.principal, context.scope);
  if (!facts) return sessionGone(context);
  atItsHub(context, { messages: [], facts }, options, () => {
    options.sessions.end(facts, token);
    options.sessionEnded?.(facts.sid);
    const { revision } = facts;
    const begunAt = facts.expiresAt - mcpLimits.sessionMs;
    options.tracing?.sessionEnded({ server: undefined, revision, error: undefined }, Date.now() - begunAt);
    options.replicas?.tell({ kind: 'ended', sid: facts.sid, until: facts.expiresAt });
    context.res.writeHead(200, { ...context.headers, 'content-length': 0 });
    context.res.end();
  });
}

function sessionGone(context: RequestContext, id?: string): void {
  const { status, rpc } = errorTable.session_gone;
  refuse(context, status, rpc, 'Session not found: it ended, expired or is not yours. Initialize again.', { id });
}

function pageSizeOf(query: URLSearchParams): number | undefined {
  const text = query.get('pageSize');
  return text !== null && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined;
}

/** What an unexpected failure is answered with. */
export function refuseUnexpected(context: Pick<RequestContext, 'res' | 'headers'>, error: unknown): void {
  // An answer that broke off in the middle can only be cut.
  if (context.res.headersSent) context.res.destroy();
  const { code, message } = toRpcError(error);
  refuse(context, error instanceof HubError ? error.status : 500, code, message);
}

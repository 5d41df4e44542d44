import { abilitiesOf } from '../core/protocol/asks.ts';
import { errorTable, HubError } from '../core/errors.ts';
import { goOn } from '../core/go-on.ts';
import { principalId } from '../core/access/principal.ts';
import { isObject, resultText, type RpcMessage, rpcErrors, toRpcError } from '../core/protocol/rpc.ts';
import type { Announcer } from './announcer.ts';
import { batchReplies } from './batch.ts';
import { dispatch, type DispatchOptions, initializeResult } from './dispatch.ts';
import type { EventLogs } from './event-log.ts';
import { type Received, readMessages } from './incoming.ts';
import { listen } from './listen.ts';
import { wrongParamHeader } from './mirrored-params.ts';
import { PostReply, type Reply } from './reply.ts';
import { envelope } from './request.ts';
import { negotiated, primes, sessionRevisions, statelessRevision } from './revisions.ts';
import type { LiveSession, SessionFacts, Sessions } from './sessions.ts';
import { checkStateless, isStateless, mismatch } from './stateless.ts';
import { openSessionStream } from './session-stream.ts';
import type { Streams } from './stream.ts';
import { refuse, type Visit } from './visit.ts';

export interface EndpointOptions extends DispatchOptions {
  readonly sessions: Sessions;
  readonly announcer: Announcer;
  readonly streams: Streams;
  readonly eventLogs: EventLogs;
  /** Items per page of a list where the client's URL does not say (`?pageSize=`); 0 = all. */
  readonly pageSize: () => number;
  /** The roots of a session's client are not what they were. */
  readonly rootsChanged?: (sid: string) => void;
  /** A client ended its session, or is gone with it. */
  readonly sessionEnded?: (sid: string) => void;
}

/** The streamable HTTP endpoint, all revisions on one URL (CONTRACT §5). What is there whole is worked on at once. */
export function serveMcp(visit: Visit, options: EndpointOptions): void | Promise<void> {
  switch (visit.req.method) {
    case 'POST':
      return goOn(readMessages(visit), (received) => post(visit, received, options));
    case 'GET':
      return get(visit, options);
    case 'DELETE':
      return end(visit, options);
    default:
      return refuse(visit, 405, rpcErrors.invalidRequest, 'Use POST (or GET and DELETE with a session).', {
        headers: { allow: 'POST, GET, DELETE' },
      });
  }
}

function post(visit: Visit, received: Received | Received[] | undefined, options: EndpointOptions): void {
  if (!received) return;
  const single = Array.isArray(received) ? undefined : received;
  if (single && isStateless(single.message, visit.req.headers)) return postStateless(visit, single, options);
  if (single?.message.method === 'initialize' && single.message.id !== undefined) return begin(visit, single, options);
  const sessionId = visit.req.headers['mcp-session-id'];
  let facts: SessionFacts | undefined;
  if (sessionId !== undefined) {
    facts = options.sessions.find(String(sessionId), visit.principal, visit.scope);
    if (!facts) return sessionGone(visit, single?.text);
  }
  const version = visit.req.headers['mcp-protocol-version'];
  if (version !== undefined && !sessionRevisions.includes(String(version))) {
    const text = `Unsupported MCP-Protocol-Version "${String(version).slice(0, 50)}".`;
    return refuse(visit, 400, rpcErrors.invalidRequest, text);
  }
  if (Array.isArray(received)) return postBatch(visit, received, facts, options);
  if (!isRequest(received)) return accept(visit, [received], facts, options);
  const session = facts && options.sessions.live(facts);
  answer(visit, received, { stateless: false, session, reply: postReply(visit, options, facts) }, options);
  session?.settle({});
}

function begin(visit: Visit, { message, text }: Received, options: EndpointOptions): void {
  const { protocolVersion, capabilities } = isObject(message.params) ? message.params : {};
  const revision = negotiated(protocolVersion);
  const token = options.sessions.begin(visit.principal, visit.scope, revision, abilitiesOf(capabilities));
  const view = options.views.get(visit.principal, visit.scope);
  const reply = new PostReply(visit.res, false, { ...visit.headers, 'mcp-session-id': token });
  reply.answer(resultText(envelope(text).id ?? 'null', initializeResult(view, revision, options)));
}

/** Only 2025-03-26 has batches; every later revision took them out. */
function postBatch(visit: Visit, batch: Received[], facts: SessionFacts | undefined, options: EndpointOptions): void {
  const revision = facts?.revision ?? visit.req.headers['mcp-protocol-version'] ?? '2025-03-26';
  if (revision !== '2025-03-26' || batch.some(({ message }) => message.method === 'initialize')) {
    const text = 'Invalid request: this revision has no batches; send one message per request.';
    return refuse(visit, 400, rpcErrors.invalidRequest, text);
  }
  const requests = batch.filter(isRequest);
  const others = batch.filter((received) => !isRequest(received));
  if (requests.length === 0) return accept(visit, others, facts, options);
  notice(others, facts, options);
  const ids = requests.map(({ text }) => envelope(text).id ?? 'null');
  const replies = batchReplies(postReply(visit, options), ids);
  const session = facts && options.sessions.live(facts);
  for (const [i, reply] of replies.entries()) {
    const request = requests[i];
    if (request) answer(visit, request, { stateless: false, session, reply }, options);
  }
  session?.settle({});
}

function postStateless(visit: Visit, received: Received, options: EndpointOptions): void {
  const { message, text } = received;
  const refusal = checkStateless(message, visit.req.headers) ?? checkParams(visit, message, options);
  if (refusal) {
    const body = errorResponseTextFor(text, refusal);
    return new PostReply(visit.res, false, visit.headers).answer(body, 400);
  }
  const marked = { ...visit, headers: { ...visit.headers, 'mcp-protocol-version': statelessRevision } };
  if (!isRequest(received)) return accept(marked, [received], undefined, options);
  if (message.method === 'subscriptions/listen') return listen(marked, message, envelope(text).id ?? 'null', options);
  answer(marked, received, { stateless: true, session: undefined, reply: postReply(marked, options) }, options);
}

function checkParams({ req, principal, scope }: Visit, message: RpcMessage, { views }: EndpointOptions) {
  if (message.method !== 'tools/call') return undefined;
  const header = wrongParamHeader(message, req.headers, views.get(principal, scope));
  return header === undefined ? undefined : mismatch(`${header} must repeat its argument.`);
}

function errorResponseTextFor(text: string, refusal: { code: number; message: string; data?: unknown }): string {
  return `{"jsonrpc":"2.0","id":${envelope(text).id ?? 'null'},"error":${JSON.stringify(refusal)}}`;
}

function isRequest({ message }: Received): boolean {
  return message.id !== undefined && message.method !== undefined;
}

/** Notifications and responses of the client: nothing is answered but that they were received. */
function accept(visit: Visit, received: Received[], facts: SessionFacts | undefined, options: EndpointOptions): void {
  notice(received, facts, options);
  visit.res.writeHead(202, { ...visit.headers, 'content-length': 0 });
  visit.res.end();
}

function notice(received: Received[], facts: SessionFacts | undefined, options: EndpointOptions): void {
  if (!facts) return;
  for (const { message, text } of received) {
    if (message.method === 'notifications/cancelled') cancelInFlight(options.sessions.live(facts), message);
    else heard(facts.sid, message, text, options);
  }
}

/** What a client says of its own accord, or in answer to what it was asked. */
export function heard(sid: string, message: RpcMessage, text: string, options: EndpointOptions): void {
  if (message.method === undefined) options.asks.clients.answered(sid, message, text);
  else if (message.method === 'notifications/progress') options.asks.clients.progressed(sid, message, text);
  else if (message.method === 'notifications/roots/list_changed') options.rootsChanged?.(sid);
}

/** Cancels what `notifications/cancelled` names; what is not in flight any more is ignored, as the protocol wants. */
export function cancelInFlight(session: LiveSession, message: RpcMessage): void {
  const params = isObject(message.params) ? message.params : {};
  const reason = typeof params['reason'] === 'string' ? params['reason'].slice(0, 500) : 'cancelled by the client';
  session.inFlight.get(JSON.stringify(params['requestId']))?.cancel(reason);
  session.settle({});
}

interface Asked {
  readonly stateless: boolean;
  readonly session: LiveSession | undefined;
  readonly reply: Reply;
}

function answer(visit: Visit, { message, text }: Received, asked: Asked, options: EndpointOptions): void {
  const { principal, scope, address, senderNow } = visit;
  const { id = 'null', params } = envelope(text);
  const view = options.views.get(principal, scope);
  const pageSize = pageSizeOf(visit.query) ?? options.pageSize();
  const method = String(message.method);
  const { stateless, session, reply } = asked;
  dispatch(
    { method, message, id, params, stateless, session, reply, principal, scope, view, address, pageSize, senderNow },
    options,
  );
}

/** The reply of a POST. While it is worked on, a client that takes a stream sees signs of life; one with a session can come back to it. */
function postReply({ req, res, headers }: Visit, options: EndpointOptions, facts?: SessionFacts): PostReply {
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

function get(visit: Visit, options: EndpointOptions): void {
  const { req, principal, scope } = visit;
  const sessionId = req.headers['mcp-session-id'];
  if (sessionId === undefined) {
    const text = 'This is an MCP endpoint: clients POST to it. A GET stream needs a session.';
    return refuse(visit, 405, rpcErrors.invalidRequest, text, { headers: { allow: 'POST' } });
  }
  if (!(req.headers.accept ?? '').includes('text/event-stream')) {
    return refuse(visit, 406, rpcErrors.invalidRequest, 'A GET stream needs "Accept: text/event-stream".');
  }
  const facts = options.sessions.find(String(sessionId), principal, scope);
  if (!facts) return sessionGone(visit);
  openSessionStream(visit, options.sessions.live(facts), options);
}

function end(visit: Visit, options: EndpointOptions): void {
  const sessionId = visit.req.headers['mcp-session-id'];
  if (sessionId === undefined) {
    const text = 'DELETE ends a session; none was named.';
    return refuse(visit, 405, rpcErrors.invalidRequest, text, { headers: { allow: 'POST' } });
  }
  const token = String(sessionId);
  const facts = options.sessions.find(token, visit.principal, visit.scope);
  if (!facts) return sessionGone(visit);
  options.sessions.end(facts, token);
  options.sessionEnded?.(facts.sid);
  visit.res.writeHead(200, { ...visit.headers, 'content-length': 0 });
  visit.res.end();
}

function sessionGone(visit: Visit, text?: string): void {
  const id = text === undefined ? undefined : envelope(text).id;
  const { status, rpc } = errorTable.session_gone;
  refuse(visit, status, rpc, 'Session not found: it ended, expired or is not yours. Initialize again.', { id });
}

function pageSizeOf(query: URLSearchParams): number | undefined {
  const text = query.get('pageSize');
  return text !== null && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined;
}

/** What an unexpected failure is answered with. */
export function refuseUnexpected(visit: Pick<Visit, 'res' | 'headers'>, error: unknown): void {
  // An answer that broke off in the middle can only be cut.
  if (visit.res.headersSent) visit.res.destroy();
  const { code, message } = toRpcError(error);
  refuse(visit, error instanceof HubError ? error.status : 500, code, message);
}

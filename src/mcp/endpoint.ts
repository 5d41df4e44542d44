import type { IncomingMessage, ServerResponse } from 'node:http';
import { HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Principal } from '../core/principal.ts';
import {
  errorResponseText,
  isObject,
  isRpcId,
  resultText,
  type RpcMessage,
  rpcErrors,
  toRpcError,
} from '../core/rpc.ts';
import type { Scope } from '../core/scope.ts';
import type { Views } from '../core/view.ts';
import { type Announcer, type ChangedList, changedMethod } from './announcer.ts';
import { readBody } from './body.ts';
import { dispatch, type DispatchOptions, initializeResult } from './dispatch.ts';
import { listen } from './listen.ts';
import { PostReply } from './reply.ts';
import { envelope } from './request.ts';
import { negotiated, sessionRevisions, statelessRevision } from './revisions.ts';
import type { LiveSession, SessionFacts, Sessions } from './sessions.ts';
import { checkStateless, isStateless } from './stateless.ts';
import type { Streams } from './stream.ts';

export interface EndpointOptions extends DispatchOptions {
  readonly views: Views;
  readonly sessions: Sessions;
  readonly announcer: Announcer;
  readonly streams: Streams;
  /** Items per page of a list where the client's URL does not say (`?pageSize=`); 0 = all. */
  readonly pageSize: () => number;
}

/** One HTTP request to an MCP endpoint, with what the door found out about it. */
export interface Visit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly principal: Principal;
  readonly scope: Scope;
  /** CORS and the like: goes out with whatever is answered. */
  readonly headers: Record<string, string>;
  readonly query: URLSearchParams;
}

/** The streamable HTTP endpoint, all revisions on one URL (CONTRACT §5). */
export async function serveMcp(visit: Visit, options: EndpointOptions): Promise<void> {
  switch (visit.req.method) {
    case 'POST':
      return post(visit, options);
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

/** Answers with a JSON-RPC error that belongs to no request, or to the one whose id text is given. */
export function refuse(
  visit: Visit,
  status: number,
  code: number,
  message: string,
  extra: { id?: string; headers?: Record<string, string> } = {},
): void {
  const { res } = visit;
  if (res.headersSent || res.destroyed) return;
  const { id = 'null', headers } = extra;
  const text = errorResponseText(id, code, message);
  // What is left of a body that was refused unread would be taken for the next request.
  const close: Record<string, string> = visit.req.complete ? {} : { connection: 'close' };
  res.writeHead(status, {
    ...visit.headers,
    ...headers,
    ...close,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  res.end(text);
}

/** Reads and parses a POSTed message; undefined when it was refused and answered. */
export async function readMessage(visit: Visit): Promise<{ message: RpcMessage; text: string } | undefined> {
  const type = visit.req.headers['content-type'] ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    refuse(visit, 415, rpcErrors.invalidRequest, `Content-Type must be application/json, not "${type.slice(0, 80)}".`);
    return undefined;
  }
  let text: string;
  let message: unknown;
  try {
    text = (await readBody(visit.req, limits.requestBodyBytes)).replace(/^\uFEFF/, '');
  } catch (error) {
    const { status, rpcCode, message } =
      error instanceof HubError ? error : new HubError('invalid_input', 'The body could not be read.');
    refuse(visit, status, status === 400 ? rpcErrors.parse : rpcCode, message);
    return undefined;
  }
  try {
    message = JSON.parse(text);
  } catch {
    refuse(visit, 400, rpcErrors.parse, 'Parse error: the body is not JSON.');
    return undefined;
  }
  if (isObject(message) && message['jsonrpc'] === '2.0' && isMessage(message)) return { message, text };
  const why = Array.isArray(message)
    ? 'Batches are not supported; send one message per request.'
    : 'Not a JSON-RPC 2.0 message.';
  refuse(visit, 400, rpcErrors.invalidRequest, `Invalid request: ${why}`);
  return undefined;
}

function isMessage(message: RpcMessage): boolean {
  if (typeof message.method === 'string') return message.id === undefined || isRpcId(message.id);
  return (
    message.method === undefined && isRpcId(message.id) && (message.result !== undefined || message.error !== undefined)
  );
}

async function post(visit: Visit, options: EndpointOptions): Promise<void> {
  const read = await readMessage(visit);
  if (!read) return;
  const { message, text } = read;
  if (isStateless(message, visit.req.headers)) return postStateless(visit, message, text, options);
  const sessionId = visit.req.headers['mcp-session-id'];
  if (message.method === 'initialize' && message.id !== undefined) return begin(visit, message, text, options);
  let facts: SessionFacts | undefined;
  if (sessionId !== undefined) {
    facts = options.sessions.find(String(sessionId), visit.principal, visit.scope);
    if (!facts) return sessionGone(visit, text);
  }
  const version = visit.req.headers['mcp-protocol-version'];
  if (version !== undefined && !sessionRevisions.includes(String(version))) {
    return refuse(
      visit,
      400,
      rpcErrors.invalidRequest,
      `Unsupported MCP-Protocol-Version "${String(version).slice(0, 50)}".`,
    );
  }
  if (message.id === undefined || message.method === undefined) return accept(visit, message, facts, options);
  run(visit, message, text, { stateless: false, session: facts && options.sessions.live(facts) }, options);
}

function begin(visit: Visit, message: RpcMessage, text: string, options: EndpointOptions): void {
  const revision = negotiated(isObject(message.params) ? message.params['protocolVersion'] : undefined);
  const token = options.sessions.begin(visit.principal, visit.scope, revision);
  const view = options.views.get(visit.principal, visit.scope);
  const reply = new PostReply(visit.res, false, { ...visit.headers, 'mcp-session-id': token });
  reply.answer(resultText(envelope(text).id ?? 'null', initializeResult(view, revision, options.version)));
}

function postStateless(visit: Visit, message: RpcMessage, text: string, options: EndpointOptions): void {
  const refusal = checkStateless(message, visit.req.headers);
  if (refusal) {
    const body = errorResponseText(envelope(text).id ?? 'null', refusal.code, refusal.message, refusal.data);
    return new PostReply(visit.res, false, visit.headers).answer(body, 400);
  }
  const headers = { ...visit.headers, 'mcp-protocol-version': statelessRevision };
  if (message.id === undefined || message.method === undefined)
    return accept({ ...visit, headers }, message, undefined, options);
  if (message.method === 'subscriptions/listen')
    return listen({ ...visit, headers }, message, envelope(text).id ?? 'null', options);
  run({ ...visit, headers }, message, text, { stateless: true, session: undefined }, options);
}

/** A notification or a response of the client: nothing is answered but that it was received. */
function accept(visit: Visit, message: RpcMessage, facts: SessionFacts | undefined, options: EndpointOptions): void {
  if (message.method === 'notifications/cancelled' && facts) cancelInFlight(options.sessions.live(facts), message);
  visit.res.writeHead(202, { ...visit.headers, 'content-length': 0 });
  visit.res.end();
}

/** Cancels what `notifications/cancelled` names; what is not in flight any more is ignored, as the protocol wants. */
export function cancelInFlight(session: LiveSession, message: RpcMessage): void {
  const params = isObject(message.params) ? message.params : {};
  const reason = typeof params['reason'] === 'string' ? params['reason'].slice(0, 500) : 'cancelled by the client';
  session.inFlight.get(JSON.stringify(params['requestId']))?.cancel(reason);
  session.settle({});
}

function run(
  visit: Visit,
  message: RpcMessage,
  text: string,
  era: { stateless: boolean; session: LiveSession | undefined },
  options: EndpointOptions,
): void {
  const { principal, scope, headers, res, req } = visit;
  const { id = 'null', params } = envelope(text);
  const reply = new PostReply(res, (req.headers.accept ?? '').includes('text/event-stream'), headers);
  const view = options.views.get(principal, scope);
  const pageSize = pageSizeOf(visit.query) ?? options.pageSize();
  dispatch(
    { method: String(message.method), message, id, params, ...era, principal, scope, view, pageSize, reply },
    options,
  );
  era.session?.settle({});
  if (!reply.done) {
    const stop = options.streams.onBeat(() => reply.beat());
    res.once('close', stop);
  }
}

function get(visit: Visit, options: EndpointOptions): void {
  const { req, res, principal, scope, headers } = visit;
  const sessionId = req.headers['mcp-session-id'];
  if (sessionId === undefined) {
    return refuse(
      visit,
      405,
      rpcErrors.invalidRequest,
      'This is an MCP endpoint: clients POST to it. A GET stream needs a session.',
      { headers: { allow: 'POST' } },
    );
  }
  if (!(req.headers.accept ?? '').includes('text/event-stream')) {
    return refuse(visit, 406, rpcErrors.invalidRequest, 'A GET stream needs "Accept: text/event-stream".');
  }
  const facts = options.sessions.find(String(sessionId), principal, scope);
  if (!facts) return sessionGone(visit);
  const session = options.sessions.live(facts);
  if (session.streams.size >= limits.streamsPerSession || options.streams.full) {
    return refuse(visit, 429, rpcErrors.invalidRequest, 'Too many streams are open already.', {
      headers: { 'retry-after': '10' },
    });
  }
  session.stopListening ??= listenFor(session, options);
  const stream = options.streams.open(res, headers, () => session.settle({ stream }));
  session.streams.add(stream);
}

function listenFor(session: LiveSession, options: EndpointOptions): () => void {
  const { principal, scope } = session.facts;
  return options.announcer.add({
    principal,
    scope,
    seen: options.views.get(principal, scope),
    // One stream of a session gets each message, never two (2025-11-25, Multiple connections).
    tell(kinds) {
      const stream = [...session.streams].find((stream) => stream.open);
      for (const kind of kinds) stream?.send(changedText(kind));
    },
  });
}

/** The `list_changed` notification of one list. */
export function changedText(list: ChangedList): string {
  return `{"jsonrpc":"2.0","method":"${changedMethod[list]}"}`;
}

function end(visit: Visit, options: EndpointOptions): void {
  const sessionId = visit.req.headers['mcp-session-id'];
  if (sessionId === undefined)
    return refuse(visit, 405, rpcErrors.invalidRequest, 'DELETE ends a session; none was named.', {
      headers: { allow: 'POST' },
    });
  const facts = options.sessions.find(String(sessionId), visit.principal, visit.scope);
  if (!facts) return sessionGone(visit);
  options.sessions.end(facts);
  visit.res.writeHead(200, { ...visit.headers, 'content-length': 0 });
  visit.res.end();
}

/** 404 makes clients initialize again (2025-11-25, Session management). */
function sessionGone(visit: Visit, text?: string): void {
  const id = text === undefined ? 'null' : (envelope(text).id ?? 'null');
  refuse(visit, 404, -32001, 'Session not found: it ended, expired or is not yours. Initialize again.', { id });
}

function pageSizeOf(query: URLSearchParams): number | undefined {
  const text = query.get('pageSize');
  return text !== null && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined;
}

/** What an unexpected failure is answered with. */
export function refuseUnexpected(visit: Visit, error: unknown): void {
  const { code, message } = toRpcError(error);
  refuse(visit, error instanceof HubError ? error.status : 500, code, message);
}

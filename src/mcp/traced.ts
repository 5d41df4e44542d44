import type { LargeText } from '../core/json/large-text.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { metaKeys } from '../core/protocol/stateless.ts';
import { failureOf, type RequestTrace, type TracedRequest, traceKeys, type Tracing } from '../core/tracing.ts';
import type { Reply } from './reply.ts';
import { type ClientRequest, clientRequest } from './request.ts';

/** The request with its place in a trace, which ends with its answer. */
export function traced(request: ClientRequest, tracing: Tracing): ClientRequest {
  if (request.trace) return request;
  const trace = tracing.request(new Asked(request));
  const { stateless, session, sessionId, view, pageSize } = request;
  const reply = tracedReply(request.reply, trace);
  return clientRequest(request, request, { stateless, session, sessionId, view, pageSize, reply, trace });
}

/** Of `initialize`, which begins a session and belongs to none. */
export function beginTrace(
  { clientHeaders }: Pick<ClientRequest, 'clientHeaders'>,
  { message, id }: Pick<ClientRequest, 'message' | 'id'>,
  revision: string,
  tracing: Tracing,
): RequestTrace {
  const params = isObject(message.params) ? message.params : {};
  const meta = isObject(params['_meta']) ? params['_meta'] : undefined;
  const parent = parentOf(meta) ?? parentOf(clientHeaders);
  const none = { target: undefined, sessionId: undefined, within: undefined };
  return tracing.request({ method: 'initialize', id, revision, parent, ...none });
}

/** A request as its trace sees it. Read from it when it is asked for: of most requests little is. */
class Asked implements TracedRequest {
  readonly #request: ClientRequest;
  readonly method: string;
  readonly target: string | undefined;

  constructor(request: ClientRequest) {
    this.#request = request;
    this.method = request.method;
    this.target = targetOf(request, this.#params?.['name']);
  }

  get id(): string {
    return this.#request.id;
  }

  get sessionId(): string | undefined {
    return shownSession(this.#request.session);
  }

  get revision(): string | undefined {
    const revision = this.#request.session?.facts.revision ?? this.#meta?.[metaKeys.protocolVersion];
    return typeof revision === 'string' ? revision : undefined;
  }

  get parent(): TracedRequest['parent'] {
    return parentOf(this.#meta) ?? parentOf(this.#request.clientHeaders);
  }

  get within(): RequestTrace | undefined {
    return this.#request.within;
  }

  get #params(): Record<string, unknown> | undefined {
    const { params } = this.#request.message;
    return isObject(params) ? params : undefined;
  }

  get #meta(): Record<string, unknown> | undefined {
    const meta = this.#params?.['_meta'];
    return isObject(meta) ? meta : undefined;
  }
}

/** The revision of the HTTP+SSE transport. */
const sseRevision = '2024-11-05';

/** Left out for HTTP+SSE: where callers have no account, its id alone is enough to send messages in a session. */
function shownSession(session: ClientRequest['session']): string | undefined {
  return session?.facts.revision === sseRevision ? undefined : session?.facts.sid;
}

/** The message's own trace comes first: one HTTP request may carry several messages (SEP-414). */
function parentOf(from: Readonly<Record<string, unknown>> | undefined): TracedRequest['parent'] {
  const traceparent = from?.[traceKeys.parent];
  return traceparent === undefined ? undefined : { traceparent, tracestate: from?.[traceKeys.state] };
}

/** Of a name that the caller sees; others are the caller's own words. */
function targetOf({ method, view }: ClientRequest, name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  if (method === 'prompts/get') return view.prompt(name) && name;
  if (method !== 'tools/call') return undefined;
  const isKnown = view.tool(name) !== undefined || (view.smart !== undefined && smartTools.has(name));
  return isKnown ? name : undefined;
}

const smartTools: ReadonlySet<string> = new Set(['search_tools', 'describe_tool', 'call_tool', 'run_code']);

/** A reply that ends the trace of its request. What the other has not, it has not either. */
function tracedReply(reply: Reply, trace: RequestTrace): Reply {
  const own = reply.ask ? new AskableReply(reply, trace) : new TracedReply(reply, trace);
  if (reply.refused)
    own.refused = (error) => {
      trace.failed(failureOf(error));
      trace.end();
      reply.refused?.(error);
    };
  return own;
}

class TracedReply implements Reply {
  protected readonly reply: Reply;
  readonly #trace: RequestTrace;
  /** Missing where the answer is sent. */
  refused?: (error: unknown) => void;

  constructor(reply: Reply, trace: RequestTrace) {
    this.reply = reply;
    this.#trace = trace;
  }

  get gone(): (() => void) | undefined {
    return this.reply.gone;
  }

  set gone(gone: (() => void) | undefined) {
    this.reply.gone = gone;
  }

  notify(text: string): void {
    this.reply.notify(text);
  }

  answer(text: string, status?: number): void {
    this.#trace.end();
    this.reply.answer(text, status);
  }

  answerBytes(head: string, body: Buffer, tail: string): void {
    this.#trace.end();
    this.reply.answerBytes(head, body, tail);
  }

  answerLarge(head: string, result: LargeText, tail: string): void {
    this.#trace.end();
    this.reply.answerLarge(head, result, tail);
  }
}

/** Of a client that can be asked. */
class AskableReply extends TracedReply {
  ask(text: string): boolean {
    return this.reply.ask?.(text) ?? false;
  }
}

import type { LargeText } from '../core/json/large-text.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { metaKeys } from '../core/protocol/stateless.ts';
import { failureOf, type RequestTrace, type TracedRequest, traceKeys, type Tracing } from '../core/tracing.ts';
import type { Reply } from './reply.ts';
import type { ClientRequest } from './request.ts';

/**
 * Gives a request its place in a trace, which ends with its answer. The request is changed: a copy would cost as much
 * as all the rest.
 */
export function traced(request: ClientRequest, tracing: Tracing): void {
  if (request.trace) return;
  const trace = tracing.request(new Asked(request));
  request.trace = trace;
  if (trace.isWatched) request.reply = tracedReply(request.reply, trace);
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
  readonly #meta: Readonly<Record<string, unknown>> | undefined;

  constructor(request: ClientRequest) {
    this.#request = request;
    const { params } = request.message;
    const meta = isObject(params) ? params['_meta'] : undefined;
    this.#meta = isObject(meta) ? meta : undefined;
  }

  get method(): string {
    return this.#request.method;
  }

  get target(): string | undefined {
    return targetOf(this.#request);
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
function targetOf({ method, view, message: { params } }: ClientRequest): string | undefined {
  const name = isObject(params) ? params['name'] : undefined;
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

  answerBytes(head: string, body: LargeText, tail: string): void {
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

import type { LargeText } from '../core/json/large-text.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { metaKeys } from '../core/protocol/stateless.ts';
import { failureOf, type RequestTrace, type TracedRequest, traceKeys, type Tracing } from '../core/tracing.ts';
import type { Reply } from './reply.ts';
import { type ClientRequest, clientRequest } from './request.ts';

/** The request with its place in a trace, which ends with its answer. */
export function traced(request: ClientRequest, tracing: Tracing): ClientRequest {
  if (request.trace) return request;
  const trace = tracing.request(tracedRequest(request));
  const { stateless, session, sessionId, view, pageSize } = request;
  const reply = new TracedReply(request.reply, trace);
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

function tracedRequest(request: ClientRequest): TracedRequest {
  const { method, message, id, session, clientHeaders, within } = request;
  const params = isObject(message.params) ? message.params : undefined;
  const meta = params && isObject(params['_meta']) ? params['_meta'] : undefined;
  const revision = session?.facts.revision ?? meta?.[metaKeys.protocolVersion];
  return {
    method,
    target: targetOf(request, params?.['name']),
    id,
    sessionId: shownSession(session),
    revision: typeof revision === 'string' ? revision : undefined,
    parent: parentOf(meta) ?? parentOf(clientHeaders),
    within,
  };
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

/** Ends the trace of a request with its answer. */
class TracedReply implements Reply {
  readonly #reply: Reply;
  readonly #trace: RequestTrace;
  /** Missing where the client cannot be asked. */
  ask?: (text: string) => boolean;
  /** Missing where the answer is sent. */
  refused?: (error: unknown) => void;

  constructor(reply: Reply, trace: RequestTrace) {
    this.#reply = reply;
    this.#trace = trace;
    if (reply.ask) this.ask = (text) => reply.ask?.(text) ?? false;
    if (reply.refused)
      this.refused = (error) => {
        trace.failed(failureOf(error));
        trace.end();
        reply.refused?.(error);
      };
  }

  get gone(): (() => void) | undefined {
    return this.#reply.gone;
  }

  set gone(gone: (() => void) | undefined) {
    this.#reply.gone = gone;
  }

  notify(text: string): void {
    this.#reply.notify(text);
  }

  answer(text: string, status?: number): void {
    this.#trace.end();
    this.#reply.answer(text, status);
  }

  answerBytes(head: string, body: Buffer, tail: string): void {
    this.#trace.end();
    this.#reply.answerBytes(head, body, tail);
  }

  answerLarge(head: string, result: LargeText, tail: string): void {
    this.#trace.end();
    this.#reply.answerLarge(head, result, tail);
  }
}

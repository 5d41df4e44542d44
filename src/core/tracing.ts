import type { HubError } from './errors.ts';
import type { Edits } from './json/text.ts';

/**
 * What tells where requests spend their time (OpenTelemetry, `telemetry/`). Undefined where nothing is exported: then
 * no request is looked at, and none is changed. Functions need no `this`, are quick and do not throw.
 */
export interface Tracing {
  /** A request of a client has arrived. */
  readonly request: (asked: TracedRequest) => RequestTrace;
  /** The hub does something for no request, such as renewing a token. `attributes` hold nothing that a caller wrote. */
  readonly work: (name: string, attributes: SpanAttributes) => Part;
  /** A session is over that lasted so long. */
  readonly sessionEnded: (session: EndedSession, ms: number) => void;
}

export interface EndedSession {
  /** With this server; undefined: of a client. */
  readonly server: string | undefined;
  readonly revision: string | undefined;
  /** Why it broke off, in a word of which there are few; undefined: one of its sides has ended it. */
  readonly error: string | undefined;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface TracedRequest {
  readonly method: string;
  /** The tool or prompt that it names, where there is one of that name; no other name reaches a span. */
  readonly target: string | undefined;
  /** As JSON text. */
  readonly id: string;
  readonly sessionId: string | undefined;
  /** The revision of the protocol that its client speaks, where it is known. */
  readonly revision: string | undefined;
  /** What its sender says of its own trace, not checked. */
  readonly parent: { readonly traceparent: unknown; readonly tracestate: unknown } | undefined;
  /** The request in the middle of which the hub makes this one. */
  readonly within: RequestTrace | undefined;
}

/** A request of a client in its trace, from its arrival to its answer. */
export interface RequestTrace {
  /** Set where the request is recorded: the trace and the span that a figure can point to. */
  readonly recorded: SpanId | undefined;
  /** Whether `failed` and `end` do anything: of most requests nothing is recorded or counted. */
  readonly isWatched: boolean;
  /** It goes to a server. */
  call(called: TracedCall): CallTrace;
  /** A part of the work that the hub does itself. */
  part(name: string, attributes: SpanAttributes): Part;
  /** It is answered with an error; the last one counts. */
  failed(failure: Failure): void;
  /** It is answered. Later calls do nothing. */
  end(): void;
}

export interface SpanId {
  readonly traceId: string;
  readonly spanId: string;
}

/** How something failed, in words that hold nothing of arguments, results or what a server said. */
export interface Failure {
  /** Of few values: `timeout`, `tool_error`, the code of a JSON-RPC error. */
  readonly type: string;
  /** The code of the JSON-RPC error. */
  readonly code?: number | undefined;
  /** The hub's own name of it (`core/errors.ts`). */
  readonly reason?: string | undefined;
}

export interface TracedCall {
  readonly server: string;
  readonly method: string;
  /** The tool or prompt by the server's own name; undefined for what has an address. */
  readonly target: string | undefined;
  /** The revision that the server speaks, where it is known. */
  readonly revision: string | undefined;
}

/** The server's part of a request. */
export interface CallTrace {
  /** What goes on to the server; undefined: the request stays as it is. */
  readonly handedOn: TraceContext | undefined;
  /** The server asks the client something in the middle of it; `method` is one of MCP's. */
  asks(method: string): Part;
  /** The server has answered, or the hub has given up. Later calls do nothing. */
  end(failure?: Failure): void;
}

export interface Part {
  /** `more` is added to what it began with. Later calls do nothing. */
  end(failure?: Failure, more?: SpanAttributes): void;
}

/** W3C Trace Context, as it travels in `_meta` (SEP-414) and in headers. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

/** The names of its members: of `_meta`, and of headers. */
export const traceKeys = { parent: 'traceparent', state: 'tracestate' } as const;

/** Members of a `_meta` that has no others, as JSON text. */
export function traceMembers({ traceparent, tracestate }: TraceContext): string {
  const parent = `"${traceKeys.parent}":"${traceparent}"`;
  return tracestate === undefined ? parent : `${parent},"${traceKeys.state}":${JSON.stringify(tracestate)}`;
}

/**
 * The changes of a `_meta`. The state of a trace that does not go on is taken out: it belongs to the parent that it
 * came with.
 */
export function traceEdits({ traceparent, tracestate }: TraceContext): Edits {
  return {
    [traceKeys.parent]: `"${traceparent}"`,
    [traceKeys.state]: tracestate === undefined ? null : JSON.stringify(tracestate),
  };
}

/** What of a refusal or failure of the hub is told. */
export function failureOf(error: unknown): Failure {
  if (!isHubError(error)) return { type: '-32603', code: -32603 };
  const { code: reason, rpcCode: code } = error;
  return { type: String(code), code, reason };
}

/** The same for the server's part of a request: nothing was answered that has a code. */
export function callFailureOf({ code }: HubError): Failure {
  return { type: code };
}

function isHubError(error: unknown): error is HubError {
  return error instanceof Error && 'rpcCode' in error;
}

import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Tracer } from '@opentelemetry/api';
import type {
  CallTrace,
  Failure,
  Part,
  RequestTrace,
  SpanAttributes,
  SpanId,
  TraceContext,
  TracedCall,
  TracedRequest,
  Tracing,
} from '../core/tracing.ts';
import type { Operations } from '../metrics/operations.ts';
import { newSpanId, newTraceId } from './ids.ts';
import { telemetryLimits } from './limits.ts';
import type { Sampling } from './sampling.ts';
import { readTraceParent, type TraceParent } from './trace-parent.ts';

export interface TracingOptions {
  /** Undefined where no traces are exported: requests are only counted then. */
  readonly traces:
    | {
        /** Makes a span that is recorded; a root gets this trace id. */
        readonly start: (traceId: string, ...span: Parameters<Tracer['startSpan']>) => Span;
        readonly sampling: Sampling;
        /** Traces of callers go on in the hub, and those of the hub at servers. */
        readonly propagates: boolean;
      }
    | undefined;
  /** Undefined where no metrics are exported. */
  readonly operations: Pick<Operations, 'count'> | undefined;
  /** How a server is reached. */
  readonly transport: (server: string) => 'pipe' | 'tcp' | undefined;
}

/** Spans and durations of requests, by the names of the MCP conventions (decisions/0078). */
export function createTracing(options: TracingOptions): Tracing {
  return {
    request(asked) {
      if (!options.traces) return new Request(asked, options, undefined);
      return new Request(asked, options, placeOf(asked, options.traces));
    },
    work(name, attributes) {
      const { traces } = options;
      const traceId = newTraceId();
      if (!traces?.sampling(traceId, undefined)) return noPart;
      return new RecordedPart(traces.start(traceId, name, { kind: SpanKind.CLIENT, attributes }, ROOT_CONTEXT));
    },
  };
}

type Traces = NonNullable<TracingOptions['traces']>;

/** Where in which trace a request is; undefined `span`: it is not recorded. */
interface Place {
  readonly traceId: string;
  readonly spanId: string;
  readonly tracestate: string | undefined;
  readonly span: Span | undefined;
}

function placeOf(asked: TracedRequest, traces: Traces): Place {
  const parent = asked.within instanceof Request ? asked.within.parent : parentOf(asked, traces);
  const traceId = parent?.traceId ?? newTraceId();
  const tracestate = parent?.tracestate;
  const isSampled = asked.within ? parent?.isSampled === true : traces.sampling(traceId, parent);
  if (!isSampled) return { traceId, spanId: newSpanId(), tracestate, span: undefined };
  const kind = asked.within ? SpanKind.INTERNAL : SpanKind.SERVER;
  const attributes = requestAttributes(asked);
  const span = traces.start(traceId, nameOf(asked), { kind, attributes }, parent ? contextOf(parent) : ROOT_CONTEXT);
  return { traceId, spanId: span.spanContext().spanId, tracestate, span };
}

function parentOf({ parent }: TracedRequest, { propagates }: Traces): TraceParent | undefined {
  return parent && propagates ? readTraceParent(parent.traceparent, parent.tracestate) : undefined;
}

function contextOf({ traceId, spanId, isSampled, tracestate }: TraceParent): Context {
  const state = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  const traceFlags = isSampled ? 1 : 0;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true, ...state });
}

class Request implements RequestTrace {
  readonly #asked: TracedRequest;
  readonly #options: TracingOptions;
  readonly #place: Place | undefined;
  readonly #startedAt = performance.now();
  #failure: Failure | undefined;
  #isOver = false;

  constructor(asked: TracedRequest, options: TracingOptions, place: Place | undefined) {
    this.#asked = asked;
    this.#options = options;
    this.#place = place;
  }

  get recorded(): SpanId | undefined {
    return this.#place?.span && this.#place;
  }

  /** For what the hub does in the middle of it. */
  get parent(): TraceParent | undefined {
    if (!this.#place) return undefined;
    // Written out: spreading it would cost more than the rest of a call that is not recorded.
    const { traceId, spanId, tracestate, span } = this.#place;
    return { traceId, spanId, tracestate, isSampled: span !== undefined };
  }

  call(called: TracedCall): CallTrace {
    return new Call(called, this.#options, this.#place, this.#place?.span && this.parent);
  }

  part(name: string, attributes: SpanAttributes): Part {
    const { traces } = this.#options;
    const { parent } = this;
    if (!traces || !parent?.isSampled) return noPart;
    return new RecordedPart(traces.start(parent.traceId, name, { attributes }, contextOf(parent)));
  }

  failed(failure: Failure): void {
    this.#failure = failure;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { method, target } = this.#asked;
    const error = this.#failure?.type;
    // What code calls is a part of the request that runs it.
    if (!this.#asked.within) {
      const operation = { method: knownMethod(method), target, server: undefined, error };
      this.#options.operations?.count(operation, performance.now() - this.#startedAt, false);
    }
    if (this.#place?.span) endSpan(this.#place.span, this.#failure);
  }
}

class Call implements CallTrace {
  readonly #called: TracedCall;
  readonly #options: TracingOptions;
  readonly #startedAt = performance.now();
  readonly #span: Span | undefined;
  readonly handedOn: TraceContext | undefined;
  #isOver = false;

  constructor(called: TracedCall, options: TracingOptions, place: Place | undefined, parent: TraceParent | undefined) {
    this.#called = called;
    this.#options = options;
    const { traces } = options;
    if (!traces || !place) return;
    if (parent) {
      const attributes = callAttributes(called, options.transport(called.server));
      const span = { kind: SpanKind.CLIENT, attributes };
      this.#span = traces.start(place.traceId, nameOf(called), span, contextOf(parent));
    }
    if (!traces.propagates) return;
    // Of what is not recorded, the server is told that as well: it is to record no part of it.
    const spanId = this.#span?.spanContext().spanId ?? place.spanId;
    const traceparent = `00-${place.traceId}-${spanId}-0${this.#span ? 1 : 0}`;
    this.handedOn = { traceparent, tracestate: place.tracestate };
  }

  end(failure?: Failure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { method, target, server } = this.#called;
    const operation = { method: knownMethod(method), target, server, error: failure?.type };
    this.#options.operations?.count(operation, performance.now() - this.#startedAt, true);
    if (this.#span) endSpan(this.#span, failure);
  }
}

class RecordedPart implements Part {
  readonly #span: Span;

  constructor(span: Span) {
    this.#span = span;
  }

  end(failure?: Failure, more?: SpanAttributes): void {
    if (!this.#span.isRecording()) return;
    if (more) this.#span.setAttributes(more);
    endSpan(this.#span, failure);
  }
}

const noPart: Part = { end() {} };

/** Without the message of an error, which may quote arguments. */
function endSpan(span: Span, failure: Failure | undefined): void {
  if (failure) {
    const { type, code, reason } = failure;
    span.setAttribute('error.type', type);
    if (code !== undefined) span.setAttribute('rpc.response.status_code', String(code));
    if (reason !== undefined) span.setAttribute('toolhub.error', reason);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function nameOf({ method, target }: Pick<TracedRequest, 'method' | 'target'>): string {
  const known = knownMethod(method);
  return target === undefined ? known : `${known} ${target}`;
}

function requestAttributes({ method, target, id, sessionId, revision, within }: TracedRequest): SpanAttributes {
  return {
    ...common(method, target, revision),
    ...(id !== 'null' && { 'jsonrpc.request.id': id.replace(/^"|"$/g, '').slice(0, telemetryLimits.idChars) }),
    ...(sessionId !== undefined && { 'mcp.session.id': sessionId }),
    ...(within === undefined && { 'network.transport': 'tcp', 'network.protocol.name': 'http' }),
  };
}

function callAttributes(
  { server, method, target, revision }: TracedCall,
  transport: 'pipe' | 'tcp' | undefined,
): SpanAttributes {
  return {
    ...common(method, target, revision),
    'toolhub.server.name': server,
    ...(transport !== undefined && { 'network.transport': transport }),
    ...(transport === 'tcp' && { 'network.protocol.name': 'http' }),
  };
}

function common(method: string, target: string | undefined, revision: string | undefined): SpanAttributes {
  const isCall = method === 'tools/call';
  return {
    'mcp.method.name': knownMethod(method),
    ...(isCall && { 'gen_ai.operation.name': 'execute_tool' }),
    ...(target !== undefined && { [isCall ? 'gen_ai.tool.name' : 'gen_ai.prompt.name']: target }),
    ...(revision !== undefined && { 'mcp.protocol.version': revision.slice(0, telemetryLimits.idChars) }),
  };
}

/** Others are the caller's own words, and there may be any number of them. */
function knownMethod(method: string): string {
  return methods.has(method) ? method : '_OTHER';
}

const methods: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'logging/setLevel',
  'completion/complete',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/get',
  'tasks/list',
  'tasks/cancel',
  'tasks/result',
  'tasks/update',
]);

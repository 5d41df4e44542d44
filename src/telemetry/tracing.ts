import { type Attributes, SpanKind } from '@opentelemetry/api';
import type {
  CallTrace,
  EndedSession,
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
import type { Operation, Operations } from '../metrics/operations.ts';
import { newIds, newTraceId } from './ids.ts';
import { telemetryLimits } from './limits.ts';
import type { Sampling } from './sampling.ts';
import { RecordedSpan, type SpanEnded, SpanForm } from './spans.ts';
import { readTraceParent, type TraceParent } from './trace-parent.ts';

export interface TracingOptions {
  /** Undefined where no traces are exported: requests are only counted then. */
  readonly traces:
    | {
        readonly ended: SpanEnded;
        readonly sampling: Sampling;
        /** Traces of callers go on in the hub, and those of the hub at servers. */
        readonly propagates: boolean;
      }
    | undefined;
  /** Undefined where no metrics are exported. */
  readonly operations: Pick<Operations, 'count' | 'countSent' | 'sessionEnded'> | undefined;
  /** How a server is reached. */
  readonly transport: (server: string) => 'pipe' | 'tcp' | undefined;
}

type Traces = NonNullable<TracingOptions['traces']> & { readonly forms: SpanForms };

/**
 * Spans and durations of requests, by the names of the MCP conventions (decisions/0078). Nearly all requests are not
 * recorded: of these only what is counted and handed on is made.
 */
export function createTracing(options: TracingOptions): Tracing {
  const { operations, transport } = options;
  const traces = options.traces && { ...options.traces, forms: new SpanForms() };
  return {
    request(asked) {
      if (!traces) return new Request(asked, options, undefined);
      const { within } = asked;
      const parent = within instanceof Request ? within.place : parentOf(asked, traces);
      if (!parent) return atRoot(asked, options, traces);
      const { traceId, isSampled } = parent;
      if (within ? isSampled : traces.sampling(traceId, parent))
        return new RecordedRequest(asked, options, { traces, traceId, parent });
      return new Request(asked, options, isSampled ? { ...parent, isSampled: false } : parent);
    },
    work(name, attributes) {
      const traceId = newTraceId();
      if (!traces?.sampling(traceId, undefined)) return noPart;
      const form = new SpanForm(name, SpanKind.CLIENT, { ...attributes });
      return new RecordedSpan({ form, traceId, parent: undefined }, traces.ended);
    },
    sessionEnded(session, ms) {
      operations?.sessionEnded(endedSession(session, transport), ms);
    },
  };
}

function atRoot(asked: TracedRequest, options: TracingOptions, traces: Traces): RequestTrace {
  const ids = newIds();
  const { traceId, sign } = ids;
  return traces.sampling(traceId, undefined, sign)
    ? new RecordedRequest(asked, options, { traces, traceId, parent: undefined })
    : new Request(asked, options, ids);
}

function parentOf({ parent }: TracedRequest, { propagates }: Traces): TraceParent | undefined {
  return parent && propagates ? readTraceParent(parent.traceparent, parent.tracestate) : undefined;
}

/** A request that is not recorded. */
class Request implements RequestTrace {
  /** Undefined where no traces are exported. */
  readonly place: TraceParent | undefined;
  protected readonly options: TracingOptions;
  readonly #counted: Counted | undefined;
  #failure: Failure | undefined;
  #isOver = false;

  constructor(asked: TracedRequest, options: TracingOptions, place: TraceParent | undefined) {
    this.options = options;
    this.place = place;
    // What code calls is a part of the request that runs it.
    if (options.operations && !asked.within)
      this.#counted = new Counted(knownMethod(asked.method), asked.target, undefined);
  }

  get recorded(): SpanId | undefined {
    return undefined;
  }

  get isWatched(): boolean {
    return this.#counted !== undefined;
  }

  call(called: TracedCall): CallTrace {
    return new Call(called, this.options, this.place);
  }

  part(_name: string, _attributes: SpanAttributes): Part {
    return noPart;
  }

  failed(failure: Failure): void {
    this.#failure = failure;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const counted = this.#counted;
    if (counted) this.options.operations?.count(counted, this.#failure?.type, counted.ms);
    this.ended(this.#failure);
  }

  protected ended(_failure: Failure | undefined): void {}
}

/** The server's part of one. */
class Call implements CallTrace {
  readonly handedOn: TraceContext | undefined;
  protected readonly options: TracingOptions;
  protected readonly server: string;
  readonly #counted: Counted | undefined;
  #isOver = false;

  /** `place`: what the server's span has as its parent. */
  constructor(called: TracedCall, options: TracingOptions, place: TraceParent | undefined) {
    this.options = options;
    this.server = called.server;
    if (options.operations) this.#counted = new Counted(knownMethod(called.method), called.target, called.server);
    // Of what is not recorded, the server is told that as well: it is to record no part of it.
    if (place && options.traces?.propagates) this.handedOn = contextOf(place);
  }

  asks(method: string): Part {
    const { operations } = this.options;
    return operations ? new CountedPart(method, this.server, operations) : noPart;
  }

  end(failure?: Failure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const counted = this.#counted;
    if (counted) this.options.operations?.countSent(counted, failure?.type, counted.ms);
    this.ended(failure);
  }

  protected ended(_failure: Failure | undefined): void {}
}

/** Where a span that is made belongs. */
interface Within {
  readonly traces: Traces;
  readonly traceId: string;
  readonly parent: TraceParent | undefined;
}

class RecordedRequest extends Request {
  readonly #span: RecordedSpan;
  readonly #traces: Traces;

  constructor(asked: TracedRequest, options: TracingOptions, { traces, traceId, parent }: Within) {
    const form = traces.forms.ofRequest(asked);
    const span = new RecordedSpan({ form, traceId, parent, own: ownAttributes(asked) }, traces.ended);
    super(asked, options, span);
    this.#span = span;
    this.#traces = traces;
  }

  override get recorded(): SpanId {
    return this.#span;
  }

  override get isWatched(): boolean {
    return true;
  }

  override call(called: TracedCall): CallTrace {
    return new RecordedCall(called, this.options, this.#traces, this.#span);
  }

  override part(name: string, attributes: SpanAttributes): Part {
    const form = new SpanForm(name, SpanKind.INTERNAL, { ...attributes });
    return new RecordedSpan({ form, traceId: this.#span.traceId, parent: this.#span }, this.#traces.ended);
  }

  protected override ended(failure: Failure | undefined): void {
    this.#span.end(failure);
  }
}

class RecordedCall extends Call {
  readonly #span: RecordedSpan;
  readonly #traces: Traces;

  constructor(called: TracedCall, options: TracingOptions, traces: Traces, parent: RecordedSpan) {
    const form = traces.forms.ofCall(called, options.transport(called.server));
    const span = new RecordedSpan({ form, traceId: parent.traceId, parent }, traces.ended);
    super(called, options, span);
    this.#span = span;
    this.#traces = traces;
  }

  override asks(method: string): Part {
    const counted = super.asks(method);
    const attributes = { 'mcp.method.name': method, 'toolhub.server.name': this.server };
    const form = new SpanForm(method, SpanKind.CLIENT, attributes);
    const { traceId } = this.#span;
    const span = new RecordedSpan({ form, traceId, parent: this.#span }, this.#traces.ended);
    return {
      end(failure) {
        counted.end(failure);
        span.end(failure);
      },
    };
  }

  protected override ended(failure: Failure | undefined): void {
    this.#span.end(failure);
  }
}

const noPart: Part = { end() {} };

/** What is counted of something that began just now. */
class Counted implements Operation {
  readonly method: string;
  readonly target: string | undefined;
  readonly server: string | undefined;
  readonly #startedAt = performance.now();

  /** `method`: of few values. */
  constructor(method: string, target: string | undefined, server: string | undefined) {
    this.method = method;
    this.target = target;
    this.server = server;
  }

  get ms(): number {
    return performance.now() - this.#startedAt;
  }
}

class CountedPart extends Counted implements Part {
  readonly #operations: Pick<Operations, 'countSent'>;
  #isOver = false;

  constructor(method: string, server: string, operations: Pick<Operations, 'countSent'>) {
    super(method, undefined, server);
    this.#operations = operations;
  }

  end(failure?: Failure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#operations.countSent(this, failure?.type, this.ms);
  }
}

function endedSession({ server, revision, error }: EndedSession, transportTo: TracingOptions['transport']) {
  const transport = server === undefined ? 'tcp' : transportTo(server);
  return { server, revision: revision === undefined ? undefined : cut(revision), error, transport };
}

function contextOf({ traceId, spanId, tracestate, isSampled }: TraceParent): TraceContext {
  return { traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`, tracestate };
}

/** By what spans of one tool or prompt differ, but for what is each span's own. */
interface Alike {
  readonly method: string;
  readonly revision: string | undefined;
  /** Undefined for requests, which the hub itself answers. */
  readonly server: string | undefined;
  /** Undefined for a request that code makes. */
  readonly transport: 'pipe' | 'tcp' | undefined;
}

/** What requests to the same tool, and its calls, have alike. Names of tools and revisions come and go. */
class SpanForms {
  /** By tool or prompt: of each there are few, and a text to look all of it up by would have to be made. */
  readonly #known = new Map<string | undefined, (Alike & { readonly form: SpanForm })[]>();
  #count = 0;

  ofRequest(asked: TracedRequest): SpanForm {
    const transport = asked.within ? undefined : 'tcp';
    const [method, revision] = [knownMethod(asked.method), shortRevision(asked)];
    return this.#of(asked.target, { method, revision, server: undefined, transport });
  }

  ofCall({ server, method, target, revision }: TracedCall, transport: 'pipe' | 'tcp' | undefined): SpanForm {
    return this.#of(target, { method: knownMethod(method), revision, server, transport });
  }

  #of(target: string | undefined, alike: Alike): SpanForm {
    const { method, revision, server, transport } = alike;
    for (const one of this.#known.get(target) ?? [])
      if (one.server === server && one.method === method && one.revision === revision && one.transport === transport)
        return one.form;
    if (this.#count >= telemetryLimits.spanForms) {
      this.#known.clear();
      this.#count = 0;
    }
    this.#count++;
    const form = formOf(target, alike);
    const known = this.#known.get(target);
    if (known) known.push({ ...alike, form });
    else this.#known.set(target, [{ ...alike, form }]);
    return form;
  }
}

function formOf(target: string | undefined, { method, revision, server, transport }: Alike): SpanForm {
  const attributes = common(method, target, revision);
  if (server !== undefined) attributes['toolhub.server.name'] = server.slice(0, telemetryLimits.attributeChars);
  addTransport(attributes, transport);
  const kind = server !== undefined ? SpanKind.CLIENT : transport ? SpanKind.SERVER : SpanKind.INTERNAL;
  return new SpanForm(target === undefined ? method : `${method} ${target}`, kind, attributes);
}

/** What is longer is none, and would be kept with what has it. */
function shortRevision({ revision }: Pick<TracedRequest, 'revision'>): string | undefined {
  return revision !== undefined && revision.length <= telemetryLimits.idChars ? revision : undefined;
}

function addTransport(attributes: Attributes, transport: 'pipe' | 'tcp' | undefined): void {
  if (transport !== undefined) attributes['network.transport'] = transport;
  if (transport === 'tcp') attributes['network.protocol.name'] = 'http';
}

function ownAttributes({ id, sessionId }: TracedRequest): Attributes {
  const own: Attributes = {};
  if (id !== 'null') own['jsonrpc.request.id'] = cut(id.startsWith('"') ? id.slice(1, -1) : id);
  if (sessionId !== undefined) own['mcp.session.id'] = cut(sessionId);
  return own;
}

function common(method: string, target: string | undefined, revision: string | undefined): Attributes {
  const attributes: Attributes = { 'mcp.method.name': method };
  const isCall = method === 'tools/call';
  if (isCall) attributes['gen_ai.operation.name'] = 'execute_tool';
  if (target !== undefined)
    attributes[isCall ? 'gen_ai.tool.name' : 'gen_ai.prompt.name'] = target.slice(0, telemetryLimits.attributeChars);
  if (revision !== undefined) attributes['mcp.protocol.version'] = revision;
  return attributes;
}

const cut = (text: string): string => text.slice(0, telemetryLimits.idChars);

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

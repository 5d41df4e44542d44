import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { atEnd } from './at-end.ts';
import { until } from './until.ts';

/** A span as the collector was sent it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  readonly isError: boolean;
  readonly tracestate: string | undefined;
  readonly ms: number;
  /** `service.instance.id`: the hub that it is of. */
  readonly instance: string;
}

export interface Collector {
  /** For `OTEL_*` variables of a hub: everything goes here, at once, as JSON. */
  readonly env: Record<string, string>;
  readonly url: string;
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[];
  spans(): ReceivedSpan[];
  /** Waits for a span that is like this. */
  span(like: Partial<ReceivedSpan>): Promise<ReceivedSpan>;
  /** The last value of each metric by name. */
  metrics(): Map<string, OtlpMetric>;
  /** The texts of log entries. */
  logs(): string[];
  /** From now on it answers with this status. */
  answer(status: number): void;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface OtlpMetric {
  readonly name: string;
  readonly histogram?: { readonly dataPoints: { attributes: OtlpAttribute[]; count: number }[] };
  readonly sum?: { readonly dataPoints: { attributes: OtlpAttribute[] }[] };
  readonly gauge?: { readonly dataPoints: { attributes: OtlpAttribute[] }[] };
}

interface OtlpSpan {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  attributes: OtlpAttribute[];
  status: { code?: number };
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

interface Body {
  resourceSpans?: { resource: { attributes: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
  resourceMetrics?: { scopeMetrics: { metrics: OtlpMetric[] }[] }[];
  resourceLogs?: { scopeLogs: { logRecords: { body: { stringValue: string } }[] }[] }[];
}

/** A collector of OpenTelemetry that keeps what it is sent. */
export async function collector(): Promise<Collector> {
  const requests: Collector['requests'] = [];
  let status = 200;
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bodies = (): Body[] =>
    requests
      .filter(({ headers }) => headers['content-type'] === 'application/json')
      .map(({ body }) => JSON.parse(body.toString()) as Body);
  const spans = () =>
    bodies()
      .flatMap(({ resourceSpans = [] }) => resourceSpans)
      .flatMap(({ resource, scopeSpans }) => {
        const instance = attributesOf(resource.attributes)['service.instance.id'] ?? '';
        return scopeSpans.flatMap((scope) => scope.spans.map((span) => spanOf(span, instance)));
      });
  const metrics = () =>
    bodies()
      .flatMap(({ resourceMetrics = [] }) => resourceMetrics)
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '20',
      OTEL_BLRP_SCHEDULE_DELAY: '20',
      OTEL_METRIC_EXPORT_INTERVAL: '100',
    },
    url,
    requests,
    spans,
    async span(like) {
      let found: ReceivedSpan | undefined;
      await until(
        `a span like ${JSON.stringify(like)}`,
        () => (found = spans().find((one) => isLike(one, like))) !== undefined,
      );
      if (!found) throw new Error('There is no such span.');
      return found;
    },
    metrics: () => new Map(metrics().map((metric) => [metric.name, metric])),
    logs: () =>
      bodies()
        .flatMap(({ resourceLogs = [] }) => resourceLogs)
        .flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))
        .map(({ body }) => body.stringValue),
    answer: (next) => void (status = next),
  };
}

function spanOf(span: OtlpSpan, instance: string): ReceivedSpan {
  const { name, kind, traceId, spanId, parentSpanId, traceState, attributes, status } = span;
  return {
    name,
    kind: kind === 2 ? 'server' : kind === 3 ? 'client' : 'internal',
    traceId,
    spanId,
    parent: parentSpanId === '' ? undefined : parentSpanId,
    attributes: attributesOf(attributes),
    isError: status.code === 2,
    tracestate: traceState,
    ms: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
    instance,
  };
}

export function attributesOf(attributes: readonly OtlpAttribute[]): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));
}

function isLike(span: ReceivedSpan, like: Partial<ReceivedSpan>): boolean {
  return Object.entries(like).every(([name, value]) => span[name as keyof ReceivedSpan] === value);
}

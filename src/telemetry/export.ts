import { randomUUID } from 'node:crypto';
import type { AnyValueMap } from '@opentelemetry/api-logs';
import { SeverityNumber } from '@opentelemetry/api-logs';
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtoLogs } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtoMetrics } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import { ProtobufTraceSerializer, TraceExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { LogEntry, LogFeed } from '../core/log-entry.ts';
import type { Logger } from '../core/logger.ts';
import type { TelemetryConfig, TelemetrySignal, TelemetryState } from '../core/telemetry.ts';
import type { Tracing } from '../core/tracing.ts';
import { withTimeout } from '../core/with-timeout.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createOperations, type Operations } from '../metrics/operations.ts';
import { createDelivery, type Delivery } from './delivery.ts';
import { telemetryLimits } from './limits.ts';
import { createOtlpPage } from './otlp-page.ts';
import { createSampling } from './sampling.ts';
import { readableSpan } from './readable-span.ts';
import { frontOf, SpanBytes, type SpanOrigin } from './span-bytes.ts';
import { createSpanQueue, type SpanBatch, type SpanQueue } from './span-queue.ts';
import type { RecordedSpan } from './spans.ts';
import { createTracing, type TracingOptions } from './tracing.ts';

// The only place that loads the libraries of OpenTelemetry, and itself loaded only where something is exported.

export interface ExportSources {
  readonly version: string;
  readonly metrics: Pick<Metrics, 'describe'>;
  readonly logs: Pick<LogFeed, 'subscribe'>;
  readonly transport: TracingOptions['transport'];
  readonly log: Logger;
}

export interface Export {
  /** Undefined where only logs are exported. */
  readonly tracing: Tracing | undefined;
  readonly state: () => TelemetryState;
  /** Sends what is left, and waits for that no longer than `telemetryLimits.flushMs`. */
  close(): Promise<void>;
}

/** Begins to export. A collector that is down costs what waits for it and one line in the log. */
export function openExport(config: TelemetryConfig, sources: ExportSources): Export {
  const { version, log } = sources;
  const resource = resourceFromAttributes({
    'service.version': version,
    // Tells replicas apart.
    'service.instance.id': randomUUID(),
    ...config.resource,
  });
  const delivery = createDelivery(log);
  const operations = config.metrics && createOperations();
  const traces = config.traces && openTraces(config.traces, resource, version, delivery);
  const metrics = config.metrics && openMetrics(config.metrics, resource, { ...sources, operations }, delivery);
  const logs = config.logs && openLogs(config.logs, resource, sources, delivery);
  const tracing =
    (traces ?? operations) && createTracing({ traces: traces?.options, operations, transport: sources.transport });
  const open = [traces, metrics, logs];
  return {
    tracing,
    state: delivery.state,
    async close() {
      const closing = open.flatMap((one) => (one ? [one.close()] : []));
      await withTimeout(Promise.allSettled(closing), telemetryLimits.flushMs);
    },
  };
}

type Configured<Signal extends 'traces' | 'metrics' | 'logs'> = NonNullable<TelemetryConfig[Signal]>;

function openTraces(config: Configured<'traces'>, resource: Resource, version: string, delivery: Delivery) {
  const origin: SpanOrigin = { resource, instrumentationScope: { name: 'toolhub', version } };
  const queue =
    config.protocol === 'http/json' ? jsonQueue(config, origin, delivery) : queueOf(config, origin, delivery);
  const traces: TracingOptions['traces'] = {
    ended: queue.ended,
    sampling: createSampling(config.sampler),
    propagates: config.propagates,
  };
  return { options: traces, close: () => queue.close() };
}

function queueOf(config: Configured<'traces'>, origin: SpanOrigin, delivery: Delivery): SpanQueue {
  const front = frontOf(origin);
  const exporter = delivery.watch('traces', new ProtoTraces(exporterOptions(config)), config);
  return createSpanQueue({ open: () => new SpanBytes(front), exporter, everyMs: config.everyMs });
}

/** The library's, but for how the bytes are made. */
class ProtoTraces extends OTLPExporterBase<SpanBytes> {
  constructor(options: ReturnType<typeof exporterOptions>) {
    const http = convertLegacyHttpOptions(options, 'TRACES', 'v1/traces', {
      'Content-Type': 'application/x-protobuf',
    });
    const serializer = { ...ProtobufTraceSerializer, serializeRequest: ({ body }: SpanBytes) => body };
    const counted = { ...TraceExporterMetricsHelper, countItems: ({ count }: SpanBytes) => count };
    super(createOtlpHttpExportDelegate(http, serializer, 'otlp_http_span_exporter', counted, undefined));
  }
}

function jsonQueue(config: Configured<'traces'>, origin: SpanOrigin, delivery: Delivery): SpanQueue {
  const exporter = delivery.watch('traces', new JsonTraces(exporterOptions(config)), config);
  return createSpanQueue({
    open: () => new SpanList(origin),
    exporter: { export: ({ spans }, done) => exporter.export(spans, done), shutdown: () => exporter.shutdown() },
    everyMs: config.everyMs,
  });
}

class SpanList implements SpanBatch {
  readonly spans: ReadableSpan[] = [];
  readonly #origin: SpanOrigin;

  constructor(origin: SpanOrigin) {
    this.#origin = origin;
  }

  get count(): number {
    return this.spans.length;
  }

  add(span: RecordedSpan): boolean {
    const isFull = this.count >= telemetryLimits.batch;
    if (!isFull) this.spans.push(readableSpan(span, this.#origin));
    return !isFull;
  }
}

function openMetrics(
  config: Configured<'metrics'>,
  resource: Resource,
  { metrics, operations, version }: Pick<ExportSources, 'metrics' | 'version'> & { operations: Operations | undefined },
  delivery: Delivery,
) {
  const Exporter = config.protocol === 'http/json' ? JsonMetrics : ProtoMetrics;
  const startedAt = Date.now();
  const reader = new PeriodicExportingMetricReader({
    exporter: delivery.watch('metrics', new Exporter(exporterOptions(config)), config),
    exportIntervalMillis: config.everyMs,
    exportTimeoutMillis: Math.min(config.everyMs, config.timeoutMs),
    metricProducers: [
      {
        async collect() {
          const page = createOtlpPage(startedAt, Date.now());
          await metrics.describe(page);
          operations?.describe(page);
          const scopeMetrics = [{ scope: { name: 'toolhub', version }, metrics: [...page.metrics] }];
          return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
        },
      },
    ],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return { close: () => provider.shutdown() };
}

function openLogs(
  config: Configured<'logs'>,
  resource: Resource,
  { logs, version }: Pick<ExportSources, 'logs' | 'version'>,
  delivery: Delivery,
) {
  const Exporter = config.protocol === 'http/json' ? JsonLogs : ProtoLogs;
  const processor = new BatchLogRecordProcessor({
    exporter: delivery.watch('logs', new Exporter(exporterOptions(config)), config),
    maxQueueSize: telemetryLimits.queued,
    maxExportBatchSize: telemetryLimits.batch,
    scheduledDelayMillis: config.everyMs,
  });
  const provider = new LoggerProvider({ resource, processors: [processor] });
  const logger = provider.getLogger('toolhub', version);
  const stop = logs.subscribe((event) => {
    if (event.type === 'log') logger.emit(recordOf(event.log));
  });
  return {
    async close() {
      stop();
      await provider.shutdown();
    },
  };
}

const severities = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
} as const;

/** As the log has it: without secrets, on one line. */
function recordOf({ timestamp, level, service, message, fields }: LogEntry) {
  const attributes: AnyValueMap = { 'toolhub.log.service': service, ...fields };
  const severity = { severityNumber: severities[level], severityText: level.toUpperCase() };
  return { timestamp: new Date(timestamp), ...severity, body: message, attributes };
}

/** Everything is said: what these libraries read from the environment for themselves has been taken out of it. */
function exporterOptions({ url, headers, timeoutMs, compression }: TelemetrySignal) {
  return { url, headers: { ...headers }, timeoutMillis: timeoutMs, compression: compression as never };
}

import type { z } from 'zod';
import type { TelemetryConfig, TelemetrySignal } from '../core/telemetry.ts';
import { checked, flag, oneOf, timeMs, webUrl, word } from './fields.ts';

export type TelemetryEnv = TelemetryConfig;

const exporter = oneOf('otlp or none', { otlp: 'otlp', none: 'none' } as const).optional();
const protocol = oneOf('http/protobuf or http/json (there is no gRPC here; collectors take HTTP on port 4318)', {
  'http/protobuf': 'http/protobuf',
  'http/json': 'http/json',
} as const).optional();
const compression = oneOf('gzip or none', { gzip: 'gzip', none: 'none' } as const).optional();
const pairs = checked('name=value pairs, separated by commas, with values percent-encoded', word, readPairs).optional();
const endpoint = webUrl.optional();
const timeout = timeMs.optional();

/** The names of OpenTelemetry (Environment Variable Specification), as far as the hub knows them. */
export const telemetryVariables = {
  OTEL_SDK_DISABLED: flag.default(false),
  OTEL_SERVICE_NAME: word.optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs,
  OTEL_TRACES_EXPORTER: exporter,
  OTEL_METRICS_EXPORTER: exporter,
  OTEL_LOGS_EXPORTER: exporter,
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_LOGS_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TIMEOUT: timeout,
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: timeout,
  OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: timeout,
  OTEL_EXPORTER_OTLP_LOGS_TIMEOUT: timeout,
  OTEL_EXPORTER_OTLP_COMPRESSION: compression,
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: compression,
  OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: compression,
  OTEL_EXPORTER_OTLP_LOGS_COMPRESSION: compression,
  OTEL_TRACES_SAMPLER: oneOf(
    'always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or parentbased_traceidratio',
    {
      always_on: { root: 'on', parentBased: false },
      always_off: { root: 'off', parentBased: false },
      traceidratio: { root: 'ratio', parentBased: false },
      parentbased_always_on: { root: 'on', parentBased: true },
      parentbased_always_off: { root: 'off', parentBased: true },
      parentbased_traceidratio: { root: 'ratio', parentBased: true },
    } as const,
  ).default({ root: 'on', parentBased: true }),
  OTEL_TRACES_SAMPLER_ARG: checked('a number from 0 to 1', word, (text) => {
    const ratio = /^\d*\.?\d+$/.test(text) ? Number(text) : undefined;
    return ratio !== undefined && ratio <= 1 ? ratio : undefined;
  }).default(1),
  OTEL_PROPAGATORS: checked('tracecontext, baggage or none, separated by commas', word, readPropagators).default(true),
  OTEL_METRIC_EXPORT_INTERVAL: timeMs.default(60_000),
  OTEL_BSP_SCHEDULE_DELAY: timeMs.default(5_000),
  OTEL_BLRP_SCHEDULE_DELAY: timeMs.default(1_000),
};

/** Their values are credentials, as a rule. */
export const telemetrySecrets = [
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
  'OTEL_EXPORTER_OTLP_LOGS_HEADERS',
] as const;

type Read = Readonly<z.output<z.ZodObject<typeof telemetryVariables>>>;

/** What is exported and where to; undefined where no exporter is set. */
export function telemetryOf(v: Read): TelemetryConfig | undefined {
  if (v.OTEL_SDK_DISABLED) return undefined;
  const [traces, metrics, logs] = [signalOf(v, 'TRACES'), signalOf(v, 'METRICS'), signalOf(v, 'LOGS')];
  if (!traces && !metrics && !logs) return undefined;
  const { OTEL_RESOURCE_ATTRIBUTES: attributes = {}, OTEL_SERVICE_NAME: name } = v;
  const sampler = { ...v.OTEL_TRACES_SAMPLER, ratio: v.OTEL_TRACES_SAMPLER_ARG };
  return {
    traces: traces && { ...traces, sampler, propagates: v.OTEL_PROPAGATORS, everyMs: v.OTEL_BSP_SCHEDULE_DELAY },
    metrics: metrics && { ...metrics, everyMs: v.OTEL_METRIC_EXPORT_INTERVAL },
    logs: logs && { ...logs, everyMs: v.OTEL_BLRP_SCHEDULE_DELAY },
    resource: { 'service.name': 'toolhub', ...attributes, ...(name !== undefined && { 'service.name': name }) },
  };
}

/** An endpoint says that it is wanted, as an exporter does; `none` says that it is not. */
function signalOf(v: Read, signal: 'TRACES' | 'METRICS' | 'LOGS'): Omit<TelemetrySignal, 'everyMs'> | undefined {
  const own = v[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  const common = v.OTEL_EXPORTER_OTLP_ENDPOINT;
  const wanted = v[`OTEL_${signal}_EXPORTER`] ?? ((own ?? common) ? 'otlp' : 'none');
  if (wanted === 'none') return undefined;
  return {
    url: own ?? `${common ?? 'http://localhost:4318'}/v1/${signal.toLowerCase()}`,
    headers: { ...v.OTEL_EXPORTER_OTLP_HEADERS, ...v[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`] },
    protocol: v[`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`] ?? v.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf',
    timeoutMs: v[`OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`] ?? v.OTEL_EXPORTER_OTLP_TIMEOUT ?? 10_000,
    compression: v[`OTEL_EXPORTER_OTLP_${signal}_COMPRESSION`] ?? v.OTEL_EXPORTER_OTLP_COMPRESSION ?? 'none',
  };
}

function readPairs(text: string): Readonly<Record<string, string>> | undefined {
  const found: Record<string, string> = {};
  for (const pair of text.split(',').filter((one) => one.trim() !== '')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0)).trim();
    const value = decoded(pair.slice(at + 1).trim());
    if (name === '' || value === undefined || /[\r\n\0]/.test(value)) return undefined;
    found[name] = value;
  }
  return found;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Whether traces of callers go on; baggage goes on in any case, as everything in `_meta` does. */
function readPropagators(text: string): boolean | undefined {
  const names = text.split(',').map((name) => name.trim());
  if (!names.every((name) => ['tracecontext', 'baggage', 'none'].includes(name))) return undefined;
  return names.includes('tracecontext');
}

import type { Closers } from '../core/closers.ts';
import type { TelemetryState } from '../core/telemetry.ts';
import type { Tracing } from '../core/tracing.ts';
import type { Env } from '../env/env.ts';
import { version } from '../version.ts';
import { type OpenMetrics, openMetrics } from './open-metrics.ts';

export interface Telemetry extends ReturnType<typeof openMetrics> {
  /** Undefined where nothing of requests is exported. */
  readonly tracing: Tracing | undefined;
  /** Undefined where nothing is exported. */
  readonly telemetry: (() => TelemetryState) | undefined;
}

/**
 * What is counted, and traces, metrics and logs for a collector (OpenTelemetry): of that nothing is loaded where no
 * exporter is set.
 */
export async function openTelemetry(
  env: Pick<Env, 'telemetry'>,
  options: OpenMetrics,
  closers: Closers,
): Promise<Telemetry> {
  const { book, settings } = options;
  const counted = openMetrics(options, closers);
  if (!env.telemetry) return { ...counted, tracing: undefined, telemetry: undefined };
  const { openExport } = await import('../telemetry/export.ts');
  const log = book.for('hub');
  const exported = openExport(env.telemetry, {
    version,
    metrics: counted.metrics,
    logs: book,
    log,
    transport(server) {
      const type = settings.current.servers.get(server)?.transport.type;
      return type === undefined || type === 'invalid' ? undefined : type === 'stdio' ? 'pipe' : 'tcp';
    },
  });
  closers.add(() => exported.close());
  const { traces, logs, metrics } = env.telemetry;
  const to = (signal: { readonly url: string } | undefined) => signal && new URL(signal.url).host;
  log.info('telemetry is exported', { traces: to(traces), metrics: to(metrics), logs: to(logs) });
  return { ...counted, tracing: exported.tracing, telemetry: exported.state };
}

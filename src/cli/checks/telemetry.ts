import { errorText } from '../../core/errors.ts';
import type { TelemetryConfig, TelemetrySignal } from '../../core/telemetry.ts';
import { cliLimits } from '../limits.ts';
import type { Check } from './check.ts';

const name = 'telemetry';

/**
 * Sends the collector a message with nothing in it, one for each kind that is exported. Never a failure: the hub works
 * without.
 */
export async function checkTelemetry(config: TelemetryConfig | undefined): Promise<Check[]> {
  if (!config) return [{ name, status: 'ok', detail: 'nothing is exported (no OTEL_* exporter is set)' }];
  const { traces, metrics, logs } = config;
  const kinds = Object.entries({ traces, metrics, logs });
  return Promise.all(kinds.flatMap(([kind, signal]) => (signal ? [checkSignal(kind, signal)] : [])));
}

async function checkSignal(kind: string, { url, headers, protocol }: TelemetrySignal): Promise<Check> {
  const what = `${kind} to ${new URL(url).host}`;
  const isJson = protocol === 'http/json';
  const type = isJson ? 'application/json' : 'application/x-protobuf';
  try {
    const { status, body } = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      headers: { ...headers, 'content-type': type },
      body: isJson ? '{}' : new Uint8Array(),
      signal: AbortSignal.timeout(cliLimits.collectorMs),
    });
    await body?.cancel();
    if (status < 300) return { name, status: 'ok', detail: `${what}: the collector takes them` };
    return { name, status: 'warn', detail: `${what}: the collector answers ${status}`, fix: fixOf(status) };
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return { name, status: 'warn', detail: `${what}: ${errorText(cause).split('\n')[0] ?? ''}`, fix: fixes.away };
  }
}

const fixes = {
  away: 'See that the collector runs and takes OTLP over HTTP (port 4318, as a rule) at OTEL_EXPORTER_OTLP_ENDPOINT.',
  credential: 'Give a credential that it takes in OTEL_EXPORTER_OTLP_HEADERS.',
  address: 'Correct OTEL_EXPORTER_OTLP_ENDPOINT: the address without /v1/traces, which is added.',
};

function fixOf(status: number): string {
  if (status === 401 || status === 403) return fixes.credential;
  return status === 404 || status === 405 ? fixes.address : fixes.away;
}

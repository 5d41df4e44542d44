// The same tools/call at hubs that differ in nothing but what they export to a collector.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { compareHubs } from '../lib/turns.mjs';

export const about = 'CPU time of a call with OpenTelemetry, and without';

const sampled = (ratio) => ({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: ratio });
const only = { OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };
const cases = {
  'the log alone': { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
  'metrics alone': { OTEL_TRACES_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' },
  'traces, none of them': { ...only, ...sampled('0') },
  'traces, 10 % of them': { ...only, ...sampled('0.1') },
  'traces, 10 % of them, metrics and the log': sampled('0.1'),
  'traces, all of them, metrics and the log': {},
};

/**
 * Cases beside `off` at a time. With more of them each has its turn so seldom that fewer calls a second come to it than
 * may wait in the journal (decisions/0087): which hubs write theirs to the database would then be compared.
 */
const atOnce = 2;

export async function run(options) {
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.address().port}` };
  const at = Object.entries(cases).map(([name, env]) => [name, { env: { ...endpoint, ...env } }]);
  try {
    for (let from = 0; from < at.length; from += atOnce)
      await compareHubs({ off: {}, ...Object.fromEntries(at.slice(from, from + atOnce)) }, options);
  } finally {
    collector.closeAllConnections();
    collector.close();
  }
}

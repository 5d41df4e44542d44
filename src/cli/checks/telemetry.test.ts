import { expect, test } from 'vitest';
import { collector } from '../../../test/kit/collector.ts';
import { readEnv } from '../../env/env.ts';
import { checkTelemetry } from './telemetry.ts';

const config = (env: Record<string, string>) => readEnv(env, '/').telemetry;

test('a collector is tried for each kind, in the form that it will be sent', async () => {
  const to = await collector();
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'x-token=its%20token' };
  const found = await checkTelemetry(config({ OTEL_EXPORTER_OTLP_ENDPOINT: to.url, ...headers }));
  expect(found.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  expect(to.requests.map(({ path }) => path).toSorted()).toEqual(['/v1/logs', '/v1/metrics', '/v1/traces']);
  expect(to.requests[0]).toMatchObject({
    headers: { 'content-type': 'application/x-protobuf', 'x-token': 'its token' },
    body: Buffer.alloc(0),
  });
});

test('what is wrong with it is told with what to do, and without the credential', async () => {
  const to = await collector();
  to.answer(401);
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: to.url, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hidden-token' };
  const [refused] = await checkTelemetry(config(env));
  expect(refused).toMatchObject({ status: 'warn', fix: expect.stringContaining('OTEL_EXPORTER_OTLP_HEADERS') });
  expect(JSON.stringify(refused)).not.toContain('hidden-token');
  const [away] = await checkTelemetry(config({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces' }));
  expect(away).toMatchObject({ status: 'warn', fix: expect.stringContaining('4318') });
  expect(await checkTelemetry(undefined)).toMatchObject([{ status: 'ok' }]);
});

import { expect, test } from 'vitest';
import { readEnv } from './env.ts';

const read = (env: Record<string, string>) => readEnv(env, '/').telemetry;

test('nothing is exported while neither an endpoint nor an exporter is set', () => {
  expect(read({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' })).toBeUndefined();
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
  const none = { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', ...none })).toBeUndefined();
});

test('each kind has its own address, headers and form, or those of all', () => {
  const found = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example/base/',
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://logs:1234/own',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=x%2Cy',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=2',
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json',
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=from attributes,team=tools',
  });
  expect(found?.traces).toMatchObject({
    url: 'https://c.example/base/v1/traces',
    headers: { a: '2', b: 'x,y' },
    protocol: 'http/protobuf',
    sampler: { root: 'on', parentBased: true },
  });
  expect(found?.metrics).toMatchObject({ url: 'https://c.example/base/v1/metrics', protocol: 'http/json' });
  expect(found?.logs).toMatchObject({ url: 'http://logs:1234/own', headers: { a: '1', b: 'x,y' } });
  expect(found?.resource).toEqual({ 'service.name': 'from attributes', team: 'tools' });
  expect(read({ OTEL_TRACES_EXPORTER: 'otlp' })).toMatchObject({
    traces: { url: 'http://localhost:4318/v1/traces' },
    metrics: undefined,
    resource: { 'service.name': 'toolhub' },
  });
});

test.each([
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /no gRPC/],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', /parentbased_traceidratio/],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5', /from 0 to 1/],
  ['OTEL_PROPAGATORS', 'b3', /tracecontext/],
  ['OTEL_TRACES_EXPORTER', 'zipkin', /otlp or none/],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a', /name=value/],
])('%s=%s stops the start, and says what is allowed', (name, value, allowed) => {
  expect(() => read({ [name]: value })).toThrow(allowed);
});

test('headers are secrets: not shown where they are malformed, and in no variable that servers may use', () => {
  const name = 'OTEL_EXPORTER_OTLP_HEADERS';
  expect(() => read({ [name]: 'my-token' })).toThrow(/not shown/);
  expect(() => read({ [name]: 'my-token' })).not.toThrow(/my-token/);
  expect(readEnv({ [name]: 'a=my-token' }, '/').variables).not.toHaveProperty(name);
});

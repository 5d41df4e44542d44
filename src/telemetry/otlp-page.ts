import { ValueType, type HrTime } from '@opentelemetry/api';
import { AggregationTemporality, type DataPoint, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import type { DurationsSample, Page, Sample } from '../metrics/page.ts';

/** What `/metrics` shows, and more, as OTLP has it: sums since the hub started. */
export interface OtlpPage extends Page {
  readonly metrics: readonly MetricData[];
}

/** Times in milliseconds since 1970. */
export function createOtlpPage(startedAt: number, now: number): OtlpPage {
  const metrics: MetricData[] = [];
  const aggregationTemporality = AggregationTemporality.CUMULATIVE;
  const [startTime, endTime] = [hrTime(startedAt), hrTime(now)];
  const descriptor = (name: string, description: string, unit: string) => {
    return { name, description, unit, valueType: ValueType.DOUBLE };
  };
  const points = (samples: readonly Sample[]): DataPoint<number>[] =>
    samples.map(([value, attributes = {}]) => ({ startTime, endTime, attributes, value }));

  return {
    metrics,
    counter(name, help, samples) {
      metrics.push({
        descriptor: descriptor(name, help, ''),
        aggregationTemporality,
        dataPointType: DataPointType.SUM,
        isMonotonic: true,
        dataPoints: points(samples),
      });
    },
    gauge(name, help, samples) {
      metrics.push({
        descriptor: descriptor(name, help, ''),
        aggregationTemporality,
        dataPointType: DataPointType.GAUGE,
        dataPoints: points(samples),
      });
    },
    histogram(name, help, samples) {
      metrics.push({
        descriptor: descriptor(name, help, 's'),
        aggregationTemporality,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: samples.map(([durations, attributes = {}]: DurationsSample) => {
          return { startTime, endTime, attributes, value: histogramOf(durations) };
        }),
      });
    },
  };
}

function histogramOf({ bounds, counts, sumSeconds }: DurationsSample[0]) {
  const each = [...counts];
  const count = each.reduce((sum, one) => sum + one, 0);
  return { buckets: { boundaries: [...bounds], counts: each }, sum: sumSeconds, count };
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}

import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Durations, Exemplar } from './durations.ts';

/** A value, and the labels that tell it from others of its name. */
export type Sample = readonly [value: number, labels?: Readonly<Record<string, string>>];

/** What Prometheus reads, made again each time: nothing is kept that could be out of date. */
export interface Page {
  /** What only grows; its name ends with `_total`. */
  counter(name: string, help: string, samples: readonly Sample[]): void;
  gauge(name: string, help: string, samples: readonly Sample[]): void;
  histogram(name: string, help: string, samples: readonly DurationsSample[]): void;
}

export type DurationsSample = readonly [durations: Durations, labels?: Readonly<Record<string, string>>];

/** The two forms of the page; exemplars are in that of OpenMetrics alone. */
export const pageTypes = {
  plain: Registry.PROMETHEUS_CONTENT_TYPE,
  openMetrics: Registry.OPENMETRICS_CONTENT_TYPE,
} as const;

export type PageForm = keyof typeof pageTypes;

export interface TextPage extends Page {
  text(): Promise<string>;
}

export function createPage(form: PageForm): TextPage {
  const registry = newRegistry(form);
  const registers = [registry];
  return {
    counter(name, help, samples) {
      const counter = new Counter({ name, help, labelNames: labelsOf(samples), registers });
      for (const [value, labels = {}] of samples) counter.inc(labels, value);
    },
    gauge(name, help, samples) {
      const gauge = new Gauge({ name, help, labelNames: labelsOf(samples), registers });
      for (const [value, labels = {}] of samples) gauge.set(labels, value);
    },
    histogram(name, help, samples) {
      registry.registerMetric(new CountedHistogram(name, help, samples));
    },
    text: () => registry.metrics(),
  };
}

function newRegistry(form: PageForm): Registry {
  const registry = new Registry();
  registry.setContentType(pageTypes[form] as Registry['contentType']);
  return registry;
}

function labelsOf(samples: readonly Sample[]): string[] {
  return Object.keys(samples[0]?.[1] ?? {});
}

/** One whose durations were counted elsewhere: the library's own takes them one by one, at a microsecond each. */
class CountedHistogram extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #samples: readonly DurationsSample[];

  constructor(name: string, help: string, samples: readonly DurationsSample[]) {
    super({ name, help, registers: [] });
    this.#name = name;
    this.#help = help;
    this.#samples = samples;
  }

  /** What the registry calls for a histogram. */
  async getForPromString() {
    const values = this.#samples.flatMap(([durations, labels = {}]) => linesOf(this.#name, durations, labels));
    return { name: this.#name, help: this.#help, type: 'histogram', values };
  }
}

function linesOf(
  name: string,
  { bounds, counts, sumSeconds, exemplars }: Durations,
  labels: Readonly<Record<string, string>>,
) {
  let count = 0;
  const buckets = [...counts].map((more, i) => {
    count += more;
    const exemplar = exemplars?.[i];
    const bucket = {
      metricName: `${name}_bucket`,
      labels: { ...labels, le: String(bounds[i] ?? '+Inf') },
      value: count,
    };
    return exemplar ? { ...bucket, exemplar: shownExemplar(exemplar) } : bucket;
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sumSeconds },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

function shownExemplar({ traceId, spanId, seconds, at }: Exemplar) {
  return { labelSet: { trace_id: traceId, span_id: spanId }, value: seconds, timestamp: at / 1000 };
}

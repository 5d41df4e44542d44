/** Where one kind of telemetry goes, by OTLP over HTTP. */
export interface TelemetrySignal {
  readonly url: string;
  /** Credentials, as a rule. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: 'http/protobuf' | 'http/json';
  readonly timeoutMs: number;
  readonly compression: 'gzip' | 'none';
  /** How often what was collected is sent. */
  readonly everyMs: number;
}

export interface TraceSampler {
  /** For requests without a parent, and for all where `parentBased` is false. */
  readonly root: 'on' | 'off' | 'ratio';
  readonly ratio: number;
  readonly parentBased: boolean;
}

/** What is exported; at least one of the three is set. */
export interface TelemetryConfig {
  readonly traces: (TelemetrySignal & { readonly sampler: TraceSampler; readonly propagates: boolean }) | undefined;
  readonly metrics: TelemetrySignal | undefined;
  readonly logs: TelemetrySignal | undefined;
  /** What the hub is called, and more that tells it from others. */
  readonly resource: Readonly<Record<string, string>>;
}

/** Whether what was collected last could be delivered, by kind; absent: it is not exported. */
export type TelemetryState = Readonly<Partial<Record<'traces' | 'metrics' | 'logs', 'ok' | 'failing'>>>;

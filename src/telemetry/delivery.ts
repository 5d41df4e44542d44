import type { Logger } from '../core/logger.ts';
import type { TelemetrySignal, TelemetryState } from '../core/telemetry.ts';

type Signal = keyof TelemetryState;

/** What the exporters of the library have in common. */
interface Exporter<Items> {
  export(items: Items, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

export interface Delivery {
  /** The same exporter, whose results are looked at. */
  watch<Items, E extends Exporter<Items>>(signal: Signal, exporter: E & Exporter<Items>, to: TelemetrySignal): E;
  readonly state: () => TelemetryState;
}

/** Whether the collector takes what it is sent. Says so when that changes: once, and not for each try. */
export function createDelivery(log: Logger): Delivery {
  const state: Partial<Record<Signal, 'ok' | 'failing'>> = {};
  return {
    watch(signal, exporter, { url }) {
      state[signal] = 'ok';
      const { host } = new URL(url);
      const send = exporter.export.bind(exporter);
      exporter.export = (items, done) => {
        send(items, (result) => {
          const now = result.code === 0 ? 'ok' : 'failing';
          if (now !== state[signal]) {
            state[signal] = now;
            const error = result.error?.message.slice(0, 200);
            if (now === 'failing') log.warn('the collector takes no telemetry; it is dropped', { signal, host, error });
            else log.info('the collector takes telemetry again', { signal, host });
          }
          done(result);
        });
      };
      return exporter;
    },
    state: () => state,
  };
}

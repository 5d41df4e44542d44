import { describeCalls, describeHub, describeServers } from './hub-metrics.ts';
import { describeProcess } from './process-metrics.ts';
import { watchProcess } from './process.ts';
import type { MetricSources } from './sources.ts';

/** The metrics of one hub, in the text format of Prometheus. */
export interface Metrics {
  /** The values of this moment. They name every server: only for users who may see them all. */
  read(): Promise<{ readonly text: string; readonly type: string }>;
  close(): void;
}

export function createMetrics(sources: MetricSources): Metrics {
  const watched = watchProcess();
  return {
    async read() {
      // The library is loaded only when metrics are read.
      const { createPage, pageType } = await import('./page.ts');
      const facts = await watched.read();
      const page = createPage();
      const states = sources.servers();
      describeCalls(page, sources.calls, states);
      describeServers(page, states);
      describeHub(page, sources);
      describeProcess(page, facts);
      return { text: await page.text(), type: pageType };
    },
    close: () => watched.close(),
  };
}

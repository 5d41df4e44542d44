import { describeCalls, describeHub, describeServers } from './hub-metrics.ts';
import { describeProcess } from './process-metrics.ts';
import { watchProcess } from './process.ts';
import type { Page, PageForm } from './page.ts';
import type { MetricSources } from './sources.ts';

/** The metrics of one hub, in the text format of Prometheus. */
export interface Metrics {
  /** The values of this moment. They name every server: only for users who may see them all. */
  read(form?: PageForm): Promise<{ readonly text: string; readonly type: string }>;
  /** The same, put down elsewhere. */
  describe(page: Page): Promise<void>;
  close(): void;
}

export function createMetrics(sources: MetricSources): Metrics {
  const watched = watchProcess();
  const metrics: Metrics = {
    async read(form = 'plain') {
      // The library is loaded only when metrics are read.
      const { createPage, pageTypes } = await import('./page.ts');
      const page = createPage(form);
      await metrics.describe(page);
      return { text: await page.text(), type: pageTypes[form] };
    },
    async describe(page) {
      const facts = await watched.read();
      const states = sources.servers();
      describeCalls(page, sources.calls, states);
      describeServers(page, states);
      describeHub(page, sources);
      describeProcess(page, facts);
    },
    close: () => watched.close(),
  };
  return metrics;
}

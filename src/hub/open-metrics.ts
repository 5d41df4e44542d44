import type { ByteBudget } from '../core/byte-budget.ts';
import type { Closers } from '../core/closers.ts';
import { createCallCounts } from '../metrics/calls.ts';
import { countLogEntries } from '../metrics/log-entries.ts';
import { mergePages } from '../metrics/merge.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import type { Pool } from '../upstream/connections/pool.ts';
import type { FastPath } from '../wire/fast-path.ts';
import { version } from '../version.ts';
import type { Clients } from './open-clients.ts';
import type { Storage } from './open-storage.ts';
import type { Worker } from './worker.ts';

export interface OpenMetrics extends Pick<Storage, 'book' | 'database' | 'settings' | 'records'> {
  readonly clients: Pick<Clients, 'sessions' | 'streams'>;
  readonly pool: Pool;
  readonly bodies: ByteBudget;
  readonly fastPath: Pick<FastPath, 'connections'>;
  readonly worker: Worker | undefined;
}

/** What is counted, and what else the metrics show. */
export function openMetrics(options: OpenMetrics, closers: Closers) {
  const { book, database, settings, records, clients, pool, bodies, fastPath } = options;
  const counts = createCallCounts((server) => settings.current.servers.has(server));
  settings.subscribe(() => counts.prune());
  const metrics = createMetrics({
    version,
    calls: counts,
    servers: () => pool.states(),
    sessions: () => clients.sessions.liveCount,
    streams: () => ({ mcp: clients.streams.count, log: records.logStream.readers() }),
    connections: () => fastPath.connections,
    bodies: () => bodies,
    database: () => database.state().state,
    rows: () => ({ log: records.logs.counts(), activity: records.activity.counts() }),
    logEntries: countLogEntries(book),
  });
  closers.add(() => metrics.close());
  return { counts, metrics: options.worker ? ofAllWorkers(options.worker, metrics) : metrics };
}

/** One page for all workers. */
function ofAllWorkers(worker: Worker, own: Metrics): Metrics {
  worker.onMetricsAsked(async (form) => (await own.read(form)).text);
  return {
    ...own,
    describe: (page) => own.describe(page),
    async read(form = 'plain') {
      const [{ text, type }, others] = await Promise.all([own.read(form), worker.othersMetrics(form)]);
      const pages = [[worker.number, text] as const, ...others].toSorted(([a], [b]) => a - b);
      return { text: mergePages(new Map(pages)), type };
    },
  };
}

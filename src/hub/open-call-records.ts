import type { ActivitySink } from '../core/activity.ts';
import type { Closers } from '../core/closers.ts';
import { errorText } from '../core/errors.ts';
import type { LoggerFor } from '../core/logger.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { type Arrivals, createArrivals } from '../mcp/arrivals.ts';
import type { EndpointOptions } from '../mcp/endpoint.ts';
import { createCallRecords, type RecordOptions } from '../mcp/records.ts';
import type { Records } from '../logs/records.ts';
import type { Changes } from '../http/dashboard/changes.ts';
import type { SettingsStore } from '../settings/store.ts';

export interface OpenCallRecords extends Pick<RecordOptions, 'counts' | 'clean' | 'hide' | 'audit'> {
  readonly records: { readonly activity: ActivitySink } & Pick<Records, 'news'>;
  readonly settings: Pick<SettingsStore, 'current'>;
  readonly database: DatabaseHandle;
  /** Open pages are told that there is something new. */
  readonly changes: Pick<Changes, 'announce' | 'called'>;
  readonly log: LoggerFor;
}

interface CallRecordParts {
  readonly arrivals: Arrivals;
  readonly forRequests: Pick<EndpointOptions, 'records' | 'introduced'>;
}

const channel = 'client_arrivals';

/** What is kept of calls, and which clients came last: here, and at the other hubs on the same database. */
export function openCallRecords(options: OpenCallRecords, closers: Closers): CallRecordParts {
  const { records, settings, database, changes, log, counts, clean, hide, audit } = options;
  const arrivals = createArrivals({
    changed(told) {
      changes.announce();
      const open = database.current();
      if (open?.kind !== 'postgres') return;
      for (const each of told)
        open
          .notify(channel, each)
          .catch((error: unknown) => log('hub').debug('client not told to other hubs', { error: errorText(error) }));
    },
  });
  const stopHearing = database.listen(channel, (told) => {
    if (told !== undefined) arrivals.hear(told);
  });
  const stopTelling = records.news.subscribe((news) => changes.called(news));
  closers.add(() => {
    stopTelling();
    stopHearing();
    arrivals.close();
  });
  const { activity } = records;
  const kept = createCallRecords({
    activity,
    counts,
    settings: () => settings.current,
    clean,
    hide,
    called: arrivals.called,
    audit,
  });
  return { arrivals, forRequests: { records: kept, introduced: arrivals.note } };
}

import type { Hono } from 'hono';
import type { Logger } from '../../core/logger.ts';
import type { Records } from '../../logs/records.ts';
import type { SettingsStore } from '../../settings/store.ts';
import type { ApiEnv } from '../frame/caller.ts';
import { activitiesRoutes } from './activities.ts';
import { type AuditRoutes, auditRoutes } from './audit.ts';
import { logsRoutes } from './logs.ts';
import { createServerAges } from './server-ages.ts';

export interface RecordResources {
  readonly records: Records;
  readonly audit: AuditRoutes['audit'];
  readonly settings: Pick<SettingsStore, 'current' | 'subscribe'>;
  readonly log: Logger;
}

/** What the hub has kept of itself and of the calls through it. */
export function recordResources({ records, audit, settings, log }: RecordResources): Hono<ApiEnv>[] {
  const { logs, logStream, activity } = records;
  const serverAges = createServerAges(settings.current);
  // For as long as there are settings.
  settings.subscribe((now) => serverAges.update(now));
  return [
    logsRoutes({
      logs,
      stream: logStream,
      settings: () => settings.current,
      since: (server) => serverAges.since(server),
      log,
    }),
    activitiesRoutes({ activity, log }),
    auditRoutes({ audit, log }),
  ];
}

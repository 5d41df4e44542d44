import type { Hono } from 'hono';
import type { Logger } from '../core/logger.ts';
import type { Settings } from '../core/settings.ts';
import type { Records } from '../logs/records.ts';
import { activitiesRoutes } from './activities.ts';
import type { ApiEnv, CallerOptions } from './caller.ts';
import { logsRoutes } from './logs.ts';

export interface RecordResources {
  readonly records: Records;
  readonly settings: () => Settings;
  readonly identify: CallerOptions['identify'];
  readonly log: Logger;
}

/** What the hub has kept of itself and of the calls through it. */
export function recordResources({ records, settings, identify, log }: RecordResources): Hono<ApiEnv>[] {
  const { logs, logStream, activity } = records;
  return [logsRoutes({ logs, stream: logStream, settings, identify, log }), activitiesRoutes({ activity, log })];
}

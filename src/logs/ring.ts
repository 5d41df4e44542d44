import type { LogEntry } from '../core/log-entry.ts';
import { logLimits } from './limits.ts';

/** The newest log entries, in memory. */
export interface LogRing {
  add(entry: LogEntry): void;
  /** Oldest first: `logLimits.logRing`, and besides those `logLimits.securityRing` about security. */
  entries(): readonly LogEntry[];
  clear(): void;
}

/**
 * Entries about security are kept apart from the others. Of those, the entries of a service that logs much do not push
 * out those of others.
 */
export function createLogRing(): LogRing {
  let security: LogEntry[] = [];
  let others: LogEntry[] = [];

  return {
    add(entry) {
      // Cut in batches: moving a whole ring for each entry would cost more than the entry.
      if (entry.security) {
        security.push(entry);
        if (security.length >= logLimits.securityRing * 2) security = security.slice(-logLimits.securityRing);
      } else {
        others.push(entry);
        if (others.length >= logLimits.logRing * 2) others = fairShare(others, logLimits.logRing);
      }
    },
    entries: () =>
      [...security.slice(-logLimits.securityRing), ...fairShare(others, logLimits.logRing)].sort((a, b) => a.id - b.id),
    clear() {
      security = [];
      others = [];
    },
  };
}

/** At most `most` entries: all of services with few, and of the others the newest, equally many of each. */
function fairShare(entries: LogEntry[], most: number): LogEntry[] {
  if (entries.length <= most) return entries;
  const counts = new Map<string, number>();
  for (const { service } of entries) counts.set(service, (counts.get(service) ?? 0) + 1);
  let room = most;
  let services = counts.size;
  let share = 0;
  for (const count of [...counts.values()].sort((a, b) => a - b)) {
    share = Math.max(1, Math.floor(room / services));
    if (count > share) break;
    room -= count;
    services -= 1;
  }
  return entries
    .filter(({ service }) => {
      const newer = counts.get(service) ?? 0;
      counts.set(service, newer - 1);
      return newer <= share;
    })
    .slice(-most);
}

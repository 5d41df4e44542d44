import type { LogEntry } from '../core/log-entry.ts';
import { type LogLevel, logLevels } from '../core/logger.ts';
import { foldCase, readFilter } from './filter-input.ts';
import type { RawFilter } from './filter-input.ts';
import { logLimits } from './limits.ts';

/** The least id of a service's entries that may be seen; undefined when none may. */
export type ReadableFrom = (service: string) => number | undefined;

/** Which entries are wanted (CONTRACT §4, Logs). Filters left out match everything. */
export interface LogFilter {
  /** Exactly these levels. */
  readonly levels?: readonly LogLevel[];
  readonly service?: string;
  /** Part of the message; the case of A–Z does not matter. */
  readonly q?: string;
  /** What the caller may see; checked again for each entry of a stream. */
  readonly readableFrom?: ReadableFrom;
}

export interface LogListing extends LogFilter {
  /** The newest so many; `logLimits.logPage` when left out. */
  readonly limit?: number;
  /** Only entries older than the one with this id. */
  readonly before?: number;
  /** Only entries newer than the one with this id. */
  readonly after?: number;
}

/**
 * Reads `level` (several separated by commas), `service`, `q`, `limit`, `before`, `startDate` and `endDate`. Throws
 * HubError `invalid_input`.
 */
export function parseLogListing(raw: RawFilter): LogListing {
  const read = readFilter(raw);
  const some = read.someOf('level', logLevels);
  const service = read.text('service');
  const q = read.text('q');
  const limit = read.integer('limit', { min: 1, max: logLimits.logPageMost });
  const before = read.integer('before', { min: 0, max: Number.MAX_SAFE_INTEGER });
  const start = read.date('startDate');
  const end = read.date('endDate', 'end');
  read.done('logs');
  // Ids of entries are microseconds, all of one millisecond from its first on.
  const older = end ? Math.min(before ?? Infinity, (end.getTime() + 1) * 1_000) : before;
  return {
    ...(some && { levels: some }),
    ...(service !== undefined && { service }),
    ...(q !== undefined && { q }),
    ...(limit !== undefined && { limit }),
    ...(older !== undefined && { before: older }),
    ...(start && { after: start.getTime() * 1_000 - 1 }),
  };
}

/** The filter as a test for one entry. */
export function matcher({ levels, service, q, readableFrom }: LogFilter): (entry: LogEntry) => boolean {
  const needle = q === undefined ? undefined : foldCase(q);
  return (entry) =>
    (levels === undefined || levels.includes(entry.level)) &&
    (service === undefined || entry.service === service) &&
    (needle === undefined || foldCase(entry.message).includes(needle)) &&
    (readableFrom === undefined || entry.id >= (readableFrom(entry.service) ?? Infinity));
}

/** The listing from entries in memory, oldest first. */
export function selectEntries(entries: readonly LogEntry[], listing: LogListing): LogEntry[] {
  const { before = Infinity, after = -Infinity, limit = logLimits.logPage } = listing;
  const matches = matcher(listing);
  return entries
    .filter((entry) => entry.id < before && entry.id > after && matches(entry))
    .slice(-limit)
    .map(asAnswered);
}

/** The entry as clients get it, whether it comes from memory or from the table. */
export function asAnswered({ id, timestamp, level, service, message }: LogEntry): LogEntry {
  return { id, timestamp, level, service, message };
}

import { type LogLevel, logLevels } from '../core/logger.ts';
import type { JournalCodec } from './journal.ts';
import type { HubEntry } from './log-table.ts';

/**
 * Log entries as lines: `[hub, id, timestamp, level, service, message]`, and `true` behind those of one about security.
 */
export const logJournal: JournalCodec<HubEntry> = {
  encoder:
    () =>
    ({ hub, id, timestamp, level, service, message, security }) =>
      JSON.stringify([hub, id, timestamp, level, service, message, ...(security ? [security] : [])]),
  decoder: () => (line) => {
    const parsed: unknown = JSON.parse(line);
    const [hub, id, timestamp, level, service, message, security] = Array.isArray(parsed) ? (parsed as unknown[]) : [];
    if (!isWhole(hub) || !isWhole(id) || !isTime(timestamp) || !isLevel(level)) throw new TypeError('Not a log entry');
    if (typeof service !== 'string' || typeof message !== 'string') throw new TypeError('Not a log entry');
    return { hub, id, timestamp, level, service, message, ...(security === true && { security }) };
  },
};

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function isLevel(value: unknown): value is LogLevel {
  return logLevels.some((level) => level === value);
}

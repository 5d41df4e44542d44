import type { LogEntry } from '../core/log-entry.ts';
import type { LogLevel } from '../core/logger.ts';

/** One object per line, for collectors: the bare message, the fields apart. */
export function jsonLine(entry: LogEntry, text: string): string {
  const { timestamp, level, service, fields } = entry;
  return JSON.stringify({ timestamp, level, service, message: text, ...(fields && { fields }) });
}

const colours: Record<LogLevel, number> = { debug: 90, info: 36, warn: 33, error: 31 };

/** Width for `server:` and a name of usual length; longer ones move the text to the right. */
const serviceColumn = 18;

/** For people: local time, level and service in columns. */
export function prettyLine(entry: LogEntry, colour: boolean): string {
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const level = paint(colours[entry.level], entry.level.padEnd(5));
  return `${paint(90, localTime(entry.timestamp))} ${level} ${paint(90, entry.service.padEnd(serviceColumn))} ${entry.message}`;
}

function localTime(timestamp: string): string {
  const date = new Date(timestamp);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${timestamp.slice(20, 23)}`;
}

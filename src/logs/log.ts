import type { LogEntry, LogEvent, LogFeed } from '../core/log-entry.ts';
import type { LogFields, Logger, LoggerFor, LogLevel } from '../core/logger.ts';
import { createCleaner } from './clean.ts';
import { jsonLine, prettyLine } from './format.ts';
import { standardOutput } from './output.ts';
import { createLogRing } from './ring.ts';

/** The log of the hub: loggers to write with (`for`), the latest entries, and each new entry. Nothing of it throws. */
export interface LogBook extends LogFeed {
  for: LoggerFor;
  /** The same for entries about security, which are kept when the others are too many. */
  security: LoggerFor;
  /**
   * Replaces the values that must never appear (values of `env` and `headers`, passwords); ones under
   * `logLimits.secretChars` are left alone.
   */
  setSecrets(values: Iterable<string>): void;
  /** Text that came from a server, fit to be shown elsewhere too: without secrets, harmless, on one line. */
  readonly clean: (text: string) => string;
  /** See `Cleaner`. */
  readonly hide: (text: string, chars: number) => string;
  /** Forgets the listeners; later entries still reach the output. */
  close(): void;
}

export interface LogOptions {
  level: LogLevel;
  format: 'pretty' | 'json';
  /** Gets each line without its line break; standard output when left out. */
  write?: (line: string) => void;
  now?: () => number;
  secrets?: Iterable<string>;
  /** Said with every entry. */
  always?: LogFields;
  /** Colours in `pretty` lines; by default when standard output is a terminal that has them. */
  colour?: boolean;
}

const rank: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Opens the log. Entries below `level` are not made at all. */
export function createLog(options: LogOptions): LogBook {
  const output = options.write === undefined ? standardOutput() : { write: options.write, colour: false };
  const colour = options.colour ?? output.colour;
  const now = options.now ?? Date.now;
  const cleaner = createCleaner(options.secrets);
  const listeners = new Set<(event: LogEvent) => void>();
  const ring = createLogRing();
  let lastId = 0;

  function add(service: string, level: LogLevel, said: string, fields: LogFields | undefined, security?: true): void {
    if (rank[level] < rank[options.level]) return;
    const time = now();
    lastId = Math.max(lastId + 1, time * 1000);
    const text = cleaner.clean(said);
    const all = options.always ? { ...options.always, ...fields } : fields;
    const kept = all && cleanFields(all, cleaner.clean);
    const entry: LogEntry = {
      id: lastId,
      timestamp: new Date(time).toISOString(),
      level,
      service: cleaner.clean(service),
      message: cleaner.clean(withFields(text, kept)),
      ...(security && { security }),
      ...(kept && { fields: kept }),
    };
    ring.add(entry);
    output.write(options.format === 'json' ? jsonLine(entry, text) : prettyLine(entry, colour));
    tell({ type: 'log', log: entry });
  }

  function tell(event: LogEvent): void {
    for (const listener of listeners) quietly(() => listener(event));
  }

  function loggerFor(service: string, security?: true): Logger {
    const at =
      (level: LogLevel) =>
      (message: string, fields?: LogFields): void =>
        quietly(() => add(service, level, message, fields, security));
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }

  return {
    for: (service) => loggerFor(service),
    security: (service) => loggerFor(service, true),
    entries: () => ring.entries(),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    setSecrets: cleaner.setSecrets,
    clean: cleaner.clean,
    hide: cleaner.hide,
    clear() {
      ring.clear();
      tell({ type: 'clear' });
    },
    close: () => listeners.clear(),
  };
}

function cleanFields(fields: LogFields, clean: (text: string) => string): LogFields | undefined {
  const kept: LogFields = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) kept[clean(name)] = typeof value === 'string' ? clean(value) : value;
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}

function withFields(text: string, fields: LogFields | undefined): string {
  if (fields === undefined) return text;
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${showValue(value)}`);
  return `${text} ${shown.join(' ')}`;
}

function showValue(value: LogFields[string]): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

/** A log that cannot be written is no reason for a call to fail. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // There is no place left to report this.
  }
}

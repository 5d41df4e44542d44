import type { LogLevel } from '../../../core/logger.ts';
import { isObject } from '../../../core/protocol/rpc.ts';
import { upstreamLimits } from '../../limits.ts';

/** Names of levels as programs write them, in lower case. */
const levels: Readonly<Record<string, LogLevel>> = {
  trace: 'debug',
  debug: 'debug',
  verbose: 'debug',
  info: 'info',
  notice: 'info',
  warn: 'warn',
  warning: 'warn',
  err: 'error',
  error: 'error',
  severe: 'error',
  fatal: 'error',
  critical: 'error',
  panic: 'error',
  // The first letter in klog.
  i: 'info',
  w: 'warn',
  e: 'error',
  f: 'error',
};

const upper = 'TRACE|DEBUG|VERBOSE|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|FATAL|CRITICAL|PANIC';
const any = `${upper}|${upper.toLowerCase()}|Trace|Debug|Info|Notice|Warn|Warning|Error|Fatal|Critical`;

/** Where the level stands in a line; the first that fits counts. */
const places: readonly RegExp[] = [
  // `ERROR message`, `2026-11-25 07:44:59,123 ERROR …`, `[11/25/26 07:44:59] INFO …`
  new RegExp(`^[\\[(]?[\\dTZ:.,/+\\- \\])]*[\\[(<]?(${upper})\\b(?!=)`),
  // `error: message`, `[warn] message`, `2026-11-25T07:44:59Z [info] …`
  new RegExp(`^[\\[(]?[\\dTZ:.,/+\\- \\])]*(?:[\\[(<](${any})[\\])>]|(${any}):)`),
  // `2026-11-25 07:44:59,123 - name - ERROR - message` of Python's logging, `… | WARNING | …` of loguru.
  new RegExp(`^.{0,120}? [-|] *(${upper}) *[-|] `),
  // logfmt
  new RegExp(`\\b(?:level|lvl|severity)=["']?(${any})\\b`),
  /^npm (error|ERR|warn|WARN)\b/,
  /^([IWEF])\d{4} \d\d:\d\d:\d\d/,
];

/** What runtimes print of a failure that nothing caught. */
const uncaught =
  /^(?:Uncaught |Exception in thread |thread '.{0,80}' panicked|Traceback \(most recent call last\):|(?:\w{1,40}\.){0,8}\w{0,40}(?:Error|Exception)(?: \[\w{1,60}\])?: )/;

// oxlint-disable-next-line no-control-regex -- colours are written with them
const colours = /\u001b\[[\d;]{0,12}m/g;

/** The level that a line of a program says it has; `info` where it says none. */
export function lineLevel(line: string): LogLevel {
  const text = line.slice(0, upstreamLimits.reasonLineChars).replace(colours, '').trimStart();
  if (text.startsWith('{')) return levelOfJson(line);
  for (const place of places) {
    const found = place.exec(text);
    const name = found?.slice(1).find((group) => group !== undefined);
    if (name !== undefined) return levels[name.toLowerCase()] ?? 'info';
  }
  return uncaught.test(text) ? 'error' : 'info';
}

/** Of a line of JSON, as pino, bunyan, zap, slog and structlog write it. */
function levelOfJson(line: string): LogLevel {
  let said: unknown;
  try {
    said = JSON.parse(line);
  } catch {
    return 'info';
  }
  if (!isObject(said)) return 'info';
  const level = [said['level'], said['severity'], said['levelname'], said['lvl'], said['log.level']].find(
    (one) => typeof one === 'string' || typeof one === 'number',
  );
  if (typeof level === 'number') return level >= 50 ? 'error' : level >= 40 ? 'warn' : level >= 30 ? 'info' : 'debug';
  const name = typeof level === 'string' ? level.toLowerCase() : '';
  return Object.hasOwn(levels, name) && name.length > 1 ? (levels[name] ?? 'info') : 'info';
}

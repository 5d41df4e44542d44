import { expect, test } from 'vitest';
import { lineLevel } from './line-level.ts';

test.each([
  ['ERROR could not connect', 'error'],
  ['WARN: deprecated', 'warn'],
  ['INFO:root:started', 'info'],
  ['ERROR:mcp.server:no', 'error'],
  ['DEBUG details', 'debug'],
  ['error: unknown option', 'error'],
  ['[warn] slow', 'warn'],
  ['(debug) x', 'debug'],
  ['Warning: x', 'warn'],
  ['2026-11-25 07:44:59,123 - mcp.server.lowlevel - ERROR - failed', 'error'],
  ['2026-11-25 07:44:59.123 | WARNING  | app:main:3 - slow', 'warn'],
  ['2026-11-25T07:44:59.123Z ERROR app::main: no', 'error'],
  ['2026/11/25 07:44:59 [error] no', 'error'],
  ['[11/25/26 07:44:59] INFO     Processing request of type ListTools', 'info'],
  ['[11/25/26 07:44:59] WARNING  slow', 'warn'],
  ['\u001b[31mERROR\u001b[0m red', 'error'],
  ['time=2026-11-25T07:44:59Z level=error msg="no"', 'error'],
  ['E1125 07:44:59.123456       1 main.go:10] no', 'error'],
  ['{"level":50,"msg":"no"}', 'error'],
  ['{"level":20,"msg":"details"}', 'debug'],
  ['{"severity":"WARNING","message":"slow"}', 'warn'],
  ['{"level":"error","ts":1}', 'error'],
  ['{"levelname":"CRITICAL"}', 'error'],
  ['npm error code E404', 'error'],
  ['npm ERR! code E404', 'error'],
  ['npm warn deprecated x', 'warn'],
  ['TypeError: x is not a function', 'error'],
  ['Error [ERR_MODULE_NOT_FOUND]: Cannot find package', 'error'],
  ['requests.exceptions.ConnectionError: no', 'error'],
  ['Traceback (most recent call last):', 'error'],
])('%j is %s', (line, level) => {
  expect(lineLevel(line)).toBe(level);
});

test.each([
  'Server running on stdio',
  '',
  'Information about errors',
  'no errors: 0 warnings',
  'ERRORS 3',
  '    at Module._load (node:internal)',
  '{"level":"e"}',
  '{"level":{}}',
  '{not json',
  '__proto__',
  '{"level":"__proto__"}',
])('%j says no level', (line) => {
  expect(lineLevel(line)).toBe('info');
});

test('long lines without an end cost nothing worth mentioning', () => {
  for (const part of ['1:', ' - ', 'a.', '[', 'Error', 'level=', "thread '"])
    expect(lineLevel(part.repeat(8_000))).toBe('info');
});

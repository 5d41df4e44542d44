import type { Path, Report } from '../document/report.ts';
import { found } from '../document/report.ts';
import { settingsLimits } from '../limits.ts';

const units: Readonly<Record<string, number>> = { '': 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/**
 * Bytes of `routing.jsonBodyLimit` (reference: MCPHub §1.1), which is a number of them or a text like "1mb"; undefined
 * when it is not there, or is no size, which the report then says. A size that is too small or too large does not keep
 * a file of MCPHub from being used: the nearest that can be is taken, with a warning.
 */
export function readBodyLimit(value: unknown, path: Path, report: Report): number | undefined {
  if (value === undefined || value === '') return undefined;
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*([kmg]?b)?$/i.exec(text) ?? [];
  const bytes = number === '' ? Number.NaN : Math.floor(Number(number) * (units[unit.toLowerCase()] ?? Number.NaN));
  const { jsonBodyBytesLeast: least, jsonBodyBytesMost: most } = settingsLimits;
  const range = `from "${least / 1024}kb" to "${most / 1024 ** 2}mb"`;
  if (Number.isNaN(bytes)) {
    report.problem(path, `expected the size of the largest JSON body, ${range} (or bytes), found ${found(value, [])}`);
    return undefined;
  }
  const taken = Math.min(Math.max(bytes, least), most);
  if (taken !== bytes) report.warn(path, `is taken as ${taken} bytes: a limit may be ${range}`);
  return taken;
}

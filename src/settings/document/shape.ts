import { z } from 'zod';
import { coreLimits } from '../../core/limits.ts';
import { problemText, type RangeUnit } from '../../core/problems.ts';
import { settingsLimits } from '../limits.ts';
import { found, type Path } from './report.ts';

/**
 * What the shapes of `mcp_settings.json` (reference §4.1, §4.2) are made of. There is a shape for each kind of entry
 * (`server/server-shape.ts` and so on): its fields, each optional, unknown ones passed over. A shape says what a field
 * may be; what fields mean together is decided by the code beside it that reads them. `null` members are to be dropped
 * before (`withoutNulls`).
 */

export const text = z.string();
export const texts = z.array(z.string());
/** A path that does not depend on the folder the hub was started in; a variable may have it. */
const place = z.string().regex(/^(\/|[A-Za-z]:[\\/]|\$\{)/, 'must be an absolute path');
export const flag = z.boolean();
/** `maxResultTokens`; 0: whole results. */
export const resultTokens = z.union(
  [z.literal(0), range(settingsLimits.resultTokensLeast, settingsLimits.resultTokensMost, 'tokens')],
  {
    error: `expected 0 or a number of tokens from ${settingsLimits.resultTokensLeast} to ${settingsLimits.resultTokensMost}`,
  },
);
export const timeMs = range(1, coreLimits.timerMs, 'milliseconds');
const cpusExpected = `expected a number of processors from ${settingsLimits.sandboxCpusLeast} to ${settingsLimits.sandboxCpusMost}`;
/** A sandbox as the settings have it. */
export const sandboxShape = z.strictObject({
  network: z.enum(['none', 'host']).default('none'),
  read: z.array(place).default([]),
  write: z.array(place).default([]),
  memoryMb: range(settingsLimits.sandboxMemoryLeastMb, settingsLimits.sandboxMemoryMostMb, 'megabytes').optional(),
  cpus: z
    .number({ error: cpusExpected })
    .min(settingsLimits.sandboxCpusLeast, { error: cpusExpected })
    .max(settingsLimits.sandboxCpusMost, { error: cpusExpected })
    .optional(),
  processes: range(1, settingsLimits.sandboxProcessesMost, 'processes').optional(),
});
export const pinMode = z.enum(['off', 'warn', 'hold']);
const secretsMode = z.enum(['allow', 'mask', 'refuse']);
/** `secretsInCalls` of a server, and of all that say nothing of it. */
export const secretsInCallsShape = z.strictObject({
  arguments: secretsMode.optional(),
  results: secretsMode.optional(),
});
export const visibility = z.enum(['private', 'group', 'public']);

/** Numbers and booleans are taken by their text, as every program that starts a process does. */
const scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: (issue) => `expected string, found ${found(issue.input, ['env'])}`,
});
export const scalars = z.record(z.string(), scalar);

/** A whole number; `unit` is for the message. */
export function range(least: number, most: number, unit: RangeUnit) {
  const error = (issue: { readonly input?: unknown; readonly path?: PropertyKey[] | undefined }) => {
    const path: Path = (issue.path ?? []).filter((part) => typeof part !== 'symbol');
    const values = { least: String(least), most: String(most), found: found(issue.input, path) };
    return problemText(`range_${unit}`, values);
  };
  return z.int({ error }).min(least, { error }).max(most, { error });
}

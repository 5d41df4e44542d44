import type { Activity } from '../core/activity.ts';
import { logLimits } from './limits.ts';

/** Failed calls of one server that ended alike, with the same text of the error. */
export interface FailedCalls extends Pick<Activity, 'server' | 'tool' | 'status'> {
  /** Empty where there is none. */
  readonly error: string;
  readonly calls: number;
  /** ISO 8601, as `last`. */
  readonly first: string;
  readonly last: string;
  /** The id of the newest record. */
  readonly latest: string;
}

/** Failed calls of one server that ended alike for the same cause, whichever tool was called. */
export interface FailureCause extends Omit<FailedCalls, 'tool' | 'error'> {
  /** The text of the newest error. */
  readonly cause: string;
  /** The tools, those that failed most first; `logLimits.failedTools` at most. */
  readonly tools: readonly string[];
}

/** What differs from one failure to the next of the same cause: ids, times, long numbers. */
const passing = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{12,}|\d{4,}|\d+(?= ?(?:ms|s)\b)/gi;

/** The same for PostgreSQL, where `\b` is something else. */
export const passingInSql = passing.source.replace(String.raw`\b`, String.raw`\M`);

/** By cause, the most frequent first, `logLimits.failureCauses` at most. */
export function causesOf(failed: readonly FailedCalls[]): FailureCause[] {
  const found = new Map<string, FailedCalls[]>();
  for (const one of failed) {
    const key = JSON.stringify([one.server, one.status, one.error.replace(passing, '…')]);
    const same = found.get(key);
    if (same) same.push(one);
    else found.set(key, [one]);
  }
  const causes = [...found.values()].map(together);
  return causes.sort((a, b) => b.calls - a.calls || (a.last < b.last ? 1 : -1)).slice(0, logLimits.failureCauses);
}

function together(same: readonly FailedCalls[]): FailureCause {
  const newest = same.reduce((a, b) => (a.latest > b.latest ? a : b));
  const byTool = new Map<string, number>();
  for (const { tool, calls } of same) byTool.set(tool, (byTool.get(tool) ?? 0) + calls);
  const tools = [...byTool].sort(([, a], [, b]) => b - a).map(([tool]) => tool);
  return {
    server: newest.server,
    status: newest.status,
    cause: newest.error,
    tools: tools.slice(0, logLimits.failedTools),
    calls: same.reduce((sum, { calls }) => sum + calls, 0),
    first: same.map(({ first }) => first).reduce((a, b) => (a < b ? a : b)),
    last: newest.last,
    latest: newest.latest,
  };
}

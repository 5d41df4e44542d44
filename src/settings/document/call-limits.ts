import { z } from 'zod';
import type { CallLimits } from '../../core/settings/governance.ts';
import { settingsLimits } from '../limits.ts';
import type { Entry } from './document.ts';
import { range } from './shape.ts';

/**
 * `limits` of a user, a key, a group, a server, and `systemConfig.limits.default` (CONTRACT §9). Strict: a limit that
 * is mistyped would be none.
 */
export const callLimitsShape = z.strictObject({
  callsPerMinute: range(1, settingsLimits.callsPerMinuteMost, 'calls').optional(),
  concurrentCalls: range(1, settingsLimits.concurrentCallsMost, 'calls').optional(),
  callsPerDay: range(1, settingsLimits.callsPerDayMost, 'calls').optional(),
});

/** The same in the body of a request, where `null` stands for none. */
export const callLimitsInput = z
  .strictObject({
    callsPerMinute: callLimitsShape.shape.callsPerMinute.nullish(),
    concurrentCalls: callLimitsShape.shape.concurrentCalls.nullish(),
    callsPerDay: callLimitsShape.shape.callsPerDay.nullish(),
  })
  .transform((given): CallLimits => withoutNone(given));

/** Undefined where nothing is limited. */
export function readCallLimits(given: z.output<typeof callLimitsShape> | undefined): CallLimits | undefined {
  const limits = withoutNone(given ?? {});
  return Object.keys(limits).length === 0 ? undefined : limits;
}

/** What a document has at `limits`, as answers show it; undefined for what is none. */
export function callLimitsAnswer(value: unknown): CallLimits | undefined {
  const read = callLimitsShape.safeParse(value);
  return read.success ? readCallLimits(read.data) : undefined;
}

/** Sets the limits of an entry; `null`, or none in them, takes them out. Undefined changes nothing. */
export function setLimits(entry: Entry, limits: CallLimits | null | undefined): void {
  if (limits === undefined) return;
  if (limits === null || Object.keys(limits).length === 0) delete entry['limits'];
  else entry['limits'] = limits;
}

function withoutNone(given: Record<string, number | null | undefined>): CallLimits {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => typeof value === 'number'));
}

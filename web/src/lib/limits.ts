import { isObject } from './json.ts';

/** Limits of calls as fields; empty stands for none. */
export type LimitsDraft = Readonly<Record<LimitName, string>>;
export type LimitName = (typeof limitNames)[number];

export const limitNames = ['callsPerMinute', 'concurrentCalls', 'callsPerDay'] as const;
/** Where the hub says what is wrong with them, in what has `limits`. */
export const limitPaths = limitNames.map((name) => `limits.${name}`);

/** Of what the hub has at `limits`. */
export function limitsDraft(limits: unknown): LimitsDraft {
  const given = isObject(limits) ? limits : {};
  const valueOf = (name: LimitName) => (typeof given[name] === 'number' ? String(given[name]) : '');
  return {
    callsPerMinute: valueOf('callsPerMinute'),
    concurrentCalls: valueOf('concurrentCalls'),
    callsPerDay: valueOf('callsPerDay'),
  };
}

/** What to send; null for no limit at all. */
export function limitsOf(draft: LimitsDraft): Partial<Record<LimitName, number>> | null {
  const given = limitNames.flatMap((name) => (draft[name] === '' ? [] : [[name, Number(draft[name])] as const]));
  return given.length === 0 ? null : Object.fromEntries(given);
}

/** The member `limits` for a request, unless it is as before. */
export function changedLimits(before: unknown, draft: LimitsDraft): { limits?: ReturnType<typeof limitsOf> } {
  const limits = limitsOf(draft);
  return JSON.stringify(limits) === JSON.stringify(limitsOf(limitsDraft(before))) ? {} : { limits };
}

import { z } from 'zod';
import { coreLimits } from '../core/limits.ts';

// The kinds of variables: each reads a text, or says what is allowed; the rest of the sentence is added by `readEnv`.

export const word = z.string().trim();
const yes = { true: true, 1: true, yes: true, on: true };
const no = { false: false, 0: false, no: false, off: false };
export const flag = oneOf('true, 1, yes, on, false, 0, no or off', { ...yes, ...no });
export const timeMs = whole(1, coreLimits.timerMs, 'milliseconds');
export const webUrl = checked('an http:// or https:// address', word, (text) => {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text.replace(/\/+$/, '') : undefined;
});

/** A variable whose text `read` turns into a value; undefined = malformed, and the message is what is allowed. */
export function checked<T>(allowed: string, base: z.ZodType<string>, read: (text: string) => T | undefined) {
  return base.transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: allowed });
    return z.NEVER;
  });
}

export function whole(least: number, most: number, unit: string) {
  return checked(`a whole number from ${least} to ${most} ${unit}`, word, (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    return value !== undefined && value >= least && value <= most ? value : undefined;
  });
}

export function oneOf<const T>(allowed: string, values: Readonly<Record<string, T>>) {
  return checked(allowed, word, (text) => {
    const key = text.toLowerCase();
    return Object.hasOwn(values, key) ? values[key] : undefined;
  });
}

export function list(allowed: string, read: (item: string) => string | undefined) {
  return checked(allowed, word, (text) => {
    const items = text.split(',').map((item) => item.trim());
    const values = items.filter((item) => item !== '').map(read);
    return values.every((value) => value !== undefined) ? values : undefined;
  }).default([]);
}

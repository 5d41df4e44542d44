import type { JsonObject } from '../api/types.ts';

/** The object that a typed text is, or why it is none. */
export function objectIn(text: string): { readonly value?: JsonObject; readonly why?: string } {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value: value as JsonObject };
    return { why: 'not an object' };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

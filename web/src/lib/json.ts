import type { JsonObject } from '../api/types.ts';

/** No array, which JSON has beside objects. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object that a typed text is, or why it is none. */
export function objectIn(text: string): { readonly value?: JsonObject; readonly why?: string } {
  try {
    const value = JSON.parse(text) as unknown;
    if (isObject(value)) return { value };
    return { why: 'not an object' };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

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

/** The value with the members of its objects in the order of `model`, then those that are not in it. */
export function inOrderOf(model: unknown, value: unknown): unknown {
  if (Array.isArray(model) && Array.isArray(value))
    return value.map((each: unknown, index): unknown => inOrderOf(model[index], each));
  if (!isObject(model) || !isObject(value)) return value;
  const keys = [...Object.keys(model).filter((key) => Object.hasOwn(value, key)), ...Object.keys(value)];
  return Object.fromEntries([...new Set(keys)].map((key) => [key, inOrderOf(model[key], value[key])]));
}
